//! A circuit breaker for one endpoint.
//!
//! After some failures in a row, calls fail at once, and one call per interval is let through to
//! probe the endpoint. So an outage costs Keystone one call a second whatever the number of users,
//! and ends for all of them with the first response.
use super::error::{Error, Unavailable};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The circuit opens after this many failures in a row; a single lost call is not an outage.
const FAILURE_THRESHOLD: u32 = 5;
/// Maximum `Retry-After` of a proxy that is respected.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// One endpoint's circuit.
#[derive(Debug)]
pub(super) struct Circuit {
    probe_every: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    /// Requested by the endpoint itself, with `Retry-After`.
    held_until: Option<Instant>,
    probed: Option<Instant>,
}

/// The change that a result causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Opened,
    Closed,
}

impl State {
    fn is_open(&self) -> bool {
        self.failures >= FAILURE_THRESHOLD || self.held_until.is_some()
    }
}

impl Circuit {
    /// Returns a closed circuit, which lets one call through every `probe_every` while it is open.
    pub fn new(probe_every: Duration) -> Self {
        Self {
            probe_every,
            state: Mutex::default(),
        }
    }

    /// Returns whether a call may be sent now.
    pub fn admits(&self, now: Instant) -> bool {
        let mut state = self.state();
        if !state.is_open() {
            return true;
        }
        let held = state.held_until.is_some_and(|until| now < until);
        let probed = |at| now.saturating_duration_since(at) < self.probe_every;
        if held || state.probed.is_some_and(probed) {
            return false;
        }
        state.probed = Some(now);
        true
    }

    /// Records the result of a call. `retry_after` is the value in a 429 or 503.
    pub fn learn(
        &self,
        result: Result<(), &Error>,
        retry_after: Option<Duration>,
        now: Instant,
    ) -> Option<Change> {
        let mut state = self.state();
        let was_open = state.is_open();
        match result {
            Err(error) if is_outage(error) => {
                state.failures = state.failures.saturating_add(1);
                if let Some(wait) = retry_after {
                    state.held_until = Some(now + wait.min(MAX_RETRY_AFTER));
                }
            }
            // it is not known what responded there: neither good nor bad
            Err(Error::Malformed(_) | Error::Unavailable(_)) => {}
            _ => *state = State::default(),
        }
        match (was_open, state.is_open()) {
            (false, true) => Some(Change::Opened),
            (true, false) => Some(Change::Closed),
            _ => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether an error counts as an outage. A 500 does not: a user could have a token at which
/// Keystone fails each time.
fn is_outage(error: &Error) -> bool {
    match error {
        Error::Unavailable(Unavailable::Status(status)) => matches!(status, 429 | 502..=504),
        Error::Unavailable(Unavailable::NotAsked | Unavailable::Limited) => false,
        Error::Unavailable(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GONE: Error = Error::Unavailable(Unavailable::Connect(None));

    fn circuit() -> (Circuit, Instant) {
        (Circuit::new(Duration::from_secs(1)), Instant::now())
    }

    fn fail(circuit: &Circuit, times: u32, now: Instant) -> Vec<Option<Change>> {
        (0..times)
            .map(|_| circuit.learn(Err(&GONE), None, now))
            .collect()
    }

    fn admitted(circuit: &Circuit, now: Instant) -> usize {
        (0..1000).filter(|_| circuit.admits(now)).count()
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_few_lost_calls_are_no_outage() {
        let (circuit, now) = circuit();
        fail(&circuit, FAILURE_THRESHOLD - 1, now);
        assert_eq!(admitted(&circuit, now), 1000);
        circuit.learn(Ok(()), None, now);
        fail(&circuit, FAILURE_THRESHOLD - 1, now);
        assert_eq!(admitted(&circuit, now), 1000);
    }

    #[test]
    fn an_outage_costs_one_call_a_second_and_ends_with_the_first_answer() {
        let (circuit, start) = circuit();
        let changes = fail(&circuit, FAILURE_THRESHOLD, start);
        assert_eq!(changes.last(), Some(&Some(Change::Opened)));
        for second in 0..10 {
            let now = start + seconds(second);
            assert_eq!(admitted(&circuit, now), 1);
            assert_eq!(fail(&circuit, 1, now), [None]);
        }
        // a refusal is a response too
        let closed = circuit.learn(Err(&Error::InvalidToken), None, start);
        assert_eq!(closed, Some(Change::Closed));
        assert_eq!(admitted(&circuit, start), 1000);
    }

    #[test]
    fn a_wait_that_the_endpoint_asks_for_is_kept_within_bounds() {
        let (circuit, start) = circuit();
        let busy = Error::Unavailable(Unavailable::Status(429));
        let opened = circuit.learn(Err(&busy), Some(seconds(10)), start);
        assert_eq!(opened, Some(Change::Opened));
        assert_eq!(admitted(&circuit, start + seconds(9)), 0);
        let later = start + seconds(10);
        assert_eq!(admitted(&circuit, later), 1);
        circuit.learn(Err(&busy), Some(seconds(86_400)), later);
        assert_eq!(admitted(&circuit, later + seconds(59)), 0);
        assert_eq!(admitted(&circuit, later + seconds(60)), 1);
        let closed = circuit.learn(Ok(()), None, later);
        assert_eq!(closed, Some(Change::Closed));
        assert_eq!(admitted(&circuit, later), 1000);
    }

    #[test]
    fn one_request_that_keystone_fails_on_is_not_an_outage() {
        let (circuit, now) = circuit();
        for error in [
            Error::Unavailable(Unavailable::Status(500)),
            Error::Malformed("unexpected content"),
            Error::Unavailable(Unavailable::NotAsked),
        ] {
            for _ in 0..100 {
                assert_eq!(circuit.learn(Err(&error), None, now), None);
            }
        }
        assert_eq!(admitted(&circuit, now), 1000);
    }
}
