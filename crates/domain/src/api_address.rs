//! Addresses of API servers, compared by what they reach instead of by their text.
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const HTTPS: &str = "https";
const HTTPS_PORT: u16 = 443;

/// The address of an API server in its normal form. Host names are not looked up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ApiAddress {
    host: Host,
    port: u16,
    /// Without a slash at its end; empty for most API servers.
    path: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Host {
    Ip(IpAddr),
    /// In lower case, without the dot of the root at its end.
    Name(String),
}

impl ApiAddress {
    /// Returns the normal form of `https://host[:port][/path]`: the scheme and a host name in lower case, no
    /// dot at its end, an IPv4 address in place of the IPv6 address that is mapped to it, the default port as
    /// a number, and no slash at the end. Returns `None` for anything else, also for a user name, a query, a
    /// fragment or an IPv6 zone.
    #[must_use]
    pub fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        if !scheme.eq_ignore_ascii_case(HTTPS) || rest.contains(['@', '?', '#', '\\', '%']) {
            return None;
        }
        let (authority, path) = match rest.split_once('/') {
            Some((authority, path)) => (authority, format!("/{path}")),
            None => (rest, String::new()),
        };
        let (host, port) = split_port(authority)?;
        Some(Self {
            host: parse_host(host)?,
            port: match port {
                None | Some("") => HTTPS_PORT,
                Some(digits) => parse_port(digits)?,
            },
            path: path.trim_end_matches('/').to_owned(),
        })
    }

    /// Returns whether a connection to either reaches the same API server; see [`reached`].
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let is_same_host = match (&self.host, &other.host) {
            (Host::Ip(one), Host::Ip(other)) => reached(*one) == reached(*other),
            (one, other) => one == other,
        };
        is_same_host && self.port == other.port && self.path == other.path
    }
}

impl fmt::Display for ApiAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (port, path) = (self.port, &self.path);
        match &self.host {
            Host::Ip(IpAddr::V6(ip)) => write!(f, "{HTTPS}://[{ip}]:{port}{path}"),
            Host::Ip(IpAddr::V4(ip)) => write!(f, "{HTTPS}://{ip}:{port}{path}"),
            Host::Name(name) => write!(f, "{HTTPS}://{name}:{port}{path}"),
        }
    }
}

/// Returns whether two addresses reach the same API server. Addresses that cannot be parsed are the same
/// if their texts are.
#[must_use]
pub fn is_same_api(one: &str, other: &str) -> bool {
    match (ApiAddress::parse(one), ApiAddress::parse(other)) {
        (Some(one), Some(other)) => one.is_same(&other),
        (None, None) => one.trim_end_matches('/') == other.trim_end_matches('/'),
        _ => false,
    }
}

/// Returns the address that a connection reaches: the IPv4 address in a mapped one or a compatible one
/// (RFC 4291), in one of the well-known prefix of NAT64 (RFC 6052), which a translator of the network
/// forwards to it, and in one of 6to4 (RFC 3056), whose packets are sent to it.
#[must_use]
pub fn reached(ip: IpAddr) -> IpAddr {
    let v6 = match ip.to_canonical() {
        IpAddr::V6(v6) => v6,
        v4 @ IpAddr::V4(_) => return v4,
    };
    match v6.segments() {
        // `::` and `::1` have a meaning of their own
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => IpAddr::V6(v6),
        [0, 0, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => embedded(high, low),
        _ => IpAddr::V6(v6),
    }
}

fn embedded(high: u16, low: u16) -> IpAddr {
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    IpAddr::V4(Ipv4Addr::new(a, b, c, d))
}

/// Splits `host[:port]`; an IPv6 address is in brackets, and keeps them.
fn split_port(authority: &str) -> Option<(&str, Option<&str>)> {
    if authority.starts_with('[') {
        let end = authority.find(']')?;
        let (host, rest) = authority.split_at_checked(end + 1)?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(port))),
            None if rest.is_empty() => Some((host, None)),
            None => None,
        };
    }
    match authority.split_once(':') {
        Some((host, port)) => Some((host, Some(port))),
        None => Some((authority, None)),
    }
}

fn parse_host(host: &str) -> Option<Host> {
    if let Some(v6) = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        let ip: Ipv6Addr = v6.parse().ok()?;
        return Some(Host::Ip(IpAddr::V6(ip).to_canonical()));
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    if let Ok(ip) = name.parse::<Ipv4Addr>() {
        return Some(Host::Ip(IpAddr::V4(ip)));
    }
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    (is_name && !name.is_empty()).then(|| Host::Name(name.to_ascii_lowercase()))
}

