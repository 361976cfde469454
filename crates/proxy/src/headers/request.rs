//! Cleans the headers of requests for upstreams.
use http::{HeaderMap, HeaderName, HeaderValue, header};

use super::{
    cookies,
    hop_by_hop::{is_hop_by_hop, remove},
};

/// Returns whether it is one of the headers that most requests have, which are neither hop-by-hop nor
/// spoofable. A list that is short to search spares them the long ones.
fn is_ordinary(name: &str) -> bool {
    matches!(
        name,
        "accept"
            | "accept-encoding"
            | "accept-language"
            | "content-length"
            | "content-type"
            | "cookie"
            | "host"
            | "referer"
            | "user-agent"
            // the gateway's own
            | "x-request-id"
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
    let mut has_protocols = false;
    remove(headers, |name| {
        has_protocols |= name == "sec-websocket-protocol";
        named.iter().any(|ours| ours == name)
            // the gateway's own server answers `Expect`
            || (!is_ordinary(name)
                && (name == "expect" || is_hop_by_hop(name) || is_spoofable(name)))
    });
    if has_protocols {
        remove_bearer_protocol(headers);
    }
    if let Some(cookies) = cookies::without_reserved(headers) {
        headers.insert(header::COOKIE, cookies);
    } else {
        headers.remove(header::COOKIE);
    }
}

/// Removes tokens from the subprotocols, which are credentials like the one in `Authorization`.
fn remove_bearer_protocol(headers: &mut HeaderMap) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_headers_are_in_no_other_list() {
        for name in [
            "accept",
            "accept-encoding",
            "accept-language",
            "content-length",
            "content-type",
            "cookie",
            "host",
            "referer",
            "user-agent",
            "x-request-id",
        ] {
            assert!(is_ordinary(name), "{name}");
            assert!(!is_hop_by_hop(name) && !is_spoofable(name), "{name}");
        }
    }
}
