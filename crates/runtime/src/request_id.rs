//! Request IDs: one ID per request, in logs, responses and requests to upstreams (`X-Request-Id`),
//! and the request's span in a trace.
use crate::listener::PeerAddr;
use crate::traces::{self, Continues, continue_trace, forget_trace, has_trace};
use futures::TryFutureExt as _;
use http::{HeaderName, HeaderValue, Request, Response};
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tower::{Layer, Service};
use tracing::field::Empty;
use tracing::{Instrument as _, Level, Span};
use uuid::Uuid;

/// The header that carries the ID.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

tokio::task_local! {
    static CURRENT: RequestId;
}

/// Whether log lines get the request ID without a span for it. Such a span would be created for
/// every request, and read by the few that log a line.
static LOG_ADDS_REQUEST_ID: AtomicBool = AtomicBool::new(false);

/// Returns the ID of the request that is being handled on this task, if any.
pub fn current() -> Option<RequestId> {
    CURRENT.try_with(|id| *id).ok()
}

/// Returns `work` for a task of its own that belongs to the request of this task: its log lines have the
/// same ID. Without a request, `work` is unchanged.
pub fn in_current_request<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let id = current();
    async move {
        match id {
            Some(id) => CURRENT.scope(id, work).await,
            None => work.await,
        }
    }
}

/// Makes log lines name their request: from now on spans are for debugging and for traces.
pub(crate) fn lines_name_requests() {
    LOG_ADDS_REQUEST_ID.store(true, Ordering::Relaxed);
}

#[cfg(test)]
pub(crate) fn handled<T>(id: RequestId, handle: impl FnOnce() -> T) -> T {
    CURRENT.sync_scope(id, handle)
}

/// The request's ID: [`current`] returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(pub Uuid);

impl RequestId {
    /// Returns a random ID. The thread's own generator needs no system call per request.
    fn new() -> Self {
        // one number: an array would take four random bytes for each of its own
        let random: u128 = rand::random();
        Self(uuid::Builder::from_random_bytes(random.to_ne_bytes()).into_uuid())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The senders whose `X-Request-Id` is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// None: every request gets a new ID. For listeners that users reach.
    NoPeer,
    /// The direct sender, if the value is a UUID. For listeners that only the gateway reaches.
    Sender,
}

/// Gives each request an ID: what [`current`] returns, the request header that upstreams get, the
/// response header, and a tracing span named `request`.
#[derive(Clone, Debug)]
pub struct RequestIdLayer {
    trust: Trust,
    in_extensions: bool,
    level: Level,
    continues: Continues,
}

impl RequestIdLayer {
    /// Returns a layer that accepts IDs according to `trust`.
    pub fn new(trust: Trust) -> Self {
        Self {
            trust,
            in_extensions: false,
            level: Level::INFO,
            continues: match trust {
                Trust::NoPeer => Continues::NoPeer,
                Trust::Sender => Continues::AllPeers,
            },
        }
    }

    /// Continues traces of others too. Trace headers of untrusted peers are removed.
    #[must_use]
    pub fn continuing(self, continues: Continues) -> Self {
        Self { continues, ..self }
    }

    /// Adds the ID to the extensions of requests too, for handlers that extract it.
    #[must_use]
    pub fn in_extensions(self) -> Self {
        Self {
            in_extensions: true,
            ..self
        }
    }

    /// Creates the span for debugging only, for listeners with thousands of requests a second whose
    /// log lines name the ID themselves.
    #[must_use]
    pub fn for_debugging(self) -> Self {
        Self {
            level: Level::DEBUG,
            ..self
        }
    }
}

impl<S> Layer<S> for RequestIdLayer {
    type Service = RequestIdService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        RequestIdService {
            inner,
            trust: self.trust,
            in_extensions: self.in_extensions,
            level: self.level,
            continues: self.continues.clone(),
        }
    }
}

/// See [`RequestIdLayer`].
#[derive(Clone, Debug)]
pub struct RequestIdService<S> {
    inner: S,
    trust: Trust,
    in_extensions: bool,
    level: Level,
    continues: Continues,
}

impl<S, B, R> Service<Request<B>> for RequestIdService<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let id = match self.trust {
            Trust::Sender => sent_id(&request),
            Trust::NoPeer => None,
        }
        .unwrap_or_else(RequestId::new);
        let header = header_value(id);
        if self.in_extensions {
            request.extensions_mut().insert(id);
        }
        request.headers_mut().insert(X_REQUEST_ID, header.clone());
        // the query is left out: it may hold a return path or a code
        let level = if LOG_ADDS_REQUEST_ID.load(Ordering::Relaxed) {
            Level::DEBUG
        } else {
            self.level
        };
        let span = span(level, id, &request);
        if traces::are_on() {
            span.record("otel.kind", "server");
        }
        if has_trace(request.headers()) {
            let peer = request.extensions().get::<PeerAddr>();
            if self.continues.trusts(peer.map(|peer| peer.0.ip())) {
                continue_trace(&span, request.headers());
            } else {
                forget_trace(request.headers_mut());
            }
        }
        // not an async block, which would have room for the answer's future twice
        let answered = self.inner.call(request).map_ok(move |mut response| {
            if traces::are_on() {
                let status = i64::from(response.status().as_u16());
                Span::current().record("http.response.status_code", status);
            }
            response.headers_mut().insert(X_REQUEST_ID, header);
            response
        });
        Box::pin(CURRENT.scope(id, answered.instrument(span)))
    }
}

