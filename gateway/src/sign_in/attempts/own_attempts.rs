//! Counts the failed attempts of a browser before it signs in. They are the user's own typing
//! mistakes, which the page about failed attempts leaves out.
//!
//! The browser carries their number in a cookie, signed with the store's key, for a quarter of an
//! hour. It hides no attempts of others: it counts only those made in this browser, and they count
//! only while the account has not signed in elsewhere since.
use http::{HeaderMap, HeaderValue};
use jiff::Timestamp;
use portico_domain::account_name;
use portico_store::FailedSignIns;

use super::{Attempts, known_browser::tag};
use crate::{
    http::cookies::Purpose, pages::failed_attempts::Reported, sign_in::keystone::attempt::Claimed,
};

const PURPOSE: &str = "own failed attempts";
/// The lifetime of failed attempts: older ones are not counted as the browser's own.
const TTL_SECONDS: u32 = 15 * 60;
/// Bounds the accounts that one browser carries: one entered name may have two readings.
const MAX_ACCOUNTS: usize = 2;
const MAX_FAILURES: i64 = 999;

/// The failed attempts of one browser, the account tried last first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct OwnAttempts(Vec<OwnFailures>);

/// The failed attempts of one browser for one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnFailures {
    /// The account's tag.
    tag: String,
    failures: i64,
    /// When the first attempt failed, in seconds since 1970.
    first: i64,
    last: i64,
}

impl OwnAttempts {
    fn read(text: &str, now: i64) -> Self {
        let parts: Vec<&str> = text.split('.').collect();
        let failures = parts.chunks_exact(4).filter_map(OwnFailures::read);
        // those that began too long ago are shown
        let is_recent = |own: &OwnFailures| {
            (0..=i64::from(TTL_SECONDS)).contains(&now.saturating_sub(own.first))
        };
        Self(failures.filter(is_recent).take(MAX_ACCOUNTS).collect())
    }

    fn add(&mut self, tag: String, now: i64) {
        let known = self.0.iter().position(|own| own.tag == tag);
        let mut own = match known {
            Some(place) => self.0.remove(place),
            None => OwnFailures {
                tag,
                failures: 0,
                first: now,
                last: now,
            },
        };
        own.failures = (own.failures + 1).min(MAX_FAILURES);
        own.last = now;
        self.0.insert(0, own);
        self.0.truncate(MAX_ACCOUNTS);
    }

    fn text(&self) -> String {
        let all: Vec<String> = self.0.iter().map(OwnFailures::text).collect();
        all.join(".")
    }
}

impl OwnFailures {
    fn read(parts: &[&str]) -> Option<Self> {
        let [tag, failures, first, lasted] = parts else {
            return None;
        };
        let first: i64 = first.parse().ok()?;
        Some(Self {
            tag: (*tag).to_owned(),
            failures: failures.parse().ok()?,
            first,
            last: first.checked_add(lasted.parse().ok()?)?,
        })
    }

    fn text(&self) -> String {
        let lasted = self.last.saturating_sub(self.first);
        format!("{}.{}.{}.{lasted}", self.tag, self.failures, self.first)
    }
}

/// Returns the failed attempts without those of the browser that signs in.
pub(crate) fn without_own(
    failed: &FailedSignIns,
    own: Option<&OwnFailures>,
    known_browser: bool,
) -> Reported {
    let all = Reported {
        failures: failed.failures,
        from_known_browsers: failed.from_known_browsers,
        since: failed.since,
        last: Some(failed.last),
    };
    // after a sign-in elsewhere, the numbers are outdated
    let Some(own) = own.filter(|own| own.first >= failed.since.as_second()) else {
        return all;
    };
    let failures = (failed.failures - own.failures).max(0);
    let known = failed.from_known_browsers - if known_browser { own.failures } else { 0 };
    Reported {
        failures,
        from_known_browsers: known.clamp(0, failures),
        // the last failure that is not the browser's own is known only if it was later
        last: Some(failed.last).filter(|last| last.as_second() > own.last),
        ..all
    }
}

