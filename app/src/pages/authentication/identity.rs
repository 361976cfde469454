//! The data about a user that Kubernetes receives, with the viewer as the example.
use super::user;
use crate::ui::{Badge, Banner, Card, Tone, icons};
use leptos::prelude::*;
use portico_domain::{cluster::RawTokens, panel::AuthenticationView};

pub fn card(page: &AuthenticationView) -> AnyView {
    let aside = view! { <Badge text="Computed from your token" icon=icons::USER /> }.into_any();
    let risk = bare_tokens(page.raw_tokens);
    let own = user::view(&page.own, "your token");
    let groups = groups(page.qualified_groups);
    let authorization = authorization(page.authorization_policy);
    let audiences = page.audiences.join(", ");
    view! {
        <Card title="How this cluster identifies people" aside>
            <div class="grid grid-cols-1 gap-4">
                {risk}
                <p>
                    "The username is "
                    <code>"<user name>@<domain name>"</code>
                    ", the UID is Keystone's user ID, and the groups are made of IDs, which users \
                     cannot choose: use these in bindings. Your identity:"
                </p>
                {own}
                <ul class="notes">
                    <li>{groups}</li>
                    <li>
                        "Beside these keys, kube-auth adds "
                        <code>"portico.dev/credential-id"</code>
                        ": the public ID of the token, which Keystone's audit trail records too."
                    </li>
                    <li>
                        "Rights that are taken away in Keystone end here within 50 s where the API \
                         server runs with "
                        <code>"--authentication-token-webhook-cache-ttl=10s"</code>
                        ", and within 160 s with its default of two minutes."
                    </li>
                    <li>{authorization}</li>
                    <li>{format!("Tokens are good for the audience {audiences}.")}</li>
                </ul>
            </div>
        </Card>
    }
    .into_any()
}

fn groups(qualified: bool) -> AnyView {
    if qualified {
        view! {
            "Several projects may sign in here, so a role counts only together with its project: "
            <code>"portico:project:<project ID>:role:<role ID>"</code>
            ". A bare role ID is not a group at this cluster."
        }
        .into_any()
    } else {
        view! {
            "One project signs in here, so the bare role ID is a group too, beside "
            <code>"portico:project:<project ID>:role:<role ID>"</code>
            "."
        }
        .into_any()
    }
}

fn authorization(policy: bool) -> AnyView {
    if policy {
        view! {
            "RBAC and an authorization policy of Portico's decide what a user may do: either of \
             them may allow a request."
        }
        .into_any()
    } else {
        view! { "RBAC alone decides what a user may do; there is no authorization policy." }
            .into_any()
    }
}

fn bare_tokens(form: RawTokens) -> Option<AnyView> {
    let form = match form {
        RawTokens::Off => return None,
        RawTokens::Fernet => "Fernet",
        RawTokens::Jws => "JWS",
    };
    Some(
        view! {
            <Banner tone=Tone::Warn>
                <p class="font-semibold">
                    {format!("Bare Keystone tokens ({form}) are accepted beside cluster tokens")}
                </p>
                <p>
                    "Administrators of this cluster can read such a token and use it at every \
                     service of the cloud. Use Portico's own commands, and ask for "
                    <code>"raw_keystone_tokens"</code>
                    " to be turned off when it is no longer needed."
                </p>
            </Banner>
        }
        .into_any(),
    )
}
