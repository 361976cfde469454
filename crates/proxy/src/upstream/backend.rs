//! One backend of an upstream: its connections and its health.
//!
//! Connections belong to one backend. Whatever a request contains, it can reach no other backend
//! with them, and they are not shared with another TLS identity or trust.
use std::{
    error::Error as _,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    time::Duration,
};

use axum::body::Body;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{self, Client, ResponseFuture},
    rt::{TokioExecutor, TokioTimer},
};
use parking_lot::RwLock;

use crate::config::Protocol;
use crate::upstream::address::Address;
use crate::upstream::connection_reuse::without_reuse;
use crate::upstream::connector::{BoxError, Connector, Tls};
use crate::upstream::tls::Configs;

/// How long a backend is left out after its first failed connection; doubled after each further
/// one, up to [`MAX_BACKOFF`].
const INITIAL_BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_secs(30);
/// How often an HTTP/2 connection is pinged, to detect one that has silently gone.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// What is read of a response at once, in addition to the largest head: more only uses memory, and
/// a head that is too large is detected.
const BODY_BUFFER_BYTES: usize = 4 * 1024;

/// The smallest buffer that the HTTP library accepts.
const MIN_BUFFER_BYTES: usize = 8 * 1024;

type UpstreamClient = Client<Connector, Body>;

/// The options of a backend's connections, apart from its address and TLS.
#[derive(Clone, Debug)]
pub(crate) struct ClientOptions {
    pub protocol: Protocol,
    pub connect: Duration,
    pub keep_alive: Duration,
    /// The maximum sum of header names and values of a response, in bytes.
    pub response_headers: usize,
}

/// One backend of an upstream.
#[derive(Debug)]
pub struct Backend {
    pub address: Address,
    /// The name in logs and metrics.
    pub label: String,
    pools: PoolSet,
    health: HealthState,
}

#[derive(Debug)]
enum PoolSet {
    Fixed(Pools),
    /// Replaced when the TLS files change.
    Renewed(RwLock<Pools>),
}

#[derive(Debug)]
struct Pools {
    /// HTTP/1.1 without TLS, else the protocol that the server chooses.
    primary: UpstreamClient,
    /// For requests that become a WebSocket, which needs HTTP/1.1.
    sockets: Option<UpstreamClient>,
}

/// Why there is no response.
#[derive(Debug)]
pub(crate) enum RequestError {
    /// The server has received nothing of the request.
    Unsent(BoxError),
    Broken(BoxError),
}

/// The known health of a backend.
#[derive(Debug, Default)]
struct HealthState {
    /// Excluded until this time, in milliseconds of the upstream's clock; 0: not excluded.
    out_until: AtomicU64,
    /// Consecutive failures.
    failures: AtomicU32,
    /// Whether the health checks fail.
    down: AtomicBool,
}

/// Whether a backend may get a request now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Eligibility {
    Eligible,
    /// It failed recently; used only if there is no other.
    Suspect,
    /// The health checks fail.
    Down,
}

