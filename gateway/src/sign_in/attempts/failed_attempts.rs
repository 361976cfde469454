//! `GET /oauth2/failed_attempts`: shows after a sign-in how many attempts failed since the previous
//! one.
//!
//! It is a step between sign-in and the return path, shown only for an attempt from a browser that
//! the account had not signed in with, or for several attempts. The attempts of the browser itself
//! just before do not count; see [`super::own_attempts`]. What it shows is in the URL, signed for
//! the session.
use std::sync::Arc;

use axum::{
    extract::{OriginalUri, State},
    response::{IntoResponse as _, Response},
};
use http::HeaderMap;
use jiff::Timestamp;
use portico_domain::account_name;
use portico_store::Session;
use uuid::Uuid;

use super::{Attempts, own_attempts::without_own};
use crate::{
    authentication::extract::SignedIn,
    http::{forms::Fields, interrupt::Interrupt, redirect::see_other, return_path::ReturnPath},
    pages::failed_attempts::{FailedAttempts, Reported},
};

/// From this count on, failures are shown even if all were made in browsers that the account knows.
/// A smaller number is taken for typing mistakes.
const MIN_SHOWN_FAILURES: i64 = 3;

pub(crate) async fn get(
    State(attempts): State<Arc<Attempts>>,
    SignedIn(caller): SignedIn,
    OriginalUri(uri): OriginalUri,
) -> Result<Response, Interrupt> {
    let query = Fields::of_query(&uri)?;
    let return_path = ReturnPath::from_query(query.optional("rd"));
    let purpose = purpose(caller.session.id);
    let mark = attempts
        .store
        .browser_marks()
        .read(&purpose, query.get("seen"));
    let Some(failed) = mark.and_then(parse) else {
        return Ok(see_other(return_path.as_str()));
    };
    let page = FailedAttempts {
        user: &caller.session.user.name,
        failed,
        return_path: return_path.as_str(),
    };
    Ok(page.page().into_response())
}

impl Attempts {
    /// Records a sign-in with the account of a session. Returns the path to continue at: the page
    /// about failed attempts, if there are any to show, else the return path. A failure of the
    /// store prevents no sign-in.
    pub(crate) async fn by_way_of_failed_attempts(
        &self,
        session: &Session,
        headers: &HeaderMap,
        return_path: ReturnPath,
        now: Timestamp,
    ) -> ReturnPath {
        let account = account_name::account_key(&session.user.name, &session.user.domain.name);
        let failed = match self.store.sign_in_accounts().signed_in(&account, now).await {
            Ok(Some(failed)) => {
                let own = self.own_failures(headers, &account, now);
                let browser = self.known_browser(headers);
                let is_known = browser.is_some_and(|browser| browser.id_for(&account).is_some());
                without_own(&failed, own.as_ref(), is_known)
            }
            Ok(None) => return return_path,
            Err(error) => {
                tracing::warn!(%error, "the failed attempts of an account are unknown");
                return return_path;
            }
        };
        if !is_worth_saying(&failed) {
            return return_path;
        }
        let marks = self.store.browser_marks();
        let mark = marks.issue(&purpose(session.id), &text(&failed));
        return_path.by_way_of_failed_attempts(&mark)
    }
}

fn is_worth_saying(failed: &Reported) -> bool {
    failed.failures > failed.from_known_browsers || failed.failures >= MIN_SHOWN_FAILURES
}

fn purpose(session: Uuid) -> String {
    format!("failed attempts: {session}")
}

fn text(failed: &Reported) -> String {
    let last = failed.last.map(|last| last.as_second().to_string());
    format!(
        "{}-{}-{}-{}",
        failed.failures,
        failed.from_known_browsers,
        failed.since.as_second(),
        last.unwrap_or_default()
    )
}

fn parse(text: &str) -> Option<Reported> {
    let mut parts = text.split('-');
    let mut next = || parts.next();
    let time = |text: &str| Timestamp::from_second(text.parse().ok()?).ok();
    Some(Reported {
        failures: next()?.parse().ok()?,
        from_known_browsers: next()?.parse().ok()?,
        since: time(next()?)?,
        last: match next()? {
            "" => None,
            last => Some(time(last)?),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(failures: i64, from_known_browsers: i64) -> Reported {
        Reported {
            failures,
            from_known_browsers,
            since: Timestamp::from_second(1_800_000_000).expect("time"),
            last: Timestamp::from_second(1_800_000_600).ok(),
        }
    }

    #[test]
    fn finding_s4_what_is_shown_survives_the_address() {
        let failed = failed(12, 2);
        let unknown = Reported {
            last: None,
            ..failed
        };
        for shown in [failed, unknown] {
            assert_eq!(parse(&text(&shown)), Some(shown));
        }
        for broken in ["", "12", "12-2", "12-2-x-y", "12-2-1800000000"] {
            assert_eq!(parse(broken), None, "{broken}");
        }
    }

    #[test]
    fn finding_s4_mistakes_in_a_known_browser_are_not_worth_a_page() {
        for (failures, known, expected) in [
            (0, 0, false),
            (1, 0, true),
            (1, 1, false),
            (2, 2, false),
            (2, 1, true),
            (3, 3, true),
        ] {
            let failed = failed(failures, known);
            assert_eq!(is_worth_saying(&failed), expected, "{failures} {known}");
        }
    }
}
