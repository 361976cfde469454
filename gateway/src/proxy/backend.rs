//! One server of an upstream: its connections, and whether it works.
//!
//! The connections are its own. Whatever a request says, it can reach no other server with them,
//! and no other TLS identity or trust shares them.
use std::{
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::body::Body;
use http::Request;
use hyper_util::{
    client::legacy::{self, Client},
    rt::{TokioExecutor, TokioTimer},
};

use super::{
    address::Address,
    connector::{Connector, Tls},
    kept::{Answered, Kept, Lease, RequestError},
    upstream_tls::Configs,
};
use crate::config::upstream::Protocol;

/// How long a backend is left out after its first failure to take a connection; twice as long
/// after each further one, up to [`LONGEST_OUT`].
const FIRST_OUT: Duration = Duration::from_secs(1);
const LONGEST_OUT: Duration = Duration::from_secs(30);
/// An HTTP/2 connection that has gone without a word must be noticed.
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// What is read of an answer at once, besides the largest head: more of a large one only fills
/// memory, and a head that is too large is seen to be so.
const BUFFER: usize = 4 * 1024;

/// The HTTP library takes nothing less.
const SMALLEST_BUFFER: usize = 8 * 1024;

type UpstreamClient = Client<Connector, Body>;

/// How a backend's connections are made, apart from its address and TLS.
#[derive(Clone, Debug)]
pub(super) struct Manner {
    pub protocol: Protocol,
    pub connect: Duration,
    pub keep_alive: Duration,
    pub headers: usize,
}

/// One server of an upstream.
#[derive(Debug)]
pub(crate) struct Backend {
    pub address: Address,
    /// What logs and metrics call it.
    pub label: String,
    pools: Held,
    standing: Standing,
}

#[derive(Debug)]
enum Held {
    Fixed(Pools),
    /// Replaced when the files of its TLS change.
    Renewed(RwLock<Pools>),
}

#[derive(Debug)]
struct Pools {
    usual: Usual,
    /// For what becomes a WebSocket, which takes HTTP/1.1.
    sockets: Option<UpstreamClient>,
}

#[derive(Debug)]
enum Usual {
    /// HTTP/1.1, as nobody offers anything else in clear.
    Kept(Kept),
    /// Whatever the server chooses.
    Client(Box<UpstreamClient>),
}

/// Whether a backend works, as far as is known.
#[derive(Debug, Default)]
struct Standing {
    /// It is left out until then, in milliseconds of the upstream's clock; 0: it is not.
    out_until: AtomicU64,
    /// Failures in a row.
    failures: AtomicU32,
    /// The health checks say that it does not work.
    down: AtomicBool,
}

/// Whether a backend may get a request now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fitness {
    Fit,
    /// It failed lately; better than nothing.
    Doubtful,
    /// The health checks say that it does not work.
    Down,
}