impl Backend {
    pub fn new(
        address: Address,
        tls: Option<(Configs, rustls_pki_types::ServerName<'static>)>,
        options: &ClientOptions,
    ) -> Self {
        let label = address.label();
        let pools = match tls {
            None => PoolSet::Fixed(Pools::in_clear(&address, options)),
            Some((configs, name)) => PoolSet::Renewed(RwLock::new(Pools::over_tls(
                &address, configs, name, options,
            ))),
        };
        Self {
            address,
            label,
            pools,
            health: HealthState::default(),
        }
    }

    /// Sends a request on one of its connections; `None` where a WebSocket is requested and the
    /// backend cannot speak HTTP/1.1. A connection that turns out to be closed before anything has
    /// been sent is replaced by another one.
    pub async fn request(
        &self,
        request: Request<Body>,
        socket: bool,
    ) -> Option<Result<Response<Incoming>, RequestError>> {
        let request = if self.address.prior_knowledge {
            request
        } else {
            without_reuse(request)
        };
        let response = match &self.pools {
            PoolSet::Fixed(pools) => pools.request(request, socket)?,
            PoolSet::Renewed(pools) => pools.read().request(request, socket)?,
        };
        Some(response.await.map_err(RequestError::of))
    }

    /// Replaces the TLS settings: from now on every connection is a new one, made with them.
    pub fn renew(
        &self,
        configs: Configs,
        name: rustls_pki_types::ServerName<'static>,
        options: &ClientOptions,
    ) {
        if let PoolSet::Renewed(pools) = &self.pools {
            let new = Pools::over_tls(&self.address, configs, name, options);
            *pools.write() = new;
        }
    }

    /// Returns whether it may get a request at this time. A backend whose exclusion has ended gets
    /// one request at first, not all that wait.
    pub fn eligibility(&self, now: u64) -> Eligibility {
        let health = &self.health;
        if health.down.load(Ordering::Relaxed) {
            return Eligibility::Down;
        }
        let out_until = health.out_until.load(Ordering::Relaxed);
        if out_until == 0 {
            return Eligibility::Eligible;
        }
        if now < out_until {
            return Eligibility::Suspect;
        }
        let next = now + out_for(health.failures.load(Ordering::Relaxed));
        let mine = health.out_until.compare_exchange(
            out_until,
            next,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        if mine.is_ok() {
            Eligibility::Eligible
        } else {
            Eligibility::Suspect
        }
    }

    /// Records a response; returns true if it had been excluded.
    pub fn answered(&self) -> bool {
        let health = &self.health;
        if health.out_until.load(Ordering::Relaxed) == 0 {
            return false;
        }
        health.failures.store(0, Ordering::Relaxed);
        health.out_until.swap(0, Ordering::Relaxed) != 0
    }

    /// Records a failed connection; returns for how long it is excluded, if it was not before.
    pub fn failed(&self, now: u64) -> Option<Duration> {
        let health = &self.health;
        let failures = health.failures.fetch_add(1, Ordering::Relaxed) + 1;
        let out = out_for(failures);
        let before = health.out_until.swap(now + out, Ordering::Relaxed);
        (before == 0).then(|| Duration::from_millis(out))
    }

    /// Records the outcome of the health checks; returns true if it has changed.
    pub fn set_down(&self, down: bool) -> bool {
        self.health.down.swap(down, Ordering::Relaxed) != down
    }
}

/// Returns for how many milliseconds a backend is excluded after this many consecutive failures.
fn out_for(failures: u32) -> u64 {
    let doubled = INITIAL_BACKOFF * 2_u32.saturating_pow(failures.saturating_sub(1).min(16));
    u64::try_from(doubled.min(MAX_BACKOFF).as_millis()).unwrap_or(u64::MAX)
}

impl Pools {
    fn in_clear(address: &Address, options: &ClientOptions) -> Self {
        let connector =
            |in_turn| Connector::new(address.way.clone(), None, options.connect, in_turn);
        let http2 = address.prior_knowledge;
        Self {
            primary: options.client(connector(!http2), http2),
            sockets: (!http2).then(|| options.client(connector(false), false)),
        }
    }

    fn over_tls(
        address: &Address,
        configs: Configs,
        name: rustls_pki_types::ServerName<'static>,
        options: &ClientOptions,
    ) -> Self {
        let only_http2 = options.protocol == Protocol::Http2;
        let connector = |config, only_http2, in_turn| {
            let tls = Tls {
                config,
                name: name.clone(),
                only_http2,
            };
            Connector::new(address.way.clone(), Some(tls), options.connect, in_turn)
        };
        let sockets = configs.sockets.map(|config| {
            let connector = connector(config, false, false);
            options.client(connector, false)
        });
        Self {
            primary: options.client(connector(configs.primary, only_http2, true), only_http2),
            sockets,
        }
    }

    fn request(&self, request: Request<Body>, socket: bool) -> Option<ResponseFuture> {
        let client = if socket {
            self.sockets.as_ref()?
        } else {
            &self.primary
        };
        Some(client.request(request))
    }
}

impl RequestError {
    fn of(error: legacy::Error) -> Self {
        // only a request that had a connection fails with one
        let has_connection = !error.is_connect() && error.connect_info().is_some();
        if has_connection && !was_never_begun(&error) {
            Self::Broken(error.into())
        } else {
            Self::Unsent(error.into())
        }
    }
}

/// Returns whether a connection ended before it took the request from its queue.
fn was_never_begun(error: &legacy::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    cause.is_some_and(hyper::Error::is_canceled)
}

impl ClientOptions {
    fn client(&self, connector: Connector, http2_only: bool) -> UpstreamClient {
        let buffer = self
            .response_headers
            .saturating_add(BODY_BUFFER_BYTES)
            .max(MIN_BUFFER_BYTES);
        Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(self.keep_alive)
            .set_host(false)
            .http1_max_buf_size(buffer)
            .http2_only(http2_only)
            .http2_max_header_list_size(u32::try_from(self.response_headers).unwrap_or(u32::MAX))
            .http2_keep_alive_interval(PING_INTERVAL)
            .http2_keep_alive_timeout(PING_TIMEOUT)
            .build(connector)
    }
}

#[cfg(test)]
mod connection_tests;

#[cfg(test)]
mod tests {
    use super::*;

    fn backend() -> Backend {
        let url = url::Url::parse("http://127.0.0.1:9").expect("url");
        let options = ClientOptions {
            protocol: Protocol::Auto,
            connect: Duration::from_secs(1),
            keep_alive: Duration::from_secs(1),
            response_headers: 1000,
        };
        Backend::new(Address::of(&url).expect("address"), None, &options)
    }

    #[test]
    fn each_failure_in_a_row_leaves_it_out_for_longer() {
        let backend = backend();
        assert_eq!(backend.eligibility(5), Eligibility::Eligible);
        assert_eq!(backend.failed(5), Some(INITIAL_BACKOFF));
        assert_eq!(backend.eligibility(1004), Eligibility::Suspect);
        assert_eq!(
            backend.eligibility(1005),
            Eligibility::Eligible,
            "one may try"
        );
        assert_eq!(backend.eligibility(1005), Eligibility::Suspect, "only one");
        assert_eq!(backend.failed(1005), None, "nothing new");
        assert_eq!(backend.eligibility(3004), Eligibility::Suspect);
        assert_eq!(backend.eligibility(3005), Eligibility::Eligible);
        for _ in 0..100 {
            backend.failed(0);
        }
        assert_eq!(backend.eligibility(29_999), Eligibility::Suspect);
        assert_eq!(backend.eligibility(30_000), Eligibility::Eligible);
        assert!(backend.answered());
        assert!(!backend.answered());
        assert_eq!(backend.failed(7), Some(INITIAL_BACKOFF), "it begins anew");
    }

    #[test]
    fn the_health_checks_have_the_last_word() {
        let backend = backend();
        assert!(backend.set_down(true));
        assert!(!backend.set_down(true));
        assert!(!backend.answered());
        assert_eq!(backend.eligibility(0), Eligibility::Down);
        assert!(backend.set_down(false));
        assert_eq!(backend.eligibility(0), Eligibility::Eligible);
    }
}
