//! Usage from Prometheus, with a history. Prometheus knows no users: every query is restricted to a
//! cluster and a namespace or node, and is sent only after the caller has confirmed with the viewer's
//! own token that they may read the pods or nodes there.
mod answer;
mod error;
mod query;
mod rows;

pub use error::{PrometheusError, PrometheusSetupError};

use super::{Measured, Place, history};
use crate::config::prometheus::PrometheusConfig;
use answer::{MAX_SERIES, Series};
use portico_clock::Clock;
use portico_domain::{
    cluster::ClusterRecord,
    panel::{UsagePart, UsageSource},
};
use portico_runtime::secret_file::read_secret_file;
use portico_transport::TransportFault;
use query::{Restriction, Template};
use secrecy::ExposeSecret;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::PathBuf,
    time::Duration,
};
use tokio::sync::Semaphore;
use url::Url;
use uuid::Uuid;

/// Time limit for the queries of one page; a page waits for them.
const QUERY_TIMEOUT: Duration = Duration::from_secs(3);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum size of a response, in bytes.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of queries of all users at the same time.
const MAX_CONCURRENT_QUERIES: usize = 24;
/// The length of a history, and the distance of its points, in seconds.
const HISTORY_SECONDS: i64 = 3_600;
const STEP_SECONDS: i64 = 60;
/// Age at which the last point of a history is no longer the current value, in seconds.
const MAX_POINT_AGE_SECONDS: i64 = 2 * STEP_SECONDS;

/// The configured Prometheus.
pub struct Prometheus {
    http: reqwest::Client,
    base: Url,
    token_file: Option<PathBuf>,
    /// The restriction to each cluster.
    clusters: HashMap<Uuid, Restriction>,
    recent_rows: rows::RecentRows,
    calls: Semaphore,
    clock: Clock,
}

