//! Limits on failures per subject (an account, a network), counted across all replicas.
//!
//! A place is reserved before an attempt and counts as a failure until it is returned, so that
//! concurrent attempts cannot all pass. A place that is not returned, as after a crash, stays
//! counted.
use crate::error::StoreError;
use crate::sealing::KeyRing;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

const PURPOSE: &str = "throttle";
/// The number of delays of a limit; the last one repeats.
pub(crate) const MAX_DELAYS: usize = 4;
/// Earlier than every stored time.
const BEFORE_ALL: i64 = i64::MIN;

/// The failure counters; see [`crate::Store::throttle`].
#[async_trait]
pub trait Throttle: Send + Sync {
    /// Reserves a place for an attempt, if the limit has a free one.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn reserve(
        &self,
        subject: &str,
        limit: ThrottleLimit,
        now: Timestamp,
    ) -> Result<Reserved, StoreError>;

    /// Returns a place whose attempt did not fail: it succeeded, or its outcome is unknown.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn return_reservation(&self, reservation: &Reservation) -> Result<(), StoreError>;

    /// Deletes all failures of the subject of a place, after a success.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn forget(&self, reservation: &Reservation) -> Result<(), StoreError>;
}

/// The number of failures that are allowed, and the time in which they count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThrottleLimit {
    /// A number of failures in a window that starts with the first one; then every attempt is
    /// refused until it ends.
    Window {
        failures: i64,
        window: SignedDuration,
    },
    /// A number of failures without delay; from then on each further attempt must keep a minimum
    /// distance in time to the previous one, which depends on the number of failures. All failures
    /// are forgotten after `forget` without an attempt.
    Delays {
        free: i64,
        delays: [SignedDuration; MAX_DELAYS],
        forget: SignedDuration,
    },
}

/// The result of reserving a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reserved {
    /// The attempt may be made. It counts as failed until the place is returned.
    Granted(Reservation),
    /// The limit has no free place until then.
    RefusedUntil(Timestamp),
}

/// A reserved place under a limit. If dropped, it stays counted as a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a place that is not given back stays counted as a failure"]
pub struct Reservation {
    pub(crate) hash: String,
    pub(crate) limit: ThrottleLimit,
    /// The subject's number of failures, this one included.
    pub(crate) failures: i64,
    /// When the window started, or when the place was reserved.
    pub(crate) at: Timestamp,
}

/// A limit in the form that statements and scripts take; times are epoch seconds.
pub(crate) struct Bounds {
    pub now: i64,
    /// What started or happened before this time is forgotten.
    pub forgotten: i64,
    pub free: i64,
    /// The latest time of the previous attempt, by the number of failures beyond `free`.
    pub before: [i64; MAX_DELAYS],
    /// Whether each attempt sets the time again.
    pub moves: bool,
}

impl ThrottleLimit {
    /// Returns a limit of `failures` in `seconds`.
    #[must_use]
    pub const fn window(failures: i64, seconds: i64) -> Self {
        Self::Window {
            failures,
            window: SignedDuration::from_secs(seconds),
        }
    }

    pub(crate) fn bounds(self, now: Timestamp) -> Bounds {
        let (free, forget, before) = match self {
            Self::Window { failures, window } => (failures, window, [BEFORE_ALL; MAX_DELAYS]),
            Self::Delays {
                free,
                delays,
                forget,
            } => (free, forget, delays.map(|delay| (now - delay).as_second())),
        };
        Bounds {
            now: now.as_second(),
            forgotten: (now - forget).as_second(),
            free,
            before,
            moves: matches!(self, Self::Delays { .. }),
        }
    }

    /// Returns the result of an attempt that was counted if the limit allowed it; `failures` and
    /// `at` are those of the subject.
    pub(crate) fn result(
        self,
        hash: String,
        (is_granted, failures, at): (bool, i64, Timestamp),
        now: Timestamp,
    ) -> Reserved {
        if is_granted {
            return Reserved::Granted(Reservation {
                hash,
                limit: self,
                failures,
                at,
            });
        }
        let until = self.refused_until(failures, at).unwrap_or(now);
        Reserved::RefusedUntil(until.max(now + SignedDuration::from_secs(1)))
    }

    /// Returns the time until which a subject with this number of failures is refused.
    fn refused_until(self, failures: i64, at: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Window {
                failures: most,
                window,
            } => (failures >= most).then_some(at + window),
            Self::Delays { .. } => self.delay(failures).map(|delay| at + delay),
        }
    }

    /// Returns the minimum time before the next attempt after this number of failures.
    fn delay(self, failures: i64) -> Option<SignedDuration> {
        let Self::Delays { free, delays, .. } = self else {
            return None;
        };
        let beyond = usize::try_from(failures - free).ok()?;
        delays.get(beyond).or(delays.last()).copied()
    }
}

impl Reservation {
    /// Returns the time to restore for the subject if nothing has happened since: an attempt
    /// without a result must not delay the next one.
    pub(crate) fn reopened(&self) -> Timestamp {
        match self.limit.delay(self.failures - 1) {
            Some(delay) => self.at - delay,
            None => self.at,
        }
    }

    /// Returns the latest time of the subject at which the place is still part of its count.
    pub(crate) fn latest(&self) -> i64 {
        match self.limit {
            ThrottleLimit::Window { .. } => self.at.as_second(),
            ThrottleLimit::Delays { .. } => i64::MAX,
        }
    }
}

/// Returns the hash under which a subject is counted.
pub(crate) fn hash(keys: &KeyRing, subject: &str) -> String {
    keys.hash(PURPOSE, subject)
}
