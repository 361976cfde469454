use super::{Encrypted, Limits, PeerAddr, PeerCertificates};
use crate::tls::ReloadingTls;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::Watcher;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

/// Turns accepted sockets into served connections.
#[derive(Clone)]
pub(super) struct Acceptor {
    router: Router,
    tls: Option<Arc<ReloadingTls>>,
    limits: Limits,
    protocol: Arc<Builder<TokioExecutor>>,
}

impl Acceptor {
    pub(super) fn new(router: Router, tls: Option<Arc<ReloadingTls>>, limits: Limits) -> Self {
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
            // a client that went away without a word must not hold its streams for ever
            .keep_alive_interval(std::time::Duration::from_secs(30))
            .keep_alive_timeout(std::time::Duration::from_secs(20));
        Self {
            router,
            tls,
            limits,
            protocol: Arc::new(protocol),
        }
    }

    pub(super) async fn serve(self, stream: TcpStream, peer: SocketAddr, watcher: Watcher) {
        // an error means that the peer is gone, which the first read says too
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.tls else {
            return self.serve_http(stream, peer, None, watcher).await;
        };
        let handshake = TlsAcceptor::from(tls.current()).accept(stream);
        match tokio::time::timeout(self.limits.handshake, handshake).await {
            Ok(Ok(stream)) => {
                let certificates = stream.get_ref().1.peer_certificates().map(|chain| {
                    let owned = chain.iter().map(|one| one.clone().into_owned()).collect();
                    PeerCertificates(Arc::new(owned))
                });
                self.serve_http(stream, peer, certificates, watcher).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, "TLS handshake refused"),
            Err(_) => tracing::debug!("TLS handshake took too long"),
        }
    }

    async fn serve_http<S>(
        self,
        stream: S,
        peer: SocketAddr,
        certificates: Option<PeerCertificates>,
        watcher: Watcher,
    ) where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let router = self.router;
        let encrypted = Encrypted(self.tls.is_some());
        let service = service_fn(move |request: http::Request<Incoming>| {
            let mut request = request.map(Body::new);
            let extensions = request.extensions_mut();
            extensions.insert(PeerAddr(peer));
            extensions.insert(ConnectInfo(peer));
            extensions.insert(encrypted);
            if let Some(certificates) = &certificates {
                extensions.insert(certificates.clone());
            }
            router.clone().oneshot(request)
        });
        let connection = self
            .protocol
            .serve_connection_with_upgrades(TokioIo::new(stream), service)
            .into_owned();
        if let Err(error) = watcher.watch(connection).await {
            // clients leave in the middle of things all day long
            tracing::debug!(%error, "connection ended early");
        }
    }
}
