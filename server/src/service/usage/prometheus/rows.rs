//! Usage of the rows of a list: one query for CPU and one for memory, whatever the number of rows.
use super::{Prometheus, PrometheusError, QUERY_TIMEOUT, answer::Series, query::Template};
use crate::{
    kube::{Api, api::Reader},
    service::usage::{
        history,
        rows::{Batch, Key},
    },
};
use portico_cache::Cache;
use portico_domain::panel::CpuMemory;
use std::{collections::HashMap, sync::Arc, time::Duration};
use uuid::Uuid;

/// Maximum number of pods that a query names; with more, it is about the namespaces as a whole.
const MAX_NAMES: usize = 200;
/// How long results are reused: shorter than the interval of usual scrapes.
const RECENT_TTL: Duration = Duration::from_secs(10);
/// Maximum number of rows in all results that are reused; one is about 200 bytes.
const MAX_RECENT_ROWS: u64 = 200_000;

/// What was measured for each row.
type Measurements = Arc<HashMap<Key, CpuMemory>>;

/// The results of the last seconds, each for one user only.
pub(super) type RecentRows = Cache<(Reader, Batch), Measurements, PrometheusError>;

/// Returns no results.
pub(super) fn recent_rows() -> RecentRows {
    Cache::builder()
        .max_capacity(MAX_RECENT_ROWS)
        .weigher(row_count)
        .time_to_live(RECENT_TTL)
        .build()
}

fn row_count(_: &(Reader, Batch), rows: &Measurements) -> u32 {
    u32::try_from(rows.len().max(1)).unwrap_or(u32::MAX)
}

impl Prometheus {
    /// Measures rows. The caller has confirmed that the viewer may read the pods or nodes of the
    /// batch. A row without samples is missing in the result, which may be up to ten seconds old:
    /// requests of one user for the same rows, at the same time or within that time, are one query.
    ///
    /// # Errors
    /// See [`PrometheusError`]. They are not cached.
    pub(in crate::service::usage) async fn measure_rows(
        &self,
        api: &Api,
        batch: &Batch,
    ) -> Result<Measurements, Arc<PrometheusError>> {
        let measured = async {
            tokio::time::timeout(QUERY_TIMEOUT, self.measure_batch(api.cluster(), batch))
                .await
                .unwrap_or(Err(PrometheusError::Timeout))
                .map(Arc::new)
        };
        let slot = (api.reader(), batch.clone());
        self.recent_rows.try_get_with(slot, measured).await
    }

    async fn measure_batch(
        &self,
        cluster: Uuid,
        batch: &Batch,
    ) -> Result<HashMap<Key, CpuMemory>, PrometheusError> {
        let all = self
            .clusters
            .get(&cluster)
            .cloned()
            .ok_or(PrometheusError::UnknownCluster)?;
        let (restriction, cpu, memory) = match batch {
            Batch::Pods { namespaces, names } => {
                let mut pods = all.namespaces(namespaces)?;
                if !names.is_empty() && names.len() <= MAX_NAMES {
                    pods = pods.pods(names)?;
                }
                (pods, Template::EachPodCpu, Template::EachPodMemory)
            }
            Batch::Namespaces(namespaces) => (
                all.namespaces(namespaces)?,
                Template::EachNamespaceCpu,
                Template::EachNamespaceMemory,
            ),
            Batch::Nodes => (all, Template::EachNodeCpu, Template::EachNodeMemory),
        };
        let (cpu, memory) = tokio::try_join!(
            self.instant(&restriction, cpu),
            self.instant(&restriction, memory)
        )?;
        Ok(by_row(batch, restriction.node_label(), &cpu, &memory))
    }
}

/// Returns the usage by row. The rate of a new container follows one scrape after its memory: a row
/// without both is left out.
fn by_row(
    batch: &Batch,
    node_label: &str,
    cpu: &[Series],
    memory: &[Series],
) -> HashMap<Key, CpuMemory> {
    let mut cores: HashMap<Key, f64> = HashMap::new();
    for series in cpu {
        if let Some(value) = series.value() {
            cores.insert(key(batch, node_label, series), value);
        }
    }
    let mut used = HashMap::new();
    for series in memory {
        let key = key(batch, node_label, series);
        if let (Some(cores), Some(bytes)) = (cores.get(&key), series.value()) {
            used.insert(key, history::used(*cores, bytes));
        }
    }
    used
}

