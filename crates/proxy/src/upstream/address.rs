//! Parses the address of an upstream in the configuration.
use std::path::PathBuf;

use http::{
    HeaderValue, Uri,
    uri::{Authority, Scheme},
};
use url::Url;

/// The address of a backend, and its protocol.
#[derive(Clone, Debug)]
pub struct Address {
    pub way: Way,
    /// Whether the connection is encrypted.
    pub tls: bool,
    /// HTTP/2 without TLS, with prior knowledge (RFC 9113 3.3).
    pub prior_knowledge: bool,
    /// The scheme in requests.
    pub scheme: Scheme,
    /// The upstream's own name: sent as `Host` if so configured, and used in logs and metrics.
    pub authority: Authority,
    pub host: HeaderValue,
    /// Path before every request's path, without a slash at the end.
    pub prefix: String,
}

/// The transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// A TCP address with host and port.
    Tcp(Uri),
    Unix(PathBuf),
}

impl Address {
    /// Parses an address. Returns `None` for anything but `http`, `https`, `h2c` and `unix`
    /// addresses, and for those with a user, a query or a fragment.
    pub fn of(url: &Url) -> Option<Self> {
        let bare = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        if !bare {
            return None;
        }
        let (tls, port) = match url.scheme() {
            "unix" => return Self::of_socket(url),
            "http" | "h2c" => (false, 80),
            "https" => (true, 443),
            _ => return None,
        };
        let host = url.host_str().filter(|host| !host.is_empty())?;
        let authority = match url.port().filter(|given| *given != port) {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let port = url.port().unwrap_or(port);
        Some(Self {
            way: Way::Tcp(format!("http://{host}:{port}").parse().ok()?),
            tls,
            prior_knowledge: url.scheme() == "h2c",
            scheme: if tls { Scheme::HTTPS } else { Scheme::HTTP },
            host: HeaderValue::from_str(&authority).ok()?,
            authority: authority.parse().ok()?,
            prefix: url.path().trim_end_matches('/').to_owned(),
        })
    }

    fn of_socket(url: &Url) -> Option<Self> {
        let path = url.path();
        // sockets with other characters in their names can be renamed
        let plain = path.starts_with('/') && !path.ends_with('/') && !path.contains('%');
        if !plain || url.host_str().is_some_and(|host| !host.is_empty()) {
            return None;
        }
        Some(Self {
            way: Way::Unix(PathBuf::from(path)),
            tls: false,
            prior_knowledge: false,
            scheme: Scheme::HTTP,
            authority: Authority::from_static("localhost"),
            host: HeaderValue::from_static("localhost"),
            prefix: String::new(),
        })
    }

    /// Returns the host to verify, where none is configured.
    pub fn host_name(&self) -> &str {
        self.authority.host().trim_matches(['[', ']'])
    }

    /// Returns whether no connection to it can use another protocol than HTTP/1.1.
    pub fn speaks_only_http1(&self) -> bool {
        !self.tls && !self.prior_knowledge
    }

    /// Returns the name of the backend in logs and metrics.
    pub fn label(&self) -> String {
        match &self.way {
            Way::Tcp(uri) => uri
                .authority()
                .map_or_else(|| self.authority.to_string(), ToString::to_string),
            Way::Unix(path) => path.display().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Address {
        Address::of(&Url::parse(url).expect("url")).expect("address")
    }

    #[test]
    fn host_and_port_are_read_from_each_kind_of_url() {
        for (url, host, there) in [
            ("http://a:80/", "a", "a:80"),
            ("http://a:8080", "a:8080", "a:8080"),
            ("https://a", "a", "a:443"),
            ("https://a:8443/x/", "a:8443", "a:8443"),
            ("h2c://a", "a", "a:80"),
            ("http://[::1]:3000", "[::1]:3000", "[::1]:3000"),
            ("unix:/run/a.sock", "localhost", "/run/a.sock"),
            ("unix:///run/a.sock", "localhost", "/run/a.sock"),
        ] {
            let address = of(url);
            assert_eq!(address.host, host, "{url}");
            assert_eq!(address.label(), there, "{url}");
        }
        assert_eq!(of("https://[::1]:3000").host_name(), "::1");
        assert_eq!(of("https://a:8443/x/").prefix, "/x");
    }
}
