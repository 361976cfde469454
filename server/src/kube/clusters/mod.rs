//! The clusters, each with one connection pool that all users' calls share: those of the
//! configuration, and those that users enrolled, which change while the process runs.
mod cluster;
mod snapshot;
#[cfg(test)]
mod tests;

pub use cluster::{Authority, Cluster};
pub use snapshot::ClusterSnapshot;

use super::{
    Api, KubeError,
    api::{MAX_ENROLLED_BODY_BYTES, Reader},
    body::BodyLimits,
    credential::{self, ClusterTokens, KeystoneToken, SubjectKey},
    discovery::Catalog,
    openapi::KindSchema,
    reviews::{ReviewResult, Rules},
};
use bytes::Bytes;
use cluster::Connection;
use http::HeaderValue;
use portico_assertion::PublicKey;
use portico_cache::Cache;
use portico_clock::Clock;
use portico_domain::{
    cluster::ClusterRecord,
    enrolled_cluster::EnrolledCluster,
    panel::{Health, PodSummary, RightQuestion},
};
use secrecy::{ExposeSecret, SecretString};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;
use uuid::Uuid;

/// How long [`Api::recent`] reuses a response, and lists of kinds what was discovered: shorter than the
/// interval at which metrics are measured.
const RECENT_TTL: Duration = Duration::from_secs(10);
/// Maximum size of all responses that [`Api::recent`] reuses, in bytes.
const MAX_RECENT_BYTES: u64 = 64 * 1024 * 1024;

/// The current clusters, with what their calls share.
pub struct Clusters {
    snapshot: watch::Sender<Arc<ClusterSnapshot>>,
    tokens: ClusterTokens,
    caches: Arc<Caches>,
}

/// Responses that are cached for a short time, always under the key of their user, and the clock.
pub struct Caches {
    pub(super) clock: Clock,
    pub(super) reviews: Cache<(Uuid, SubjectKey, u64, RightQuestion), ReviewResult>,
    /// Rules by namespace.
    pub(super) rules: Cache<(Uuid, SubjectKey, u64, String), Arc<Rules>>,
    pub(super) catalogs: Cache<(Uuid, SubjectKey), Arc<Catalog>>,
    /// Which of the catalogs were read, or could not be read again, a few seconds ago.
    pub(super) recent_catalogs: Cache<(Uuid, SubjectKey), ()>,
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
    pub(super) recent: Cache<(Reader, String), Bytes, KubeError>,
    /// Incremented after each change of bindings made here, so that rights are reviewed again.
    pub(super) rights_epoch: watch::Sender<u64>,
}

#[cfg(test)]
impl Default for Caches {
    fn default() -> Self {
        Self::new(Clock::system())
    }
}

impl Caches {
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
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
            recent_catalogs: Cache::builder()
                .max_capacity(500)
                .time_to_live(RECENT_TTL)
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

    /// Discards every cached access review.
    pub fn rights_changed(&self) {
        self.rights_epoch.send_modify(|epoch| *epoch += 1);
    }
}

fn response_bytes((_, path): &(Reader, String), response: &Bytes) -> u32 {
    u32::try_from(path.len() + response.len()).unwrap_or(u32::MAX)
}

impl Clusters {
    /// Prepares the connections to the clusters of the configuration; sends no request yet. Must
    /// run inside the async runtime.
    pub fn new(records: Vec<ClusterRecord>, clock: Clock) -> Self {
        let configured = records.into_iter().map(Cluster::configured);
        Self {
            snapshot: watch::Sender::new(Arc::new(ClusterSnapshot::new(configured))),
            tokens: ClusterTokens::default(),
            caches: Arc::new(Caches::new(clock)),
        }
    }

    /// Replaces the enrolled clusters, whose tokens are sealed to this key. Requests that have
    /// begun use the previous ones to their end.
    pub fn replace_enrolled(&self, enrolled: Vec<EnrolledCluster>, sealing_key: &PublicKey) {
        let next = self.snapshot().with_enrolled(enrolled, sealing_key);
        self.snapshot.send_replace(Arc::new(next));
    }

    /// Returns the clusters as they are now.
    pub fn snapshot(&self) -> Arc<ClusterSnapshot> {
        Arc::clone(&self.snapshot.borrow())
    }

    /// Returns a cluster's API with a user's own credential.
    ///
    /// # Errors
    /// [`KubeError::Unconfigured`] if the cluster's record cannot be used, and those of sealing the
    /// token.
    pub async fn api(&self, cluster: &Cluster, keystone: &KeystoneToken) -> Result<Api, KubeError> {
        let connection = cluster.connection()?;
        let id = cluster.record().id;
        let key = &connection.sealing_key;
        let now = self.caches.clock.now();
        let bearer = self.tokens.bearer(id, key, keystone, now).await?;
        self.with_bearer(cluster, connection, keystone, &bearer)
    }

    /// Does the same with a new cluster token, so that no API server answers from its cache.
    ///
    /// # Errors
    /// As [`Self::api`].
    pub fn fresh_api(&self, cluster: &Cluster, keystone: &KeystoneToken) -> Result<Api, KubeError> {
        let connection = cluster.connection()?;
        let id = cluster.record().id;
        let key = &connection.sealing_key;
        let sealed = credential::fresh(id, key, keystone, self.caches.clock.now())?;
        self.with_bearer(cluster, connection, keystone, &sealed.token)
    }

    /// Returns a channel that is notified of each change of bindings made here.
    pub fn rights_changes(&self) -> watch::Receiver<u64> {
        self.caches.rights_epoch.subscribe()
    }

    /// Returns the cache key of a user's token.
    pub fn subject(&self, keystone: &KeystoneToken) -> SubjectKey {
        self.tokens.subject(&keystone.token)
    }

    fn with_bearer(
        &self,
        cluster: &Cluster,
        connection: &Connection,
        keystone: &KeystoneToken,
        bearer: &SecretString,
    ) -> Result<Api, KubeError> {
        let mut authorization =
            HeaderValue::from_str(&format!("Bearer {}", bearer.expose_secret()))
                .map_err(|_| KubeError::Unauthenticated)?;
        authorization.set_sensitive(true);
        let api = Api::new(
            cluster.record().id,
            connection.client.clone(),
            Some(authorization),
            self.tokens.subject(&keystone.token),
            Arc::clone(&self.caches),
        );
        Ok(match cluster.is_enrolled() {
            true => api.with_body_limits(BodyLimits {
                max_bytes: MAX_ENROLLED_BODY_BYTES,
                is_enrolled: true,
            }),
            false => api,
        })
    }
}
