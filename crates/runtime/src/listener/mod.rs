//! Listeners: HTTP/1.1 and HTTP/2 over TCP or TLS, with upgrades, limits and a graceful stop.
mod admission;
mod body;
mod connection;
mod guarded_stream;
mod handshake_log;
mod strict_framing;
#[cfg(test)]
mod tests;

use crate::lifecycle::Lifecycle;
use crate::tls::ReloadingTls;
use admission::Admission;
use axum::body::Body;
use axum::response::Response;
use connection::Acceptor;
use http::Request;
use hyper_util::server::graceful::GracefulShutdown;
use rustls_pki_types::CertificateDer;
use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};
use tower::Service;

pub use body::BodyTimedOut;

const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long a request that was sent before the socket closed may be in flight.
const IN_FLIGHT_GRACE: Duration = Duration::from_millis(500);

/// The address of the connection's peer, in each request's extensions. Behind a reverse proxy this
/// is the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddr(pub SocketAddr);

/// The client's certificate chain, its own first, in each request's extensions if the client
/// presented one. The listener has verified it against the client authority.
#[derive(Clone, Debug)]
pub struct PeerCertificates(pub Arc<Vec<CertificateDer<'static>>>);

/// The chain of a client that the client authority did not issue a certificate for, and that one of
/// the listener's further authorities ([`crate::tls::ClientAuthorities`]) admitted; in each
/// request's extensions instead of [`PeerCertificates`]. The client has its key. The service must
/// verify itself which authority issued it, and for what.
#[derive(Clone, Debug)]
pub struct OtherPeerCertificates(pub Arc<Vec<CertificateDer<'static>>>);

/// The limits of a listener.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time limit for the TLS handshake.
    pub handshake: Duration,
    /// Time limit for the head of a request.
    pub header_read: Duration,
    /// Maximum number of headers in a request.
    pub max_headers: usize,
    /// Maximum size of the head of a request, in bytes.
    pub max_header_bytes: u32,
    /// Maximum number of concurrent requests on one HTTP/2 connection.
    pub max_streams: u32,
    /// Time limit between two pieces of a request's body.
    pub body_idle: Duration,
    /// How long a client may receive nothing of a response that is ready for it.
    pub send: Duration,
    /// Maximum number of open connections.
    pub connections: usize,
    /// Maximum number of connections from one address; an IPv6 address counts as its /64.
    pub connections_per_address: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(10),
            header_read: Duration::from_secs(15),
            max_headers: 100,
            max_header_bytes: 64 * 1024,
            max_streams: 250,
            body_idle: Duration::from_secs(60),
            send: Duration::from_secs(60),
            connections: 40_000,
            connections_per_address: 20_000,
        }
    }
}

/// The reason why a listener cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The port is in use.
    #[error("{address} is in use by another process: stop it or choose another port")]
    InUse { address: SocketAddr },
    /// Any other reason.
    #[error("cannot listen on {address}: {source}")]
    Io {
        address: SocketAddr,
        source: std::io::Error,
    },
}

/// Addresses shared by many clients: their connections count towards the total only.
#[derive(Clone)]
struct Proxies(Arc<dyn Fn(IpAddr) -> bool + Send + Sync>);

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proxies")
    }
}

impl Default for Proxies {
    fn default() -> Self {
        Self(Arc::new(|_| false))
    }
}

/// A service that a listener can serve: a router, or another service that answers every request.
pub trait HttpService:
    Service<Request<Body>, Response = Response, Error = Infallible, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> HttpService for S where
    S: Service<Request<Body>, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// A bound socket that serves until the process stops.
#[derive(Debug)]
pub struct Listener {
    name: &'static str,
    socket: TcpListener,
    address: SocketAddr,
    tls: Option<Arc<ReloadingTls>>,
    limits: Limits,
    proxies: Proxies,
    stop: Option<CancellationToken>,
    closed: Option<DropGuard>,
}

