//! Finds the headers that are read of every request.
use http::{HeaderMap, HeaderValue};

use crate::hosts::HostHeader;

/// The headers that are read of every request. One look at every header costs less than looking up
/// nine, most of which most requests do not have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommonHeaders<'h> {
    pub host: HostHeader<'h>,
    /// The first `User-Agent`.
    pub user_agent: Option<&'h HeaderValue>,
    pub(super) accept: AcceptHeader<'h>,
    /// The first `Sec-Fetch-Mode`.
    pub(super) fetch_mode: Option<&'h HeaderValue>,
    /// Whether there is another header with which a browser describes what it fetches.
    pub(super) is_fetched: bool,
    pub(super) is_of_script: bool,
    /// Whether the request is for another protocol.
    pub(super) is_for_upgrade: bool,
}

/// The `Accept` header of a request, whose value is of interest for some requests only.
#[derive(Clone, Copy, Debug)]
pub(super) enum AcceptHeader<'h> {
    Missing,
    One(&'h HeaderValue),
    /// Several lines, in these headers.
    Several(&'h HeaderMap),
}

impl<'h> CommonHeaders<'h> {
    pub fn of(headers: &'h HeaderMap) -> Self {
        let mut found = Self {
            host: HostHeader::Missing,
            user_agent: None,
            accept: AcceptHeader::Missing,
            fetch_mode: None,
            is_fetched: false,
            is_of_script: false,
            is_for_upgrade: false,
        };
        for (name, value) in headers {
            match name.as_str() {
                "host" => found.host = found.host.and(value),
                "user-agent" => {
                    found.user_agent.get_or_insert(value);
                }
                "accept" => {
                    found.accept = match found.accept {
                        AcceptHeader::Missing => AcceptHeader::One(value),
                        _ => AcceptHeader::Several(headers),
                    };
                }
                "sec-fetch-mode" => {
                    found.fetch_mode.get_or_insert(value);
                }
                "sec-fetch-site" | "sec-fetch-dest" => found.is_fetched = true,
                "x-requested-with" => found.is_of_script |= is_script(value),
                // Proxies that ask for a decision remove `Upgrade`; the other headers of a WebSocket
                // handshake remain.
                "upgrade" | "sec-websocket-key" => found.is_for_upgrade = true,
                _ => {}
            }
        }
        found
    }
}

/// Returns whether `X-Requested-With` marks a request as sent by a script, as jQuery, Angular and
/// others do. An Android `WebView` sends the name of its app in the same header.
fn is_script(requested_with: &HeaderValue) -> bool {
    requested_with
        .as_bytes()
        .eq_ignore_ascii_case(b"XMLHttpRequest")
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderName;

    #[test]
    fn the_first_line_counts_and_several_hosts_are_noticed() {
        let mut headers = HeaderMap::new();
        let found = CommonHeaders::of(&headers);
        assert!(matches!(found.host, HostHeader::Missing));
        assert!(found.user_agent.is_none() && found.fetch_mode.is_none());
        for (name, value) in [
            ("host", "a.example"),
            ("user-agent", "first"),
            ("user-agent", "second"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-mode", "cors"),
        ] {
            let name = HeaderName::from_static(name);
            headers.append(name, HeaderValue::from_static(value));
        }
        let found = CommonHeaders::of(&headers);
        assert!(matches!(found.host, HostHeader::One(line) if line == "a.example"));
        assert!(found.user_agent.is_some_and(|line| line == "first"));
        assert!(found.fetch_mode.is_some_and(|line| line == "navigate"));
        headers.append(http::header::HOST, HeaderValue::from_static("b.example"));
        let found = CommonHeaders::of(&headers);
        assert!(matches!(found.host, HostHeader::Several(_)));
        assert!(found.host.first().is_some_and(|line| line == "a.example"));
    }
}