/// Creates the span of a request. A span's level is fixed at its place in the code.
fn span<B>(level: Level, id: RequestId, request: &Request<B>) -> Span {
    let (method, path) = (request.method(), request.uri().path());
    if level == Level::INFO {
        tracing::info_span!(
            "request",
            request_id = %id,
            %method,
            path,
            otel.kind = Empty,
            http.response.status_code = Empty
        )
    } else {
        tracing::debug_span!(
            "request",
            request_id = %id,
            %method,
            path,
            otel.kind = Empty,
            http.response.status_code = Empty
        )
    }
}

fn sent_id<B>(request: &Request<B>) -> Option<RequestId> {
    let text = request.headers().get(X_REQUEST_ID)?.to_str().ok()?;
    Uuid::try_parse(text).ok().map(RequestId)
}

fn header_value(id: RequestId) -> HeaderValue {
    let mut buffer = Uuid::encode_buffer();
    // a hyphenated UUID is always a valid header value
    HeaderValue::from_str(id.0.hyphenated().encode_lower(&mut buffer))
        .unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;
    use std::sync::Arc;
    use tower::{ServiceExt as _, service_fn};

    async fn pass(trust: Trust, sent: Option<&str>) -> (String, String, RequestId) {
        let service =
            RequestIdLayer::new(trust).layer(service_fn(|request: Request<()>| async move {
                let seen = request.headers()[X_REQUEST_ID].to_str().unwrap().to_owned();
                let id = current().unwrap();
                Ok::<_, std::convert::Infallible>(Response::new((seen, id)))
            }));
        let mut request = Request::new(());
        if let Some(sent) = sent {
            request
                .headers_mut()
                .insert(X_REQUEST_ID, sent.parse().unwrap());
        }
        let response = service.oneshot(request).await.unwrap();
        let answered = response.headers()[X_REQUEST_ID]
            .to_str()
            .unwrap()
            .to_owned();
        let (seen, id) = response.into_body();
        (answered, seen, id)
    }

    #[tokio::test]
    async fn work_in_a_task_of_its_own_has_the_id_of_its_request() {
        let layer = RequestIdLayer::new(Trust::NoPeer).in_extensions();
        let service = layer.layer(service_fn(|request: Request<()>| async move {
            let id = request.extensions().get::<RequestId>().copied();
            let bare = tokio::spawn(async { current() }).await.unwrap();
            let work = in_current_request(async { current() });
            let carried = tokio::spawn(work).await.unwrap();
            Ok::<_, std::convert::Infallible>(Response::new((id, bare, carried)))
        }));
        let response = service.oneshot(Request::new(())).await.unwrap();
        let (id, bare, carried) = response.into_body();
        assert!(id.is_some());
        assert_eq!((carried, bare), (id, None));
        assert_eq!(in_current_request(async { current() }).await, None);
    }

    #[tokio::test]
    async fn trace_headers_of_untrusted_clients_are_removed() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let trusted: std::net::IpAddr = "192.0.2.1".parse().unwrap();
        for (peer, continues, passes) in [
            ("192.0.2.1", Continues::NoPeer, false),
            ("192.0.2.9", Continues::AllPeers, true),
            (
                "192.0.2.1",
                Continues::Peers(Arc::new(move |peer| peer == trusted)),
                true,
            ),
            (
                "192.0.2.2",
                Continues::Peers(Arc::new(move |peer| peer == trusted)),
                false,
            ),
        ] {
            let service = RequestIdLayer::new(Trust::NoPeer)
                .continuing(continues)
                .layer(service_fn(|request: Request<()>| async move {
                    let headers = request.headers();
                    let seen = ["traceparent", "tracestate", "baggage"]
                        .map(|name| headers.contains_key(name));
                    Ok::<_, std::convert::Infallible>(Response::new(seen))
                }));
            let mut request = Request::new(());
            for (name, value) in [
                ("traceparent", parent),
                ("tracestate", "a=b"),
                ("baggage", "a=b"),
            ] {
                request.headers_mut().insert(name, value.parse().unwrap());
            }
            let peer = SocketAddr::new(peer.parse().unwrap(), 1);
            request.extensions_mut().insert(PeerAddr(peer));
            let seen = service.oneshot(request).await.unwrap().into_body();
            assert_eq!(seen, [passes; 3], "{peer}");
        }
    }

    const SENT: &str = "8c0f0a58-3c36-4d2c-9a55-9d9f0f6d9a1b";

    #[tokio::test]
    async fn a_client_cannot_choose_its_id() {
        let (answered, seen, id) = pass(Trust::NoPeer, Some(SENT)).await;
        assert_ne!(answered, SENT);
        assert_eq!(answered, seen);
        assert_eq!(answered, id.to_string());
    }

    #[tokio::test]
    async fn the_gateways_id_is_kept() {
        assert_eq!(pass(Trust::Sender, Some(SENT)).await.0, SENT);
    }

    #[tokio::test]
    async fn what_is_not_a_uuid_is_replaced() {
        assert_ne!(
            pass(Trust::Sender, Some("not-a-uuid")).await.0,
            "not-a-uuid"
        );
    }
}