fn key(batch: &Batch, node_label: &str, series: &Series) -> Key {
    let label = |name: &str| series.label(name).to_owned();
    match batch {
        Batch::Pods { .. } => (label("namespace"), label("pod")),
        Batch::Namespaces(_) => (String::new(), label("namespace")),
        Batch::Nodes => (String::new(), label(node_label)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::prometheus::PrometheusConfig,
        kube::{clusters::Caches, credential::ClusterTokens},
        service::usage::prometheus::answer,
    };
    use axum::{Router, routing::post};
    use kube::client::Body;
    use portico_clock::Clock;
    use portico_domain::cluster::ClusterRecord;
    use serde_json::json;
    use std::{
        convert::Infallible,
        sync::atomic::{AtomicUsize, Ordering},
    };

    /// Starts a Prometheus without samples for one cluster; the second value counts its queries.
    async fn counting_prometheus(cluster: Uuid) -> (Prometheus, Arc<AtomicUsize>) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let queries = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&queries);
        let answer = move || async move {
            counter.fetch_add(1, Ordering::SeqCst);
            r#"{"status":"success","data":{"result":[]}}"#
        };
        let router = Router::new().route("/api/v1/query", post(answer));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let config: PrometheusConfig = serde_json::from_value(json!({ "url": url })).unwrap();
        let record: ClusterRecord = serde_json::from_value(json!({
            "id": cluster, "name": "acme", "owner_project": "acme",
            "api_url": "https://127.0.0.1:6443", "sealing_key_file": "unused",
        }))
        .unwrap();
        (
            Prometheus::new(&config, &[record], Clock::system()).unwrap(),
            queries,
        )
    }

    #[tokio::test]
    async fn need_07_rows_that_a_user_has_read_just_now_are_read_again_for_others_only() {
        let cluster = Uuid::from_u128(1);
        let (prometheus, queries) = counting_prometheus(cluster).await;
        let service = tower::service_fn(|_: http::Request<Body>| async {
            Ok::<_, Infallible>(http::Response::new(Body::empty()))
        });
        let client = kube::Client::new(service, "default");
        let (tokens, caches) = (ClusterTokens::default(), Arc::new(Caches::default()));
        let api = |token: &str| {
            let (subject, caches) = (tokens.subject(&token.into()), Arc::clone(&caches));
            Api::new(cluster, client.clone(), None, subject, caches)
        };
        let (vera, otto) = (api("vera"), api("otto"));
        let shop = Batch::Namespaces(vec!["shop".to_owned()]);
        let (one, two) = tokio::join!(
            prometheus.measure_rows(&vera, &shop),
            prometheus.measure_rows(&vera, &shop)
        );
        assert!(one.unwrap().is_empty() && two.unwrap().is_empty());
        prometheus.measure_rows(&vera, &shop).await.unwrap();
        // one for CPU and one for memory
        assert_eq!(queries.load(Ordering::SeqCst), 2);
        prometheus.measure_rows(&otto, &shop).await.unwrap();
        assert_eq!(queries.load(Ordering::SeqCst), 4);
        let bank = Batch::Namespaces(vec!["bank".to_owned()]);
        prometheus.measure_rows(&vera, &bank).await.unwrap();
        assert_eq!(queries.load(Ordering::SeqCst), 6);
    }

    fn series(labels: &str, value: &str) -> Vec<Series> {
        let body = format!(
            r#"{{"status":"success","data":{{"result":[{{"metric":{{{labels}}},"value":[1,"{value}"]}}]}}}}"#
        );
        answer::read(body.as_bytes()).unwrap()
    }

    #[test]
    fn need_07_rows_have_the_samples_of_their_own_namespace() {
        let pods = Batch::Pods {
            namespaces: vec!["shop".to_owned(), "bank".to_owned()],
            names: Vec::new(),
        };
        let web = r#""namespace":"shop","pod":"web-0""#;
        let used = by_row(&pods, "node", &series(web, "0.25"), &series(web, "1024"));
        let expected = CpuMemory {
            cpu: 250,
            memory: 1_024,
        };
        assert_eq!(used.len(), 1);
        assert_eq!(
            used.get(&("shop".to_owned(), "web-0".to_owned())),
            Some(&expected)
        );
        let node = r#""instance":"n1""#;
        let used = by_row(
            &Batch::Nodes,
            "instance",
            &series(node, "1"),
            &series(node, "2"),
        );
        assert!(used.contains_key(&(String::new(), "n1".to_owned())));
    }

    #[test]
    fn need_07_rows_without_a_rate_are_unknown_and_not_zero() {
        let namespaces = Batch::Namespaces(vec!["shop".to_owned()]);
        let shop = r#""namespace":"shop""#;
        let memory = series(shop, "1024");
        assert!(by_row(&namespaces, "node", &[], &memory).is_empty());
        assert!(by_row(&namespaces, "node", &series(shop, "NaN"), &memory).is_empty());
    }
}
