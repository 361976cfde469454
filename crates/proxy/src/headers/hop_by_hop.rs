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
    // the one that almost every response has needs no place in the list
    let mut has_connection = false;
    let mut names: Vec<HeaderName> = Vec::new();
    for name in headers.keys() {
        if !unwanted(name.as_str()) {
            continue;
        }
        if *name == header::CONNECTION {
            has_connection = true;
        } else {
            names.push(name.clone());
        }
    }
    if has_connection {
        remove_named_by_connection(headers);
        headers.remove(header::CONNECTION);
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
        // the usual line needs no splitting
        .filter(|line| !is_keep_alive(line.as_bytes()))
        .flat_map(|line| line.as_bytes().split(|b| *b == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|name| !is_keep_alive(name))
        .filter_map(|name| HeaderName::from_bytes(name).ok())
        .filter(|name| *name != X_REQUEST_ID)
        .collect();
    for name in named {
        headers.remove(name);
    }
}

fn is_keep_alive(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"keep-alive")
}
