//! The host names that the admin port accepts.
//!
//! For the browser, a web page whose own host name resolves to this address (DNS rebinding) has the
//! same origin as the port, and could read the metrics. It can do so only under its own name: an IP
//! address cannot be rebound.
use axum::body::Body;
use axum::extract::State;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::{Request, StatusCode, header, uri::Authority};
use std::collections::HashSet;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Maximum number of names in the configuration.
const MAX_HOSTS: usize = 64;
/// Maximum length of a host name in DNS.
const MAX_HOST_BYTES: usize = 253;
/// Time between two log lines about refused requests.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// An entry of `admin.hosts` cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidHost {
    /// Not a host name.
    #[error(
        "{0:?} is not a host name; write it without a scheme and a port, \
         such as \"portico-1.example.org\""
    )]
    Name(String),
    /// Too many names.
    #[error("at most {MAX_HOSTS} names")]
    TooMany,
}

/// The accepted names, in lower case and without a final dot.
#[derive(Debug)]
pub(super) struct Hosts {
    names: HashSet<String>,
    warned: Mutex<Option<Instant>>,
}

impl Hosts {
    pub fn new(names: &[String]) -> Result<Self, InvalidHost> {
        if names.len() > MAX_HOSTS {
            return Err(InvalidHost::TooMany);
        }
        let invalid = |name: &String| InvalidHost::Name(name.clone());
        let names = names
            .iter()
            .map(|name| {
                Some(folded(name))
                    .filter(|name| is_name(name))
                    .ok_or_else(|| invalid(name))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            names,
            warned: Mutex::new(None),
        })
    }

    /// Returns whether a request for this authority is accepted.
    fn accepts(&self, authority: &str) -> bool {
        // a Host header must have no user information, which could hide a name
        if authority.contains('@') {
            return false;
        }
        let Ok(authority) = authority.parse::<Authority>() else {
            return false;
        };
        let host = authority.host();
        // only a port may follow
        let is_port = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let rest = authority.as_str().strip_prefix(host);
        let ends = |rest: &str| rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
        if !rest.is_some_and(ends) {
            return false;
        }
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        if let Some(bare) = bare {
            return bare.parse::<Ipv6Addr>().is_ok();
        }
        let host = folded(host);
        // only the canonical form: browsers convert all others to it
        host.parse::<Ipv4Addr>().is_ok() || host == "localhost" || self.names.contains(&host)
    }

    /// Returns whether it is time to warn about a refused request.
    fn may_warn(&self) -> bool {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        let due = warned.is_none_or(|last| last.elapsed() >= WARNING_INTERVAL);
        if due {
            *warned = Some(Instant::now());
        }
        due
    }
}

/// Refuses requests for other host names. A request without one comes from a program that uses
/// HTTP/1.0: browsers always send one.
pub(super) async fn admit(
    State(hosts): State<Arc<Hosts>>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let mut lines = request.headers().get_all(header::HOST).iter();
    let named = lines.next().map(|line| line.to_str().unwrap_or_default());
    let target = request.uri().authority().map(Authority::as_str);
    let accepted = lines.next().is_none()
        && [named, target]
            .into_iter()
            .flatten()
            .all(|authority| hosts.accepts(authority));
    if accepted {
        return next.run(request).await;
    }
    if hosts.may_warn() {
        let host: String = named
            .or(target)
            .unwrap_or_default()
            .chars()
            .take(255)
            .collect();
        tracing::warn!(
            host,
            "the admin port refused a request for a host name that is not in admin.hosts"
        );
    }
    (
        StatusCode::MISDIRECTED_REQUEST,
        "421: this port answers to IP addresses, localhost and the names in admin.hosts only\n",
    )
        .into_response()
}

fn folded(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    name.len() <= MAX_HOST_BYTES && name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use tower::ServiceExt as _;

    fn hosts(names: &[&str]) -> Result<Hosts, InvalidHost> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Hosts::new(&names)
    }

    async fn status(uri: &str, lines: &[&str]) -> StatusCode {
        let hosts = hosts(&["Portico-1.example.org", "portico"]).unwrap();
        let router = Router::new()
            .route("/metrics", get(|| async { "metrics" }))
            .layer(from_fn_with_state(Arc::new(hosts), admit));
        let mut request = Request::get(uri).body(Body::empty()).unwrap();
        for line in lines {
            let line = line.parse().unwrap();
            request.headers_mut().append(header::HOST, line);
        }
        router.oneshot(request).await.unwrap().status()
    }

    #[tokio::test]
    async fn finding_s13_the_admin_port_answers_to_addresses_and_known_names_only() {
        for host in [
            "127.0.0.1:9180",
            "127.0.0.1",
            "10.1.2.3:9180",
            "0.0.0.0:9180",
            "[::1]:9180",
            "[2001:db8::7]",
            "localhost:9180",
            "LOCALHOST",
            "localhost.:9180",
            "portico:9180",
            "portico-1.example.org:9180",
            "PORTICO-1.example.org.",
        ] {
            assert_eq!(status("/metrics", &[host]).await, StatusCode::OK, "{host}");
        }
        for host in [
            "evil.example:9180",
            "127.0.0.1.evil.example:9180",
            "localhost.evil.example",
            "evil.localhost.example",
            "a.localhost",
            "portico.evil.example",
            "portico@evil.example",
            "evil.example@127.0.0.1",
            "127.0.0.1:9180, evil.example",
            "127.1",
            "0x7f000001",
            "2130706433",
            "[::1].evil.example",
            "[::1].evil.example:9180",
            "[::1]x",
            "localhost:x",
            "[evil.example]",
            "::1",
            "",
            ":9180",
        ] {
            let refused = StatusCode::MISDIRECTED_REQUEST;
            assert_eq!(status("/metrics", &[host]).await, refused, "{host}");
        }
    }

    #[tokio::test]
    async fn finding_s13_every_host_that_a_request_names_must_be_known() {
        let refused = StatusCode::MISDIRECTED_REQUEST;
        for (uri, lines, expected) in [
            ("/metrics", &[][..], StatusCode::OK),
            ("/metrics", &["localhost", "evil.example"], refused),
            ("/metrics", &["localhost", "localhost"], refused),
            ("http://evil.example/metrics", &["localhost"], refused),
            ("http://localhost/metrics", &["evil.example"], refused),
            ("http://localhost/metrics", &["localhost"], StatusCode::OK),
            ("http://evil.example/metrics", &[], refused),
            ("http://[::1]:9180/metrics", &[], StatusCode::OK),
        ] {
            assert_eq!(status(uri, lines).await, expected, "{uri} {lines:?}");
        }
    }

    #[test]
    fn finding_s13_a_configured_host_is_a_name() {
        for name in [
            "",
            "http://portico",
            "portico:9180",
            "a..b",
            "a/b",
            "*",
            "[::1]",
            "a b",
        ] {
            let refused = hosts(&[name]).unwrap_err();
            assert_eq!(refused, InvalidHost::Name(name.to_owned()));
        }
        assert!(hosts(&["portico.example.org.", "gw_1", "10.0.0.1"]).is_ok());
        assert_eq!(hosts(&["a"; 65]).unwrap_err(), InvalidHost::TooMany);
    }

    #[test]
    fn finding_s13_a_flood_of_refused_requests_is_logged_once_a_minute() {
        let hosts = hosts(&[]).unwrap();
        assert!(hosts.may_warn());
        assert!(!hosts.may_warn());
    }
}
