//! Tells a person opening a page from a program's call: the first is sent to sign-in, the
//! second is told 401.
use http::{HeaderMap, HeaderName, Method, header};

pub(super) const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
pub(super) const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
pub(super) const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Whether a browser is opening a page with this request.
pub(crate) fn is_navigation(method: &Method, headers: &HeaderMap) -> bool {
    if let Some(mode) = headers.get(SEC_FETCH_MODE) {
        return mode.as_bytes() == b"navigate";
    }
    if headers.contains_key(SEC_FETCH_SITE) || headers.contains_key(SEC_FETCH_DEST) {
        return false;
    }
    if !matches!(*method, Method::GET | Method::HEAD) {
        return false;
    }
    let mut accepts = headers.get_all(header::ACCEPT).iter().peekable();
    if accepts.peek().is_none() {
        return true;
    }
    accepts.any(|accept| {
        accept.to_str().is_ok_and(|accept| {
            let accept = accept.trim();
            accept == "*/*" || accept.to_ascii_lowercase().contains("text/html")
        })
    })
}

/// Whether the request asks for an event stream, which stays open like an upgrade.
pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| accept.to_ascii_lowercase().contains("text/event-stream"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (&get, &[("accept", "text/event-stream")][..], false),
        ] {
            assert_eq!(
                is_navigation(method, &headers(pairs)),
                expected,
                "{method} {pairs:?}"
            );
        }
    }
}
