//! Enforces the request rate limit of an app.
//!
//! Signed-in users are counted by user, all other clients by network, unknown addresses as one. The
//! number of counters is bounded: a counter without recent requests is dropped, and when there are
//! still too many, further clients share one.
use std::{
    hash::Hash,
    num::NonZeroU32,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use governor::{
    DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
};
use portico_request::client_address::{ClientAddress, ClientNetwork};
use tokio::time::Instant;

use crate::config::AppLimits;

/// Bounds the rate counters of one app, separately for users and for networks.
const MAX_COUNTERS: usize = 65_536;

/// A client has sent more requests to an app than its limit allows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more requests to {app} than its limit allows")]
pub(crate) struct RateLimited {
    /// The display name of the app.
    pub app: String,
    /// How long to wait before the next request.
    pub wait: Duration,
}

/// An app's limits.
#[derive(Debug)]
pub(crate) struct Limits {
    /// The display name of the app.
    name: String,
    rate: Option<Rate>,
}

#[derive(Debug)]
struct Rate {
    users: Counters<String>,
    networks: Counters<ClientNetwork>,
}

#[derive(Debug)]
struct Counters<K: Hash + Eq + Clone> {
    each: DefaultKeyedRateLimiter<K>,
    /// The counter that clients share when there are too many counters.
    rest: DefaultDirectRateLimiter,
    created: Instant,
    /// When the counters were last cleaned up, in seconds since they were created.
    cleared: AtomicU64,
    max_counters: usize,
    clock: DefaultClock,
}

impl Limits {
    pub fn new(name: &str, config: &AppLimits) -> Self {
        Self {
            name: name.to_owned(),
            rate: config.rate().map(|(rate, burst)| Rate {
                users: Counters::new(rate, burst, MAX_COUNTERS),
                networks: Counters::new(rate, burst, MAX_COUNTERS),
            }),
        }
    }

    /// Counts a request of a user, or of a network without a signed-in user.
    ///
    /// # Errors
    ///
    /// [`RateLimited`] when the limit is exceeded.
    pub fn admit(
        &self,
        user_id: Option<&String>,
        client: ClientAddress,
    ) -> Result<(), RateLimited> {
        let Some(rate) = &self.rate else {
            return Ok(());
        };
        let admitted = match user_id {
            Some(user_id) => rate.users.count(user_id),
            None => rate.networks.count(&client.network()),
        };
        admitted.map_err(|wait| RateLimited {
            app: self.name.clone(),
            wait,
        })
    }
}

impl<K: Hash + Eq + Clone> Counters<K> {
    fn new(rate: NonZeroU32, burst: NonZeroU32, max_counters: usize) -> Self {
        let quota = Quota::per_second(rate).allow_burst(burst);
        Self {
            each: RateLimiter::keyed(quota),
            rest: RateLimiter::direct(quota),
            created: Instant::now(),
            cleared: AtomicU64::new(u64::MAX),
            max_counters,
            clock: DefaultClock::default(),
        }
    }

    /// Counts a request; the error is how long to wait.
    fn count(&self, key: &K) -> Result<(), Duration> {
        if self.each.len() >= self.max_counters && !self.made_room() {
            return self.count_among_the_rest();
        }
        let counted = self.each.check_key(key);
        counted.map_err(|not_until| not_until.wait_time_from(self.clock.now()))
    }

    fn count_among_the_rest(&self) -> Result<(), Duration> {
        let counted = self.rest.check();
        counted.map_err(|not_until| not_until.wait_time_from(self.clock.now()))
    }

    /// Drops counters without recent requests; at most once a second, as it visits all of them.
    fn made_room(&self) -> bool {
        let now = self.created.elapsed().as_secs();
        if self.cleared.swap(now, Ordering::Relaxed) != now {
            self.each.retain_recent();
        }
        self.each.len() < self.max_counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters<K: Hash + Eq + Clone>(burst: u32, max_counters: usize) -> Counters<K> {
        let number = |n| NonZeroU32::new(n).expect("not zero");
        Counters::new(number(1), number(burst), max_counters)
    }

    #[test]
    fn each_has_a_burst_of_its_own_and_gets_the_time_to_wait() {
        let counters = counters::<&str>(3, 100);
        for _ in 0..3 {
            assert_eq!(counters.count(&"ada"), Ok(()));
        }
        let wait = counters.count(&"ada").expect_err("one too many");
        assert!(wait <= Duration::from_secs(1), "{wait:?}");
        assert_eq!(counters.count(&"otto"), Ok(()));
    }

    #[test]
    fn a_flood_of_addresses_fills_no_memory_and_shares_one_counter() {
        let counters = counters::<u32>(2, 100);
        let admitted = (0..10_000).filter(|key| counters.count(key).is_ok());
        assert_eq!(admitted.count(), 102);
        assert!(counters.each.len() <= 100);
    }

    #[test]
    fn finding_s2_unknown_clients_share_a_counter_of_their_own() {
        let counters = counters::<ClientNetwork>(2, 100);
        for _ in 0..2 {
            assert_eq!(counters.count(&ClientNetwork::Unknown), Ok(()));
        }
        assert!(counters.count(&ClientNetwork::Unknown).is_err());
        let known = ClientNetwork::Known([192, 0, 2, 1].into());
        assert_eq!(counters.count(&known), Ok(()));
        assert_eq!(counters.count_among_the_rest(), Ok(()));
    }
}
