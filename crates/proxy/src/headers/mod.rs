//! Filters headers of requests and responses.
pub mod cache_control;
pub mod cookies;
pub mod path_route;
pub mod trailers;

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Returns whether the header is hop-by-hop: RFC 9110 section 7.6.1, and others that proxies use.
fn is_hop_by_hop(name: &str) -> bool {
    matches!(
        name,
        "connection"
            | "keep-alive"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "proxy-connection"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
            | "http2-settings"
    )
}

/// Prefixes of headers that some upstream or middleware takes for identity or for the client's
/// address.
const SPOOFABLE_PREFIXES: [&str; 7] = [
    "portico-",
    "remote-",
    "impersonate-",
    "ssl-",
    "cf-access-",
    "kubeflow-",
    "sec-portico-",
];

/// Further such prefixes after `x-`.
const SPOOFABLE_AFTER_X: [&str; 42] = [
    "portico",
    "forwarded",
    "auth-",
    "authenticated-",
    "remote-",
    "original-",
    "envoy-",
    "real-",
    "client-",
    "cluster-client-",
    "ssl-",
    "identity-",
    "user",
    "project-",
    "domain-",
    "role",
    "tenant",
    "service-",
    "webauth-",
    "token-",
    "proxy-",
    "jwt-",
    "impersonate-",
    "oidc-",
    "amzn-oidc-",
    "goog-iap-",
    "goog-authenticated-",
    "ms-client-principal",
    "authentik-",
    "pomerium-",
    "consumer-",
    "credential-",
    "sso-",
    "trusted-",
    "grafana-user",
    "grafana-id",
    "vouch-",
    "dex-user",
    "openstack-user",
    "anonymous-consumer",
    "ms-token-",
    "is-admin",
];

/// Returns whether the whole name is such a header.
fn is_spoofable_name(name: &str) -> bool {
    matches!(
        name,
        "authorization"
            | "forwarded"
            | "x-subject-token"
            | "x-trust-id"
            | "x-is-admin-project"
            | "x-system-scope"
            | "openstack-system-scope"
            | "x-storage-token"
            | "user"
            | "username"
            | "userid"
            | "x-account"
            | "x-login"
            | "x-group"
            | "x-groups"
            | "x-email"
            | "x-org-id"
            | "x-scope-orgid"
            | "x-grafana-org-id"
            | "x-gitea-user"
            | "x-nginx-user"
            | "x-kubernetes-user"
            | "x-authentication"
            | "x-access-token"
            | "x-id-token"
            | "x-scheme"
            | "x-rewrite-url"
            | "x-http-method-override"
            | "x-http-method"
            | "x-method-override"
            | "true-client-ip"
            | "cf-connecting-ip"
            | "es-security-runas-user"
            | "es-client-authentication"
    )
}

/// A WebSocket subprotocol that carries a bearer token for a Kubernetes API server.
const BEARER_PROTOCOL: &str = "base64url.bearer.authorization.k8s.io.";

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

/// The origin of a response: the panel, or an app, which is untrusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    Panel,
    App,
}

/// Removes unwanted headers. Checking each present name costs less than looking up each unwanted
/// one.
fn remove(headers: &mut HeaderMap, unwanted: impl Fn(&str) -> bool) {
    let names: Vec<HeaderName> = headers
        .keys()
        .filter(|name| unwanted(name.as_str()))
        .cloned()
        .collect();
    for name in names {
        headers.remove(name);
    }
}

/// Removes the headers named in `Connection` (RFC 9110 7.6.1).
fn remove_named_by_connection(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .flat_map(|line| line.as_bytes().split(|b| *b == b','))
        .filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
}

/// Returns whether a client's header of this name could be mistaken for one of the gateway's.
/// Servers that turn headers into variables do not distinguish some characters: `_` and `.` from
/// `-`.
fn is_spoofable(name: &str) -> bool {
    let begins_so = |rest: &str, prefixes: &[&str]| {
        let first = rest.as_bytes().first();
        // the first byte excludes most of them
        let mut prefixes = prefixes
            .iter()
            .filter(|prefix| prefix.as_bytes().first() == first);
        prefixes.any(|prefix| rest.starts_with(prefix))
    };
    !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        || is_spoofable_name(name)
        || match name.strip_prefix("x-") {
            Some(rest) => begins_so(rest, &SPOOFABLE_AFTER_X),
            None => begins_so(name, &SPOOFABLE_PREFIXES),
        }
}

/// Cleans a request's headers for an upstream: `named` are the headers that carry identity to it,
/// and those that its configuration removes. The gateway adds its own headers afterwards.
pub fn clean_request(headers: &mut HeaderMap, named: &[HeaderName]) {
    remove_named_by_connection(headers);
    remove(headers, |name| {
        is_hop_by_hop(name) || is_spoofable(name) || named.iter().any(|ours| ours == name)
    });
    remove_bearer_protocol(headers);
    let cookies = cookies::without_reserved(headers);
    headers.remove(header::COOKIE);
    if let Some(cookies) = cookies {
        headers.insert(header::COOKIE, cookies);
    }
}

/// Removes tokens from the subprotocols, which are credentials like the one in `Authorization`.
fn remove_bearer_protocol(headers: &mut HeaderMap) {
    if !headers.contains_key(header::SEC_WEBSOCKET_PROTOCOL) {
        return;
    }
    let mut unfit = false;
    let mut kept = String::new();
    for line in headers.get_all(header::SEC_WEBSOCKET_PROTOCOL) {
        let Ok(line) = line.to_str() else {
            unfit = true;
            continue;
        };
        for protocol in line.split(',').map(str::trim) {
            let prefix = protocol.get(..BEARER_PROTOCOL.len());
            if prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case(BEARER_PROTOCOL)) {
                unfit = true;
                continue;
            }
            if !kept.is_empty() {
                kept.push_str(", ");
            }
            kept.push_str(protocol);
        }
    }
    if !unfit {
        return;
    }
    headers.remove(header::SEC_WEBSOCKET_PROTOCOL);
    if let Ok(value) = HeaderValue::try_from(kept)
        && !value.is_empty()
    {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, value);
    }
}

/// Cleans the trailers of a response: fields that belong in headers are removed.
pub fn clean_trailers(trailers: &mut HeaderMap) {
    remove_named_by_connection(trailers);
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

/// Returns whether the header is only for the gateway and the upstream.
fn is_internal(name: &str) -> bool {
    name.starts_with("portico-") || name.starts_with("x-accel-")
}

/// Cleans a response's headers for the browser.
pub fn clean_response(headers: &mut HeaderMap, trust: Trust) {
    let of_app = trust == Trust::App;
    remove_named_by_connection(headers);
    remove(headers, |name| {
        is_hop_by_hop(name)
            || is_internal(name)
            // RFC 2965: not supported by any browser
            || name == "set-cookie2"
            || (of_app && (is_forbidden_from_apps(name) || cache_control::is_for_shared_caches(name)))
    });
    clean_set_cookie(headers);
    if of_app {
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

/// Returns the size of names and values in bytes, for the limit on requests.
pub fn size(headers: &HeaderMap) -> usize {
    headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum()
}

#[cfg(test)]
mod tests;
