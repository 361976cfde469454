//! The page about failed sign-in attempts, shown after the next sign-in.
use jiff::Timestamp;
use maud::html;

use super::{
    assets::Asset,
    layout::{Page, note},
    sign_out::count,
    time::time,
};

/// The attempts that are shown: those that failed between two sign-ins of an account, without those
/// of the browser of the later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported {
    pub failures: i64,
    /// How many of them were made in browsers in which the account had signed in before.
    pub from_known_browsers: i64,
    /// When the account previously signed in.
    pub since: Timestamp,
    /// When the last one failed, where that is known.
    pub last: Option<Timestamp>,
}

/// The contents of the page.
pub(crate) struct FailedAttempts<'a> {
    pub user: &'a str,
    pub failed: Reported,
    /// The path to continue at.
    pub return_path: &'a str,
}

impl FailedAttempts<'_> {
    pub fn page(&self) -> Page {
        let Reported {
            failures,
            from_known_browsers,
            since,
            last,
        } = self.failed;
        let many = usize::try_from(failures).unwrap_or_default();
        let known = usize::try_from(from_known_browsers).unwrap_or_default();
        let body = html! {
            h1 { "Failed attempts to sign in" }
            (note("warn", &html! {
                p {
                    strong {
                        (count(many, "failed attempt to sign in", "failed attempts to sign in"))
                        " since " (time(since))
                    }
                    ", your last sign-in as " (self.user) "."
                    @if let Some(last) = last {
                        " The last one was at " (time(last)) "."
                    }
                }
            }))
            @if known > 0 {
                p {
                    (count(known, "of them was", "of them were"))
                    " made in a browser in which you had signed in before."
                }
            }
            p {
                "If you made these attempts yourself, there is nothing to do. If you did not, another \
                 person may be guessing your password: change it in Keystone, and end any session that you do \
                 not recognise."
            }
            div.row {
                a.button href=(self.return_path) { "Continue" }
                a.button.quiet href="/oauth2/sessions" { "Your sessions" }
            }
        };
        Page::new("Failed attempts to sign in", body).script(Asset::Times)
    }
}
