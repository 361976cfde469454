//! Enrolment of clusters that Magnum created, for the user who asks (ADR 0022).
mod error;
mod removal;

pub use error::EnrolError;
pub use removal::remove_record;

use super::Services;
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    config::enrolment::EnrolmentConfig,
    kube::ClusterSnapshot,
};
use jiff::Timestamp;
use parking_lot::Mutex;
use portico_clock::Clock;
use portico_cluster_sync::enrolment::{DefaultRoles, Enrolled, Enrolment as Run};
use portico_domain::{enrolled_cluster::EnrolledCluster, identity::Project};
use portico_openstack::{keystone, magnum, rest::ScopedToken};
use portico_store::Store;
use std::collections::HashSet;
use tokio::{sync::Semaphore, time::Instant};
use uuid::Uuid;

const RUNS: &str = "portico_enrolments_total";
const SECONDS: &str = "portico_enrolment_seconds";

/// Maximum number of runs at once in one process: each holds connections to Magnum and to an API
/// server for up to two minutes.
const MAX_CONCURRENT_RUNS: usize = 8;

/// Maximum number of runs at once for one project: its API servers may take two minutes for each,
/// and must not keep other tenants out.
const MAX_RUNS_OF_PROJECT: usize = 2;

/// Maximum number of enrolled clusters of one project. The store has room for
/// [`MAX_CLUSTERS`](portico_domain::enrolled_cluster::MAX_CLUSTERS) of all projects, and a record stays
/// after its cluster is deleted: a project that creates and deletes clusters must not use it up.
const MAX_CLUSTERS_OF_PROJECT: usize = 500;

/// Maximum number of differences of a run in the log: the API server of a tenant can make up any
/// number.
const MAX_LOGGED_DIFFERENCES: usize = 20;

/// Enrols clusters, where the operator permits it.
pub struct Enrolment {
    section: EnrolmentConfig,
    roles: DefaultRoles,
    magnum: magnum::Client,
    keystone: keystone::Client,
    store: Store,
    slots: Semaphore,
    /// The runs of this process.
    running: Mutex<HashSet<Key>>,
    clock: Clock,
}

/// What an enrolment needs, besides the section of the configuration.
pub struct EnrolmentParts {
    pub magnum: magnum::Client,
    pub keystone: keystone::Client,
    pub store: Store,
    pub clock: Clock,
}

impl Enrolment {
    /// Returns the service, if the operator permits that users enrol clusters.
    pub fn new(section: EnrolmentConfig, parts: EnrolmentParts) -> Option<Self> {
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
            clock: parts.clock,
        })
    }

    /// Returns whether a run for a cluster is in progress in this process.
    pub fn is_running(&self, cluster: Uuid) -> bool {
        let running = self.running.lock();
        running.iter().any(|(_, running)| *running == cluster)
    }

    /// Returns the caller's token with the services of the cloud.
    async fn token(&self, caller: &Caller) -> Result<ScopedToken, EnrolError> {
        let (Some(keystone), Some(project)) = (caller.token(), caller.project()) else {
            return Err(EnrolError::NoToken);
        };
        let token = keystone.token.clone();
        Ok(ScopedToken::with_catalog(&self.keystone, token, &project.id).await?)
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
        let project = caller.project().ok_or(EnrolError::NoToken)?;
        if !has_room(clusters, project, id) {
            return Err(EnrolError::TooMany);
        }
        if !self.section.permits_outside() {
            ensure_made_here(&self.store, &project.id, id, self.clock.now()).await?;
        }
        let _running = Running::start(&self.running, id, &project.id)?;
        let _slot = self.slots.try_acquire().map_err(|_| EnrolError::Busy)?;
        let token = self.token(caller).await?;
        let stored = self.store.enrolled_clusters().get(id).await?;
        if stored.as_ref().is_some_and(EnrolledCluster::is_imported) {
            return Err(EnrolError::Imported);
        }
        let of_owner = stored.filter(|record| record.owner_project == project.id);
        let accepted = of_owner.map_or_else(Vec::new, |record| record.accepted_projects);
        let permit = |address: &str| {
            let permitted = self.section.permit(address);
            permitted.map(drop).map_err(|reason| reason.to_string())
        };
        let run = Run {
            magnum: &self.magnum,
            token: &token,
            user_id: &caller.identity().user.id,
            roles: &self.roles,
            accepted_projects: &accepted,
            permit: &permit,
        };
        let Enrolled { record, bindings } = run.run(id).await?;
        let differences = &bindings.differences;
        for difference in differences.iter().take(MAX_LOGGED_DIFFERENCES) {
            let difference = error::excerpt(difference);
            tracing::warn!(cluster_id = %id, difference, "left as it is");
        }
        if differences.len() > MAX_LOGGED_DIFFERENCES {
            let total = differences.len();
            tracing::warn!(cluster_id = %id, total, "more was left as it is");
        }
        // with what the stored record accepts: the snapshot lacks a cluster that is not served at the
        // moment, and enrolling that again would lift its restriction to some roles
        let enrolled = self.store.enrolled_clusters();
        Ok(enrolled.enrol(&record, self.clock.now()).await?)
    }
}

