//! How often signing in has led nowhere: after a few rounds a page says why, in place of the next.
//!
//! Each finished sign-in, and each finished hand-over on an app's host, counts in a signed cookie;
//! a page that is then shown clears it. Tabs that sign in at the same time do not add up: each
//! makes progress.
use http::{HeaderMap, HeaderValue};
use jiff::{SignedDuration, Timestamp};

use crate::{session::cookie::Purpose, state::Gateway};

const PURPOSE: &str = "rounds";
/// From here on it is a loop.
const MOST: u32 = 5;
const WINDOW: SignedDuration = SignedDuration::from_secs(60);
const WINDOW_SECONDS: u32 = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count {
    rounds: u32,
    since: Timestamp,
}

impl Gateway {
    /// Counts a round that has just finished: a `Set-Cookie` line.
    pub fn count_round(&self, headers: &HeaderMap, now: Timestamp) -> Option<HeaderValue> {
        let count = self.rounds(headers, now).unwrap_or(Count {
            rounds: 0,
            since: now,
        });
        let text = format!("{}-{}", count.rounds + 1, count.since.as_second());
        let mark = self.store.browser_marks().issue(PURPOSE, &text);
        self.cookies
            .set_mark(Purpose::Rounds, &mark, WINDOW_SECONDS)
    }

    /// Whether the rounds of the last minute have led nowhere too often.
    pub fn runs_in_circles(&self, headers: &HeaderMap, now: Timestamp) -> bool {
        self.rounds(headers, now)
            .is_some_and(|count| count.rounds >= MOST)
    }

    /// Whether rounds are being counted: then a page that is shown ends the count.
    pub fn counts_rounds(&self, headers: &HeaderMap) -> bool {
        self.cookies.read_mark(headers, Purpose::Rounds).is_some()
    }

    fn rounds(&self, headers: &HeaderMap, now: Timestamp) -> Option<Count> {
        let mark = self.cookies.read_mark(headers, Purpose::Rounds)?;
        let text = self.store.browser_marks().read(PURPOSE, mark)?;
        let (rounds, since) = text.split_once('-')?;
        let since = Timestamp::from_second(since.parse().ok()?).ok()?;
        let count = Count {
            rounds: rounds.parse().ok()?,
            since,
        };
        (now.duration_since(since).abs() < WINDOW).then_some(count)
    }
}
