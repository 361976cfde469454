//! The network by which rate limits count a client.
use std::net::{IpAddr, Ipv6Addr};

/// Returns the network that one client is assumed to control: for an IPv4 address (also one mapped
/// to IPv6) the address itself, for an IPv6 address its /64.
///
/// Providers assign a /64 to each customer, so a client may change the lower half of its address
/// with every connection.
#[must_use]
pub fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_its_ipv4_address_or_its_ipv6_64() {
        let of = |text: &str| client_network(text.parse().unwrap()).to_string();
        assert_eq!(of("192.0.2.7"), "192.0.2.7");
        assert_eq!(of("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(of("2001:db8:1:2:ffff:1:2:3"), "2001:db8:1:2::");
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
    }
}
