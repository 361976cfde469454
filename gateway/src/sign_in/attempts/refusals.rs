//! Delays the responses to refused sign-ins.
//!
//! Keystone refuses an unknown user sooner than a wrong password, for which it computes a hash. So
//! every refusal is delayed until a fixed time after the attempt began, whatever the reason.
use std::time::Duration;

use tokio::{sync::Semaphore, time::Instant};

use crate::metrics;

/// Bounds the number of delayed refusals. Further ones are answered immediately: a flood of
/// attempts can then reveal which names exist, but prevents no sign-in.
const MAX_DELAYED: usize = 512;

/// The delayed refusals. They hold no other resource meanwhile: no connection, no lock.
#[derive(Debug)]
pub(crate) struct HeldRefusals {
    time: Duration,
    places: Semaphore,
}

impl HeldRefusals {
    /// Delays refusals for `time`; zero disables the delay.
    pub fn new(time: Duration) -> Self {
        Self::with_places(time, MAX_DELAYED)
    }

    fn with_places(time: Duration, places: usize) -> Self {
        Self {
            time,
            places: Semaphore::new(places),
        }
    }

    /// Waits until a refusal of an attempt that began then may be answered.
    pub async fn hold(&self, began: Instant) {
        let Some(until) = self.answered_at(began, Instant::now()) else {
            return;
        };
        let Ok(_place) = self.places.try_acquire() else {
            metrics::unheld_refusal();
            return;
        };
        tokio::time::sleep_until(until).await;
    }

    /// Returns the first multiple of the time that is still ahead.
    fn answered_at(&self, began: Instant, now: Instant) -> Option<Instant> {
        let step = self.time.as_millis();
        let elapsed = now.duration_since(began).as_millis();
        let steps = elapsed.checked_div(step)? + 1;
        let steps = u32::try_from(steps).ok()?;
        began.checked_add(self.time.checked_mul(steps)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered_after(time: u64, took: u64) -> Option<u128> {
        let refusals = HeldRefusals::new(Duration::from_millis(time));
        let began = Instant::now();
        let now = began + Duration::from_millis(took);
        let at = refusals.answered_at(began, now)?;
        Some(at.duration_since(began).as_millis())
    }

    #[test]
    fn finding_s11_refusals_are_answered_at_the_same_time_however_long_they_took() {
        for took in [0, 25, 38, 499] {
            assert_eq!(answered_after(500, took), Some(500), "{took}");
        }
        for took in [500, 620, 999] {
            assert_eq!(answered_after(500, took), Some(1000), "{took}");
        }
        assert_eq!(answered_after(0, 38), None);
    }

    #[tokio::test(start_paused = true)]
    async fn finding_s11_a_refusal_waits_for_its_time_and_leaves_its_place() {
        let time = Duration::from_millis(60);
        let refusals = HeldRefusals::with_places(time, 1);
        for _ in 0..2 {
            let began = Instant::now();
            refusals.hold(began).await;
            assert!(began.elapsed() >= time);
        }
        assert_eq!(refusals.places.available_permits(), 1);
    }

    #[tokio::test]
    async fn finding_s11_where_too_many_wait_refusals_are_answered_at_once() {
        let refusals = HeldRefusals::with_places(Duration::from_secs(86_400), 0);
        refusals.hold(Instant::now()).await;
    }
}
