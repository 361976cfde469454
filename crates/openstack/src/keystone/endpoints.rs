//! Keystone's endpoints: one, or several of the same cloud of which one responds.
use super::circuit::{Change, Circuit};
use super::error::Error;
use super::metrics;
use crate::keystone::config::KeystoneConfig;
use reqwest::Url;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How often the only endpoint is probed while it is down: users wait for it.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);
/// How often an endpoint is probed while another one responds: a probe may delay a request by
/// seconds.
const FALLBACK_PROBE_INTERVAL: Duration = Duration::from_secs(15);

/// The endpoints, in the order in which they are tried. Clones share their state.
#[derive(Clone, Debug)]
pub(super) struct Endpoints(Arc<[Endpoint]>);

/// One endpoint.
#[derive(Debug)]
pub(super) struct Endpoint {
    base: Url,
    /// Host and port, for logs and metrics.
    name: String,
    circuit: Circuit,
}

impl Endpoints {
    pub fn new(config: &KeystoneConfig) -> Self {
        let alone = config.fallback_urls.is_empty();
        let probe_every = if alone {
            PROBE_INTERVAL
        } else {
            FALLBACK_PROBE_INTERVAL
        };
        let endpoint = |url: &Url| {
            let mut base = url.clone();
            let path = base.path().trim_end_matches('/').to_owned();
            base.set_path(&path);
            let endpoint = Endpoint {
                name: url.authority().to_owned(),
                base,
                circuit: Circuit::new(probe_every),
            };
            metrics::record_circuit(&endpoint.name, false);
            endpoint
        };
        Self(config.urls().map(endpoint).collect())
    }

    /// Returns the endpoints to try in turn, each with the number of those behind it.
    pub fn admitted(&self) -> impl Iterator<Item = (&Endpoint, usize)> {
        let behind = |index| self.0.len() - 1 - index;
        self.0
            .iter()
            .enumerate()
            .filter(|(_, endpoint)| endpoint.circuit.admits(Instant::now()))
            .map(move |(index, endpoint)| (endpoint, behind(index)))
    }
}

impl Endpoint {
    /// Returns the URL of a call below `/v3`; empty for the API's own.
    pub fn url(&self, path: &str, query: Option<&str>) -> Url {
        let mut url = self.base.clone();
        if !path.is_empty() {
            url.set_path(&format!("{}/{path}", self.base.path()));
        }
        url.set_query(query);
        url
    }

    /// Records the result of a call.
    pub fn learn(&self, result: Result<(), &Error>, retry_after: Option<Duration>) {
        let next_step = result.err().and_then(Error::next_step);
        let error = result.err().map(ToString::to_string);
        match self.circuit.learn(result, retry_after, Instant::now()) {
            Some(Change::Opened) => {
                tracing::error!(
                    endpoint = self.name,
                    error,
                    next_step,
                    "keystone is considered unavailable; probed periodically until it answers"
                );
                metrics::record_circuit(&self.name, true);
            }
            Some(Change::Closed) => {
                tracing::info!(endpoint = self.name, "keystone answers again");
                metrics::record_circuit(&self.name, false);
            }
            None => {}
        }
    }
}
