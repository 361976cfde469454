//! The configured clusters, each with one connection pool that all users' calls share.
use super::{
    Api, KubeError,
    api::Reader,
    credential::{self, ClusterTokens, KeystoneToken, SubjectKey},
    discovery::Catalog,
    openapi::KindSchema,
    reviews::{ReviewResult, Rules},
};
use bytes::Bytes;
use http::HeaderValue;
use jiff::Timestamp;
use moka::future::Cache;
use portico_assertion::PublicKey;
use portico_domain::{
    cluster::ClusterRecord,
    identity::Project,
    panel::{Health, PodSummary, RightQuestion},
};
use secrecy::{ExposeSecret, SecretString};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::sync::watch;
use uuid::Uuid;

/// How long [`Api::recent`] reuses a response: shorter than the interval at which metrics are measured.
const RECENT_TTL: Duration = Duration::from_secs(10);
/// Maximum size of all responses that [`Api::recent`] reuses, in bytes.
const MAX_RECENT_BYTES: u64 = 64 * 1024 * 1024;

/// The clusters of the configuration.
pub struct Clusters {
    order: Vec<Uuid>,
    by_id: HashMap<Uuid, Cluster>,
    tokens: ClusterTokens,
    caches: Arc<Caches>,
}

struct Cluster {
    record: ClusterRecord,
    /// Faults in its files are reported when the cluster is used: one invalid record must not
    /// affect the others.
    ready: Result<Ready, String>,
}

struct Ready {
    client: kube::Client,
    sealing_key: PublicKey,
}

/// Responses that are cached for a short time, always under the key of their user.
pub struct Caches {
    pub(super) reviews: Cache<(Uuid, SubjectKey, u64, RightQuestion), ReviewResult>,
    /// Rules by namespace.
    pub(super) rules: Cache<(Uuid, SubjectKey, u64, String), Arc<Rules>>,
    pub(super) catalogs: Cache<(Uuid, SubjectKey), Arc<Catalog>>,
    /// Schemas by group, version and kind.
    pub(super) schemas: Cache<(Uuid, SubjectKey, String), Arc<KindSchema>>,
    /// Names of custom resources, which are facts about the cluster.
    pub(super) custom_resources: Cache<(Uuid, String), ()>,
    /// Names of kinds that a user could not find to be custom resources.
    pub(super) unknown_resources: Cache<(Uuid, SubjectKey, String), ()>,
    /// Health that was read from an object itself, by its UID and version.
    pub(super) assessed: Cache<(Uuid, SubjectKey, String, String), Health>,
    /// Pods that were read for their logs, by UID and version.
    pub(super) pod_summaries: Cache<(Reader, String, String), PodSummary>,
    /// Whole responses by path.
    pub(super) recent: Cache<(Reader, String), Bytes>,
    /// Incremented after each change of bindings made here, so that rights are reviewed again.
    pub(super) rights_epoch: watch::Sender<u64>,
}

impl Default for Caches {
    fn default() -> Self {
        Self {
            reviews: Cache::builder()
                .max_capacity(100_000)
                .time_to_live(Duration::from_secs(30))
                .build(),
            rules: Cache::builder()
                .max_capacity(20_000)
                .time_to_live(Duration::from_secs(30))
                .build(),
            catalogs: Cache::builder()
                .max_capacity(500)
                .time_to_live(Duration::from_secs(300))
                .build(),
            schemas: Cache::builder()
                .max_capacity(500)
                .time_to_live(Duration::from_secs(300))
                .build(),
            custom_resources: Cache::builder()
                .max_capacity(10_000)
                .time_to_live(Duration::from_secs(300))
                .build(),
            unknown_resources: Cache::builder()
                .max_capacity(10_000)
                .time_to_live(Duration::from_secs(60))
                .build(),
            assessed: Cache::builder()
                .max_capacity(20_000)
                .time_to_live(Duration::from_secs(90))
                .build(),
            pod_summaries: Cache::builder()
                .max_capacity(20_000)
                .time_to_live(Duration::from_secs(60))
                .build(),
            recent: Cache::builder()
                .max_capacity(MAX_RECENT_BYTES)
                .weigher(response_bytes)
                .time_to_live(RECENT_TTL)
                .build(),
            rights_epoch: watch::Sender::new(0),
        }
    }
}

fn response_bytes((_, path): &(Reader, String), response: &Bytes) -> u32 {
    u32::try_from(path.len() + response.len()).unwrap_or(u32::MAX)
}

impl Caches {
    /// Discards every cached access review.
    pub fn rights_changed(&self) {
        self.rights_epoch.send_modify(|epoch| *epoch += 1);
    }
}

