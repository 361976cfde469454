//! Pages for users of an OIDC provider.
use maud::html;

use super::layout::{Page, note};

/// An app that the user may open.
pub(crate) struct OpenApp<'a> {
    pub name: &'a str,
    pub description: &'a str,
    pub home: &'a str,
}

/// Returns the home page of a user without a Keystone account: apps, no clusters, and the reason.
pub(crate) fn oidc_only_user(
    user: &str,
    provider: &str,
    apps: &[OpenApp<'_>],
    keystone_offered: bool,
) -> Page {
    let body = html! {
        h1 { "Your apps" }
        p.lead { "You are signed in as " strong { (user) } " by " strong { (provider) } "." }
        (note("info", &html! {
            p {
                "You see no clusters here: they belong to projects of the cloud, and the cloud does \
                 not know you. " (provider) " alone opens apps."
            }
            @if keystone_offered {
                p { "If you have an account in the cloud, sign out and sign in with it." }
            }
        }))
        @if apps.is_empty() {
            p {
                "No app is open to the groups that " (provider) " reports for you. Ask the \
                 administrators of these groups."
            }
        } @else {
            ul.choices {
                @for app in apps {
                    li {
                        a href={ (app.home) "/" } {
                            span.what {
                                strong { (app.name) }
                                @if !app.description.is_empty() { small { (app.description) } }
                            }
                        }
                    }
                }
            }
        }
        p.hint {
            a href="/oauth2/sessions" { "Your sessions" } " · "
            a href="/oauth2/audit" { "Your activity" } " · "
            a href="/oauth2/sign_out" { "Sign out" }
        }
    };
    Page::new("Your apps", body)
}
