//! The tokens that the cluster accepts, and whether the viewer's is one.
use crate::ui::{Banner, Card, CopyButton, Status, TableRegion, Tone};
use leptos::prelude::*;
use portico_domain::panel::{Acceptance, AcceptedId, AuthenticationView};

pub fn card(page: &AuthenticationView) -> AnyView {
    let accepted = &page.accepted;
    let rows = [
        ("Project", &accepted.projects),
        ("Domain", &accepted.domains),
        ("Role", &accepted.roles),
    ]
    .into_iter()
    .flat_map(|(kind, entries)| entries.iter().map(move |entry| row(kind, entry)))
    .collect_view();
    let roles = if accepted.roles.is_empty() {
        "Any role in an accepted project is sufficient; without a role, Keystone issues no token \
         for the project."
    } else {
        "A token must carry at least one of the roles, in an accepted project or domain."
    };
    let kinds: Vec<_> = accepted.tokens.iter().map(|kind| kind.words()).collect();
    let kinds = if kinds.is_empty() {
        "Tokens of trusts, of credentials with access rules, and without a project are refused."
            .to_owned()
    } else {
        format!("Also accepted here: {}.", kinds.join(", "))
    };
    let own_token = acceptance(&page.own_token);
    view! {
        <Card title="Who is accepted">
            <div class="grid grid-cols-1 gap-4">
                {own_token}
                <TableRegion label="Allow-list">
                    <thead>
                        <tr>
                            <th scope="col">"Kind"</th>
                            <th scope="col">"Accepted"</th>
                            <th scope="col">"Your token"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </TableRegion>
                <p class="text-muted">
                    {roles}
                    " Only IDs are compared; a name is shown where you may see it. The list is \
                     part of the cluster's record in Portico's configuration."
                </p>
                <p class="text-muted">{kinds}</p>
            </div>
        </Card>
    }
    .into_any()
}

/// Returns whether a token is accepted, with the reason.
pub fn acceptance(acceptance: &Acceptance) -> AnyView {
    let tone = if acceptance.accepted {
        Tone::Ok
    } else {
        Tone::Warn
    };
    let reason = acceptance.reason.clone();
    let next_step = acceptance.next_step.clone();
    view! {
        <Banner tone>
            <p>{reason}</p>
            {next_step.map(|step| view! { <p>{step}</p> })}
        </Banner>
    }
    .into_any()
}

fn row(kind: &'static str, entry: &AcceptedId) -> AnyView {
    let id = entry.id.clone();
    let name = entry.name.clone();
    let own = if entry.own {
        view! { <Status tone=Tone::Ok text="Has it" /> }.into_any()
    } else {
        view! { <span class="text-faint">"no"</span> }.into_any()
    };
    view! {
        <tr>
            <td>{kind}</td>
            <th scope="row" class="cell-id">
                {name.map(|name| view! { <span class="block wrap-anywhere">{name}</span> })}
                <span class="inline-flex items-center gap-1 font-normal text-faint">
                    <code class="wrap-anywhere">{id.clone()}</code>
                    <CopyButton text=id what="ID" />
                </span>
            </th>
            <td>{own}</td>
        </tr>
    }
    .into_any()
}
