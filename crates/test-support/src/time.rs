//! Waits for an event instead of a fixed time, and moves the clocks of a program in this process.
use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use jiff::{SignedDuration, Timestamp};
use portico_clock::Clock;

/// How often a condition is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How long a condition may take, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Waits until a condition holds.
///
/// # Panics
/// If it does not hold within 20 s of real time.
pub async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !holds().await {
        assert!(started.elapsed() < TIMEOUT, "not in time: {what}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Moves tokio's clock forward: what is cached for this time is stale, and timers that end within it
/// end now. It continues in real time.
///
/// # Panics
/// In a runtime of several threads, or while time is paused.
pub async fn advance(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// The system's time of day, which a test moves forward. Clones share their offset.
#[derive(Clone, Debug, Default)]
pub struct MovableClock {
    offset_ms: Arc<AtomicI64>,
}

impl MovableClock {
    /// Returns it as a part of the program takes it.
    pub fn clock(&self) -> Clock {
        let offset_ms = Arc::clone(&self.offset_ms);
        Clock::from_fn(move || {
            let offset = SignedDuration::from_millis(offset_ms.load(Ordering::Relaxed));
            Timestamp::now() + offset
        })
    }

    /// Moves it forward.
    pub fn advance(&self, time: Duration) {
        let offset = i64::try_from(time.as_millis()).expect("a short time");
        self.offset_ms.fetch_add(offset, Ordering::Relaxed);
    }
}
