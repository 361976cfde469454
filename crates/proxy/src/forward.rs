//! Forwards a permitted request to its upstream and the response back, streaming both ways.
use std::{sync::Arc, time::Duration};

use axum::body::Body;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, header, uri::PathAndQuery,
};
use http_body_util::LengthLimitError;
use hyper::body::{Body as _, Incoming};
use portico_runtime::{listener::BodyTimedOut, traces};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use portico_request::rewrite::RewriteFault;

use crate::headers::{self, Trust};
use crate::metrics;
use crate::request_body::{RequestBody, StalledSide, TransferProgress};
use crate::stream::connections::{Connection, GuardedBody};
use crate::stream::event_stream::{EventStream, is_event_stream};
use crate::stream::upgrade::{self, UpgradeError};
use crate::upstream::Upstream;
use crate::upstream::connection_reuse::seldom_has_body;
use crate::upstream::connector::BoxError;
use crate::upstream::send::{Causes, Head, SendError};
use portico_request::client_address::ClientAddress;

const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const X_FORWARDED_PREFIX: HeaderName = HeaderName::from_static("x-forwarded-prefix");
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// What the gateway adds to a request that it forwards.
pub struct Added {
    pub scheme: &'static str,
    pub client: ClientAddress,
    /// The headers with the user's identity.
    pub identity: Arc<[(HeaderName, HeaderValue)]>,
    /// Headers that only the gateway may send to this upstream, whether or not it does.
    pub named: Arc<[HeaderName]>,
}

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub enum ForwardError {
    #[error("the request is larger than the gateway accepts")]
    TooLarge,
    #[error("the request's headers are larger than the gateway accepts")]
    HeadersTooLarge,
    #[error("the upgrade is not a WebSocket handshake")]
    BadUpgrade,
    #[error("the request target does not fit the upstream: {0}")]
    Target(#[from] http::Error),
    #[error(transparent)]
    Rewrite(#[from] RewriteFault),
    #[error("the upstream takes no WebSocket: the gateway connects to it over HTTP/2 only")]
    NoSockets,
    #[error("no server of the upstream is healthy")]
    NoneHealthy,
    #[error("no connection to the upstream: {}", Causes(&**.0))]
    Connect(#[source] BoxError),
    #[error("the upstream closed the connection early: {}", Causes(&**.0))]
    Broken(#[source] BoxError),
    #[error("the upstream did not answer within {0:?}")]
    Timeout(Duration),
    #[error("the client sent nothing of the request's body for {0:?}")]
    ClientTimeout(Duration),
    #[error("the headers of the upstream's answer are larger than the gateway accepts")]
    AnswerTooLarge,
    #[error("the upstream switched protocols without being asked")]
    UnaskedSwitch,
    #[error("the session ended while the upstream was working")]
    SessionEnded,
}

/// The shared state for forwarding requests.
#[derive(Debug, Default)]
pub struct Forwarder {
    /// Cancelled when the process stops, which ends streams that would not end by themselves.
    pub draining: CancellationToken,
    /// Open WebSockets: they get a close frame before the process exits.
    pub tunnels: TaskTracker,
}

impl Forwarder {
    /// Forwards the request to the upstream. Headers by which a client could claim an identity are
    /// removed, then the gateway's own are added. `on_head` gets the response's headers as the
    /// upstream sent them.
    pub async fn forward(
        &self,
        mut request: Request<Body>,
        upstream: &Upstream,
        trust: Trust,
        added: Added,
        connection: Connection,
        on_head: impl FnOnce(&HeaderMap),
    ) -> Result<Response<Body>, ForwardError> {
        let limits = &upstream.limits;
        if headers::size(request.headers()) > limits.headers {
            return Err(ForwardError::HeadersTooLarge);
        }
        if request.body().size_hint().lower() > limits.body {
            return Err(ForwardError::TooLarge);
        }
        if let Some(target) = upstream.rewritten(request.uri())? {
            *request.uri_mut() = target;
        }
        let handshake = if upgrade::asked(&request) {
            Some(upgrade::Handshake::take(&mut request)?)
        } else {
            None
        };
        let (mut parts, body) = request.into_parts();
        let trailers = upstream.may_speak_http2() && takes_trailers(&parts.headers);
        let trailers_without = trailers.then(|| Arc::clone(&added.named));
        headers::clean_request(&mut parts.headers, &added.named);
        add(&mut parts.headers, added, upstream);
        traces::pass_on(&mut parts.headers);
        if trailers {
            // gRPC servers refuse to answer without it; over HTTP/1.1 it has no effect
            parts
                .headers
                .insert(header::TE, HeaderValue::from_static("trailers"));
        }
        let mut flow = None;
        let body = match &handshake {
            Some(_) => {
                upgrade::Handshake::write(&mut parts.headers);
                Body::empty()
            }
            None if body.is_end_stream() => Body::empty(),
            None => {
                frame_body(&parts.method, &mut parts.headers);
                let flow = flow.insert(Arc::new(TransferProgress::new()));
                let flow = Arc::clone(flow);
                Body::new(RequestBody::new(body, limits.body, flow, trailers_without))
            }
        };
        let target = parts.uri.into_parts().path_and_query;
        let head = Head {
            method: parts.method,
            target: target.unwrap_or(PathAndQuery::from_static("/")),
            headers: parts.headers,
        };

        let mut response = tokio::select! {
            // in this order: an ended session counts before a response, and a response before its
            // timer, which is then not polled again
            biased;
            _ = connection.closed() => return Err(ForwardError::SessionEnded),
            response = upstream.send(head, body, handshake.is_some()) => response?,
            error = overdue(flow, limits.response) => return Err(error),
        };
        on_head(response.headers());
        if headers::size(response.headers()) > limits.response_headers {
            return Err(ForwardError::AnswerTooLarge);
        }

        if response.status() == http::StatusCode::SWITCHING_PROTOCOLS {
            let handshake = handshake.ok_or(ForwardError::UnaskedSwitch)?;
            return Ok(handshake.join(
                response,
                trust,
                connection,
                &self.draining,
                &self.tunnels,
                limits.stream_idle,
            )?);
        }
        headers::clean_response(response.headers_mut(), trust);
        if let Some(route) = &upstream.route {
            route.confine(response.headers_mut());
        }
        Ok(streamed(response, upstream, connection, &self.draining))
    }
}

/// Returns the response with its body, which ends with the session.
fn streamed(
    response: Response<Incoming>,
    upstream: &Upstream,
    connection: Connection,
    draining: &CancellationToken,
) -> Response<Body> {
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let events = content_type.and_then(|kind| EventStream::in_answer(kind, response.headers()));
    let kind = kind_of(content_type);
    let idle = match kind {
        metrics::Kind::EventStream => upstream.limits.stream_idle,
        _ => upstream.limits.idle,
    };
    response.map(|body| {
        if body.is_end_stream() {
            Body::empty()
        } else {
            Body::new(GuardedBody::new(
                body, connection, events, kind, draining, idle,
            ))
        }
    })
}

/// Resolves when the request has waited too long for its response. A body that is being sent does
/// not count, as long as it makes progress.
async fn overdue(flow: Option<Arc<TransferProgress>>, after: Duration) -> ForwardError {
    let Some(flow) = flow else {
        tokio::time::sleep(after).await;
        return ForwardError::Timeout(after);
    };
    match flow.stalls(after).await {
        StalledSide::Client => ForwardError::ClientTimeout(after),
        StalledSide::Upstream => ForwardError::Timeout(after),
    }
}

impl From<UpgradeError> for ForwardError {
    fn from(error: UpgradeError) -> Self {
        match error {
            UpgradeError::BadHandshake => Self::BadUpgrade,
            UpgradeError::UnaskedSwitch => Self::UnaskedSwitch,
        }
    }
}

impl From<SendError> for ForwardError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::NoneHealthy => Self::NoneHealthy,
            SendError::NoSockets => Self::NoSockets,
            SendError::Target(error) => Self::Target(error),
            SendError::Connect(error) => Self::Connect(error),
            SendError::Broken(error) => known(&error).unwrap_or(Self::Broken(error)),
        }
    }
}

/// Returns the specific error if the request failed because of its body, which exceeded the limit
/// or stalled (the HTTP client reports only that it ended), or because the response's head did not
/// end.
fn known(error: &BoxError) -> Option<ForwardError> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&**error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return Some(ForwardError::TooLarge);
        }
        if let Some(timed_out) = error.downcast_ref::<BodyTimedOut>() {
            return Some(ForwardError::ClientTimeout(timed_out.0));
        }
        let of_http = error.downcast_ref::<hyper::Error>();
        if of_http.is_some_and(hyper::Error::is_parse_too_large) {
            return Some(ForwardError::AnswerTooLarge);
        }
        cause = error.source();
    }
    None
}

