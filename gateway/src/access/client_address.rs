//! The client's address: the peer's, unless a trusted proxy says whose request it passes on.
use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use ipnet::IpNet;

/// Whether an address is in one of the networks; an IPv4 address also where it is written as IPv6.
pub(crate) fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    let address = address.to_canonical();
    trusted.iter().any(|network| network.contains(&address))
}

/// The address that a request comes from. Only what trusted peers wrote is read, from the
/// right: everything left of the first untrusted hop may be invented.
pub(crate) fn client_address(
    peer: Option<SocketAddr>,
    headers: &HeaderMap,
    trusted: &[IpNet],
) -> Option<IpAddr> {
    let mut address = peer?.ip().to_canonical();
    if trusted.is_empty() {
        return Some(address);
    }
    let lines: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    let mut hops = lines.iter().rev().flat_map(|line| line.rsplit(','));
    while is_trusted(address, trusted) {
        match hops.next().map(|hop| hop.trim().parse::<IpAddr>()) {
            Some(Ok(hop)) => address = hop.to_canonical(),
            _ => break,
        }
    }
    Some(address)
}

/// An address in writing. Every request has its client's written, most of them of IPv4, which takes
/// the standard library's formatting several times as long.
pub(crate) fn text(address: IpAddr) -> String {
    let IpAddr::V4(address) = address else {
        return address.to_string();
    };
    let [first, rest @ ..] = address.octets();
    let mut digits = itoa::Buffer::new();
    let mut text = String::with_capacity("255.255.255.255".len());
    text.push_str(digits.format(first));
    for octet in rest {
        text.push('.');
        text.push_str(digits.format(octet));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(peer: &str, forwarded: &[&str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append("x-forwarded-for", line.parse().expect("value"));
        }
        let trusted: Vec<IpNet> = trusted.iter().map(|n| n.parse().expect("net")).collect();
        let peer = SocketAddr::new(peer.parse().expect("ip"), 4711);
        client_address(Some(peer), &headers, &trusted)
            .expect("address")
            .to_string()
    }

    #[test]
    fn an_address_is_written_as_everywhere() {
        for address in [
            "0.0.0.0",
            "192.0.2.7",
            "255.255.255.255",
            "2001:db8::1",
            "::1",
        ] {
            assert_eq!(text(address.parse().expect("address")), address);
        }
    }

    #[test]
    fn nobody_is_trusted_by_default() {
        assert_eq!(address("192.0.2.7", &["10.0.0.1"], &[]), "192.0.2.7");
    }

    #[test]
    fn an_untrusted_peer_speaks_for_itself() {
        assert_eq!(
            address("192.0.2.7", &["10.0.0.1"], &["127.0.0.0/8"]),
            "192.0.2.7"
        );
    }

    #[test]
    fn the_rightmost_untrusted_hop_counts() {
        assert_eq!(
            address(
                "127.0.0.1",
                &["1.1.1.1, 198.51.100.9", "127.0.0.2"],
                &["127.0.0.0/8"]
            ),
            "198.51.100.9"
        );
    }

    #[test]
    fn rubbish_ends_the_chain() {
        assert_eq!(
            address("127.0.0.1", &["198.51.100.9, nonsense"], &["127.0.0.0/8"]),
            "127.0.0.1"
        );
    }
}
