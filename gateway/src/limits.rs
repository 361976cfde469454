//! An app's limits at work: how many requests may come.
//!
//! Who is signed in is counted by user, everybody else by address. The counters are bounded: a
//! counter that is full again is forgotten, and when there are still too many, whoever comes
//! shares one.
use std::{
    hash::Hash,
    net::{IpAddr, Ipv6Addr},
    num::NonZeroU32,
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use governor::{
    DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
};
use jiff::Timestamp;

use crate::{config::AppLimits, problem::Problem, session::live::Caller, state::Context};

/// How many counters an app has at most, of users and of addresses.
const MOST: usize = 65_536;

/// An app's limits.
#[derive(Debug)]
pub(crate) struct Limits {
    /// The name that people know the app by.
    name: String,
    rate: Option<Rate>,
}

#[derive(Debug)]
struct Rate {
    users: Counters<String>,
    addresses: Counters<IpAddr>,
}

#[derive(Debug)]
struct Counters<K: Hash + Eq + Clone> {
    each: DefaultKeyedRateLimiter<K>,
    /// For those who are one too many to count apart.
    rest: DefaultDirectRateLimiter,
    /// When the counters were gone through last, in seconds since 1970.
    cleared: AtomicI64,
    most: usize,
    clock: DefaultClock,
}

impl Limits {
    pub fn new(name: &str, config: &AppLimits) -> Self {
        Self {
            name: name.to_owned(),
            rate: config.rate().map(|(rate, burst)| Rate {
                users: Counters::new(rate, burst, MOST),
                addresses: Counters::new(rate, burst, MOST),
            }),
        }
    }

    /// Counts a request, of a user or of whoever has not said who they are.
    pub fn admit(&self, context: &Context, caller: Option<&Caller>) -> Result<(), Problem> {
        let Some(rate) = &self.rate else {
            return Ok(());
        };
        let admitted = match (caller, context.client) {
            (Some(caller), _) => rate.users.count(&caller.session.user.id),
            (None, Some(address)) => rate.addresses.count(&network(address)),
            (None, None) => rate.addresses.count_among_the_rest(),
        };
        admitted.map_err(|wait| Problem::too_many_requests(&self.name, wait))
    }
}

impl<K: Hash + Eq + Clone> Counters<K> {
    fn new(rate: NonZeroU32, burst: NonZeroU32, most: usize) -> Self {
        let quota = Quota::per_second(rate).allow_burst(burst);
        Self {
            each: RateLimiter::keyed(quota),
            rest: RateLimiter::direct(quota),
            cleared: AtomicI64::new(0),
            most,
            clock: DefaultClock::default(),
        }
    }

    /// Counts one; the error is how long to wait.
    fn count(&self, key: &K) -> Result<(), Duration> {
        if self.each.len() >= self.most && !self.made_room() {
            return self.count_among_the_rest();
        }
        let counted = self.each.check_key(key);
        counted.map_err(|not_until| not_until.wait_time_from(self.clock.now()))
    }

    fn count_among_the_rest(&self) -> Result<(), Duration> {
        let counted = self.rest.check();
        counted.map_err(|not_until| not_until.wait_time_from(self.clock.now()))
    }

    /// Forgets whoever has not come lately; at most once a second, as it goes through all.
    fn made_room(&self) -> bool {
        let now = Timestamp::now().as_second();
        if self.cleared.swap(now, Ordering::Relaxed) != now {
            self.each.retain_recent();
        }
        self.each.len() < self.most
    }
}

/// Who has one IPv6 address has its /64.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters<K: Hash + Eq + Clone>(burst: u32, most: usize) -> Counters<K> {
        let number = |n| NonZeroU32::new(n).expect("not zero");
        Counters::new(number(1), number(burst), most)
    }

    #[test]
    fn each_has_a_burst_of_its_own_and_is_told_how_long_to_wait() {
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
    fn who_has_a_network_counts_once() {
        let of = |text: &str| network(text.parse().expect("address"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