/// Ensures that the body of a GET or HEAD arrives as a body. Without a length the HTTP library
/// would leave it out, and so would a filter. The upstream's connection is closed after the
/// response: a server that takes such a body for the next request would read it with another
/// client's identity. Over HTTP/2 both fields are left out, as frames carry this information.
fn frame_body(method: &Method, headers: &mut HeaderMap) {
    if !seldom_has_body(method) {
        return;
    }
    if !headers.contains_key(header::CONTENT_LENGTH) {
        let chunked = HeaderValue::from_static("chunked");
        headers.insert(header::TRANSFER_ENCODING, chunked);
    }
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
}

fn takes_trailers(headers: &HeaderMap) -> bool {
    let mut lines = headers.get_all(header::TE).iter();
    lines.any(|line| line.as_bytes().eq_ignore_ascii_case(b"trailers"))
}

fn kind_of(content_type: Option<&HeaderValue>) -> metrics::Kind {
    if content_type.is_some_and(is_event_stream) {
        metrics::Kind::EventStream
    } else {
        metrics::Kind::Response
    }
}

fn add(headers: &mut HeaderMap, added: Added, upstream: &Upstream) {
    headers.insert(X_FORWARDED_HOST, upstream.public_host.clone());
    headers.insert(X_FORWARDED_PROTO, HeaderValue::from_static(added.scheme));
    if let Some(prefix) = &upstream.rewrite.stripped_prefix {
        headers.insert(X_FORWARDED_PREFIX, prefix.clone());
    }
    // an unknown client is sent as such: without the header the upstream would take Portico for
    // the client
    if added.client != ClientAddress::Internal
        && let Ok(client) = HeaderValue::try_from(added.client.text())
    {
        headers.insert(X_FORWARDED_FOR, client);
    }
    for (name, value) in added.identity.iter() {
        let mut value = value.clone();
        value.set_sensitive(true);
        // the client's own headers of this name have been removed; a list may have several lines
        headers.append(name.clone(), value);
    }
}
