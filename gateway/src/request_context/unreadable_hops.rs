//! Logs warnings about proxies that send an unreadable `X-Forwarded-For`: one per proxy and minute,
//! as every request of such a proxy has one.
use std::{net::IpAddr, num::NonZeroU32};

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use portico_request::client_address::UnreadableHop;

use crate::metrics;

/// Bounds the proxies that get warnings of their own; further ones are only counted in the metric.
const MAX_PROXIES: usize = 256;

/// The proxies for which a warning was logged within the last minute.
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
    /// Counts an unreadable hop, and logs a warning about the proxy that sent it.
    pub fn note(&self, fault: &UnreadableHop) {
        metrics::unreadable_client_address();
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
