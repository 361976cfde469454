//! The page that offers to submit again what a user had entered when their session expired.
use std::borrow::Cow;

use http::StatusCode;
use jiff::Timestamp;
use maud::{Markup, html};

use super::{
    assets::Asset,
    layout::{Page, hidden},
    time::time,
};
use crate::http::csrf;

const MAX_SHOWN_CHARS: usize = 200;
/// Parts of the names of fields whose values are masked.
const SECRET_NAMES: [&str; 6] = ["pass", "secret", "token", "key", "credential", "code"];

/// The page "Send what you had entered?".
pub(crate) struct SavedFormPage<'a> {
    pub user: &'a str,
    /// Path and query that the form was submitted to.
    pub target: &'a str,
    pub fields: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    pub expires_at: Timestamp,
    pub csrf: &'a str,
}

impl SavedFormPage<'_> {
    pub fn page(&self) -> Page {
        let body = html! {
            h1 { "Send what you had entered?" }
            p.lead {
                "Your session had expired when it arrived. Nothing has been changed by it yet. You \
                 are signed in as " strong { (self.user) } "."
            }
            dl {
                dt { "Meant for" } dd { code { (self.target) } }
                @for (name, value) in &self.fields {
                    dt { (name) } dd { (shown(name, value)) }
                }
            }
            form method="post" action="/oauth2/saved_form" {
                @for (name, value) in &self.fields { (hidden(name, value)) }
                (hidden(csrf::FIELD, self.csrf))
                div.row { button type="submit" { "Send it now" } }
            }
            form.after method="post" action="/oauth2/saved_form/discard" {
                (hidden(csrf::FIELD, self.csrf))
                button.quiet type="submit" { "Forget it" }
            }
            p.hint { "It is kept until " (time(self.expires_at)) ", and sent only by your click." }
        };
        Page::new("Send what you had entered?", body).script(Asset::Times)
    }
}

fn shown(name: &str, value: &str) -> Markup {
    let lower = name.to_lowercase();
    html! {
        @if value.is_empty() { span.masked { "empty" } }
        @else if SECRET_NAMES.iter().any(|word| lower.contains(word)) { span.masked { "not shown" } }
        @else {
            @match value.char_indices().nth(MAX_SHOWN_CHARS) {
                Some((end, _)) => { (value.get(..end).unwrap_or_default()) "…" },
                None => { (value) },
            }
        }
    }
}

/// Returns the page for a form that does not exist or belongs to another user, without saying
/// which.
pub(crate) fn nothing() -> Page {
    let body = html! {
        h1 { "Nothing is waiting to be sent" }
        p.lead {
            "What you had entered has been sent or forgotten, was kept for longer than 10 minutes, or \
             belongs to another user or browser."
        }
        div.row { a.button href="/" { "Back to Portico" } }
    };
    Page::new("Nothing is waiting", body).status(StatusCode::OK)
}
