//! The security headers of responses of the gateway itself.
use http::{HeaderName, HeaderValue, header};

/// Adds the security headers of every response of the gateway itself, pages or not.
pub(crate) fn harden(headers: &mut http::HeaderMap) {
    set_security_headers(headers);
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::VARY, "Cookie"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Adds the default security headers of every response of the gateway itself, redirects too: no
/// frames, no content sniffing, and no referrer (the URL may contain a code).
pub(crate) fn set_security_headers(headers: &mut http::HeaderMap) {
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers
            .entry(name)
            .or_insert_with(|| HeaderValue::from_static(value));
    }
}
