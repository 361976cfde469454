use super::admission::Place;
use super::body::ArrivingBody;
use super::guarded_stream::GuardedStream;
use super::handshake_log::HandshakeLog;
use super::{HttpService, Limits, OtherPeerCertificates, PeerAddr, PeerCertificates};
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

/// The response to a connection over the limit; constant, so that it costs nothing.
const TOO_MANY_CONNECTIONS: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\n\
    retry-after: 5\r\nconnection: close\r\ncontent-length: 41\r\n\r\n\
    Too many connections. Try again shortly.\n";
/// The HTTP library's own maximum number of headers. If it is set nevertheless, the library fills
/// two arrays of this length for each request.
const LIBRARY_MAX_HEADERS: usize = 100;
/// Maximum number of bytes that wait to be sent on one HTTP/2 stream, so that a client that does
/// not read cannot fill the memory.
const MAX_SEND_BUFFER_BYTES: usize = 64 * 1024;

/// What a client has presented, by the authority that issued it.
enum Presented {
    Configured(PeerCertificates),
    Other(OtherPeerCertificates),
}

/// Turns accepted sockets into served connections.
#[derive(Clone)]
pub(super) struct Acceptor<A> {
    app: A,
    tls: Option<Arc<ReloadingTls>>,
    handshakes: Arc<HandshakeLog>,
    limits: Limits,
    protocol: Arc<Builder<TokioExecutor>>,
    /// Whether clients should connect elsewhere.
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
            .max_buf_size(usize::try_from(limits.max_header_bytes).unwrap_or(usize::MAX));
        if limits.max_headers != LIBRARY_MAX_HEADERS {
            protocol.http1().max_headers(limits.max_headers);
        }
        protocol
            .http2()
            .timer(TokioTimer::new())
            .max_header_list_size(limits.max_header_bytes)
            .max_concurrent_streams(limits.max_streams)
            .max_send_buf_size(MAX_SEND_BUFFER_BYTES)
            // a client that disappeared without closing must not hold its streams forever
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

    /// Closes a connection over the limit; without TLS, with a response.
    pub(super) fn turn_away(&self, stream: &TcpStream) {
        if self.tls.is_none() {
            // a new socket has room for it; a client that does not receive it sees the end
            let _ = stream.try_write(TOO_MANY_CONNECTIONS);
        }
    }

    pub(super) async fn serve(
        self,
        stream: TcpStream,
        peer: SocketAddr,
        place: Place,
        watcher: Watcher,
    ) {
        // an error means that the peer is gone, which the first read reports too
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.tls else {
            return self.serve_http(stream, peer, None, place, watcher).await;
        };
        let handshake = TlsAcceptor::from(tls.current()).accept(stream);
        match tokio::time::timeout(self.limits.handshake, handshake).await {
            Ok(Ok(stream)) => {
                let presented = stream.get_ref().1.peer_certificates().map(|chain| {
                    let owned = chain.iter().map(|one| one.clone().into_owned()).collect();
                    let owned: Arc<Vec<_>> = Arc::new(owned);
                    if tls.is_of_configured_authority(&owned) {
                        Presented::Configured(PeerCertificates(owned))
                    } else {
                        Presented::Other(OtherPeerCertificates(owned))
                    }
                });
                self.serve_http(stream, peer, presented, place, watcher)
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
        presented: Option<Presented>,
        place: Place,
        watcher: Watcher,
    ) where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (app, leaving) = (self.app, self.leaving);
        let idle = self.limits.body_idle;
        let switched = Arc::new(AtomicBool::new(false));
        let stream = GuardedStream::new(stream, &self.limits, Arc::clone(&switched), place);
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
            match &presented {
                Some(Presented::Configured(chain)) => drop(extensions.insert(chain.clone())),
                Some(Presented::Other(chain)) => drop(extensions.insert(chain.clone())),
                None => {}
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
            .serve_connection_with_upgrades(TokioIo::new(stream), service)
            .into_owned();
        if let Err(error) = watcher.watch(connection).await {
            // clients disconnect at any time, which is normal
            tracing::debug!(%error, "connection ended early");
        }
    }
}
