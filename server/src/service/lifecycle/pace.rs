//! How often Magnum is asked about one cluster.
use jiff::SignedDuration;
use portico_lifecycle::progress::poll_interval;

/// While no viewer asks, in seconds.
const UNWATCHED: u64 = 15;
/// While nothing runs.
const IDLE: u64 = 15;
/// Longest pause after failures.
const MAX_PAUSE: u64 = 30;
/// For how long a viewer counts as one after a request.
const WATCHED: u64 = 10;
/// For how long a running operation is followed without a viewer, with the token of the last one: long
/// enough for a page that is loaded again or opened by a colleague.
const MAX_UNWATCHED: u64 = 120;

/// What the pace depends on. Times are in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances {
    /// Since Magnum accepted what runs; `None`: nothing runs.
    pub running: Option<SignedDuration>,
    /// Since a viewer asked last; `None`: there is no token to ask with.
    pub asked: Option<u64>,
    /// Failed calls in a row.
    pub failures: u32,
    /// Whether Magnum no longer has the cluster.
    pub is_gone: bool,
}

/// Returns the pause between two calls in seconds; `None`: Magnum is not asked any more.
pub fn pause(now: Circumstances) -> Option<u64> {
    let asked = now.asked?;
    if now.is_gone {
        return None;
    }
    let watched = watched_pause(now);
    // viewers ask in the same intervals
    let is_watched = asked <= WATCHED.max(watched.saturating_mul(2));
    match (now.running, is_watched) {
        (_, true) => Some(watched),
        (Some(_), false) if asked <= MAX_UNWATCHED => Some(watched.max(UNWATCHED)),
        (_, false) => None,
    }
}

/// Returns the pause between two calls while viewers ask, in seconds.
pub fn watched_pause(now: Circumstances) -> u64 {
    let usual = match now.running {
        Some(elapsed) => u64::try_from(poll_interval(elapsed).as_secs()).unwrap_or(IDLE),
        None => IDLE,
    };
    let doublings = now.failures.min(4);
    usual.saturating_mul(1 << doublings).min(MAX_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(asked: u64) -> Circumstances {
        Circumstances {
            running: Some(SignedDuration::from_secs(5)),
            asked: Some(asked),
            failures: 0,
            is_gone: false,
        }
    }

    #[test]
    fn a_running_operation_with_viewers_is_read_every_two_seconds_and_seldom_without() {
        assert_eq!(pause(running(0)), Some(2));
        assert_eq!(pause(running(10)), Some(2));
        assert_eq!(pause(running(11)), Some(15));
        assert_eq!(pause(running(120)), Some(15));
        assert_eq!(pause(running(121)), None);
    }

    #[test]
    fn reading_ends_by_itself() {
        let idle = Circumstances {
            running: None,
            ..running(0)
        };
        assert_eq!(pause(idle), Some(15));
        assert_eq!(
            pause(Circumstances {
                asked: Some(31),
                ..idle
            }),
            None
        );
        assert_eq!(
            pause(Circumstances {
                asked: None,
                ..idle
            }),
            None
        );
        let gone = Circumstances {
            is_gone: true,
            ..running(0)
        };
        assert_eq!(pause(gone), None);
    }

    #[test]
    fn failures_slow_it_down() {
        let pauses = [0, 1, 2, 9].map(|failures| {
            pause(Circumstances {
                failures,
                ..running(0)
            })
        });
        assert_eq!(pauses, [Some(2), Some(4), Some(8), Some(30)]);
    }
}
