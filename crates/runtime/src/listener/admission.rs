//! Limits on connections: in total, and per client address.
use super::{Limits, Proxies};
use crate::client_network::client_network;
use crate::metrics::{CONNECTIONS, REFUSED_CONNECTIONS};
use metrics::{Counter, Gauge};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// The connections of one listener. Clones share them.
#[derive(Clone)]
pub(super) struct Admission(Arc<Shared>);

struct Shared {
    max_connections: usize,
    most_per_address: usize,
    proxies: Proxies,
    open: Mutex<Open>,
    gauge: Gauge,
    refused_full: Counter,
    refused_address: Counter,
}

#[derive(Debug, Default)]
struct Open {
    all: usize,
    per_address: HashMap<IpAddr, usize>,
}

/// The reason why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Full,
    TooManyOfOne,
}

/// An admitted connection; released when dropped.
pub(super) struct Place {
    shared: Arc<Shared>,
    address: Option<IpAddr>,
}

impl Admission {
    pub fn new(name: &'static str, limits: &Limits, proxies: Proxies) -> Self {
        let refused = |reason: &'static str| metrics::counter!(REFUSED_CONNECTIONS, "listener" => name, "reason" => reason);
        Self(Arc::new(Shared {
            max_connections: limits.connections,
            most_per_address: limits.connections_per_address,
            proxies,
            open: Mutex::default(),
            gauge: metrics::gauge!(CONNECTIONS, "listener" => name),
            refused_full: refused("full"),
            refused_address: refused("address"),
        }))
    }

    pub fn admit(&self, address: IpAddr) -> Result<Place, Refused> {
        let shared = &self.0;
        let address = address.to_canonical();
        let counted = (!(shared.proxies.0)(address)).then(|| client_network(address));
        let mut open = shared.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.all >= shared.max_connections {
            shared.refused_full.increment(1);
            return Err(Refused::Full);
        }
        if let Some(address) = counted {
            let of_one = open.per_address.get(&address).copied().unwrap_or_default();
            if of_one >= shared.most_per_address {
                shared.refused_address.increment(1);
                return Err(Refused::TooManyOfOne);
            }
            open.per_address.insert(address, of_one + 1);
        }
        open.all += 1;
        shared.gauge.increment(1.0);
        Ok(Place {
            shared: Arc::clone(shared),
            address: counted,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self
            .shared
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        open.all -= 1;
        if let Some(address) = self.address
            && let Some(of_one) = open.per_address.get_mut(&address)
        {
            *of_one -= 1;
            if *of_one == 0 {
                open.per_address.remove(&address);
            }
        }
        self.shared.gauge.decrement(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(connections: usize, connections_per_address: usize) -> Admission {
        let limits = Limits {
            connections,
            connections_per_address,
            ..Limits::default()
        };
        let proxies = Proxies(Arc::new(|address| address == ip("192.0.2.9")));
        Admission::new("test", &limits, proxies)
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_address_gets_its_share_and_others_theirs() {
        let admission = admission(10, 2);
        let kept: Vec<_> = (0..2).map(|_| admission.admit(ip("192.0.2.1"))).collect();
        assert!(kept.iter().all(Result::is_ok));
        assert_eq!(
            admission.admit(ip("192.0.2.1")).err(),
            Some(Refused::TooManyOfOne)
        );
        assert!(admission.admit(ip("192.0.2.2")).is_ok());
        drop(kept);
        assert!(admission.admit(ip("192.0.2.1")).is_ok());
        assert!(admission.0.open.lock().unwrap().per_address.is_empty());
    }

    #[test]
    fn addresses_of_one_network_count_as_one() {
        let admission = admission(10, 1);
        let _first = admission.admit(ip("2001:db8::1"));
        assert!(admission.admit(ip("2001:db8::2")).is_err());
        assert!(admission.admit(ip("2001:db8:0:1::1")).is_ok());
        // the same machine over both protocols
        let _mapped = admission.admit(ip("::ffff:192.0.2.1"));
        assert!(admission.admit(ip("192.0.2.1")).is_err());
    }

    #[test]
    fn proxies_share_only_the_whole() {
        let admission = admission(3, 1);
        let kept: Vec<_> = (0..3).map(|_| admission.admit(ip("192.0.2.9"))).collect();
        assert!(kept.iter().all(Result::is_ok));
        assert_eq!(admission.admit(ip("192.0.2.9")).err(), Some(Refused::Full));
    }
}
