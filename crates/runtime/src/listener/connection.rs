use super::admission::Place;
use super::body::ArrivingBody;
use super::handshake_log::HandshakeLog;
use super::wire::Wire;
use super::{HttpService, Limits, PeerAddr, PeerCertificates};
use crate::tls::ReloadingTls;
use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, Request, StatusCode, Version, header};
use hyper::body::{Body as _, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::Watcher;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

/// For whoever is one too many: a word that costs nothing.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\n\
    retry-after: 5\r\nconnection: close\r\ncontent-length: 41\r\n\r\n\
    Too many connections. Try again shortly.\n";
/// What waits to be sent on one HTTP/2 stream: a client that takes nothing must not fill memory.
const SEND_BUFFER: usize = 64 * 1024;

/// Turns accepted sockets into served connections.
#[derive(Clone)]
pub(super) struct Acceptor<A> {
    app: A,
    tls: Option<Arc<ReloadingTls>>,
    handshakes: Arc<HandshakeLog>,
    limits: Limits,
    protocol: Arc<Builder<TokioExecutor>>,
    /// Whether clients should go elsewhere.
    leaving: Arc<AtomicBool>,
}

impl<A: HttpService> Acceptor<A> {
    pub(super) fn new(
        name: &'static str,
        app: A,
        tls: Option<Arc<ReloadingTls>>,
        limits: Limits,
        leaving: Arc<AtomicBool>,
    ) -> Self {
        let mut protocol = Builder::new(TokioExecutor::new());
        protocol
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header_read)
            .max_headers(limits.max_headers)
            .max_buf_size(usize::try_from(limits.max_header_bytes).unwrap_or(usize::MAX));
        protocol
            .http2()
            .timer(TokioTimer::new())
            .max_header_list_size(limits.max_header_bytes)
            .max_concurrent_streams(limits.max_streams)
            .max_send_buf_size(SEND_BUFFER)
            // a client that went away without a word must not hold its streams for ever
            .keep_alive_interval(std::time::Duration::from_secs(30))
            .keep_alive_timeout(std::time::Duration::from_secs(20));
        Self {
            app,
            tls,
            handshakes: Arc::new(HandshakeLog::new(name)),
            limits,
            protocol: Arc::new(protocol),
            leaving,
        }
    }

    /// Closes a connection that is one too many; where nothing is encrypted, with a word.
    pub(super) fn turn_away(&self, stream: &TcpStream) {
        if self.tls.is_none() {
            // a new socket has room for it; whoever does not get it sees the end
            let _ = stream.try_write(FULL);
        }
    }

    pub(super) async fn serve(
        self,
        stream: TcpStream,
        peer: SocketAddr,
        place: Place,
        watcher: Watcher,
    ) {
        // an error means that the peer is gone, which the first read says too
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.tls else {
            return self.serve_http(stream, peer, None, place, watcher).await;
        };
        let handshake = TlsAcceptor::from(tls.current()).accept(stream);
        match tokio::time::timeout(self.limits.handshake, handshake).await {
            Ok(Ok(stream)) => {
                let certificates = stream.get_ref().1.peer_certificates().map(|chain| {
                    let owned = chain.iter().map(|one| one.clone().into_owned()).collect();
                    PeerCertificates(Arc::new(owned))
                });
                self.serve_http(stream, peer, certificates, place, watcher)
                    .await;
            }
            Ok(Err(error)) if tls.asks_for_client_certificates() => {
                self.handshakes.failed(peer, &error);
            }
            Ok(Err(error)) => tracing::debug!(%peer, %error, "TLS handshake failed"),
            Err(_) => tracing::debug!(%peer, "TLS handshake took too long"),
        }
    }

    async fn serve_http<S>(
        self,
        stream: S,
        peer: SocketAddr,
        certificates: Option<PeerCertificates>,
        place: Place,
        watcher: Watcher,
    ) where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (app, leaving) = (self.app, self.leaving);
        let idle = self.limits.body_idle;
        let switched = Arc::new(AtomicBool::new(false));
        let wire = Wire::new(stream, &self.limits, Arc::clone(&switched), place);
        let service = service_fn(move |request: Request<Incoming>| {
            let version = request.version();
            let mut request = request.map(|body| {
                if body.is_end_stream() {
                    Body::empty()
                } else {
                    Body::new(ArrivingBody::new(body, idle))
                }
            });
            let extensions = request.extensions_mut();
            extensions.insert(PeerAddr(peer));
            if let Some(certificates) = &certificates {
                extensions.insert(certificates.clone());
            }
            let answer = app.clone().oneshot(request);
            let (leaving, switched) = (Arc::clone(&leaving), Arc::clone(&switched));
            async move {
                let mut response: Response = answer.await?;
                if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                    switched.store(true, Ordering::Relaxed);
                } else if version <= Version::HTTP_11 && leaving.load(Ordering::Relaxed) {
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(header::CONNECTION, close);
                }
                Ok::<_, Infallible>(response)
            }
        });
        let connection = self
            .protocol
            .serve_connection_with_upgrades(TokioIo::new(wire), service)
            .into_owned();
        if let Err(error) = watcher.watch(connection).await {
            // clients leave in the middle of things all day long
            tracing::debug!(%error, "connection ended early");
        }
    }
}
