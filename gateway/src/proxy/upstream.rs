//! What is behind the gateway: an upstream's servers, and what holds for all of them.
use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use http::{HeaderValue, Uri, uri::Authority};
use rustls_pki_types::ServerName;
use url::Url;

use super::{
    address::Address,
    backend::{Backend, Fitness, Manner},
    path_route::PathRoute,
    rewrite::{Rewrite, RewriteFault},
    upstream_tls::{Contents, TlsFiles, UpstreamTlsError},
};
use crate::{
    config::{
        AppConfig, LimitsConfig,
        upstream::{HealthConfig, HostHeader, UpstreamConfig},
    },
    meters,
    session::lock::Lock,
};

/// Where requests go.
#[derive(Debug)]
pub(crate) struct Upstream {
    /// The audience of assertions for it, and the label of its metrics.
    pub id: String,
    /// The name that people know it by.
    pub name: String,
    pub limits: Limits,
    pub health: Option<HealthConfig>,
    /// Where it shares the panel's host.
    pub route: Option<PathRoute>,
    pub(super) host: HostHeader,
    /// The host that browsers ask for.
    pub(super) public: Authority,
    pub(super) public_host: HeaderValue,
    pub(super) rewrite: Rewrite,
    pub(super) backends: Vec<Backend>,
    next: AtomicUsize,
    /// The beginning of the clock that backends are left out by.
    since: Instant,
    manner: Manner,
    tls: Option<Reloading>,
}

/// What holds for its requests and responses.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub headers: usize,
    pub body: u64,
    pub response: Duration,
    /// How long an ordinary response may pause.
    pub idle: Option<Duration>,
    /// How long a WebSocket or an event stream may be silent.
    pub stream_idle: Option<Duration>,
}

/// The files of its TLS, and what they held when they were read last.
#[derive(Debug)]
struct Reloading {
    files: TlsFiles,
    name: Option<ServerName<'static>>,
    contents: Lock<Contents>,
    /// Whether it has been said that the new ones cannot be used.
    failing: AtomicBool,
}

/// An upstream cannot be reached as it is configured.
#[derive(Debug, thiserror::Error)]
pub enum InvalidUpstream {
    #[error("{0} is not the address of an upstream")]
    Address(Url),
    #[error("{0} names no host that could be verified: set apps.upstream.server_name")]
    Unverifiable(Url),
    #[error("{0} is not an origin that browsers could ask for")]
    Origin(String),
    #[error("apps.upstream of {app}: {source}")]
    Tls {
        app: String,
        source: UpstreamTlsError,
    },
}

/// Which backends a request has been tried with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tried(u32);

impl Tried {
    pub fn note(&mut self, at: usize) {
        self.0 |= 1 << at;
    }

    fn has(self, at: usize) -> bool {
        self.0 & (1 << at) != 0
    }
}

impl Upstream {
    /// An app, for browsers that ask for this origin.
    pub fn of_app(
        app: &AppConfig,
        origin: &str,
        limits: &LimitsConfig,
    ) -> Result<Self, InvalidUpstream> {
        let urls: Vec<&Url> = app.addresses().collect();
        let config = &app.upstream;
        let mut upstream = Self::new(&app.id, &app.name, &urls, origin, config, limits)?;
        upstream.route = app
            .path
            .as_deref()
            .map(|path| PathRoute::new(path, config.strip_prefix.as_deref() == Some(path)));
        Ok(upstream)
    }

    /// A single server that nothing more is said about.
    pub fn plain(
        id: &str,
        name: &str,
        url: &Url,
        origin: &str,
        limits: &LimitsConfig,
    ) -> Result<Self, InvalidUpstream> {
        Self::new(id, name, &[url], origin, &UpstreamConfig::default(), limits)
    }

