//! Detects sign-in loops: after several sign-ins without success a page explains the cause instead
//! of starting the next one.
//!
//! Each completed sign-in, and each completed hand-over on an app's host, counts in a signed
//! cookie; a page that is then shown clears it. Tabs that sign in at the same time do not add up,
//! as each makes progress.
use http::{HeaderMap, HeaderValue};
use jiff::{SignedDuration, Timestamp};

use super::Authentication;
use crate::http::cookies::Purpose;

const PURPOSE: &str = "redirects";
/// A sign-in loop is detected after this many redirects (sign-ins and hand-overs) within [`WINDOW`].
const MAX_REDIRECTS: u32 = 5;
const WINDOW: SignedDuration = SignedDuration::from_secs(60);
const COOKIE_SECONDS: u32 = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count {
    redirects: u32,
    since: Timestamp,
}

impl Authentication {
    /// Counts a completed sign-in. Returns the `Set-Cookie` value.
    pub fn count_redirect(&self, headers: &HeaderMap, now: Timestamp) -> Option<HeaderValue> {
        let count = self.redirects(headers, now).unwrap_or(Count {
            redirects: 0,
            since: now,
        });
        let text = format!("{}-{}", count.redirects + 1, count.since.as_second());
        let mark = self.store.browser_marks().issue(PURPOSE, &text);
        self.cookies
            .set_mark(Purpose::Redirects, &mark, COOKIE_SECONDS)
    }

    /// Returns whether the sign-ins of the last minute have exceeded the limit without success.
    pub fn is_redirect_loop(&self, headers: &HeaderMap, now: Timestamp) -> bool {
        self.redirects(headers, now)
            .is_some_and(|count| count.redirects >= MAX_REDIRECTS)
    }

    fn redirects(&self, headers: &HeaderMap, now: Timestamp) -> Option<Count> {
        let mark = self.cookies.read_mark(headers, Purpose::Redirects)?;
        let text = self.store.browser_marks().read(PURPOSE, mark)?;
        let (redirects, since) = text.split_once('-')?;
        let since = Timestamp::from_second(since.parse().ok()?).ok()?;
        let count = Count {
            redirects: redirects.parse().ok()?,
            since,
        };
        (now.duration_since(since).abs() < WINDOW).then_some(count)
    }
}