/// Returns whether a project may have this cluster too: it has it already, or not too many others.
fn has_room(clusters: &ClusterSnapshot, project: &Project, id: Uuid) -> bool {
    let all = clusters.of_project(project);
    let own = all.filter(|one| one.is_enrolled() && one.record().owner_project == project.id);
    let others = own.filter(|one| one.record().id != id).count();
    others < MAX_CLUSTERS_OF_PROJECT
}

/// Checks that Portico made the cluster or has enrolled it before. Attempts are stored for a week; the
/// label of one decides nothing, as tenants can set it.
async fn ensure_made_here(
    store: &Store,
    project: &str,
    id: Uuid,
    now: Timestamp,
) -> Result<(), EnrolError> {
    let attempts = store.creation_attempts();
    let made = attempts.of_cluster(project, id, now).await?;
    if made.is_some() {
        return Ok(());
    }
    let stored = store.enrolled_clusters().get(id).await?;
    match stored {
        Some(record) if record.owner_project == project => Ok(()),
        Some(_) | None => Err(EnrolError::MadeOutside),
    }
}

/// The project and the cluster of a run. Only a cluster's own project gets beyond the first step:
/// with its ID alone, another one could keep it from being enrolled.
type Key = (String, Uuid);

/// The entry of a run, until it ends.
struct Running<'a> {
    all: &'a Mutex<HashSet<Key>>,
    key: Key,
}

impl<'a> Running<'a> {
    fn start(all: &'a Mutex<HashSet<Key>>, id: Uuid, project: &str) -> Result<Self, EnrolError> {
        let key = (project.to_owned(), id);
        let mut running = all.lock();
        if running.contains(&key) {
            return Err(EnrolError::Running);
        }
        let of_project = running.iter().filter(|(one, _)| one == project).count();
        if of_project >= MAX_RUNS_OF_PROJECT {
            return Err(EnrolError::Busy);
        }
        running.insert(key.clone());
        Ok(Self { all, key })
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.all.lock().remove(&self.key);
    }
}

