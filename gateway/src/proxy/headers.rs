//! Which headers may pass, in which direction.
use http::{HeaderMap, HeaderName, HeaderValue, header};

use super::private;
use crate::session::cookie;

/// RFC 9110 section 7.6.1, and what proxies add to it by habit.
const HOP_BY_HOP: [&str; 10] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
];

/// Prefixes that some upstream or middleware takes for identity or for the client's address.
const SPOOFABLE_PREFIXES: [&str; 24] = [
    "portico-",
    "x-portico",
    "x-forwarded",
    "x-auth-",
    "x-authenticated-",
    "x-remote-",
    "remote-",
    "impersonate-",
    "x-original-",
    "x-envoy-",
    "x-real-",
    "x-client-",
    "x-cluster-client-",
    "x-ssl-",
    "ssl-",
    "x-identity-",
    "x-user",
    "x-project-",
    "x-domain-",
    "x-role",
    "x-tenant",
    "x-service-",
    "x-webauth-",
    "x-token-",
];

const SPOOFABLE: [&str; 15] = [
    "authorization",
    "forwarded",
    "x-subject-token",
    "x-trust-id",
    "x-is-admin-project",
    "x-system-scope",
    "x-groups",
    "x-email",
    "x-scheme",
    "x-rewrite-url",
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "true-client-ip",
    "cf-connecting-ip",
];

/// What only the browser's own host may tell it, and an app must not.
const FORBIDDEN_FROM_APPS: [HeaderName; 6] = [
    HeaderName::from_static("service-worker-allowed"),
    HeaderName::from_static("clear-site-data"),
    header::STRICT_TRANSPORT_SECURITY,
    header::ALT_SVC,
    HeaderName::from_static("public-key-pins"),
    HeaderName::from_static("nel"),
];

/// What the panel's responses carry unless it says otherwise.
const ADDED_TO_PANEL: [(HeaderName, &str); 5] = [
    // the back button must not show somebody's pages after their sign-out
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

/// Where a response comes from: our own panel, or an app that is trusted with nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    Panel,
    App,
}

/// Removes hop-by-hop headers, those that `Connection` names included (RFC 9110 7.6.1).
pub(crate) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
}

