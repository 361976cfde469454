//! Listeners: HTTP/1.1 and HTTP/2 over TCP or TLS, with upgrades, limits and a graceful stop.
mod connection;
#[cfg(test)]
mod tests;

use crate::lifecycle::Lifecycle;
use crate::tls::ReloadingTls;
use axum::Router;
use connection::Acceptor;
use hyper_util::server::graceful::GracefulShutdown;
use rustls_pki_types::CertificateDer;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The address of the connection's other end, in each request's extensions. Behind a reverse
/// proxy this is the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddr(pub SocketAddr);

/// The client's certificate chain, its own first, in each request's extensions when the client
/// showed one. The listener has verified it against the client authority.
#[derive(Clone, Debug)]
pub struct PeerCertificates(pub Arc<Vec<CertificateDer<'static>>>);

/// Whether the connection is encrypted, in each request's extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encrypted(pub bool);

/// The limits of a listener.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long a client may take for the TLS handshake.
    pub handshake: Duration,
    /// How long a client may take to send the head of a request.
    pub header_read: Duration,
    /// How many headers a request may have.
    pub max_headers: usize,
    /// How large the head of a request may be, in bytes.
    pub max_header_bytes: u32,
    /// How many requests run at once on one HTTP/2 connection.
    pub max_streams: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(10),
            header_read: Duration::from_secs(15),
            max_headers: 100,
            max_header_bytes: 64 * 1024,
            max_streams: 250,
        }
    }
}

/// Why a listener cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The port is taken.
    #[error("{address} is in use by another process: stop it or choose another port")]
    InUse { address: SocketAddr },
    /// Any other reason.
    #[error("cannot listen on {address}: {source}")]
    Io {
        address: SocketAddr,
        source: std::io::Error,
    },
}

/// A bound socket that serves a router until the process stops.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    tls: Option<Arc<ReloadingTls>>,
    limits: Limits,
}

impl Listener {
    /// Takes the address; port 0 takes any free one.
    ///
    /// # Errors
    /// When the address is in use or not ours.
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
            socket,
            address,
            tls: None,
            limits: Limits::default(),
        })
    }

    /// Serves TLS only.
    #[must_use]
    pub fn with_tls(mut self, tls: ReloadingTls) -> Self {
        self.tls = Some(Arc::new(tls));
        self
    }

    /// Sets other limits than the default ones.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The address that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves `router` in the background of `lifecycle`: from the soft stop on nothing new is
    /// accepted, and requests that run are finished.
    ///
    /// Each request's extensions hold [`PeerAddr`], [`Encrypted`], axum's `ConnectInfo<SocketAddr>`
    /// and, where the client showed certificates, [`PeerCertificates`].
    pub fn serve(self, router: Router, lifecycle: &Lifecycle) {
        if let Some(tls) = &self.tls {
            lifecycle.spawn_background(Arc::clone(tls).watch());
        }
        let life = lifecycle.clone();
        lifecycle.spawn(self.accept_until_stopped(router, life));
    }

    async fn accept_until_stopped(self, router: Router, lifecycle: Lifecycle) {
        let graceful = GracefulShutdown::new();
        let acceptor = Acceptor::new(router, self.tls, self.limits);
        loop {
            let accepted = tokio::select! {
                accepted = self.socket.accept() => accepted,
                () = lifecycle.soft_stop().cancelled() => break,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let task = acceptor.clone().serve(stream, peer, graceful.watcher());
                    lifecycle.spawn(task);
                }
                Err(error) => {
                    // out of file descriptors, most often: connections that end free some
                    tracing::warn!(%error, address = %self.address, "cannot accept connections");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        drop(self.socket);
        graceful.shutdown().await;
    }
}
