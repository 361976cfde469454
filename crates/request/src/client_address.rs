//! Determines the client's address: the peer's, or the one that a trusted proxy forwards.
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use http::HeaderMap;
use ipnet::IpNet;
use portico_runtime::client_network::client_network;

/// Bounds how much of an unreadable hop is logged, in characters.
const MAX_LOGGED_HOP_CHARS: usize = 64;

/// The client's address of a request.
///
/// A rule that permits a network does not permit an unknown client, a rule that refuses a network
/// also refuses an unknown client, and limits count all unknown clients as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAddress {
    Known(IpAddr),
    /// The peer has no address, or a trusted proxy named one that cannot be read.
    Unknown,
    /// The gateway acts by itself, without a client.
    Internal,
}

/// The key by which limits count a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClientNetwork {
    /// An IPv4 address, or the lowest address of an IPv6 /64.
    Known(IpAddr),
    /// All clients whose address is unknown.
    Unknown,
}

/// A hop of `X-Forwarded-For` that is not an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableHop {
    /// The trusted proxy that sent it.
    pub proxy: IpAddr,
    /// Its beginning. Clients may have written it.
    pub hop: String,
}

impl ClientAddress {
    /// Returns the address as logs, pages and the audit log write it: `unknown`, or
    /// nothing for the gateway itself.
    pub fn text(self) -> String {
        match self {
            Self::Known(address) => text(address),
            Self::Unknown => "unknown".to_owned(),
            Self::Internal => String::new(),
        }
    }

    /// Returns the key by which limits count the client.
    pub fn network(self) -> ClientNetwork {
        match self {
            Self::Known(address) => ClientNetwork::Known(client_network(address)),
            Self::Unknown | Self::Internal => ClientNetwork::Unknown,
        }
    }

    /// Returns whether the client is known to be in one of the networks.
    pub fn is_in(self, networks: &[IpNet]) -> bool {
        match self {
            Self::Known(address) => is_trusted(address, networks),
            Self::Unknown | Self::Internal => false,
        }
    }
}

impl From<Option<IpAddr>> for ClientAddress {
    fn from(address: Option<IpAddr>) -> Self {
        address.map_or(Self::Unknown, Self::Known)
    }
}

impl std::fmt::Display for ClientNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Known(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Known(IpAddr::V6(address)) => write!(f, "{address}/64"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

/// Returns whether an address is in one of the networks. An IPv4 address also matches when written
/// as IPv6.
pub fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    let address = address.to_canonical();
    trusted.iter().any(|network| network.contains(&address))
}

/// Returns the client's address of a request. Only entries written by trusted peers are read, from
/// the right: everything left of the first untrusted hop may be forged. A trusted peer that sends
/// no `X-Forwarded-For` is the client itself.
///
/// # Errors
/// When a trusted proxy sends a hop that is not an address: then the client is unknown.
pub fn client_address(
    peer: Option<SocketAddr>,
    headers: &HeaderMap,
    trusted: &[IpNet],
) -> Result<ClientAddress, UnreadableHop> {
    let Some(peer) = peer else {
        return Ok(ClientAddress::Unknown);
    };
    let mut address = peer.ip().to_canonical();
    if trusted.is_empty() {
        return Ok(ClientAddress::Known(address));
    }
    // as bytes: a line that is not text must not vanish with the hops that it holds
    let mut hops = headers
        .get_all("x-forwarded-for")
        .iter()
        .rev()
        .flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
    while is_trusted(address, trusted) {
        let Some(hop) = hops.next() else {
            break;
        };
        address = read_hop(hop).ok_or_else(|| UnreadableHop {
            proxy: address,
            hop: String::from_utf8_lossy(hop)
                .trim()
                .chars()
                .take(MAX_LOGGED_HOP_CHARS)
                .collect(),
        })?;
    }
    Ok(ClientAddress::Known(address))
}

/// Reads a hop: an address, with a port or without (Azure and IIS append one), an IPv6 address in
/// brackets or not.
fn read_hop(hop: &[u8]) -> Option<IpAddr> {
    let hop = std::str::from_utf8(hop).ok()?.trim();
    let bracketed = || {
        let inner = hop.strip_prefix('[')?.strip_suffix(']')?;
        inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6)
    };
    let with_port = || hop.parse::<SocketAddr>().ok().map(|socket| socket.ip());
    let address = hop.parse().ok().or_else(with_port).or_else(bracketed)?;
    Some(address.to_canonical())
}

