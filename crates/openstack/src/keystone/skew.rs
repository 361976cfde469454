//! Clock skew between Keystone and this machine, by the `Date` of its responses.
use super::metrics;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Smaller differences count as none: both clocks are read in whole seconds, and a response takes
/// time.
const TOLERANCE_SECONDS: i64 = 3;
/// The log warns from this difference on.
const WARNING_SECONDS: i64 = 30;

/// The last measurement. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Skew(Arc<AtomicI64>);

impl Skew {
    /// Measures the skew by the `Date` (RFC 9110 section 6.6.1) of a response that was requested
    /// and received at these times.
    pub fn learn(&self, date: &str, asked: Timestamp, answered: Timestamp) {
        let Ok(theirs) = DateTimeParser::new().parse_timestamp(date) else {
            return;
        };
        let theirs = theirs.as_second();
        // it was written at some time between the two
        let seconds = if theirs < asked.as_second() {
            theirs - asked.as_second()
        } else {
            (theirs - answered.as_second()).max(0)
        };
        let seconds = if seconds.abs() < TOLERANCE_SECONDS {
            0
        } else {
            seconds
        };
        let before = self.0.swap(seconds, Ordering::Relaxed);
        if before != seconds {
            metrics::record_skew(seconds);
        }
        if before.abs() < WARNING_SECONDS && seconds.abs() >= WARNING_SECONDS {
            tracing::warn!(
                seconds,
                "keystone's clock and ours differ: set both by NTP, else tokens end too early"
            );
        }
    }

    /// Returns how far Keystone's clock is ahead of the local one; negative if it is behind.
    pub fn difference(&self) -> SignedDuration {
        SignedDuration::from_secs(self.0.load(Ordering::Relaxed))
    }

    /// Returns `now` by the local clock or by Keystone's, whichever is later.
    pub fn latest(&self, now: Timestamp) -> Timestamp {
        let ahead = self.0.load(Ordering::Relaxed).max(0);
        now.saturating_add(SignedDuration::from_secs(ahead))
            .unwrap_or(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn the_later_clock_counts() {
        // Sat, 21 Nov 2026 20:00:00 GMT
        let now = 1_795_291_200;
        for (date, ahead) in [
            ("Sat, 21 Nov 2026 20:00:00 GMT", 0),
            ("Sat, 21 Nov 2026 20:00:02 GMT", 0),
            ("Sat, 21 Nov 2026 20:05:00 GMT", 300),
            ("Sat, 21 Nov 2026 19:55:00 GMT", 0),
            ("yesterday", 0),
        ] {
            let skew = Skew::default();
            skew.learn(date, at(now), at(now));
            assert_eq!(skew.latest(at(now)), at(now + ahead), "{date}");
        }
    }

    #[test]
    fn a_clock_that_is_behind_is_distinguished_from_one_ahead() {
        let now = 1_795_291_200;
        let skew = Skew::default();
        skew.learn("Sat, 21 Nov 2026 19:55:00 GMT", at(now), at(now));
        assert_eq!(skew.difference(), SignedDuration::from_mins(-5));
        skew.learn("Sat, 21 Nov 2026 20:05:00 GMT", at(now), at(now));
        assert_eq!(skew.difference(), SignedDuration::from_mins(5));
    }

    #[test]
    fn a_slow_answer_is_not_clock_skew() {
        let skew = Skew::default();
        let now = 1_795_291_200;
        skew.learn("Sat, 21 Nov 2026 20:00:00 GMT", at(now - 20), at(now + 20));
        assert_eq!(skew.latest(at(now)), at(now));
    }
}