/// Returns a port of digits only; the parser of the standard library accepts a sign.
fn parse_port(digits: &str) -> Option<u16> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str) -> Option<String> {
        ApiAddress::parse(url).map(|address| address.to_string())
    }

    #[test]
    fn forms_of_one_address_are_equal() {
        for (one, others) in [
            (
                "https://192.0.2.7:6443",
                [
                    "HTTPS://192.0.2.7:6443/",
                    "https://192.0.2.7.:06443",
                    "https://[::ffff:192.0.2.7]:6443",
                    "https://[64:ff9b::c000:207]:6443//",
                ],
            ),
            (
                "https://[2001:db8::7]:6443",
                [
                    "https://[2001:DB8:0::7]:6443",
                    "https://[2001:db8:0:0:0:0:0:7]:6443/",
                    "https://[2001:0db8::0007]:6443",
                    "https://[2001:db8::0.0.0.7]:6443",
                ],
            ),
            (
                "https://kube.example.org",
                [
                    "https://KUBE.example.org.",
                    "https://kube.example.org:443",
                    "https://kube.example.org:/",
                    "Https://kube.Example.org.:443/",
                ],
            ),
        ] {
            for other in others {
                assert!(is_same_api(one, other), "{one} {other}");
            }
        }
    }

    #[test]
    fn other_hosts_ports_and_paths_are_other_addresses() {
        let one = "https://192.0.2.7:6443";
        for other in [
            "https://192.0.2.8:6443",
            "https://192.0.2.7",
            "https://192.0.2.7:6443/clusters/a",
            "https://[2001:db8::c000:207]:6443",
            "http://192.0.2.7:6443",
            "https://user@192.0.2.7:6443",
        ] {
            assert!(!is_same_api(one, other), "{other}");
        }
        let with_path = "https://kube.example.org/k8s/clusters/a";
        assert!(is_same_api(
            with_path,
            "https://kube.example.org:443/k8s/clusters/a/"
        ));
        // a path has its case
        assert!(!is_same_api(
            with_path,
            "https://kube.example.org/k8s/clusters/A"
        ));
    }

    #[test]
    fn the_normal_form_has_its_port_and_no_slash() {
        for (url, expected) in [
            ("HTTPS://192.0.2.7/", "https://192.0.2.7:443"),
            ("https://[::FFFF:192.0.2.7]:6443", "https://192.0.2.7:6443"),
            ("https://[2001:DB8::7]", "https://[2001:db8::7]:443"),
            (
                "https://Kube.example.org.:6443/a/",
                "https://kube.example.org:6443/a",
            ),
        ] {
            assert_eq!(shown(url).as_deref(), Some(expected), "{url}");
            assert_eq!(shown(expected).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_programs_read_differently_has_no_normal_form() {
        for url in [
            "192.0.2.7:6443",
            "http://192.0.2.7:6443",
            "https://",
            "https:///path",
            "https://:6443",
            "https://user@192.0.2.7",
            "https://192.0.2.7\\@198.51.100.7",
            "https://192.0.2.7?a=b",
            "https://192.0.2.7#a",
            "https://192.0.2.7:+6443",
            "https://192.0.2.7:65536",
            "https://2001:db8::7",
            "https://[2001:db8::7",
            "https://[2001:db8::7]6443",
            "https://[fe80::1%25eth0]:6443",
            "https://[kube]:6443",
            "https://kube example.org",
        ] {
            assert_eq!(ApiAddress::parse(url), None, "{url}");
        }
        assert!(is_same_api("nonsense/", "nonsense"));
    }

    #[test]
    fn the_ipv4_address_in_an_ipv6_address_is_found() {
        let reached = |text: &str| super::reached(text.parse().unwrap()).to_string();
        for embedding in [
            "::ffff:192.0.2.7",
            "::192.0.2.7",
            "64:ff9b::192.0.2.7",
            "2002:c000:207::1",
        ] {
            assert_eq!(reached(embedding), "192.0.2.7", "{embedding}");
        }
        for plain in [
            "::",
            "::1",
            "2001:db8::7",
            "64:ff9c::7f00:1",
            "0:ff9b::7f00:1",
        ] {
            let ip: IpAddr = plain.parse().unwrap();
            assert_eq!(super::reached(ip), ip, "{plain}");
        }
    }
}
