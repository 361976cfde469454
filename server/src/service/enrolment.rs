//! Enrolment of clusters that Magnum created, for the user who asks (ADR 0022).
use super::{Services, error::ServiceError};
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    config::enrolment::EnrolmentConfig,
    kube::{ClusterSnapshot, KubeError},
};
use app::error::UiErrorKind;
use jiff::Timestamp;
use parking_lot::Mutex;
use portico_cluster_sync::enrolment::{DefaultRoles, Enrolled, Enrolment as Run, EnrolmentError};
use portico_domain::enrolled_cluster::{ClusterSource, EnrolledCluster, MAX_ACCEPTED};
use portico_openstack::{
    keystone, magnum,
    rest::{self, ScopedToken},
};
use portico_store::{Store, StoreError};
use std::{collections::HashSet, time::Instant};
use tokio::sync::Semaphore;
use uuid::Uuid;

const RUNS: &str = "portico_enrolments_total";
const SECONDS: &str = "portico_enrolment_seconds";

/// Maximum number of runs at once in one process: each holds connections to Magnum and to an API
/// server for up to two minutes.
const MAX_CONCURRENT_RUNS: usize = 8;

/// Enrols clusters, where the operator permits it.
pub struct Enrolment {
    section: EnrolmentConfig,
    roles: DefaultRoles,
    magnum: magnum::Client,
    keystone: keystone::Client,
    store: Store,
    slots: Semaphore,
    /// The clusters of the runs of this process.
    running: Mutex<HashSet<Uuid>>,
}

/// What an enrolment needs, besides the section of the configuration.
pub struct EnrolmentParts {
    pub magnum: magnum::Client,
    pub keystone: keystone::Client,
    pub store: Store,
}