impl Prometheus {
    /// Prepares the client. A configuration that [`PrometheusConfig::validate`] accepts.
    ///
    /// # Errors
    /// If the file of the authority cannot be used.
    pub fn new<'c>(
        config: &PrometheusConfig,
        clusters: impl IntoIterator<Item = &'c ClusterRecord>,
        clock: Clock,
    ) -> Result<Self, PrometheusSetupError> {
        let mut builder = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(QUERY_TIMEOUT)
            // a redirect would send the bearer token and the query to its target
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy();
        if let Some(path) = &config.ca_file {
            let pem = std::fs::read(path).map_err(|source| PrometheusSetupError::Authority {
                path: path.clone(),
                source,
            })?;
            builder = builder.tls_built_in_root_certs(false);
            for certificate in reqwest::Certificate::from_pem_bundle(&pem)? {
                builder = builder.add_root_certificate(certificate);
            }
        }
        let restriction = |cluster: &ClusterRecord| {
            let label = config.cluster_label.as_deref();
            let pair = label.map(|label| (label, config.cluster_value(cluster)));
            (cluster.id, Restriction::new(pair, &config.node_label))
        };
        Ok(Self {
            http: builder.build()?,
            base: config.url.clone(),
            token_file: config.bearer_token_file.clone(),
            clusters: clusters.into_iter().map(restriction).collect(),
            recent_rows: rows::recent_rows(),
            calls: Semaphore::new(MAX_CONCURRENT_QUERIES),
            clock,
        })
    }

    /// Measures one place of a cluster. The caller has confirmed that the viewer may read it.
    ///
    /// # Errors
    /// See [`PrometheusError`].
    pub(super) async fn measure(
        &self,
        cluster: Uuid,
        place: &Place,
    ) -> Result<Measured, PrometheusError> {
        tokio::time::timeout(QUERY_TIMEOUT, self.measure_place(cluster, place))
            .await
            .unwrap_or(Err(PrometheusError::Timeout))
    }

    async fn measure_place(
        &self,
        cluster: Uuid,
        place: &Place,
    ) -> Result<Measured, PrometheusError> {
        let all = self
            .clusters
            .get(&cluster)
            .cloned()
            .ok_or(PrometheusError::UnknownCluster)?;
        match place {
            Place::Pod { namespace, name } => {
                let pod = all.namespace(namespace).pods(std::slice::from_ref(name))?;
                self.pods(&pod, "container").await
            }
            Place::Pods {
                namespace, names, ..
            } => {
                let pods = all.namespace(namespace).pods(names)?;
                self.pods(&pods, "pod").await
            }
            Place::Namespace(name) => {
                let templates = [Template::PodsCpu, Template::PodsMemory];
                self.total(&all.namespace(name), templates).await
            }
            Place::Node(name) => {
                let templates = [Template::NodesCpu, Template::NodesMemory];
                self.total(&all.node(name), templates).await
            }
            Place::Cluster => {
                let (cpu, memory) = tokio::try_join!(
                    self.instant(&all, Template::NodesCpu),
                    self.instant(&all, Template::NodesMemory)
                )?;
                let sum = |series: &[Series]| series.iter().filter_map(Series::value).sum::<f64>();
                if cpu.is_empty() || memory.is_empty() {
                    return Err(PrometheusError::NoSamples);
                }
                Ok(Measured {
                    used: history::used(sum(&cpu), sum(&memory)),
                    ..Measured::of(UsageSource::Prometheus)
                })
            }
        }
    }

    /// Measures pods, with a part for each value of a label.
    async fn pods(
        &self,
        restriction: &Restriction,
        part: &str,
    ) -> Result<Measured, PrometheusError> {
        let now = self.clock.now().as_second();
        let (cpu, memory, cpu_history, memory_history) = tokio::try_join!(
            self.instant(restriction, Template::ContainerCpu),
            self.instant(restriction, Template::ContainerMemory),
            self.range(restriction, Template::PodsCpu, now),
            self.range(restriction, Template::PodsMemory, now),
        )?;
        // the rate of a new container follows one scrape after its memory
        if memory.is_empty() {
            return Err(PrometheusError::NoSamples);
        }
        let mut parts: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        for series in &cpu {
            let sums = parts.entry(series.label(part).to_owned()).or_default();
            sums.0 += series.value().unwrap_or_default();
        }
        for series in &memory {
            let sums = parts.entry(series.label(part).to_owned()).or_default();
            sums.1 += series.value().unwrap_or_default();
        }
        let (cpu, memory_sum) = parts.values().fold((0.0, 0.0), |(cpu, memory), part| {
            (cpu + part.0, memory + part.1)
        });
        let pods: HashSet<&str> = memory.iter().map(|series| series.label("pod")).collect();
        Ok(Measured {
            used: history::used(cpu, memory_sum),
            pods: Some(pods.len()),
            parts: parts
                .into_iter()
                .map(|(name, (cpu, memory))| UsagePart {
                    name,
                    used: history::used(cpu, memory),
                })
                .collect(),
            cpu_history: history::cpu(&cpu_history),
            memory_history: history::memory(&memory_history),
            ..Measured::of(UsageSource::Prometheus)
        })
    }

    /// Measures a sum; the last points of its histories are the current values.
    async fn total(
        &self,
        restriction: &Restriction,
        [cpu, memory]: [Template; 2],
    ) -> Result<Measured, PrometheusError> {
        let now = self.clock.now().as_second();
        let (cpu, memory) = tokio::try_join!(
            self.range(restriction, cpu, now),
            self.range(restriction, memory, now)
        )?;
        let last = |points: &[(i64, f64)]| {
            let recent = |(at, _): &&(i64, f64)| now - at <= MAX_POINT_AGE_SECONDS;
            points.last().filter(recent).map(|(_, value)| *value)
        };
        let (Some(cpu_now), Some(memory_now)) = (last(&cpu), last(&memory)) else {
            return Err(PrometheusError::NoSamples);
        };
        Ok(Measured {
            used: history::used(cpu_now, memory_now),
            cpu_history: history::cpu(&cpu),
            memory_history: history::memory(&memory),
            ..Measured::of(UsageSource::Prometheus)
        })
    }

    async fn instant(
        &self,
        restriction: &Restriction,
        template: Template,
    ) -> Result<Vec<Series>, PrometheusError> {
        let query = restriction.apply(template)?;
        self.ask("api/v1/query", &[("query", &query)]).await
    }

    /// Returns the points of the one series that the template has.
    async fn range(
        &self,
        restriction: &Restriction,
        template: Template,
        end: i64,
    ) -> Result<Vec<(i64, f64)>, PrometheusError> {
        let query = restriction.apply(template)?;
        let (start, end) = ((end - HISTORY_SECONDS).to_string(), end.to_string());
        let step = STEP_SECONDS.to_string();
        let fields = [
            ("query", query.as_str()),
            ("start", start.as_str()),
            ("end", end.as_str()),
            ("step", step.as_str()),
        ];
        let series = self.ask("api/v1/query_range", &fields).await?;
        Ok(series.iter().flat_map(Series::points).collect())
    }

    async fn ask(
        &self,
        path: &str,
        fields: &[(&str, &str)],
    ) -> Result<Vec<Series>, PrometheusError> {
        // never closed
        let _call = self
            .calls
            .acquire()
            .await
            .map_err(|_| PrometheusError::Timeout)?;
        let timeout = format!("{}s", QUERY_TIMEOUT.as_secs());
        let limit = (MAX_SERIES + 1).to_string();
        let limits = [("timeout", timeout.as_str()), ("limit", limit.as_str())];
        let fields = [fields, limits.as_slice()].concat();
        let mut request = self.http.post(below(&self.base, path)).form(&fields);
        if let Some(file) = &self.token_file {
            request = request.bearer_auth(read_secret_file(file)?.expose_secret());
        }
        let failed = |error: reqwest::Error| {
            if error.is_timeout() {
                PrometheusError::Timeout
            } else if let Some(fault) = TransportFault::of(&error) {
                PrometheusError::Unreachable(fault.to_string())
            } else {
                PrometheusError::Unreachable(error.without_url().to_string())
            }
        };
        let mut response = request.send().await.map_err(failed)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > MAX_BODY_BYTES {
                return Err(PrometheusError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        match answer::read(&body) {
            // what refuses a query before Prometheus, such as a proxy that checks the token
            Err(PrometheusError::Unreadable(_)) if !status.is_success() => {
                Err(PrometheusError::Status(status.as_u16()))
            }
            answer => answer,
        }
    }
}

/// Returns the URL of a path below a base.
fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}/{path}", base.path().trim_end_matches('/')));
    url.set_query(None);
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_is_below_the_configured_path() {
        let at = |base: &str| below(&Url::parse(base).unwrap(), "api/v1/query").to_string();
        assert_eq!(at("http://p:9090"), "http://p:9090/api/v1/query");
        assert_eq!(
            at("http://p/prometheus/"),
            "http://p/prometheus/api/v1/query"
        );
        assert_eq!(at("https://p/x?a=b#c"), "https://p/x/api/v1/query");
    }
}
