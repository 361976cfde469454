//! Distinguishes a browser opening a page from a call by a program: the browser is redirected to
//! sign-in, the program gets 401.
use http::{HeaderName, HeaderValue, Method, header};

use super::common_headers::{AcceptHeader, CommonHeaders};

pub(crate) const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
pub(crate) const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

const EVENT_STREAM: &str = "text/event-stream";

/// Returns whether a browser is opening a page with this request. A request by a script
/// (`X-Requested-With: XMLHttpRequest`) and a request for another protocol are not navigations:
/// neither can follow a redirect to sign-in.
pub(crate) fn is_navigation(method: &Method, headers: &CommonHeaders<'_>) -> bool {
    if headers.is_of_script || headers.is_for_upgrade {
        return false;
    }
    if let Some(mode) = headers.fetch_mode {
        return mode.as_bytes() == b"navigate";
    }
    if headers.is_fetched {
        return false;
    }
    if !matches!(*method, Method::GET | Method::HEAD) {
        return false;
    }
    match headers.accept {
        AcceptHeader::Missing => true,
        AcceptHeader::One(accept) => accepts_page(accept),
        AcceptHeader::Several(all) => all.get_all(header::ACCEPT).iter().any(accepts_page),
    }
}

/// Returns whether an `Accept` header has pages in it, or is that of programs that take anything.
fn accepts_page(accept: &HeaderValue) -> bool {
    accept.as_bytes().trim_ascii() == b"*/*"
        || accept
            .to_str()
            .is_ok_and(|accept| accept.to_ascii_lowercase().contains("text/html"))
}

/// Returns whether an `Accept` header asks for an event stream, which stays open like an upgraded
/// connection.
pub(crate) fn is_event_stream(accept: &HeaderValue) -> bool {
    // a shorter value needs no copy in lower case
    accept.len() >= EVENT_STREAM.len()
        && accept
            .to_str()
            .is_ok_and(|accept| accept.to_ascii_lowercase().contains(EVENT_STREAM))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderMap;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (
                    http::HeaderName::from_static(name),
                    http::HeaderValue::from_static(value),
                )
            })
            .collect()
    }

    #[test]
    fn rule_of_navigation() {
        let get = Method::GET;
        let post = Method::POST;
        for (method, pairs, expected) in [
            (&get, &[("sec-fetch-mode", "navigate")][..], true),
            (&post, &[("sec-fetch-mode", "navigate")][..], true),
            (
                &get,
                &[("sec-fetch-mode", "cors"), ("accept", "text/html")][..],
                false,
            ),
            (&get, &[("sec-fetch-site", "same-origin")][..], false),
            (&get, &[][..], true),
            (&Method::HEAD, &[][..], true),
            (&post, &[("accept", "text/html")][..], false),
            (&get, &[("accept", "*/*")][..], true),
            (
                &get,
                &[("accept", "text/html,application/xhtml+xml")][..],
                true,
            ),
            (&get, &[("accept", "application/json")][..], false),
            (&get, &[("accept", "application/json, */*")][..], false),
            (&get, &[("accept", " */*\t")][..], true),
            (
                &get,
                &[("accept", "application/json"), ("accept", "Text/HTML")][..],
                true,
            ),
            (
                &get,
                &[("accept", "application/json"), ("accept", "text/css")][..],
                false,
            ),
            (&get, &[("accept", "text/event-stream")][..], false),
            (
                &get,
                &[("accept", "*/*"), ("x-requested-with", "com.example.app")][..],
                true,
            ),
        ] {
            assert_eq!(
                is_navigation(method, &CommonHeaders::of(&headers(pairs))),
                expected,
                "{method} {pairs:?}"
            );
        }
    }

    #[test]
    fn finding_s13_scripts_and_upgrades_are_no_navigations() {
        for pairs in [
            &[("x-requested-with", "XMLHttpRequest")][..],
            &[("x-requested-with", "xmlhttprequest"), ("accept", "*/*")],
            &[
                ("x-requested-with", "XMLHttpRequest"),
                ("accept", "text/html"),
            ],
            &[("connection", "upgrade"), ("upgrade", "websocket")],
            &[("upgrade", "h2c")],
            // what forward auth sees of a WebSocket's handshake
            &[("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")],
        ] {
            let headers = headers(pairs);
            let headers = CommonHeaders::of(&headers);
            assert!(!is_navigation(&Method::GET, &headers), "{pairs:?}");
        }
    }
}