/// Why a cluster is not enrolled.
#[derive(Debug, thiserror::Error)]
pub enum EnrolError {
    #[error("the user has no token for the project")]
    NoToken,
    #[error("the operator permits no enrolment")]
    NotOffered,
    #[error("the cluster is in the operator's configuration already")]
    Configured,
    #[error("the cluster is being enrolled already")]
    Running,
    #[error("too many clusters are being enrolled")]
    Busy,
    #[error("the catalogue of the cloud cannot be read: {0}")]
    Catalog(#[from] keystone::Error),
    #[error(transparent)]
    Run(#[from] EnrolmentError),
    #[error("the record cannot be stored: {0}")]
    Store(#[from] StoreError),
}

impl Enrolment {
    /// Returns the service, if the operator lists Magnum as a source.
    pub fn new(section: EnrolmentConfig, parts: EnrolmentParts) -> Option<Self> {
        if !section.sources.contains(&ClusterSource::Magnum) {
            return None;
        }
        let roles = section.roles.as_ref()?;
        Some(Self {
            roles: DefaultRoles {
                developer: roles.developer.clone(),
                viewer: roles.viewer.clone(),
                exclude_namespaces: roles.exclude_namespaces.clone(),
            },
            section,
            magnum: parts.magnum,
            keystone: parts.keystone,
            store: parts.store,
            slots: Semaphore::new(MAX_CONCURRENT_RUNS),
            running: Mutex::default(),
        })
    }

    async fn enrol(
        &self,
        clusters: &ClusterSnapshot,
        caller: &Caller,
        id: Uuid,
    ) -> Result<EnrolledCluster, EnrolError> {
        if clusters.configured().any(|record| record.id == id) {
            return Err(EnrolError::Configured);
        }
        let (Some(keystone), Some(project)) = (caller.token(), caller.project()) else {
            return Err(EnrolError::NoToken);
        };
        let _slot = self.slots.try_acquire().map_err(|_| EnrolError::Busy)?;
        let _running = Running::start(&self.running, id).ok_or(EnrolError::Running)?;
        let token = keystone.token.clone();
        let token = ScopedToken::with_catalog(&self.keystone, token, &project.id).await?;
        let permit = |address: &str| {
            let permitted = self.section.permit(address);
            permitted.map(drop).map_err(|reason| reason.to_string())
        };
        let run = Run {
            magnum: &self.magnum,
            token: &token,
            user_id: &caller.identity().user.id,
            roles: &self.roles,
            permit: &permit,
        };
        let Enrolled { record, bindings } = run.run(id).await?;
        for difference in &bindings.differences {
            tracing::warn!(cluster_id = %id, difference, "left as it is");
        }
        let known = clusters.get(id).map(|cluster| cluster.record());
        let record = match known.filter(|known| known.owner_project == record.owner_project) {
            Some(known) => keep_accepted(record, &known.accepted_projects, &known.accepted_roles),
            None => record,
        };
        let enrolled = self.store.enrolled_clusters();
        enrolled.put(&record, Timestamp::now()).await?;
        Ok(record)
    }
}

/// Returns the record of a cluster that is enrolled again, with the projects and roles that were
/// accepted before.
fn keep_accepted(
    mut record: EnrolledCluster,
    projects: &[String],
    roles: &[String],
) -> EnrolledCluster {
    for project in projects {
        let is_known = record.accepted_projects.contains(project);
        if !is_known && record.accepted_projects.len() < MAX_ACCEPTED {
            record.accepted_projects.push(project.clone());
        }
    }
    record.accepted_roles = roles.to_vec();
    record
}

/// The entry of a run, until it ends.
struct Running<'a> {
    all: &'a Mutex<HashSet<Uuid>>,
    id: Uuid,
}

impl<'a> Running<'a> {
    fn start(all: &'a Mutex<HashSet<Uuid>>, id: Uuid) -> Option<Self> {
        // not `then_some`: what it would drop without a use is the entry of the other run
        all.lock().insert(id).then(|| Self { all, id })
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.all.lock().remove(&self.id);
    }
}

/// Enrols a cluster in the project of the URL, with the caller's own token; the panel serves it a few
/// seconds later. Calling it again for an enrolled cluster repeats each step: new pre-defined roles
/// are bound, and a changed address or authority is stored.
///
/// # Errors
/// A sentence with a next step; the cause is that of [`EnrolError`].
pub async fn enrol(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Result<EnrolledCluster, ServiceError> {
    let started = Instant::now();
    let found = match &services.enrolment {
        Some(enrolment) => enrolment.enrol(clusters, caller, cluster).await,
        None => Err(EnrolError::NotOffered),
    };
    let result = found.as_ref().err().map_or("enrolled", EnrolError::result);
    metrics::counter!(RUNS, "result" => result).increment(1);
    metrics::histogram!(SECONDS).record(started.elapsed().as_secs_f64());
    let outcome = match &found {
        Ok(_) => Outcome::Done,
        Err(error) if error.is_refusal() => Outcome::Refused,
        Err(_) => Outcome::Failed,
    };
    let name = found.as_ref().map_or("", |record| record.name.as_str());
    audit::record(caller, "enrol", cluster, name, outcome);
    found.map_err(ServiceError::from)
}

/// Describes the metrics of enrolments.
pub fn describe_metrics() {
    metrics::describe_counter!(RUNS, "Enrolments of clusters, by result.");
    metrics::describe_histogram!(SECONDS, "Duration of enrolments.");
}

impl EnrolError {
    /// Returns the result in metrics.
    fn result(&self) -> &'static str {
        match self {
            Self::NoToken | Self::NotOffered | Self::Configured => "not_permitted",
            Self::Running | Self::Busy => "busy",
            Self::Catalog(_) => "keystone",
            Self::Run(error) => error.result(),
            Self::Store(_) => "store",
        }
    }

    fn is_refusal(&self) -> bool {
        match self {
            Self::NoToken | Self::NotOffered | Self::Configured => true,
            Self::Run(error) => error.is_refusal(),
            _ => false,
        }
    }
}

impl From<EnrolError> for ServiceError {
    fn from(error: EnrolError) -> Self {
        let cause = error.to_string();
        let described = match &error {
            EnrolError::NoToken => return KubeError::NoToken.into(),
            EnrolError::NotOffered => Self::not_permitted(
                "Clusters cannot be enrolled here: the operator of Portico has not permitted it.",
            )
            .next("Ask the operator to add the cluster, or to permit enrolment."),
            EnrolError::Configured => {
                Self::conflict("The operator of Portico has added this cluster already.")
                    .next("Open it from the list of clusters, or ask the operator for access.")
            }
            EnrolError::Running => Self::conflict("This cluster is being enrolled already.")
                .next("Wait for up to two minutes, then reload the page."),
            EnrolError::Busy => Self::new(
                UiErrorKind::Unavailable,
                "Many clusters are being enrolled at the moment.",
            )
            .next("Try again in a minute."),
            EnrolError::Catalog(_) => Self::new(
                UiErrorKind::Unavailable,
                "Keystone did not return the services of your cloud.",
            )
            .next("Try again in a minute. If it continues, sign in again."),
            EnrolError::Run(run) => {
                let message = format!("The cluster was not enrolled: {run}.");
                Self::new(kind(run), message).next(run.next_step())
            }
            EnrolError::Store(StoreError::TooManyClusters) => Self::new(
                UiErrorKind::Unavailable,
                "Portico has as many enrolled clusters as it can have.",
            )
            .next("Ask the operator of Portico to remove clusters that no longer exist."),
            EnrolError::Store(_) => Self::new(
                UiErrorKind::Unavailable,
                "The cluster was prepared, and its record could not be stored.",
            )
            .next("Try again in a minute: what has been done already is not done twice."),
        };
        Self {
            cause: Some(cause),
            ..described
        }
    }
}

/// Returns the kind of a failed run, for the page.
fn kind(error: &EnrolmentError) -> UiErrorKind {
    match error {
        EnrolmentError::Magnum(error) => match error.kind {
            rest::ErrorKind::NotFound(_) => UiErrorKind::NotFound,
            rest::ErrorKind::Forbidden(_) => UiErrorKind::NotPermitted,
            rest::ErrorKind::Conflict(_) => UiErrorKind::Conflict,
            _ => UiErrorKind::Unavailable,
        },
        EnrolmentError::OtherProject | EnrolmentError::Address(_) => UiErrorKind::NotPermitted,
        EnrolmentError::Deleting | EnrolmentError::NoAddress => UiErrorKind::Conflict,
        EnrolmentError::Engine(_) => UiErrorKind::Invalid,
        _ => UiErrorKind::Unavailable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_has_one_run_at_a_time() {
        let all = Mutex::default();
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let first = Running::start(&all, one);
        assert!(first.is_some());
        assert!(Running::start(&all, one).is_none());
        assert!(Running::start(&all, two).is_some());
        drop(first);
        assert!(Running::start(&all, one).is_some());
    }

    #[test]
    fn a_second_enrolment_keeps_who_is_accepted() {
        let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let record = EnrolledCluster {
            id: Uuid::from_u128(1),
            name: "shop".to_owned(),
            owner_project: "p1".to_owned(),
            accepted_projects: vec!["p1".to_owned()],
            accepted_roles: Vec::new(),
            api_url: "https://192.0.2.7:6443".to_owned(),
            ca: pem.to_owned(),
            client_ca: pem.to_owned(),
            api_audiences: vec!["https://kubernetes.default.svc".to_owned()],
            source: ClusterSource::Magnum,
        };
        let projects = ["p2", "p1"].map(str::to_owned);
        let roles = ["r1".to_owned()];
        let again = keep_accepted(record.clone(), &projects, &roles);
        assert_eq!(again.accepted_projects, ["p1", "p2"]);
        assert_eq!(again.accepted_roles, ["r1"]);
        let many: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let full = keep_accepted(record, &many, &[]);
        assert_eq!(full.accepted_projects.len(), MAX_ACCEPTED);
        assert_eq!(full.check(), Ok(()));
    }

    #[test]
    fn every_failure_is_a_sentence_with_a_next_step() {
        for error in [
            EnrolError::NoToken,
            EnrolError::NotOffered,
            EnrolError::Configured,
            EnrolError::Running,
            EnrolError::Busy,
            EnrolError::Run(EnrolmentError::NoAddress),
            EnrolError::Run(EnrolmentError::Address("outside".to_owned())),
            EnrolError::Store(StoreError::TooManyClusters),
        ] {
            let described = ServiceError::from(error);
            assert!(described.message.ends_with('.'), "{}", described.message);
            assert!(described.next_step.is_some_and(|step| step.ends_with('.')));
        }
    }
}
