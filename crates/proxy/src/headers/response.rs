//! Cleans the headers and trailers of responses for clients.
use http::{HeaderMap, HeaderName, HeaderValue, header};

use super::{
    Trust, cache_control, cookies,
    hop_by_hop::{is_hop_by_hop, remove},
};

/// Returns whether it is one of the headers that most responses have, which every upstream may set.
/// A list that is short to search spares them the others.
fn is_ordinary(name: &str) -> bool {
    matches!(
        name,
        "accept-ranges"
            | "cache-control"
            | "content-encoding"
            | "content-length"
            | "content-type"
            | "date"
            | "etag"
            | "last-modified"
            | "location"
            | "server"
            | "vary"
    )
}

/// Returns whether a response header affects more than the app, so that apps must not set it.
fn is_forbidden_from_apps(name: &str) -> bool {
    matches!(
        name,
        "service-worker-allowed"
            | "clear-site-data"
            | "strict-transport-security"
            | "alt-svc"
            | "public-key-pins"
            | "nel"
    )
}

/// Headers of the panel's responses, unless it sets them itself.
const ADDED_TO_PANEL: [(HeaderName, &str); 5] = [
    // the back button must not show a user's pages after their sign-out
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Returns whether the header is only for the gateway and the upstream.
fn is_internal(name: &str) -> bool {
    name.starts_with("portico-") || name.starts_with("x-accel-")
}

/// Cleans a response's headers for the browser.
pub fn clean_response(headers: &mut HeaderMap, trust: Trust) {
    let of_app = trust == Trust::App;
    let (mut sets_cookies, mut limits_caches) = (false, false);
    remove(headers, |name| {
        if is_ordinary(name) {
            limits_caches |= name == "cache-control";
            return false;
        }
        sets_cookies |= name == "set-cookie";
        is_hop_by_hop(name)
            || is_internal(name)
            // RFC 2965: not supported by any browser
            || name == "set-cookie2"
            || (of_app && (is_forbidden_from_apps(name) || cache_control::is_for_shared_caches(name)))
    });
    if sets_cookies {
        clean_set_cookie(headers);
    }
    if of_app && !limits_caches {
        headers.insert(header::CACHE_CONTROL, cache_control::PRIVATE);
    } else if of_app {
        cache_control::make_private(headers);
    } else {
        for (name, value) in ADDED_TO_PANEL {
            headers
                .entry(name)
                .or_insert(HeaderValue::from_static(value));
        }
    }
    headers.append(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("frame-ancestors 'none'"),
    );
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
}

/// Drops cookies with Portico's names and makes the others host-only.
fn clean_set_cookie(headers: &mut HeaderMap) {
    let kept: Vec<HeaderValue> = headers
        .get_all(header::SET_COOKIE)
        .iter()
        .filter_map(host_only)
        .collect();
    headers.remove(header::SET_COOKIE);
    for value in kept {
        headers.append(header::SET_COOKIE, value);
    }
}

fn host_only(value: &HeaderValue) -> Option<HeaderValue> {
    let mut parts = value.as_bytes().split(|b| *b == b';');
    let pair = parts.next()?;
    // browsers send a cookie without a name as its value alone, which could be `portico=…`;
    // without an equals sign it has none
    let name = pair.iter().position(|b| *b == b'=');
    let name = pair.get(..name.unwrap_or_default())?;
    if name.trim_ascii().is_empty() || is_reserved(name) {
        return None;
    }
    let mut line = pair.to_vec();
    for attribute in parts {
        let name = attribute.split(|b| *b == b'=').next().unwrap_or_default();
        if !name.trim_ascii().eq_ignore_ascii_case(b"domain") {
            line.push(b';');
            line.extend_from_slice(attribute);
        }
    }
    HeaderValue::from_bytes(&line).ok()
}

fn is_reserved(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(cookies::is_reserved)
}

/// Cleans the trailers of a response: fields that belong in headers are removed.
pub fn clean_trailers(trailers: &mut HeaderMap) {
    remove(trailers, |name| {
        is_hop_by_hop(name)
            || is_internal(name)
            || is_forbidden_from_apps(name)
            || matches!(
                name,
                "set-cookie" | "set-cookie2" | "content-security-policy" | "x-frame-options"
            )
            || ADDED_TO_PANEL.iter().any(|(added, _)| added == name)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_headers_are_in_no_other_list() {
        for name in [
            "accept-ranges",
            "cache-control",
            "content-encoding",
            "content-length",
            "content-type",
            "date",
            "etag",
            "last-modified",
            "location",
            "server",
            "vary",
        ] {
            assert!(is_ordinary(name), "{name}");
            assert!(!is_hop_by_hop(name) && !is_internal(name), "{name}");
            assert!(!is_forbidden_from_apps(name), "{name}");
            assert!(!cache_control::is_for_shared_caches(name), "{name}");
        }
    }
}