    fn new(
        id: &str,
        name: &str,
        urls: &[&Url],
        origin: &str,
        config: &UpstreamConfig,
        defaults: &LimitsConfig,
    ) -> Result<Self, InvalidUpstream> {
        let (public, public_host) = host_of(origin)?;
        let limits = Limits {
            headers: config.headers.unwrap_or(defaults.headers),
            body: config.body.unwrap_or(defaults.body),
            response: config.response.unwrap_or(defaults.response),
            idle: config.idle,
            stream_idle: config.stream_idle,
        };
        let manner = Manner {
            protocol: config.protocol,
            connect: config.connect.unwrap_or(defaults.connect),
            keep_alive: config.keep_alive,
            headers: limits.headers,
        };
        let failed = |source| InvalidUpstream::Tls {
            app: id.to_owned(),
            source,
        };
        let server_name = config.server_name.clone().map(ServerName::try_from);
        let server_name = server_name.and_then(Result::ok);
        let files = TlsFiles::of(config);
        let mut contents = None;
        let mut backends = Vec::new();
        for url in urls {
            let invalid = || InvalidUpstream::Address((*url).clone());
            let address = Address::of(url).ok_or_else(invalid)?;
            let tls = if address.tls {
                let name = match &server_name {
                    Some(name) => name.clone(),
                    None => name_of(&address)
                        .ok_or_else(|| InvalidUpstream::Unverifiable((*url).clone()))?,
                };
                let read = files.read().map_err(failed)?;
                let configs = files.build(&read).map_err(failed)?;
                contents = Some(read);
                Some((configs, name))
            } else {
                None
            };
            backends.push(Backend::new(address, tls, &manner));
        }
        let upstream = Self {
            id: id.to_owned(),
            name: name.to_owned(),
            limits,
            health: config.health.clone(),
            route: None,
            host: config.host_header,
            public,
            public_host,
            rewrite: Rewrite::new(config.strip_prefix.as_deref(), config.add_prefix.as_deref()),
            backends,
            next: AtomicUsize::new(0),
            since: Instant::now(),
            manner,
            tls: contents.map(|contents| Reloading {
                files,
                name: server_name,
                contents: Lock::new(contents),
                failing: AtomicBool::new(false),
            }),
        };
        if upstream.is_watched() {
            for backend in &upstream.backends {
                meters::backend(&upstream.id, &backend.label, true);
            }
        }
        Ok(upstream)
    }

    /// Whether anybody wants to know which of its servers work.
    fn is_watched(&self) -> bool {
        self.backends.len() > 1 || self.health.is_some()
    }

    /// The target that the upstream gets; `None` where it is the one that was asked for.
    pub fn rewritten(&self, uri: &Uri) -> Result<Option<Uri>, RewriteFault> {
        self.rewrite.apply(uri)
    }

    /// Whether some connection to it may speak HTTP/2.
    pub(super) fn may_speak_http2(&self) -> bool {
        self.backends
            .iter()
            .any(|backend| backend.address.prior_knowledge || backend.address.tls)
    }

    /// The backend that is next, of those not tried yet; and where it stands.
    ///
    /// One that failed lately is taken only when no other is left, for it may have come back.
    /// One that the health checks call down is never taken: it answers them, and badly.
    pub(super) fn pick(&self, tried: Tried) -> Option<(usize, &Backend)> {
        let count = self.backends.len();
        let start = if count > 1 {
            self.next.fetch_add(1, Ordering::Relaxed)
        } else {
            0
        };
        let now = self.clock();
        let mut doubtful = None;
        for offset in 0..count {
            let at = start.wrapping_add(offset) % count;
            let Some(backend) = self.backends.get(at).filter(|_| !tried.has(at)) else {
                continue;
            };
            match backend.fitness(now) {
                Fitness::Fit => return Some((at, backend)),
                Fitness::Doubtful if doubtful.is_none() => doubtful = Some((at, backend)),
                Fitness::Doubtful | Fitness::Down => {}
            }
        }
        doubtful
    }

    /// Notes that a backend answered.
    pub(super) fn answered(&self, backend: &Backend) {
        if self.backends.len() > 1 && backend.answered() {
            tracing::info!(
                upstream = self.id,
                backend = backend.label,
                "a backend takes connections again"
            );
            meters::backend(&self.id, &backend.label, true);
        }
    }

    /// Notes that a backend took no connection. A single one is tried anew each time.
    pub(super) fn failed(&self, backend: &Backend, error: &dyn std::error::Error) {
        if self.backends.len() < 2 {
            return;
        }
        if let Some(out_for) = backend.failed(self.clock()) {
            tracing::warn!(
                upstream = self.id,
                backend = backend.label,
                ?out_for,
                error = %super::send::Causes(error),
                "a backend takes no connection, and is left out"
            );
            meters::backend(&self.id, &backend.label, false);
        }
    }

    /// Notes what the health checks of a backend come to.
    pub(super) fn checked(&self, backend: &Backend, works: bool) {
        if !backend.set_down(!works) {
            return;
        }
        let (upstream, backend) = (&self.id, &backend.label);
        if works {
            tracing::info!(upstream, backend, "a backend is healthy again");
        } else {
            tracing::warn!(
                upstream,
                backend,
                "a backend is not healthy, and is left out"
            );
        }
        meters::backend(upstream, backend, works);
    }