impl Backend {
    pub fn new(
        address: Address,
        tls: Option<(Configs, rustls_pki_types::ServerName<'static>)>,
        manner: &Manner,
    ) -> Self {
        let label = address.label();
        let pools = match tls {
            None => Held::Fixed(Pools::in_clear(&address, manner)),
            Some((configs, name)) => Held::Renewed(RwLock::new(Pools::over_tls(
                &address, configs, name, manner,
            ))),
        };
        Self {
            address,
            label,
            pools,
            standing: Standing::default(),
        }
    }

    /// Sends a request on one of its connections; `None` where a WebSocket is asked for that it
    /// cannot speak.
    pub async fn request(&self, request: Request<Body>, socket: bool) -> Option<Answered> {
        let answer = match &self.pools {
            Held::Fixed(pools) => pools.request(request, socket)?,
            Held::Renewed(pools) => pools
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .request(request, socket)?,
        };
        Some(match answer {
            Answer::Kept(answer) => answer.await,
            Answer::Client(answer) => match answer.await {
                Ok(response) => Ok((response, Lease::default())),
                Err(error) => Err(RequestError::of(error)),
            },
        })
    }

    /// Closes connections that have been kept for long enough.
    pub fn prune(&self) {
        // the library's client prunes its own
        if let Held::Fixed(pools) = &self.pools
            && let Usual::Kept(kept) = &pools.usual
        {
            kept.prune();
        }
    }

    /// From now on every connection is a new one, made with this.
    pub fn renew(
        &self,
        configs: Configs,
        name: rustls_pki_types::ServerName<'static>,
        manner: &Manner,
    ) {
        if let Held::Renewed(pools) = &self.pools {
            let new = Pools::over_tls(&self.address, configs, name, manner);
            *pools.write().unwrap_or_else(PoisonError::into_inner) = new;
        }
    }

    /// Whether it may get a request at this time. A backend whose time out is over gets one
    /// request at first, not all that wait.
    pub fn fitness(&self, now: u64) -> Fitness {
        let standing = &self.standing;
        if standing.down.load(Ordering::Relaxed) {
            return Fitness::Down;
        }
        let out_until = standing.out_until.load(Ordering::Relaxed);
        if out_until == 0 {
            return Fitness::Fit;
        }
        if now < out_until {
            return Fitness::Doubtful;
        }
        let next = now + out_for(standing.failures.load(Ordering::Relaxed));
        let mine = standing.out_until.compare_exchange(
            out_until,
            next,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        if mine.is_ok() {
            Fitness::Fit
        } else {
            Fitness::Doubtful
        }
    }

    /// Notes that it answered; true when it had been left out.
    pub fn answered(&self) -> bool {
        let standing = &self.standing;
        if standing.out_until.load(Ordering::Relaxed) == 0 {
            return false;
        }
        standing.failures.store(0, Ordering::Relaxed);
        standing.out_until.swap(0, Ordering::Relaxed) != 0
    }

    /// Notes that it took no connection; for how long it is left out, when it was not before.
    pub fn failed(&self, now: u64) -> Option<Duration> {
        let standing = &self.standing;
        let failures = standing.failures.fetch_add(1, Ordering::Relaxed) + 1;
        let out = out_for(failures);
        let before = standing.out_until.swap(now + out, Ordering::Relaxed);
        (before == 0).then(|| Duration::from_millis(out))
    }

    /// Notes what the health checks say; true when it is news.
    pub fn set_down(&self, down: bool) -> bool {
        self.standing.down.swap(down, Ordering::Relaxed) != down
    }
}

/// For how many milliseconds a backend is left out after so many failures in a row.
fn out_for(failures: u32) -> u64 {
    let doubled = FIRST_OUT * 2_u32.saturating_pow(failures.saturating_sub(1).min(16));
    u64::try_from(doubled.min(LONGEST_OUT).as_millis()).unwrap_or(u64::MAX)
}

impl Pools {
    fn in_clear(address: &Address, manner: &Manner) -> Self {
        let connector =
            |in_turn| Connector::new(address.way.clone(), None, manner.connect, in_turn);
        let http2 = address.prior_knowledge;
        let usual = if http2 {
            Usual::Client(Box::new(manner.client(connector(false), true)))
        } else {
            Usual::Kept(Kept::new(
                connector(true),
                manner.buffer(),
                manner.keep_alive,
            ))
        };
        Self {
            usual,
            sockets: (!http2).then(|| manner.client(connector(false), false)),
        }
    }

    fn over_tls(
        address: &Address,
        configs: Configs,
        name: rustls_pki_types::ServerName<'static>,
        manner: &Manner,
    ) -> Self {
        let only_http2 = manner.protocol == Protocol::Http2;
        let connector = |config, only_http2, in_turn| {
            let tls = Tls {
                config,
                name: name.clone(),
                only_http2,
            };
            Connector::new(address.way.clone(), Some(tls), manner.connect, in_turn)
        };
        let sockets = configs.sockets.map(|config| {
            let connector = connector(config, false, false);
            manner.client(connector, false)
        });
        Self {
            usual: Usual::Client(Box::new(
                manner.client(connector(configs.usual, only_http2, true), only_http2),
            )),
            sockets,
        }
    }

    fn request(
        &self,
        request: Request<Body>,
        socket: bool,
    ) -> Option<Answer<impl Future<Output = Answered> + use<>>> {
        Some(match (&self.usual, socket) {
            (_, true) => Answer::Client(self.sockets.as_ref()?.request(request)),
            (Usual::Kept(kept), false) => Answer::Kept(kept.request(request)),
            (Usual::Client(client), false) => Answer::Client(client.request(request)),
        })
    }
}

/// An answer under way.
enum Answer<F> {
    Kept(F),
    Client(legacy::ResponseFuture),
}

impl RequestError {
    fn of(error: legacy::Error) -> Self {
        // only a request that had a connection fails with one
        if error.is_connect() || error.connect_info().is_none() {
            Self::Unsent(error.into())
        } else {
            Self::Broken(error.into())
        }
    }
}

impl Manner {
    fn buffer(&self) -> usize {
        self.headers.saturating_add(BUFFER).max(SMALLEST_BUFFER)
    }

    fn client(&self, connector: Connector, http2_only: bool) -> UpstreamClient {
        Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(self.keep_alive)
            .set_host(false)
            .http1_max_buf_size(self.buffer())
            .http2_only(http2_only)
            .http2_max_header_list_size(u32::try_from(self.headers).unwrap_or(u32::MAX))
            .http2_keep_alive_interval(PING_EVERY)
            .http2_keep_alive_timeout(PING_TIMEOUT)
            .build(connector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backend() -> Backend {
        let url = url::Url::parse("http://127.0.0.1:9").expect("url");
        let manner = Manner {
            protocol: Protocol::Auto,
            connect: Duration::from_secs(1),
            keep_alive: Duration::from_secs(1),
            headers: 1000,
        };
        Backend::new(Address::of(&url).expect("address"), None, &manner)
    }

    #[test]
    fn each_failure_in_a_row_leaves_it_out_for_longer() {
        let backend = backend();
        assert_eq!(backend.fitness(5), Fitness::Fit);
        assert_eq!(backend.failed(5), Some(FIRST_OUT));
        assert_eq!(backend.fitness(1004), Fitness::Doubtful);
        assert_eq!(backend.fitness(1005), Fitness::Fit, "one may try");
        assert_eq!(backend.fitness(1005), Fitness::Doubtful, "only one");
        assert_eq!(backend.failed(1005), None, "nothing new");
        assert_eq!(backend.fitness(3004), Fitness::Doubtful);
        assert_eq!(backend.fitness(3005), Fitness::Fit);
        for _ in 0..100 {
            backend.failed(0);
        }
        assert_eq!(backend.fitness(29_999), Fitness::Doubtful);
        assert_eq!(backend.fitness(30_000), Fitness::Fit);
        assert!(backend.answered());
        assert!(!backend.answered());
        assert_eq!(backend.failed(7), Some(FIRST_OUT), "it begins anew");
    }

    #[test]
    fn the_health_checks_have_the_last_word() {
        let backend = backend();
        assert!(backend.set_down(true));
        assert!(!backend.set_down(true));
        assert!(!backend.answered());
        assert_eq!(backend.fitness(0), Fitness::Down);
        assert!(backend.set_down(false));
        assert_eq!(backend.fitness(0), Fitness::Fit);
    }
}
