//! Forwards WebSocket upgrades. Over HTTP/1.1 only: browsers open a separate connection for each
//! WebSocket.
//!
//! No byte of the client is forwarded to the upstream before it has answered 101, and no other
//! protocol is switched to.
use std::time::Duration;

use axum::body::Body;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version, header};
use hyper::{
    body::Incoming,
    upgrade::{OnUpgrade, Upgraded},
};
use hyper_util::rt::TokioIo;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::headers::{self, Trust};
use crate::metrics;
use crate::request_body::TransferProgress;
use crate::stream::connections::Connection;
use crate::stream::websocket_tunnel::{Ending, tunnel};

const WEBSOCKET: HeaderValue = HeaderValue::from_static("websocket");

/// Returns whether the request asks for a WebSocket.
pub fn asked<B>(request: &Request<B>) -> bool {
    let headers = request.headers();
    // a look at each name costs less than looking up one that few requests have
    if !headers.keys().any(|name| *name == header::UPGRADE) {
        return false;
    }
    let mut protocols = headers.get_all(header::UPGRADE).iter();
    let websocket = protocols
        .next()
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
        && protocols.next().is_none();
    request.version() == Version::HTTP_11 && websocket && connection_upgrades(headers)
}

fn connection_upgrades(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(','))
        .any(|name| name.trim().eq_ignore_ascii_case("upgrade"))
}

/// How long both halves of an upgrade may take to complete once the process stops.
const UPGRADE_TIMEOUT: Duration = Duration::from_millis(500);

async fn overdue(draining: &CancellationToken) {
    draining.cancelled().await;
    tokio::time::sleep(UPGRADE_TIMEOUT).await;
}

/// Why a connection is not upgraded.
#[derive(Debug, thiserror::Error)]
pub enum UpgradeError {
    #[error("the upgrade is not a WebSocket handshake")]
    BadHandshake,
    #[error("the upstream switched protocols without being asked")]
    UnaskedSwitch,
}

/// A client that has requested a WebSocket and waits for the response.
pub struct Handshake {
    client: OnUpgrade,
}

impl Handshake {
    /// Takes the client's half out of the request.
    pub fn take(request: &mut Request<Body>) -> Result<Self, UpgradeError> {
        if request.method() != Method::GET
            || !request.headers().contains_key(header::SEC_WEBSOCKET_KEY)
        {
            return Err(UpgradeError::BadHandshake);
        }
        let client = hyper::upgrade::on(request);
        Ok(Self { client })
    }

    /// Writes the hop-by-hop part of the handshake for the upstream.
    pub fn write(headers: &mut HeaderMap) {
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, WEBSOCKET);
        headers.remove(header::CONTENT_LENGTH);
    }

    /// Connects both halves, until either closes, the session ends, `idle` passes without data, or
    /// the process stops.
    pub fn join(
        self,
        mut response: Response<Incoming>,
        trust: Trust,
        connection: Connection,
        draining: &CancellationToken,
        tunnels: &TaskTracker,
        idle: Option<Duration>,
    ) -> Result<Response<Body>, UpgradeError> {
        let websocket = response
            .headers()
            .get(header::UPGRADE)
            .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"));
        if !websocket {
            return Err(UpgradeError::UnaskedSwitch);
        }
        let upstream = hyper::upgrade::on(&mut response);
        let client = self.client;
        let open = metrics::open(metrics::Kind::WebSocket);
        let draining = draining.clone();
        tunnels.spawn(async move {
            let halves: Result<(Upgraded, Upgraded), hyper::Error> = tokio::select! {
                halves = futures::future::try_join(client, upstream) => halves,
                _ = connection.closed() => return,
                // a client admitted just before the process stops gets a close frame like all
                // others
                () = overdue(&draining) => return,
            };
            match halves {
                Ok((client, upstream)) => {
                    let ending = Ending {
                        connection: &connection,
                        draining: &draining,
                        silence: idle.map(|after| (TransferProgress::new(), after)),
                    };
                    tunnel(TokioIo::new(client), TokioIo::new(upstream), ending).await;
                }
                Err(error) => tracing::debug!(%error, "an upgrade was not completed"),
            }
            drop(open);
        });
        let mut headers = std::mem::take(response.headers_mut());
        headers::clean_response(&mut headers, trust);
        let mut answer = Response::new(Body::empty());
        *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, WEBSOCKET);
        *answer.headers_mut() = headers;
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(pairs: &[(&'static str, &'static str)]) -> Request<()> {
        let mut request = Request::new(());
        for (name, value) in pairs {
            request
                .headers_mut()
                .append(*name, HeaderValue::from_static(value));
        }
        request
    }

    #[test]
    fn only_websocket_counts_as_an_upgrade() {
        for (pairs, expected) in [
            (
                &[
                    ("connection", "keep-alive, Upgrade"),
                    ("upgrade", "WebSocket"),
                ][..],
                true,
            ),
            (&[("connection", "upgrade"), ("upgrade", "h2c")][..], false),
            (
                &[("connection", "upgrade"), ("upgrade", "websocket, h2c")][..],
                false,
            ),
            (
                &[
                    ("connection", "upgrade"),
                    ("upgrade", "websocket"),
                    ("upgrade", "h2c"),
                ][..],
                false,
            ),
            (&[("upgrade", "websocket")][..], false),
            (&[][..], false),
        ] {
            assert_eq!(asked(&request(pairs)), expected, "{pairs:?}");
        }
    }
}