impl Clusters {
    /// Prepares the connections; sends no request yet. Must run inside the async runtime.
    pub fn new(records: Vec<ClusterRecord>) -> Self {
        let order = records.iter().map(|record| record.id).collect();
        let by_id = records
            .into_iter()
            .map(|record| {
                let ready = Ready::prepare(&record);
                if let Err(reason) = &ready {
                    tracing::error!(cluster_id = %record.id, cluster_name = record.name, reason, "cluster record cannot be used");
                }
                (record.id, Cluster { record, ready })
            })
            .collect();
        Self {
            order,
            by_id,
            tokens: ClusterTokens::default(),
            caches: Arc::new(Caches::default()),
        }
    }

    /// Returns the clusters that accept or belong to a project, in the configuration's order.
    pub fn of_project(&self, project: &Project) -> Vec<&ClusterRecord> {
        self.order
            .iter()
            .filter_map(|id| self.by_id.get(id))
            .map(|cluster| &cluster.record)
            .filter(|record| record.accepts_project(project) || record.owner_project == project.id)
            .collect()
    }

    /// Returns every record, in the configuration's order, without a check of the project's access.
    pub fn records(&self) -> impl Iterator<Item = &ClusterRecord> {
        self.order
            .iter()
            .filter_map(|id| self.by_id.get(id))
            .map(|cluster| &cluster.record)
    }

    /// Returns the record of a cluster, if the project may see it.
    pub fn record(&self, project: &Project, id: Uuid) -> Option<&ClusterRecord> {
        self.by_id
            .get(&id)
            .map(|cluster| &cluster.record)
            .filter(|record| record.accepts_project(project) || record.owner_project == project.id)
    }

    /// Returns a cluster's API with a user's own credential.
    pub async fn api(&self, id: Uuid, keystone: &KeystoneToken) -> Result<Api, KubeError> {
        let ready = self.ready(id)?;
        let bearer = self.tokens.bearer(id, &ready.sealing_key, keystone).await?;
        self.with_bearer(id, ready, keystone, &bearer)
    }

    /// Does the same with a new cluster token, so that no API server answers from its cache.
    pub fn fresh_api(&self, id: Uuid, keystone: &KeystoneToken) -> Result<Api, KubeError> {
        let ready = self.ready(id)?;
        let sealed = credential::fresh(id, &ready.sealing_key, keystone, Timestamp::now())?;
        self.with_bearer(id, ready, keystone, &sealed.token)
    }

    /// Returns a channel that is notified of each change of bindings made here.
    pub fn rights_changes(&self) -> watch::Receiver<u64> {
        self.caches.rights_epoch.subscribe()
    }

    /// Returns the cache key of a user's token.
    pub fn subject(&self, keystone: &KeystoneToken) -> SubjectKey {
        self.tokens.subject(&keystone.token)
    }

    fn ready(&self, id: Uuid) -> Result<&Ready, KubeError> {
        self.by_id
            .get(&id)
            .ok_or_else(|| KubeError::NotFound("cluster".to_owned()))?
            .ready
            .as_ref()
            .map_err(|reason| KubeError::Unconfigured(reason.clone()))
    }

    fn with_bearer(
        &self,
        id: Uuid,
        ready: &Ready,
        keystone: &KeystoneToken,
        bearer: &SecretString,
    ) -> Result<Api, KubeError> {
        let mut authorization =
            HeaderValue::from_str(&format!("Bearer {}", bearer.expose_secret()))
                .map_err(|_| KubeError::Unauthenticated)?;
        authorization.set_sensitive(true);
        Ok(Api::new(
            id,
            ready.client.clone(),
            Some(authorization),
            self.tokens.subject(&keystone.token),
            Arc::clone(&self.caches),
        ))
    }
}

impl Ready {
    fn prepare(record: &ClusterRecord) -> Result<Self, String> {
        let sealing_key =
            PublicKey::read(&record.sealing_key_file).map_err(|error| error.to_string())?;
        let url: http::Uri = record
            .api_url
            .parse()
            .map_err(|error| format!("api_url: {error}"))?;
        if url.scheme_str() != Some("https") {
            // a bearer token is never sent unencrypted
            return Err("api_url must start with https://".to_owned());
        }
        let mut config = kube::Config::new(url);
        config.connect_timeout = Some(Duration::from_secs(3));
        config.default_retry = false;
        if let Some(path) = &record.ca_file {
            config.root_cert = Some(certificates(path)?);
        }
        let client = kube::Client::try_from(config).map_err(|error| error.to_string())?;
        Ok(Self {
            client,
            sealing_key,
        })
    }
}

/// Returns the certificates of a PEM file, as DER.
fn certificates(path: &std::path::Path) -> Result<Vec<Vec<u8>>, String> {
    use rustls_pki_types::{CertificateDer, pem::PemObject};
    let found = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    if found.is_empty() {
        return Err(format!("{}: no certificate in it", path.display()));
    }
    Ok(found.into_iter().map(|der| der.to_vec()).collect())
}
