//! The configured clusters, each with one connection pool that everybody's calls share.
use super::{
    Api, KubeError,
    credential::{self, ClusterTokens, KeystoneToken, SubjectKey},
    discovery::Catalog,
    reviews::Verdict,
};
use http::HeaderValue;
use jiff::Timestamp;
use moka::future::Cache;
use portico_assertion::PublicKey;
use portico_domain::{cluster::ClusterRecord, identity::Project, panel::RightQuestion};
use secrecy::{ExposeSecret, SecretString};
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use uuid::Uuid;

/// Every cluster that the configuration names.
pub struct Clusters {
    order: Vec<Uuid>,
    by_id: HashMap<Uuid, Cluster>,
    tokens: ClusterTokens,
    caches: Arc<Caches>,
}

struct Cluster {
    record: ClusterRecord,
    /// What is wrong with its files is said when the cluster is used: one bad record must not
    /// keep the others from working.
    ready: Result<Ready, String>,
}

struct Ready {
    client: kube::Client,
    sealing_key: PublicKey,
}

/// Answers that are kept for a short time, always under the key of the person they are for.
pub struct Caches {
    pub(super) reviews: Cache<(Uuid, SubjectKey, u64, RightQuestion), Verdict>,
    pub(super) catalogs: Cache<(Uuid, SubjectKey), Arc<Catalog>>,
    /// Raised after each change of bindings made here, so that rights are asked for again.
    pub(super) rights_epoch: AtomicU64,
}

impl Default for Caches {
    fn default() -> Self {
        Self {
            reviews: Cache::builder()
                .max_capacity(100_000)
                .time_to_live(Duration::from_secs(30))
                .build(),
            catalogs: Cache::builder()
                .max_capacity(500)
                .time_to_live(Duration::from_secs(300))
                .build(),
            rights_epoch: AtomicU64::new(0),
        }
    }
}

impl Caches {
    /// Forgets every kept access review.
    pub fn rights_changed(&self) {
        self.rights_epoch.fetch_add(1, Ordering::Relaxed);
    }
}

impl Clusters {
    /// Prepares the connections; nothing is called yet. Must run inside the async runtime.
    pub fn new(records: Vec<ClusterRecord>) -> Self {
        let order = records.iter().map(|record| record.id).collect();
        let by_id = records
            .into_iter()
            .map(|record| {
                let ready = Ready::prepare(&record);
                if let Err(reason) = &ready {
                    tracing::error!(cluster = %record.id, name = record.name, reason, "cluster record cannot be used");
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

    /// The clusters that accept or belong to a project, in the configuration's order.
    pub fn of_project(&self, project: &Project) -> Vec<&ClusterRecord> {
        self.order
            .iter()
            .filter_map(|id| self.by_id.get(id))
            .map(|cluster| &cluster.record)
            .filter(|record| record.accepts_project(project) || record.owner_project == project.id)
            .collect()
    }

    /// Every record, in the configuration's order. Which of them a project may see is another
    /// question.
    pub fn records(&self) -> impl Iterator<Item = &ClusterRecord> {
        self.order
            .iter()
            .filter_map(|id| self.by_id.get(id))
            .map(|cluster| &cluster.record)
    }

    /// The record of a cluster, when the project may see it.
    pub fn record(&self, project: &Project, id: Uuid) -> Option<&ClusterRecord> {
        self.by_id
            .get(&id)
            .map(|cluster| &cluster.record)
            .filter(|record| record.accepts_project(project) || record.owner_project == project.id)
    }

    /// A cluster's API with a person's own credential.
    pub async fn api(&self, id: Uuid, keystone: &KeystoneToken) -> Result<Api, KubeError> {
        let ready = self.ready(id)?;
        let bearer = self.tokens.bearer(id, &ready.sealing_key, keystone).await?;
        self.with_bearer(id, ready, keystone, &bearer)
    }

    /// The same with a cluster token of its own: what it asks first no API server remembers.
    pub fn fresh_api(&self, id: Uuid, keystone: &KeystoneToken) -> Result<Api, KubeError> {
        let ready = self.ready(id)?;
        let sealed = credential::fresh(id, &ready.sealing_key, keystone, Timestamp::now())?;
        self.with_bearer(id, ready, keystone, &sealed.token)
    }

    /// Stands for a person's token where something is kept for them.
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
            // a bearer never travels in the clear
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

/// The certificates of a PEM file, as DER.
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