    /// Whether its TLS is made of files.
    pub fn has_files(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| !tls.files.is_empty())
    }

    /// Reads the files of its TLS again, and says so where there is something to say.
    pub fn follow_files(&self) {
        let Some(tls) = &self.tls else {
            return;
        };
        match self.reload(tls) {
            Ok(changed) => {
                tls.failing.store(false, Ordering::Relaxed);
                if changed {
                    tracing::info!(upstream = self.id, "certificates read again");
                }
            }
            // certificate and key are often replaced one after the other: say it once
            Err(error) if !tls.failing.swap(true, Ordering::Relaxed) => {
                tracing::warn!(upstream = self.id, %error, "new certificates not usable, the old ones stay");
            }
            Err(_) => {}
        }
    }

    /// Takes changed files over; says whether there were any. From then on every connection is a
    /// new one.
    fn reload(&self, tls: &Reloading) -> Result<bool, UpstreamTlsError> {
        let read = tls.files.read()?;
        if read == *tls.contents.lock() {
            return Ok(false);
        }
        let configs = tls.files.build(&read)?;
        for backend in &self.backends {
            let own = || name_of(&backend.address);
            if let Some(name) = tls.name.clone().or_else(own) {
                backend.renew(configs.clone(), name, &self.manner);
            }
        }
        *tls.contents.lock() = read;
        Ok(true)
    }

    fn clock(&self) -> u64 {
        if self.backends.len() < 2 {
            return 0;
        }
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

fn name_of(address: &Address) -> Option<ServerName<'static>> {
    ServerName::try_from(address.host_name().to_owned()).ok()
}

/// The host of an origin, for targets and for headers.
fn host_of(origin: &str) -> Result<(Authority, HeaderValue), InvalidUpstream> {
    let host = origin.split_once("://").map_or(origin, |(_, host)| host);
    let authority = host.parse::<Authority>().ok();
    authority
        .zip(HeaderValue::from_str(host).ok())
        .ok_or_else(|| InvalidUpstream::Origin(origin.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(backends: usize) -> Upstream {
        let urls: Vec<Url> = (0..backends)
            .map(|n| {
                format!("http://127.0.0.1:{}/p/", 9000 + n)
                    .parse()
                    .expect("url")
            })
            .collect();
        let urls: Vec<&Url> = urls.iter().collect();
        let (config, limits) = (UpstreamConfig::default(), LimitsConfig::default());
        Upstream::new("a", "A", &urls, "http://a.example:8080", &config, &limits).expect("upstream")
    }

    fn picked(upstream: &Upstream, tried: Tried) -> Option<usize> {
        upstream.pick(tried).map(|(at, _)| at)
    }

    #[test]
    fn requests_go_round() {
        let upstream = upstream(3);
        let order: Vec<_> = (0..4)
            .map(|_| picked(&upstream, Tried::default()))
            .collect();
        assert_eq!(order, [Some(0), Some(1), Some(2), Some(0)]);
        let mut tried = Tried::default();
        tried.note(0);
        tried.note(2);
        assert_eq!(picked(&upstream, tried), Some(1));
        tried.note(1);
        assert_eq!(picked(&upstream, tried), None);
    }

    #[test]
    fn a_backend_that_failed_is_the_last_resort_and_one_that_is_down_is_none() {
        let upstream = upstream(2);
        let error = std::io::Error::other("refused");
        upstream.failed(&upstream.backends[0], &error);
        for _ in 0..4 {
            assert_eq!(picked(&upstream, Tried::default()), Some(1));
        }
        upstream.checked(&upstream.backends[1], false);
        assert_eq!(picked(&upstream, Tried::default()), Some(0));
        upstream.checked(&upstream.backends[0], false);
        assert_eq!(picked(&upstream, Tried::default()), None);
    }

    #[test]
    fn a_single_server_is_always_tried() {
        let upstream = upstream(1);
        let error = std::io::Error::other("refused");
        upstream.failed(&upstream.backends[0], &error);
        assert_eq!(picked(&upstream, Tried::default()), Some(0));
    }

    #[test]
    fn files_that_cannot_be_used_are_named() {
        let url: Url = "https://a.example".parse().expect("url");
        for (file, word) in [
            ("/nowhere/ca.crt", "cannot read /nowhere/ca.crt"),
            ("/dev/null", "/dev/null holds no certificate"),
        ] {
            let config = UpstreamConfig {
                ca_file: Some(file.into()),
                ..UpstreamConfig::default()
            };
            let limits = LimitsConfig::default();
            let refused = Upstream::new("a", "A", &[&url], "http://a", &config, &limits);
            let refused = refused.expect_err("built").to_string();
            assert!(refused.contains(word), "{refused}");
        }
    }
}
