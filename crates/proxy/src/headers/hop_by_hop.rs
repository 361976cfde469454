//! Hop-by-hop headers, and the removal of headers.
use http::{HeaderMap, HeaderName, header};
use portico_runtime::request_id::X_REQUEST_ID;

/// Returns whether the header is hop-by-hop: RFC 9110 section 7.6.1, and others that proxies use.
pub(super) fn is_hop_by_hop(name: &str) -> bool {
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

/// Removes unwanted headers, and those that `Connection` names if it is unwanted. Checking each
/// present name costs less than looking up each unwanted one.
pub(super) fn remove(headers: &mut HeaderMap, mut unwanted: impl FnMut(&str) -> bool) {
    let names: Vec<HeaderName> = headers
        .keys()
        .filter(|name| unwanted(name.as_str()))
        .cloned()
        .collect();
    if names.contains(&header::CONNECTION) {
        remove_named_by_connection(headers);
    }
    for name in names {
        headers.remove(name);
    }
}

/// Removes the headers named in `Connection` (RFC 9110 7.6.1), except `Keep-Alive`, which almost
/// every response names and [`is_hop_by_hop`] includes, and the request ID, which is the gateway's
/// own: a client could otherwise give its request another ID in the log of the panel.
fn remove_named_by_connection(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .flat_map(|line| line.as_bytes().split(|b| *b == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|name| !name.eq_ignore_ascii_case(b"keep-alive"))
        .filter_map(|name| HeaderName::from_bytes(name).ok())
        .filter(|name| *name != X_REQUEST_ID)
        .collect();
    for name in named {
        headers.remove(name);
    }
}