impl Attempts {
    /// Returns the cookie by which a browser carries a refused attempt of its own.
    pub(crate) fn remember_own_attempt(
        &self,
        headers: &HeaderMap,
        readings: &[Claimed],
    ) -> Option<HeaderValue> {
        let now = self.clock.now().as_second();
        let mut own = self.own_attempts(headers, now);
        let mut tags: Vec<String> = readings
            .iter()
            .map(|claimed| tag(&account_name::account_key(&claimed.name, &claimed.domain)))
            .collect();
        tags.sort();
        tags.dedup();
        for tag in tags {
            own.add(tag, now);
        }
        let mark = self.store.browser_marks().issue(PURPOSE, &own.text());
        self.cookies
            .set_mark(Purpose::OwnAttempts, &mark, TTL_SECONDS)
    }

    /// Returns the failed attempts for an account in the browser of a request.
    pub(crate) fn own_failures(
        &self,
        headers: &HeaderMap,
        account: &str,
        now: Timestamp,
    ) -> Option<OwnFailures> {
        let tag = tag(account);
        let all = self.own_attempts(headers, now.as_second()).0;
        all.into_iter().find(|own| own.tag == tag)
    }

    /// Returns the cookie that removes them, if there are any.
    pub(crate) fn forget_own_attempts(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        self.cookies.read_mark(headers, Purpose::OwnAttempts)?;
        self.cookies.clear(Purpose::OwnAttempts)
    }

    fn own_attempts(&self, headers: &HeaderMap, now: i64) -> OwnAttempts {
        let mark = self.cookies.read_mark(headers, Purpose::OwnAttempts);
        mark.and_then(|mark| self.store.browser_marks().read(PURPOSE, mark))
            .map(|text| OwnAttempts::read(text, now))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("time")
    }

    fn failed(failures: i64, from_known_browsers: i64) -> FailedSignIns {
        FailedSignIns {
            failures,
            from_known_browsers,
            since: at(NOW - 3600),
            last: at(NOW),
        }
    }

    fn own(failures: i64, first: i64, last: i64) -> OwnFailures {
        OwnFailures {
            tag: tag("ada"),
            failures,
            first,
            last,
        }
    }

    #[test]
    fn finding_s4_a_browser_carries_its_own_failures_for_a_quarter_of_an_hour() {
        let mut carried = OwnAttempts::default();
        for (account, now) in [("adda", NOW), ("ada", NOW + 5), ("ada", NOW + 20)] {
            carried.add(tag(account), now);
        }
        let text = carried.text();
        assert_eq!(OwnAttempts::read(&text, NOW + 30), carried);
        assert_eq!(carried.0[0], own(2, NOW + 5, NOW + 20));
        let late = OwnAttempts::read(&text, NOW + 903);
        assert_eq!(late.0, [own(2, NOW + 5, NOW + 20)]);
        assert_eq!(OwnAttempts::read(&text, NOW + 906).0, []);
        for broken in ["", "a.b.c.d", "a.1.2", "tag.1.1800000000.x"] {
            assert_eq!(OwnAttempts::read(broken, NOW).0, [], "{broken}");
        }
        // with its signature it fits into a cookie that is read as a mark
        for _ in 0..2000 {
            carried.add(tag("ada"), NOW + 899);
            carried.add(tag("devi"), NOW + 899);
        }
        assert!(carried.text().len() <= 84, "{}", carried.text());
    }

    #[test]
    fn finding_s4_what_failed_in_the_browser_itself_is_left_out() {
        let mine = own(2, NOW - 30, NOW);
        let rest = without_own(&failed(2, 0), Some(&mine), false);
        assert_eq!(rest.failures, 0);
        let rest = without_own(&failed(24, 0), Some(&mine), false);
        assert_eq!((rest.failures, rest.last), (22, None));
        // one failed elsewhere after the last of its own
        let earlier = own(2, NOW - 30, NOW - 10);
        let rest = without_own(&failed(3, 0), Some(&earlier), false);
        assert_eq!((rest.failures, rest.last), (1, Some(at(NOW))));
        // in a browser that the account knows they are taken from those of such browsers
        let rest = without_own(&failed(5, 3), Some(&mine), true);
        assert_eq!((rest.failures, rest.from_known_browsers), (3, 1));
        let rest = without_own(&failed(2, 2), Some(&mine), true);
        assert_eq!((rest.failures, rest.from_known_browsers), (0, 0));
    }

    #[test]
    fn finding_s4_numbers_from_before_the_last_sign_in_hide_nothing() {
        let before = own(2, NOW - 3601, NOW - 10);
        for carried in [None, Some(&before)] {
            let all = without_own(&failed(2, 0), carried, false);
            assert_eq!((all.failures, all.last), (2, Some(at(NOW))));
        }
    }
}
