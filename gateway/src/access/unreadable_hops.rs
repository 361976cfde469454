//! Warnings about proxies that send an `X-Forwarded-For` that cannot be read: one a minute for
//! each, as every request of such a proxy has one.
use std::{net::IpAddr, num::NonZeroU32};

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::client_address::UnreadableHop;
use crate::meters;

/// How many proxies are told apart. Beyond that only the metric counts.
const MAX_PROXIES: usize = 256;

/// The proxies that were warned about within the last minute.
#[derive(Debug)]
pub(crate) struct UnreadableHops {
    warned: DefaultKeyedRateLimiter<IpAddr>,
}

impl Default for UnreadableHops {
    fn default() -> Self {
        Self {
            warned: RateLimiter::keyed(Quota::per_minute(NonZeroU32::MIN)),
        }
    }
}

impl UnreadableHops {
    /// Counts a hop that cannot be read, and warns of the proxy that sent it.
    pub fn note(&self, fault: &UnreadableHop) {
        meters::unreadable_client_address();
        if self.may_warn(fault.proxy) {
            tracing::warn!(
                proxy = %fault.proxy,
                hop = ?fault.hop,
                "a trusted proxy sent an X-Forwarded-For that cannot be read: its clients count as \
                 unknown. Let it send addresses, or take it out of gateway.trusted_proxies"
            );
        }
    }

    fn may_warn(&self, proxy: IpAddr) -> bool {
        if self.warned.len() >= MAX_PROXIES {
            self.warned.retain_recent();
        }
        self.warned.len() < MAX_PROXIES && self.warned.check_key(&proxy).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_s2_each_proxy_is_warned_of_once_a_minute_and_many_fill_no_memory() {
        let hops = UnreadableHops::default();
        let proxy = |n: u32| IpAddr::from(n.to_be_bytes());
        assert!(hops.may_warn(proxy(1)));
        assert!(!hops.may_warn(proxy(1)));
        assert!(hops.may_warn(proxy(2)));
        for n in 3..2000 {
            hops.may_warn(proxy(n));
        }
        assert!(hops.warned.len() <= MAX_PROXIES);
    }
}