/// Returns the address as text. Every request formats its client's address, most of them IPv4, for
/// which the standard library's formatting takes several times as long.
pub fn text(address: IpAddr) -> String {
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
    use http::HeaderValue;

    fn read(
        peer: &str,
        forwarded: &[&[u8]],
        trusted: &[&str],
    ) -> Result<ClientAddress, UnreadableHop> {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            let line = HeaderValue::from_bytes(line).expect("value");
            headers.append("x-forwarded-for", line);
        }
        let trusted: Vec<IpNet> = trusted.iter().map(|n| n.parse().expect("net")).collect();
        let peer = SocketAddr::new(peer.parse().expect("ip"), 4711);
        client_address(Some(peer), &headers, &trusted)
    }

    fn address(peer: &str, forwarded: &[&str], trusted: &[&str]) -> String {
        let lines: Vec<&[u8]> = forwarded.iter().map(|line| line.as_bytes()).collect();
        read(peer, &lines, trusted).expect("readable").text()
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
    fn no_proxy_is_trusted_by_default() {
        assert_eq!(address("192.0.2.7", &["10.0.0.1"], &[]), "192.0.2.7");
        assert_eq!(address("192.0.2.7", &["unknown"], &[]), "192.0.2.7");
    }

    #[test]
    fn an_untrusted_peer_speaks_for_itself() {
        for line in ["10.0.0.1", "unknown", ""] {
            let read = address("192.0.2.7", &[line], &["127.0.0.0/8"]);
            assert_eq!(read, "192.0.2.7", "{line}");
        }
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
        // what is left of it is not read
        assert_eq!(
            address("127.0.0.1", &["unknown, 198.51.100.9"], &["127.0.0.0/8"]),
            "198.51.100.9"
        );
    }

    #[test]
    fn finding_s2_a_trusted_proxy_without_the_header_speaks_for_itself() {
        assert_eq!(address("127.0.0.1", &[], &["127.0.0.0/8"]), "127.0.0.1");
        assert_eq!(
            address("127.0.0.1", &["127.0.0.2"], &["127.0.0.0/8"]),
            "127.0.0.2"
        );
    }

    #[test]
    fn finding_s2_a_hop_may_have_a_port_and_brackets() {
        for (hop, expected) in [
            ("6.6.6.6", "6.6.6.6"),
            ("6.6.6.6:1234", "6.6.6.6"),
            (" 6.6.6.6:1 ", "6.6.6.6"),
            ("2001:db8::6", "2001:db8::6"),
            ("[2001:db8::6]", "2001:db8::6"),
            ("[2001:db8::6]:1234", "2001:db8::6"),
            ("::ffff:6.6.6.6", "6.6.6.6"),
            ("[::ffff:6.6.6.6]:80", "6.6.6.6"),
            ("1.1.1.1, 6.6.6.6:1234, 127.0.0.9:80", "6.6.6.6"),
        ] {
            let read = address("127.0.0.1", &[hop], &["127.0.0.0/8"]);
            assert_eq!(read, expected, "{hop}");
        }
    }

    #[test]
    fn finding_s2_a_hop_that_cannot_be_read_makes_the_client_unknown() {
        for line in [
            "unknown",
            "_hidden",
            "",
            " ",
            "6.6.6.6,",
            "6.6.6.6, ",
            ",",
            "198.51.100.9, nonsense",
            "6.6.6.6:",
            "6.6.6.6:port",
            "6.6.6.6:123456",
            "6.6.6.6.6",
            "[6.6.6.6]",
            "[2001:db8::6",
            "2001:db8::6]",
            "fe80::1%eth0",
            "\"6.6.6.6\"",
            "for=6.6.6.6",
            "006.6.6.6",
            "6.6.6.6 7.7.7.7",
        ] {
            let fault = read("127.0.0.1", &[line.as_bytes()], &["127.0.0.0/8"]);
            let fault = fault.expect_err(line);
            assert_eq!(fault.proxy.to_string(), "127.0.0.1", "{line}");
        }
        // the proxy that is named is the one that wrote the hop, not the peer
        let chain = read("127.0.0.1", &[b"unknown, 127.0.0.7"], &["127.0.0.0/8"]);
        let fault = chain.expect_err("unreadable");
        assert_eq!(fault.proxy.to_string(), "127.0.0.7");
        assert_eq!(fault.hop, "unknown");
    }

    #[test]
    fn finding_s2_a_line_that_is_not_text_is_not_passed_over() {
        let trusted = &["127.0.0.0/8"];
        let after = read("127.0.0.1", &[b"\xff, 6.6.6.6"], trusted);
        assert_eq!(after.expect("readable").text(), "6.6.6.6");
        for lines in [
            &[&b"6.6.6.6, \xff"[..]][..],
            &[b"6.6.6.6", b"\xff"],
            &[b"\xff"],
        ] {
            assert!(read("127.0.0.1", lines, trusted).is_err(), "{lines:?}");
        }
        let long = vec![b'a'; 4000];
        let fault = read("127.0.0.1", &[&long], trusted).expect_err("unreadable");
        assert_eq!(fault.hop.len(), MAX_LOGGED_HOP_CHARS);
    }

    #[test]
    fn finding_s5_limits_count_an_ipv6_64_as_one_and_unknown_clients_apart() {
        let of = |text: &str| {
            let address: IpAddr = text.parse().expect("address");
            ClientAddress::Known(address).network().to_string()
        };
        assert_eq!(of("2001:db8:1:2::1"), "2001:db8:1:2::/64");
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff:1:2:3"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.7"), "192.0.2.7");
        assert_ne!(of("192.0.2.7"), of("192.0.2.8"));
        assert_eq!(ClientAddress::Unknown.network().to_string(), "unknown");
    }
}
