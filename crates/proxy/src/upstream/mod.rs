//! Upstreams: the backends of the panel or an app, and the settings that they share.
pub mod address;
mod backend;
pub(crate) mod connection_reuse;
pub(crate) mod connector;
pub mod health;
mod load_balancer;
pub(crate) mod send;
pub(crate) mod tls;

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use http::{HeaderValue, Uri, uri::Authority};
use rustls_pki_types::ServerName;
use tokio::time::Instant;
use url::Url;

use portico_request::rewrite::{Rewrite, RewriteFault};

use crate::config::{HealthConfig, HostHeader, LimitsConfig, UpstreamConfig};
use crate::headers::path_route::PathRoute;
use crate::metrics;
use crate::upstream::address::Address;
use crate::upstream::backend::{Backend, ClientOptions};
use crate::upstream::tls::{Contents, TlsFiles, UpstreamTlsError};
use parking_lot::Mutex;

/// The destination of requests: the panel or an app.
#[derive(Debug)]
pub struct Upstream {
    /// The audience of its assertions, and the label of its metrics.
    pub id: String,
    /// The display name.
    pub name: String,
    pub limits: Limits,
    pub health: Option<HealthConfig>,
    /// The path, if it shares the panel's host.
    pub route: Option<PathRoute>,
    pub(crate) host: HostHeader,
    /// The host that browsers request.
    pub(crate) public: Authority,
    pub(crate) public_host: HeaderValue,
    pub(crate) rewrite: Rewrite,
    pub(crate) backends: Vec<Backend>,
    pub(crate) next: AtomicUsize,
    /// The start of the clock for excluded backends.
    pub(crate) since: Instant,
    options: ClientOptions,
    tls: Option<Reloading>,
}

/// The limits for its requests and responses.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The maximum sum of header names and values of a request, in bytes.
    pub headers: usize,
    /// The same of a response.
    pub response_headers: usize,
    pub body: u64,
    pub response: Duration,
    /// How long an ordinary response may pause.
    pub idle: Option<Duration>,
    /// How long a WebSocket or an event stream may pass without data.
    pub stream_idle: Option<Duration>,
}

/// The TLS files, and their contents when they were last read.
#[derive(Debug)]
struct Reloading {
    files: TlsFiles,
    name: Option<ServerName<'static>>,
    contents: Mutex<Contents>,
    /// Whether an error about the new ones has been logged.
    failing: AtomicBool,
}

/// Why an upstream's configuration is not usable.
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

impl Upstream {
    /// Returns an upstream with a single backend and default settings, whose responses may have headers of
    /// `response_headers` bytes at least.
    ///
    /// # Errors
    /// As [`Upstream::new`].
    pub fn plain(
        id: &str,
        name: &str,
        url: &Url,
        origin: &str,
        limits: &LimitsConfig,
        response_headers: usize,
    ) -> Result<Self, InvalidUpstream> {
        let config = UpstreamConfig::default();
        Self::build(id, name, &[url], origin, &config, limits, response_headers)
    }

    /// Returns an upstream with one backend for each address.
    ///
    /// # Errors
    /// [`InvalidUpstream`] for an address, an origin or a TLS file that cannot be used.
    pub fn new(
        id: &str,
        name: &str,
        urls: &[&Url],
        origin: &str,
        config: &UpstreamConfig,
        defaults: &LimitsConfig,
    ) -> Result<Self, InvalidUpstream> {
        Self::build(id, name, urls, origin, config, defaults, 0)
    }

    fn build(
        id: &str,
        name: &str,
        urls: &[&Url],
        origin: &str,
        config: &UpstreamConfig,
        defaults: &LimitsConfig,
        response_headers: usize,
    ) -> Result<Self, InvalidUpstream> {
        let (public, public_host) = host_of(origin)?;
        let headers = config.headers.unwrap_or(defaults.headers);
        let limits = Limits {
            headers,
            response_headers: headers.max(response_headers),
            body: config.body.unwrap_or(defaults.body),
            response: config.response.unwrap_or(defaults.response),
            idle: config.idle,
            stream_idle: config.stream_idle,
        };
        let options = ClientOptions {
            protocol: config.protocol,
            connect: config.connect.unwrap_or(defaults.connect),
            keep_alive: config.keep_alive,
            response_headers: limits.response_headers,
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
            backends.push(Backend::new(address, tls, &options));
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
            options,
            tls: contents.map(|contents| Reloading {
                files,
                name: server_name,
                contents: Mutex::new(contents),
                failing: AtomicBool::new(false),
            }),
        };
        if upstream.is_watched() {
            for backend in &upstream.backends {
                metrics::backend(&upstream.id, &backend.label, true);
            }
        }
        Ok(upstream)
    }

    /// Returns whether the health of its backends is reported.
    fn is_watched(&self) -> bool {
        self.backends.len() > 1 || self.health.is_some()
    }

    /// Returns the target for the upstream; `None` where it is the requested one.
    pub fn rewritten(&self, uri: &Uri) -> Result<Option<Uri>, RewriteFault> {
        self.rewrite.apply(uri)
    }

    /// Returns whether a connection to it may use HTTP/2.
    pub(crate) fn may_speak_http2(&self) -> bool {
        self.backends
            .iter()
            .any(|backend| !backend.address.speaks_only_http1())
    }

    /// Returns whether its TLS uses files.
    pub fn has_files(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| !tls.files.is_empty())
    }

    /// Reads the TLS files again, and logs changes and errors.
    pub fn follow_files(&self) {
        let Some(tls) = &self.tls else {
            return;
        };
        match self.reload(tls) {
            Ok(changed) => {
                tls.failing.store(false, Ordering::Relaxed);
                if changed {
                    tracing::info!(upstream = self.id, "certificates reloaded");
                }
            }
            // certificate and key are often replaced one after the other: log it once
            Err(error) if !tls.failing.swap(true, Ordering::Relaxed) => {
                tracing::warn!(upstream = self.id, %error, "new certificates not usable, the old ones stay");
            }
            Err(_) => {}
        }
    }

    /// Applies changed files; returns whether there were any. From then on every connection is a
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
                backend.renew(configs.clone(), name, &self.options);
            }
        }
        *tls.contents.lock() = read;
        Ok(true)
    }
}

fn name_of(address: &Address) -> Option<ServerName<'static>> {
    ServerName::try_from(address.host_name().to_owned()).ok()
}

/// Returns the host of an origin, for targets and for headers.
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