/// Enrols a cluster in the project of the URL, with the caller's own token; the panel serves it a few
/// seconds later. Calling it again for an enrolled cluster repeats each step: new pre-defined roles
/// are bound, and a changed address or authority is stored.
///
/// # Errors
/// [`EnrolError`]; as a [`super::error::ServiceError`] it is a sentence with a next step.
pub async fn enrol(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Result<EnrolledCluster, EnrolError> {
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
    found
}

/// Describes the metrics of enrolments.
pub fn describe_metrics() {
    metrics::describe_counter!(RUNS, "Enrolments of clusters, by result.");
    metrics::describe_histogram!(SECONDS, "Duration of enrolments.");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kube::Clusters;
    use jiff::SignedDuration;
    use portico_assertion::PrivateKey;
    use portico_domain::{enrolled_cluster::ClusterSource, identity::Named};
    use portico_store::{AttemptKey, AttemptLease, AttemptState, KeyRing, NewCreationAttempt};

    pub(in crate::service::enrolment) const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    #[test]
    fn a_cluster_has_one_run_at_a_time() {
        let all = Mutex::default();
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let first = Running::start(&all, one, "p1");
        assert!(first.is_ok());
        let second = Running::start(&all, one, "p1");
        assert!(matches!(second, Err(EnrolError::Running)));
        // another project, which Magnum refuses, does not block it
        assert!(Running::start(&all, one, "p2").is_ok());
        assert!(Running::start(&all, two, "p1").is_ok());
        drop(first);
        assert!(Running::start(&all, one, "p1").is_ok());
    }

    #[test]
    fn runs_of_one_project_leave_room_for_others() {
        let all = Mutex::default();
        let start = |id, project| Running::start(&all, Uuid::from_u128(id), project);
        let held = [start(1, "p1"), start(2, "p1")];
        assert!(held.iter().all(Result::is_ok));
        assert!(matches!(start(3, "p1"), Err(EnrolError::Busy)));
        assert!(start(3, "p2").is_ok());
        drop(held);
        assert!(start(3, "p1").is_ok());
    }

    pub(in crate::service::enrolment) fn record() -> EnrolledCluster {
        let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        EnrolledCluster {
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
        }
    }

    #[tokio::test]
    async fn a_project_does_not_use_up_the_room_of_all() {
        let project = |id: &str| Project {
            id: id.to_owned(),
            name: id.to_owned(),
            domain: Named {
                id: "default".to_owned(),
                name: "Default".to_owned(),
            },
        };
        let cluster = |number| EnrolledCluster {
            id: Uuid::from_u128(number),
            ..record()
        };
        let (clusters, key) = (
            Clusters::new(Vec::new(), Clock::system()),
            PrivateKey::generate(),
        );
        clusters.replace_enrolled((0..500).map(cluster).collect(), key.public());
        let snapshot = clusters.snapshot();
        let new = Uuid::from_u128(500);
        assert!(!has_room(&snapshot, &project("p1"), new));
        assert!(has_room(&snapshot, &project("p2"), new));
        // again
        assert!(has_room(&snapshot, &project("p1"), Uuid::from_u128(7)));
        clusters.replace_enrolled((0..499).map(cluster).collect(), key.public());
        assert!(has_room(&clusters.snapshot(), &project("p1"), new));
    }

    #[tokio::test]
    async fn case_23_a_cluster_without_an_attempt_was_made_outside() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let keys = KeyRing::random().unwrap();
        let store = Store::connect(&url, 2, keys).await.unwrap();
        store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        let id = record().id;
        let outside = ensure_made_here(&store, "p1", id, NOW).await;
        assert!(matches!(outside, Err(EnrolError::MadeOutside)));
        let attempts = store.creation_attempts();
        let new = NewCreationAttempt {
            key: AttemptKey {
                project_id: "p1".to_owned(),
                user_id: "ada".to_owned(),
                attempt: Uuid::from_u128(9),
            },
            cluster_name: "shop".to_owned(),
            specification: "{}".to_owned(),
        };
        let lease = AttemptLease {
            holder: Uuid::from_u128(7),
            life: SignedDuration::from_secs(60),
        };
        let now = NOW;
        attempts.begin(&new, lease, now).await.unwrap();
        let state = AttemptState::Created(id);
        let stored = attempts.advance(&new.key, lease, state, Some(now), now);
        assert!(stored.await.unwrap());
        assert!(ensure_made_here(&store, "p1", id, NOW).await.is_ok());
        let other = ensure_made_here(&store, "p2", id, NOW).await;
        assert!(matches!(other, Err(EnrolError::MadeOutside)));
    }

    #[tokio::test]
    async fn a_cluster_with_a_record_of_the_project_is_enrolled_again() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let keys = KeyRing::random().unwrap();
        let store = Store::connect(&url, 2, keys).await.unwrap();
        store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        let all = store.enrolled_clusters();
        all.put(&record(), NOW).await.unwrap();
        assert!(
            ensure_made_here(&store, "p1", record().id, NOW)
                .await
                .is_ok()
        );
        let other = ensure_made_here(&store, "p2", record().id, NOW).await;
        assert!(matches!(other, Err(EnrolError::MadeOutside)));
    }
}