/// Whether a client's header of this name could pass for something that the gateway says.
fn is_spoofable(name: &str) -> bool {
    name.contains('_')
        || SPOOFABLE.contains(&name)
        || SPOOFABLE_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Cleans a request's headers for any upstream. What the gateway adds goes in afterwards.
pub(crate) fn clean_request(headers: &mut HeaderMap) {
    remove_hop_by_hop(headers);
    let spoofed: Vec<HeaderName> = headers
        .keys()
        .filter(|name| is_spoofable(name.as_str()))
        .cloned()
        .collect();
    for name in spoofed {
        headers.remove(name);
    }
    let cookies = cookie::foreign(headers);
    headers.remove(header::COOKIE);
    if let Some(cookies) = cookies {
        headers.insert(header::COOKIE, cookies);
    }
}

/// Cleans a response's headers for the browser.
pub(crate) fn clean_response(headers: &mut HeaderMap, trust: Trust) {
    remove_hop_by_hop(headers);
    let internal: Vec<HeaderName> = headers
        .keys()
        .filter(|name| {
            let name = name.as_str();
            name.starts_with("portico-") || name.starts_with("x-accel-")
        })
        .cloned()
        .collect();
    for name in internal {
        headers.remove(name);
    }
    clean_set_cookie(headers);
    if trust == Trust::App {
        for name in FORBIDDEN_FROM_APPS {
            headers.remove(name);
        }
        private::mark(headers);
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

/// Drops cookies of our names and makes the others host-only.
fn clean_set_cookie(headers: &mut HeaderMap) {
    if !headers.contains_key(header::SET_COOKIE) {
        return;
    }
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
    let name = pair.split(|b| *b == b'=').next()?;
    if std::str::from_utf8(name).is_ok_and(cookie::is_ours) {
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

/// The bytes that names and values take, for the limit on requests.
pub(crate) fn size(headers: &HeaderMap) -> usize {
    headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn map(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(
                name.parse::<HeaderName>().expect("name"),
                value.parse().expect("value"),
            );
        }
        headers
    }

    fn after(pairs: &[(&str, &str)]) -> Vec<String> {
        let mut headers = map(pairs);
        clean_request(&mut headers);
        headers
            .keys()
            .map(|name| name.as_str().to_owned())
            .collect()
    }

    #[test]
    fn a_clients_identity_and_forwarding_headers_never_pass() {
        for name in [
            "X-Forwarded-For",
            "X-Forwarded-Host",
            "X-Forwarded-Proto",
            "X-Forwarded-Prefix",
            "X-Forwarded-User",
            "X_Forwarded_User",
            "x-forwarded_user",
            "Forwarded",
            "X-Real-IP",
            "X-Auth-Token",
            "X-Auth-Request-User",
            "X-Subject-Token",
            "X-Service-Token",
            "X-Identity-Status",
            "X-Roles",
            "X-Project-Id",
            "X-Remote-User",
            "Remote-User",
            "Remote-Groups",
            "Impersonate-User",
            "Impersonate-Group",
            "Impersonate-Uid",
            "Impersonate-Extra-Scope",
            "Impersonate_User",
            "Portico-Assertion",
            "Portico-Token",
            "Portico-Project",
            "X-Portico-User",
            "X-Webauth-User",
            "Authorization",
            "Proxy-Authorization",
            "X-HTTP-Method-Override",
            "X-Original-URL",
            "X-Rewrite-URL",
            "X-Client-IP",
            "SSL-Client-Verify",
            "Upgrade",
            "HTTP2-Settings",
            "TE",
        ] {
            assert!(after(&[(name, "x")]).is_empty(), "{name} passed");
        }
    }

    #[test]
    fn ordinary_headers_pass() {
        let kept = [
            "accept",
            "accept-language",
            "content-type",
            "if-none-match",
            "origin",
            "range",
            "referer",
            "sec-fetch-site",
            "sec-websocket-key",
            "user-agent",
            "x-csrf-token",
            "x-requested-with",
            "last-event-id",
        ];
        let pairs: Vec<_> = kept.iter().map(|name| (*name, "x")).collect();
        assert_eq!(after(&pairs), kept);
    }

    #[test]
    fn headers_named_by_connection_are_removed() {
        assert_eq!(
            after(&[
                ("connection", "close, X-Secret"),
                ("x-secret", "1"),
                ("accept", "*/*")
            ]),
            ["accept"]
        );
    }

    #[test]
    fn what_connection_names_cannot_remove_what_is_added_later() {
        let mut headers = map(&[("connection", "close, Portico-Assertion")]);
        clean_request(&mut headers);
        headers.insert("portico-assertion", HeaderValue::from_static("ours"));
        assert_eq!(headers["portico-assertion"], "ours");
    }

    #[test]
    fn upstream_cookies_become_host_only_and_never_ours() {
        let mut headers = map(&[
            ("set-cookie", "a=b; Domain=example.org; Path=/; HttpOnly"),
            ("set-cookie", "c=d;domain = .example.org"),
            ("set-cookie", "__Host-portico=stolen; Path=/"),
            ("set-cookie", " portico = stolen"),
            ("set-cookie", "portico-flow=stolen"),
        ]);
        clean_response(&mut headers, Trust::App);
        let lines: Vec<_> = headers.get_all("set-cookie").iter().collect();
        assert_eq!(lines, ["a=b; Path=/; HttpOnly", "c=d"]);
    }

    #[test]
    fn apps_may_not_reach_beyond_their_pages() {
        let mut headers = map(&[
            ("service-worker-allowed", "/"),
            ("clear-site-data", "\"*\""),
            ("strict-transport-security", "max-age=1; includeSubDomains"),
            ("portico-assertion", "x"),
            ("content-security-policy", "default-src *"),
            ("content-type", "text/html"),
        ]);
        clean_response(&mut headers, Trust::App);
        let policies: Vec<_> = headers.get_all("content-security-policy").iter().collect();
        assert_eq!(policies, ["default-src *", "frame-ancestors 'none'"]);
        assert!(headers.contains_key("content-type"));
        assert_eq!(headers.len(), 5);
    }

    proptest! {
        #[test]
        fn no_underscore_and_no_identity_survives(
            name in "(x[-_]forwarded[-_][a-z]{1,8}|portico[-_][a-z]{1,8}|impersonate[-_][a-z]{1,8})"
        ) {
            prop_assert!(after(&[(&name, "x")]).is_empty());
        }
    }
}
