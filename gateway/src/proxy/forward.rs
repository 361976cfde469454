//! Passes a decided request on to its upstream and the response back, streaming both ways.
use std::{net::IpAddr, time::Duration};

use axum::body::Body;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, header};
use http_body_util::Limited;
use hyper::body::Body as _;
use portico_runtime::traces;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    connections::{Connection, GuardedBody},
    event_stream::EventStream,
    headers::{self, Trust},
    upgrade,
    upstream::{Upstream, UpstreamClient},
};
use crate::{config::LimitsConfig, limits::broken_by_a_limit, meters};

/// What the gateway says about a request that it passes on.
pub(crate) struct Added {
    /// `host[:port]` that the browser asked for.
    pub host: HeaderValue,
    pub scheme: &'static str,
    pub client: Option<IpAddr>,
    /// `Portico-Assertion` and what goes with it.
    pub identity: Vec<(HeaderName, HeaderValue)>,
}

/// Why no response came back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ForwardError {
    #[error("the request is larger than the gateway accepts")]
    TooLarge,
    #[error("nothing more of the request came for {0:?}")]
    SlowRequest(Duration),
    #[error("the request's headers are larger than the gateway accepts")]
    HeadersTooLarge,
    #[error("the upgrade is not a WebSocket handshake")]
    BadUpgrade,
    #[error("the request target does not fit the upstream: {0}")]
    Target(#[from] http::Error),
    #[error("no connection to the upstream: {0}")]
    Connect(#[source] hyper_util::client::legacy::Error),
    #[error("the upstream broke off: {0}")]
    Broken(#[source] hyper_util::client::legacy::Error),
    #[error("the upstream did not answer within {0:?}")]
    Timeout(Duration),
    #[error("the upstream switched protocols without being asked")]
    UnaskedSwitch,
    #[error("the session ended while the upstream was working")]
    SessionEnded,
}

/// Everything that forwarding needs and that is the same for every request.
#[derive(Debug)]
pub(crate) struct Forwarder {
    pub client: UpstreamClient,
    pub limits: LimitsConfig,
    /// Cancelled when the process stops: streams that would never end by themselves end.
    pub draining: CancellationToken,
    /// WebSockets under way: they are told before the process goes.
    pub relays: TaskTracker,
}

impl Forwarder {
    /// Sends the request to the upstream. Nothing of the client's own claims about itself
    /// arrives there; what the gateway says is added after the cleaning.
    pub async fn forward(
        &self,
        mut request: Request<Body>,
        upstream: &Upstream,
        trust: Trust,
        added: Added,
        connection: Connection,
    ) -> Result<Response<Body>, ForwardError> {
        if headers::size(request.headers()) > self.limits.headers {
            return Err(ForwardError::HeadersTooLarge);
        }
        if request.body().size_hint().lower() > self.limits.body {
            return Err(ForwardError::TooLarge);
        }
        let handshake = if upgrade::asked(&request) {
            Some(upgrade::Handshake::take(&mut request)?)
        } else {
            None
        };
        let target = upstream.target(request.uri())?;
        let (mut parts, body) = request.into_parts();
        headers::clean_request(&mut parts.headers);
        add(&mut parts.headers, added);
        traces::pass_on(&mut parts.headers);
        let body = match &handshake {
            Some(_) => {
                upgrade::Handshake::write(&mut parts.headers);
                Body::empty()
            }
            None if body.is_end_stream() => Body::empty(),
            None => Body::new(Limited::new(
                body,
                usize::try_from(self.limits.body).unwrap_or(usize::MAX),
            )),
        };
        let mut outgoing = Request::new(body);
        *outgoing.method_mut() = parts.method;
        *outgoing.uri_mut() = target;
        *outgoing.headers_mut() = parts.headers;

        let response = tokio::select! {
            response = tokio::time::timeout(self.limits.response, self.client.request(outgoing)) =>
                response.map_err(|_| ForwardError::Timeout(self.limits.response))?,
            _ = connection.closed() => return Err(ForwardError::SessionEnded),
        };
        let mut response = response.map_err(|error| {
            if error.is_connect() {
                ForwardError::Connect(error)
            } else {
                broken_by_a_limit(&error).unwrap_or(ForwardError::Broken(error))
            }
        })?;

        if response.status() == http::StatusCode::SWITCHING_PROTOCOLS {
            let handshake = handshake.ok_or(ForwardError::UnaskedSwitch)?;
            let draining = self.draining.clone();
            return handshake.join(response, trust, connection, draining, &self.relays);
        }
        headers::clean_response(response.headers_mut(), trust);
        let events = EventStream::in_answer(response.headers());
        let kind = kind_of(response.headers());
        Ok(response.map(|body| {
            if body.is_end_stream() {
                Body::empty()
            } else {
                let draining = &self.draining;
                Body::new(GuardedBody::new(body, connection, events, kind, draining))
            }
        }))
    }
}

fn kind_of(headers: &HeaderMap) -> meters::Kind {
    let events = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    if events {
        meters::Kind::EventStream
    } else {
        meters::Kind::Response
    }
}

fn add(headers: &mut HeaderMap, added: Added) {
    headers.remove(header::EXPECT);
    headers.insert("x-forwarded-host", added.host.clone());
    headers.insert(header::HOST, added.host);
    headers.insert("x-forwarded-proto", HeaderValue::from_static(added.scheme));
    if let Some(client) = added.client
        && let Ok(client) = HeaderValue::try_from(client.to_string())
    {
        headers.insert("x-forwarded-for", client);
    }
    for (name, mut value) in added.identity {
        value.set_sensitive(true);
        headers.insert(name, value);
    }
}
