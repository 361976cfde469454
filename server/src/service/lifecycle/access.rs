//! Access to the cloud's Magnum and the services beside it: what all requests share. It holds no token;
//! each call takes the token of the user who acts.
use super::{
    attempts::Attempts,
    cloud_api::KnownClusters,
    error,
    feeds::Feeds,
    inspector::Permission,
    journal::{
        Agreements, HealthHistories, NamesByViewer, agreements, health_histories, names_by_viewer,
    },
    viewer::Viewer,
};
use crate::{
    caller::Caller,
    config::{enrolment::EnrolmentConfig, magnum::MagnumRoles},
    kube::KubeError,
    service::{Services, error::ServiceError},
};
use app::error::UiErrorKind;
use portico_cache::Cache;
use portico_clock::Clock;
use portico_cluster_operations::Clients;
use portico_domain::panel::lifecycle::ApiServerProbe;
use portico_openstack::{
    keystone::{self, Catalog},
    rest::ScopedToken,
};
use secrecy::SecretString;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;
use uuid::Uuid;

/// How long the service catalogue of a project is reused.
const CATALOG_TTL: Duration = Duration::from_secs(300);
/// The same while Keystone cannot be asked.
const CATALOG_TTL_IN_OUTAGE: Duration = Duration::from_secs(3_600);
/// Maximum number of projects whose catalogues are reused.
const MAX_CATALOGS: u64 = 1_000;
/// How long an API server counts as one that asks kube-auth, after it did.
const CONFIGURED_TTL: Duration = Duration::from_secs(3_600);
/// How long one that did not ask is not tried again.
const UNCONFIGURED_TTL: Duration = Duration::from_secs(15);
/// How long one that did not answer is not asked again: a list must not wait for it each time.
const UNANSWERED_TTL: Duration = Duration::from_secs(30);
/// How long a probe of an API server is reused.
const PROBE_TTL: Duration = Duration::from_secs(15);
/// Maximum number of clusters about which this is remembered.
const MAX_CLUSTERS: u64 = 10_000;

/// The clients of the cloud's services, with what is read once for several requests.
pub struct MagnumAccess {
    pub(super) clients: Clients,
    pub(super) section: EnrolmentConfig,
    roles: MagnumRoles,
    pub(super) attempts: Arc<dyn Attempts>,
    pub(super) feeds: Feeds,
    /// Clusters whose API servers have authenticated a user with kube-auth.
    pub(super) configured: Cache<Uuid, ()>,
    /// Those that refused a cluster token although it was new.
    pub(super) unconfigured: Cache<Uuid, ()>,
    /// Those that did not answer in time.
    pub(super) unanswered: Cache<Uuid, ()>,
    /// Probes of API servers, by cluster and the ID of the user whose token was used.
    pub(super) probes: Cache<(Uuid, String), ApiServerProbe>,
    /// Clusters that the command line has read, with their projects.
    pub(super) own: KnownClusters,
    /// The names of templates in journals.
    pub(super) template_names: NamesByViewer,
    /// Comparisons of journals with the audit log.
    pub(super) agreements: Agreements,
    /// What the pages of health show of the journals.
    pub(super) health_histories: HealthHistories,
    /// Whether users may see the nodes of clusters, by cluster, project, user and roles.
    pub(super) inspectable: Cache<(Uuid, String), Permission>,
    pub(super) keystone: keystone::Client,
    /// By project: the catalogues of all tokens of a project are the same.
    catalogs: Cache<String, ReadCatalog>,
}

/// A catalogue, and when it was read.
#[derive(Clone)]
struct ReadCatalog {
    catalog: Arc<Catalog>,
    at: Instant,
}

/// What the access is made of.
pub struct MagnumParts {
    pub clients: Clients,
    pub keystone: keystone::Client,
    pub section: EnrolmentConfig,
    /// Roles of the cloud that have the rights of those of Magnum's policy.
    pub roles: MagnumRoles,
    pub attempts: Arc<dyn Attempts>,
    pub clock: Clock,
}