impl Listener {
    /// Binds the address; port 0 means any free one.
    ///
    /// # Errors
    /// If the address is in use or does not belong to this machine.
    pub async fn bind(address: SocketAddr) -> Result<Self, ListenError> {
        let failed = |source: std::io::Error| {
            if source.kind() == std::io::ErrorKind::AddrInUse {
                ListenError::InUse { address }
            } else {
                ListenError::Io { address, source }
            }
        };
        let socket = TcpListener::bind(address).await.map_err(failed)?;
        let address = socket.local_addr().map_err(failed)?;
        Ok(Self {
            name: "unnamed",
            socket,
            address,
            tls: None,
            limits: Limits::default(),
            proxies: Proxies::default(),
            stop: None,
            closed: None,
        })
    }

    /// Sets its name in metrics.
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Serves TLS only.
    #[must_use]
    pub fn with_tls(mut self, tls: ReloadingTls) -> Self {
        self.tls = Some(Arc::new(tls.named(self.name)));
        self
    }

    /// Replaces the default limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets which addresses are shared by many clients: `connections_per_address` does not apply to
    /// them.
    #[must_use]
    pub fn with_proxies(
        mut self,
        proxies: impl Fn(IpAddr) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.proxies = Proxies(Arc::new(proxies));
        self
    }

    /// Stops on this token and not with the process's soft stop: for a service that is only reached
    /// through another listener of the process, which needs it until its own last request is
    /// answered.
    #[must_use]
    pub fn until(mut self, stop: CancellationToken) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Drops the guard after the last request has been answered.
    #[must_use]
    pub fn notify_when_closed(mut self, closed: DropGuard) -> Self {
        self.closed = Some(closed);
        self
    }

    /// Returns the bound address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves `service`, most often a router, in the background of `lifecycle`. After the
    /// announcement of a stop, HTTP/1.1 responses ask the client to reconnect; after the soft stop
    /// nothing new is accepted, HTTP/2 connections get GOAWAY, and running requests are completed.
    ///
    /// Each request's extensions hold [`PeerAddr`] and, if the client presented certificates,
    /// [`PeerCertificates`] or [`OtherPeerCertificates`].
    pub fn serve(self, service: impl HttpService, lifecycle: &Lifecycle) {
        if let Some(tls) = &self.tls {
            lifecycle.spawn_background(Arc::clone(tls).watch());
        }
        let life = lifecycle.clone();
        lifecycle.spawn(self.accept_until_stopped(service, life));
    }

    async fn accept_until_stopped(mut self, service: impl HttpService, lifecycle: Lifecycle) {
        let _closed = self.closed.take();
        let stop = self
            .stop
            .take()
            .unwrap_or_else(|| lifecycle.soft_stop().clone());
        let leaving = Arc::new(AtomicBool::new(false));
        let graceful = GracefulShutdown::new();
        let admission = Admission::new(self.name, &self.limits, self.proxies);
        let acceptor = Acceptor::new(
            self.name,
            service,
            self.tls,
            self.limits,
            Arc::clone(&leaving),
        );
        let serve = |stream: TcpStream, peer: SocketAddr| match admission.admit(peer.ip()) {
            Ok(place) => {
                let task = acceptor
                    .clone()
                    .serve(stream, peer, place, graceful.watcher());
                lifecycle.spawn(task);
            }
            Err(_) => acceptor.turn_away(&stream),
        };
        loop {
            let accepted = tokio::select! {
                accepted = self.socket.accept() => accepted,
                () = lifecycle.announced().cancelled(), if !leaving.load(Ordering::Relaxed) => {
                    leaving.store(true, Ordering::Relaxed);
                    continue;
                }
                () = stop.cancelled() => break,
            };
            match accepted {
                Ok((stream, peer)) => serve(stream, peer),
                Err(error) => {
                    // out of file descriptors, usually: connections that end release some
                    tracing::warn!(%error, address = %self.address, "cannot accept connections");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        leaving.store(true, Ordering::Relaxed);
        // clients that have connected already are not refused; the system itself is asked, as the
        // runtime may not know of them yet
        if let Ok(socket) = self.socket.into_std() {
            while let Ok((stream, peer)) = socket.accept() {
                if stream.set_nonblocking(true).is_ok()
                    && let Ok(stream) = TcpStream::from_std(stream)
                {
                    serve(stream, peer);
                }
            }
        }
        if graceful.count() > 0 {
            tokio::time::sleep(IN_FLIGHT_GRACE).await;
        }
        graceful.shutdown().await;
    }
}
