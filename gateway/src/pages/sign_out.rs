//! The sign-out pages: the confirmation before, and the summary after.
use http::StatusCode;
use maud::html;
use url::Url;

use super::{
    assets::Asset,
    layout::{Page, hidden, note},
};
use crate::{http::csrf, sessions::end::Ended};

/// The provider's own sign-out, for the browser.
#[derive(Clone, Debug)]
pub(crate) struct Onward {
    /// The provider's name.
    pub name: String,
    pub url: Url,
}

pub(crate) fn confirm(user: &str, csrf: &str) -> Page {
    let body = html! {
        h1 { "Sign out?" }
        p.lead { "You are signed in as " strong { (user) } "." }
        p {
            "This also ends your open apps and the command-line sessions that you approved from \
             here, and revokes their Keystone tokens."
        }
        form method="post" action="/oauth2/sign_out" {
            (hidden(csrf::FIELD, csrf))
            div.row {
                button type="submit" { "Sign out" }
                a.button.quiet href="/" { "Stay signed in" }
            }
        }
        p.hint.apart {
            "Signed in elsewhere too? " a href="/oauth2/sessions" { "See all your sessions" } "."
        }
    };
    Page::new("Sign out", body)
}

pub(crate) fn signed_out(ended: Option<Ended>, onward: Option<&Onward>) -> Page {
    let body = html! {
        h1 { "You are signed out" }
        @if let Some(ended) = ended {
            ul.plain {
                li { "Your session in this browser has ended." }
                @if ended.apps > 0 {
                    li { "So have the sessions of " (count(ended.apps, "app", "apps")) "." }
                }
                @if ended.cli > 0 {
                    li { "So have " (count(ended.cli, "command-line session", "command-line sessions")) "." }
                }
                @if ended.tokens > 0 {
                    li { (count(ended.tokens, "Keystone token has", "Keystone tokens have")) " been revoked." }
                }
            }
            @if ended.pending > 0 {
                (note("warn", &html! {
                    p {
                        "Keystone could not be reached for "
                        (count(ended.pending, "token", "tokens"))
                        ". The revocation is kept and tried again until it succeeds or the token \
                         has expired; it cannot be used through Portico."
                    }
                }))
            }
            @if ended.left_over > 0 {
                (note("warn", &html! {
                    p {
                        "The application credential with which you stayed signed in is still \
                         listed in Keystone: deleting it takes a token of a fresh sign-in. Its \
                         secret is destroyed, so it cannot be used. Portico deletes it when you \
                         sign in again."
                    }
                }))
            }
        } @else {
            p.lead { "There is no session in this browser." }
        }
        @if let Some(onward) = onward {
            p { "Continue to " (onward.name) ", to end your session there too." }
            div.row { a.button href=(onward.url) { "Sign out of " (onward.name) } }
        } @else {
            div.row { a.button href="/oauth2/sign_in" { "Sign in again" } }
        }
    };
    Page::new("Signed out", body)
        .status(StatusCode::OK)
        .script(Asset::SignedOut)
}

/// Returns a number with its noun: "1 token", "2 tokens".
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Returns the page after the provider's own sign-out.
pub(crate) fn everywhere() -> Page {
    let body = html! {
        h1 { "You are signed out" }
        p.lead { "Your session here has ended, and so has the one that you signed in with." }
        div.row { a.button href="/oauth2/sign_in" { "Sign in again" } }
    };
    Page::new("Signed out", body).script(Asset::SignedOut)
}
