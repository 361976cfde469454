//! The page between Keystone's single sign-on and the session: it submits a reference to the new
//! token together with the browser's own cookie.
use maud::html;

use super::{
    assets::Asset,
    layout::{Page, hidden},
};

/// Returns a form that submits itself, with a reference instead of the token.
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
