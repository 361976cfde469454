//! The one source of the time of day. What compares a time with now, or stores now, takes a [`Clock`] (or the time
//! itself), so that a test can set it. For durations there is `tokio::time::Instant`, which tests pause.
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// Returns the time of day. Clones share their source.
#[derive(Clone)]
pub struct Clock(Source);

#[derive(Clone)]
enum Source {
    System,
    Function(Arc<dyn Fn() -> Timestamp + Send + Sync>),
}

impl Clock {
    /// The clock of the operating system.
    #[must_use]
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that returns what a function returns, for tests: a fixed time, or one that they advance.
    #[must_use]
    pub fn from_fn(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Source::Function(Arc::new(now)))
    }

    /// Returns the time of day.
    #[must_use]
    #[allow(
        clippy::disallowed_methods,
        reason = "the one place that asks the operating system"
    )]
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Source::System => Timestamp::now(),
            Source::Function(now) => now(),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Source::System => "Clock(system)",
            Source::Function(_) => "Clock(function)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI64, Ordering};

    #[test]
    fn a_clock_of_a_function_returns_what_the_function_returns() {
        let seconds = Arc::new(AtomicI64::new(1_000));
        let source = seconds.clone();
        let clock =
            Clock::from_fn(move || Timestamp::from_second(source.load(Ordering::Relaxed)).unwrap());
        let clone = clock.clone();
        assert_eq!(clone.now().as_second(), 1_000);
        seconds.store(2_000, Ordering::Relaxed);
        assert_eq!(clock.now(), clone.now());
        assert_eq!(clock.now().as_second(), 2_000);
    }
}