impl MagnumAccess {
    /// Returns the access, if the operator permits that users enrol clusters.
    pub fn new(parts: MagnumParts) -> Option<Self> {
        parts.section.is_enrolling().then(|| Self {
            feeds: Feeds::new(
                parts.clients.clone(),
                Arc::clone(&parts.attempts),
                parts.clock,
            ),
            clients: parts.clients,
            section: parts.section,
            roles: parts.roles,
            attempts: parts.attempts,
            configured: clusters(CONFIGURED_TTL),
            unconfigured: clusters(UNCONFIGURED_TTL),
            unanswered: clusters(UNANSWERED_TTL),
            probes: Cache::builder()
                .max_capacity(MAX_CLUSTERS)
                .time_to_live(PROBE_TTL)
                .build(),
            own: Cache::builder().max_capacity(MAX_CLUSTERS).build(),
            template_names: names_by_viewer(),
            agreements: agreements(),
            health_histories: health_histories(),
            inspectable: Cache::builder()
                .max_capacity(MAX_CLUSTERS)
                .time_to_live(PROBE_TTL)
                .build(),
            keystone: parts.keystone,
            catalogs: Cache::builder()
                .max_capacity(MAX_CATALOGS)
                .time_to_live(CATALOG_TTL_IN_OUTAGE)
                .build(),
        })
    }

    /// Returns the caller, with a token for the services of the cloud.
    ///
    /// # Errors
    /// `NotPermitted` without a role in the project or if Keystone refuses the token; `Unavailable` if
    /// Keystone does not return the service catalogue.
    pub async fn viewer(&self, caller: &Caller) -> Result<Viewer, ServiceError> {
        let (Some(keystone), Some(project)) = (caller.token(), caller.project()) else {
            return Err(KubeError::NoToken.into());
        };
        let token = self.scoped(&keystone.token, &project.id).await?;
        Ok(Viewer::new(token, caller.identity(), &self.roles))
    }

    /// Returns the usual duration of a creation with a template in seconds, from those that were observed;
    /// `None`: not known.
    pub fn usual_seconds(&self, template: &str) -> Option<u64> {
        self.feeds.durations().usual_seconds(template)
    }

    async fn scoped(
        &self,
        token: &SecretString,
        project_id: &str,
    ) -> Result<ScopedToken, ServiceError> {
        let known = self.catalogs.get(&project_id.to_owned()).await;
        let with = |catalog: Arc<Catalog>| ScopedToken {
            token: token.clone(),
            project_id: project_id.to_owned(),
            catalog,
        };
        if let Some(known) = &known
            && known.at.elapsed() < CATALOG_TTL
        {
            return Ok(with(Arc::clone(&known.catalog)));
        }
        match (self.keystone.catalog(token).await, known) {
            (Ok(catalog), _) => {
                let read = ReadCatalog {
                    catalog: Arc::new(catalog),
                    at: Instant::now(),
                };
                let scoped = with(Arc::clone(&read.catalog));
                self.catalogs.insert(project_id.to_owned(), read).await;
                Ok(scoped)
            }
            // services are where they were
            (Err(error), Some(known)) if !error.is_refusal() => Ok(with(known.catalog)),
            (Err(error), _) => Err(error::of_keystone(&error)),
        }
    }
}

fn clusters(ttl: Duration) -> Cache<Uuid, ()> {
    Cache::builder()
        .max_capacity(MAX_CLUSTERS)
        .time_to_live(ttl)
        .build()
}

impl Services {
    /// Returns the access to the cloud's Magnum.
    ///
    /// # Errors
    /// `Unavailable` if the operator permits no enrolment of clusters.
    pub(in crate::service) fn magnum(&self) -> Result<&MagnumAccess, ServiceError> {
        self.magnum.as_ref().ok_or_else(|| {
            ServiceError::new(
                UiErrorKind::Unavailable,
                "Portico does not show clusters of OpenStack Magnum here: its operator has not \
                 permitted that users enrol clusters.",
            )
            .next("Ask the operator to set enrolment.roles. `portico cluster` works without it.")
        })
    }
}
