//! Checks the origin of requests: only a host's own pages may send it requests, neither another
//! site nor a sibling host.
use http::{HeaderMap, HeaderValue, Method};

use crate::request_context::navigation::{SEC_FETCH_DEST, SEC_FETCH_MODE, is_event_stream};

/// Why a request is refused because of its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OriginFault {
    #[error("the request comes from a page of another origin")]
    Foreign,
    #[error("a request that changes something needs an Origin header, and this one has none")]
    Unknown,
    #[error("the page is embedded in a page of another origin")]
    Embedded,
}

/// Marks a request that a page of another origin has sent: it is handled without a session.
#[derive(Clone, Copy)]
pub(crate) struct CrossOrigin(pub OriginFault);

/// The headers that every check reads: the first line of each.
#[derive(Default)]
struct Sent<'h> {
    origin: Option<&'h HeaderValue>,
    several_origins: bool,
    site: Option<&'h HeaderValue>,
    accept: Option<&'h HeaderValue>,
}

impl<'h> Sent<'h> {
    /// Finds them in one look at every header, which costs less than looking up three that most
    /// requests do not have all.
    fn of(headers: &'h HeaderMap) -> Self {
        let mut sent = Self::default();
        for (name, value) in headers {
            match name.as_str() {
                "origin" => {
                    sent.several_origins = sent.origin.is_some();
                    sent.origin.get_or_insert(value);
                }
                "sec-fetch-site" => {
                    sent.site.get_or_insert(value);
                }
                "accept" => {
                    sent.accept.get_or_insert(value);
                }
                _ => {}
            }
        }
        sent
    }
}

/// Checks the origin of a request against the host's own origin.
///
/// Unsafe methods, upgrades and event streams need a matching `Origin`, or `Sec-Fetch-Site:
/// same-origin` where the browser sends no `Origin`. Any other request from another origin is
/// accepted only as a top-level navigation.
pub(crate) fn check(
    own: &str,
    method: &Method,
    headers: &HeaderMap,
    upgrade: bool,
) -> Result<(), OriginFault> {
    let sent = Sent::of(headers);
    if sent.several_origins {
        return Err(OriginFault::Foreign);
    }
    let site = sent.site.map(HeaderValue::as_bytes);
    let safe = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    if !safe || upgrade || sent.accept.is_some_and(is_event_stream) {
        return match (sent.origin, site) {
            (Some(origin), _) if origin.as_bytes() == own.as_bytes() => Ok(()),
            (Some(_), _) => Err(OriginFault::Foreign),
            (None, Some(b"same-origin")) => Ok(()),
            (None, Some(_)) => Err(OriginFault::Foreign),
            (None, None) => Err(OriginFault::Unknown),
        };
    }
    match site {
        Some(b"cross-site" | b"same-site") => {
            let mode = headers.get(SEC_FETCH_MODE).map(HeaderValue::as_bytes);
            let dest = headers.get(SEC_FETCH_DEST).map(HeaderValue::as_bytes);
            match (mode, dest) {
                (Some(b"navigate"), Some(b"document") | None) => Ok(()),
                (Some(b"navigate"), _) => Err(OriginFault::Embedded),
                _ => Err(OriginFault::Foreign),
            }
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "https://portico.example.org";

    fn run(method: Method, pairs: &[(&'static str, &'static str)], upgrade: bool) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, http::HeaderValue::from_static(value));
        }
        check(OWN, &method, &headers, upgrade).is_ok()
    }

    #[test]
    fn unsafe_methods_need_the_own_origin() {
        let post = |pairs: &[(&'static str, &'static str)]| run(Method::POST, pairs, false);
        assert!(post(&[("origin", OWN)]));
        assert!(post(&[("sec-fetch-site", "same-origin")]));
        assert!(!post(&[]));
        assert!(!post(&[("origin", "null")]));
        assert!(!post(&[("origin", "https://evil.example")]));
        assert!(!post(&[(
            "origin",
            "https://portico.example.org.evil.example"
        )]));
        assert!(!post(&[("origin", "http://portico.example.org")]));
        assert!(!post(&[("origin", "https://prometheus.apps.example.org")]));
        assert!(!post(&[("sec-fetch-site", "same-site")]));
        assert!(!post(&[("sec-fetch-site", "none")]));
        assert!(!post(&[
            ("origin", OWN),
            ("origin", "https://evil.example")
        ]));
        assert!(!post(&[("origin", OWN), ("origin", OWN), ("origin", OWN)]));
        assert!(!post(&[("origin", ""), ("sec-fetch-site", "same-origin")]));
        // the first line counts
        assert!(!post(&[
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-origin")
        ]));
        assert!(!post(&[
            ("origin", "https://evil.example"),
            ("sec-fetch-site", "same-origin")
        ]));
    }

    #[test]
    fn upgrades_and_event_streams_count_as_unsafe() {
        assert!(run(Method::GET, &[("origin", OWN)], true));
        assert!(!run(Method::GET, &[], true));
        assert!(!run(
            Method::GET,
            &[("origin", "https://evil.example")],
            true
        ));
        assert!(!run(Method::GET, &[("accept", "text/event-stream")], false));
        assert!(run(
            Method::GET,
            &[
                ("accept", "text/event-stream"),
                ("sec-fetch-site", "same-origin")
            ],
            false
        ));
    }

    #[test]
    fn cross_origin_reads_are_for_top_level_navigation_only() {
        let get = |pairs: &[(&'static str, &'static str)]| run(Method::GET, pairs, false);
        assert!(get(&[]));
        assert!(get(&[
            ("sec-fetch-site", "none"),
            ("sec-fetch-mode", "navigate")
        ]));
        assert!(get(&[
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document")
        ]));
        assert!(!get(&[
            ("sec-fetch-site", "same-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "iframe")
        ]));
        assert!(!get(&[
            ("sec-fetch-site", "same-site"),
            ("sec-fetch-mode", "cors"),
            ("sec-fetch-dest", "empty")
        ]));
        assert!(!get(&[
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "no-cors"),
            ("sec-fetch-dest", "script")
        ]));
    }
}
