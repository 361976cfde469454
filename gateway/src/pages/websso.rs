//! The page between Keystone's single sign-on and the session: it brings the browser's own cookie
//! to what Keystone has just sent.
use maud::html;

use super::{
    assets::Asset,
    layout::{Page, hidden},
};

/// The form that goes on by itself, with a reference in place of the token.
pub(crate) fn arriving(code: &str) -> Page {
    let body = html! {
        h1 { "Signing in" }
        p.lead { "Keystone has confirmed who you are." }
        form #handover method="post" action="/oauth2/websso/finish" {
            (hidden("code", code))
            button.submit type="submit" { "Continue" }
        }
    };
    Page::new("Signing in", body).script(Asset::Handover)
}
