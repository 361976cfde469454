//! Creates a cluster once, also when a response is lost, the page is loaded again, or another replica
//! gets the same request.
use super::{
    attempt::{self, Run, RunError},
    outcome,
    review::{self, Reviewed},
};
use crate::{
    caller::Caller,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{conductor::has_conductor, error, protection::protect_new, viewer::Viewer},
    },
};
use app::error::UiErrorKind;
use jiff::SignedDuration;
use parking_lot::Mutex;
use portico_clock::Clock;
use portico_cluster_operations::Clients;
use portico_domain::panel::lifecycle::{CreationForm, CreationOutcome};
use portico_lifecycle::{
    creation::{CreationError, create_once},
    idempotency::Attempt,
};
use portico_runtime::request_id;
use portico_store::{
    AttemptKey, AttemptLease, AttemptState, BegunAttempt, CreationAttempt, NewCreationAttempt,
    Store, StoreError,
};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, time::Duration};
use tokio::sync::Semaphore;
use uuid::Uuid;

/// How long a page waits. The run continues afterwards: its outcome is stored.
const PATIENCE: Duration = Duration::from_secs(25);
/// Longer than the longest call to Magnum (65 s), so that no two runs send at once.
const LEASE: SignedDuration = SignedDuration::from_secs(95);
/// Maximum number of runs at once in one process: each may wait for some minutes.
static RUNS: Semaphore = Semaphore::const_new(64);
/// Maximum number of runs at once of one project, so that it cannot use all of them.
const MAX_RUNS_OF_PROJECT: usize = 8;
/// The runs of this process by project.
static RUNS_OF_PROJECTS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());
/// A specification of some hundred node groups.
const MAX_SPECIFICATION_BYTES: usize = 64 * 1024;

/// Creates a cluster once, however often it is called with the same attempt (of the same user and
/// project). It reviews the form again, and sends nothing that the review refuses.
///
/// # Errors
/// Those of [`crate::service::lifecycle::list()`], if nothing was sent. Refusals and lost responses are
/// in the answer.
pub async fn create(
    services: &Services,
    caller: &Caller,
    form: &CreationForm,
    attempt: Uuid,
) -> Result<CreationOutcome, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let Some(store) = access.attempts.store() else {
        return Err(attempt::no_storage());
    };
    let creation = Creation {
        key: AttemptKey {
            project_id: viewer.project_id().to_owned(),
            user_id: viewer.user_id.clone(),
            attempt,
        },
        clients: access.clients.clone(),
        viewer,
        store,
        clock: services.clock.clone(),
        form: form.clone(),
    };
    creation.start(PATIENCE).await
}

/// The permission of a project for one run; given back when it is dropped.
struct ProjectSlot(String);

impl ProjectSlot {
    fn acquire(project_id: &str) -> Option<Self> {
        let mut runs = RUNS_OF_PROJECTS.lock();
        let count = runs.entry(project_id.to_owned()).or_default();
        if *count >= MAX_RUNS_OF_PROJECT {
            return None;
        }
        *count += 1;
        Some(Self(project_id.to_owned()))
    }
}

impl Drop for ProjectSlot {
    fn drop(&mut self) {
        let mut runs = RUNS_OF_PROJECTS.lock();
        if let Some(count) = runs.get_mut(&self.0) {
            *count -= 1;
            if *count == 0 {
                runs.remove(&self.0);
            }
        }
    }
}

/// All that one request for a cluster needs, so that it can outlive the request of the page.
pub struct Creation {
    pub key: AttemptKey,
    pub clients: Clients,
    pub viewer: Viewer,
    pub store: Store,
    pub clock: Clock,
    pub form: CreationForm,
}

impl Creation {
    /// Carries it out in a task of its own, and returns what is known after `patience`.
    ///
    /// # Errors
    /// If nothing was sent.
    pub async fn start(self, patience: Duration) -> Result<CreationOutcome, ServiceError> {
        let slots = RUNS
            .try_acquire()
            .ok()
            .zip(ProjectSlot::acquire(&self.key.project_id));
        let slots = slots.ok_or_else(|| {
            ServiceError::new(
                UiErrorKind::Unavailable,
                "Many clusters are being created at the moment.",
            )
            .next("Try again in a minute: nothing was sent.")
        })?;
        // a page that is closed or loaded again must not lose the answer of Magnum
        #[allow(
            clippy::disallowed_methods,
            reason = "awaited; it continues when the request has ended"
        )]
        let run = tokio::spawn(request_id::in_current_request(async move {
            let _slots = slots;
            self.run().await
        }));
        match tokio::time::timeout(patience, run).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(failed)) => {
                tracing::error!(error = %failed, "the creation of a cluster was interrupted");
                Ok(outcome::running())
            }
            Err(_) => Ok(outcome::running()),
        }
    }

    async fn run(self) -> Result<CreationOutcome, ServiceError> {
        let lease = AttemptLease {
            holder: Uuid::new_v4(),
            life: LEASE,
        };
        let stored = match self.begin(lease).await? {
            BegunAttempt::Yours(stored) => stored,
            BegunAttempt::Taken(stored) => return Ok(outcome::taken(stored.state)),
        };
        let outcome = match stored.state {
            AttemptState::Created(cluster) | AttemptState::Complete(cluster) => {
                // a run may have ended before it was protected
                self.protect(cluster).await;
                Ok(CreationOutcome::AlreadyCreated { cluster })
            }
            AttemptState::NotSent => self.first(lease, &stored).await,
            // what was sent once is not sent again, so the request is not needed
            AttemptState::Unknown | AttemptState::Accepted(_) => {
                self.once(lease, &stored, Map::new(), false).await
            }
        };
        let released = self.store.creation_attempts();
        if let Err(error) = released.release(&self.key, lease.holder).await {
            tracing::warn!(%error, "the lease of a creation was not released: it expires by itself");
        }
        outcome
    }

    async fn begin(&self, lease: AttemptLease) -> Result<BegunAttempt, ServiceError> {
        let (document, _) = super::form::document_of(&self.form);
        let specification = document.to_value().to_string();
        if specification.len() > MAX_SPECIFICATION_BYTES {
            return Err(
                ServiceError::invalid("The description of the cluster is too long.")
                    .next("Remove labels or node groups, and try again."),
            );
        }
        let new = NewCreationAttempt {
            key: self.key.clone(),
            cluster_name: document.metadata.name,
            specification,
        };
        let attempts = self.store.creation_attempts();
        let begun = attempts.begin(&new, lease, self.clock.now()).await;
        begun.map_err(|error| attempt::of_store(&error))
    }

    /// Sends the request for the first time, unless another creation of the same name is not finished:
    /// a form that is changed while its outcome is not known gets another attempt.
    async fn first(
        &self,
        lease: AttemptLease,
        stored: &CreationAttempt,
    ) -> Result<CreationOutcome, ServiceError> {
        let refusal = match self.is_name_pending(lease, &stored.cluster_name).await {
            Ok(false) => return self.review_and_send(lease, stored).await,
            Ok(true) => Ok(outcome::unfinished(&stored.cluster_name)),
            Err(error) => Err(attempt::of_store(&error)),
        };
        self.forget(lease).await;
        refusal
    }

    /// Returns whether another creation of the user may still make a cluster with this name.
    async fn is_name_pending(&self, lease: AttemptLease, name: &str) -> Result<bool, StoreError> {
        let key = &self.key;
        let attempts = self.store.creation_attempts();
        let all = attempts.of_user(&key.project_id, &key.user_id, self.clock.now());
        for other in all.await? {
            if other.key.attempt == key.attempt || other.cluster_name != name {
                continue;
            }
            let is_pending = match other.state {
                AttemptState::Unknown | AttemptState::Accepted(_) => true,
                AttemptState::NotSent => self.is_running(lease, other).await?,
                AttemptState::Created(_) | AttemptState::Complete(_) => false,
            };
            if is_pending {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether a run works on an attempt of which nothing was sent. One that its run has left, as
    /// when a process ends, is forgotten: it would block the name for a week.
    async fn is_running(
        &self,
        lease: AttemptLease,
        other: CreationAttempt,
    ) -> Result<bool, StoreError> {
        let attempts = self.store.creation_attempts();
        let other = NewCreationAttempt {
            key: other.key,
            cluster_name: other.cluster_name,
            specification: other.specification,
        };
        match attempts.begin(&other, lease, self.clock.now()).await? {
            BegunAttempt::Yours(left) if left.state == AttemptState::NotSent => {
                attempts.forget(&other.key, lease.holder).await?;
                Ok(false)
            }
            BegunAttempt::Yours(_) => {
                attempts.release(&other.key, lease.holder).await?;
                Ok(true)
            }
            BegunAttempt::Taken(_) => Ok(true),
        }
    }

    /// Reviews the form, and sends the request.
    async fn review_and_send(
        &self,
        lease: AttemptLease,
        stored: &CreationAttempt,
    ) -> Result<CreationOutcome, ServiceError> {
        let reviewed = review::look(&self.clients, &self.viewer, &self.form).await;
        let refusal = match reviewed {
            Ok(Reviewed::Ready(ready)) if ready.can_be_sent() => {
                let is_complete = ready.review.plan.steps.len() <= 1;
                let request = ready.review.request;
                return self.once(lease, stored, request, is_complete).await;
            }
            Ok(Reviewed::Ready(ready)) => Ok(outcome::blocked(&ready)),
            Ok(Reviewed::WithoutTemplate(problems)) => Ok(outcome::without_template(problems)),
            Err(error) => Err(error),
        };
        self.forget(lease).await;
        refusal
    }

    /// Runs the engine; `is_complete`: nothing is to be sent after the creation.
    async fn once(
        &self,
        lease: AttemptLease,
        stored: &CreationAttempt,
        request: Map<String, Value>,
        is_complete: bool,
    ) -> Result<CreationOutcome, ServiceError> {
        let was_sent = stored.state != AttemptState::NotSent;
        let attempt: Attempt = attempt::of_stored(stored);
        let mut run = Run {
            clients: self.clients.clone(),
            token: self.viewer.token.clone(),
            store: self.store.clone(),
            clock: self.clock.clone(),
            key: self.key.clone(),
            lease,
            sent_at: stored.sent_at,
            is_complete,
            recorded: None,
            is_sent: false,
            is_refused: false,
        };
        let created = create_once(&mut run, attempt, &request).await;
        let error = match created {
            Ok(uuid) => {
                let Ok(cluster) = uuid.parse() else {
                    return Ok(outcome::running());
                };
                self.protect(cluster).await;
                return Ok(if run.is_sent {
                    CreationOutcome::Accepted { cluster }
                } else {
                    CreationOutcome::AlreadyCreated { cluster }
                });
            }
            Err(error) => error,
        };
        let may_exist = was_sent || (run.is_sent && !run.is_refused);
        match error {
            CreationError::Lost(lost) => Ok(outcome::lost(&lost)),
            CreationError::NotRecorded(uuid) => {
                let has_conductor = has_conductor(&self.clients, &self.viewer).await;
                Ok(outcome::not_recorded(&uuid, has_conductor))
            }
            CreationError::Call(RunError::Service(error)) if run.is_refused => {
                Ok(outcome::refused(&error))
            }
            CreationError::Call(error) if may_exist => Ok(outcome::unknown(&error.to_string())),
            CreationError::Call(RunError::Service(error)) => {
                self.forget(lease).await;
                Err(error::of_service(&error))
            }
            CreationError::Call(RunError::Store(error)) => {
                self.forget(lease).await;
                Err(attempt::of_store(&error))
            }
            CreationError::Call(RunError::LeaseLost) => Ok(outcome::running()),
            CreationError::Call(error @ (RunError::Incomplete(_) | RunError::Request(_))) => {
                self.forget(lease).await;
                Err(ServiceError::new(
                    UiErrorKind::Unavailable,
                    error::sentence(&error.to_string()),
                )
                .next("Try again in a minute: nothing was sent."))
            }
        }
    }

    /// Protects the cluster from deletion if the form asks for it.
    async fn protect(&self, cluster: Uuid) {
        if self.form.protection {
            protect_new(&self.store, &self.viewer, cluster, self.clock.now()).await;
        }
    }

    /// Forgets an attempt of which nothing was sent.
    async fn forget(&self, lease: AttemptLease) {
        let attempts = self.store.creation_attempts();
        let forgotten: Result<bool, StoreError> = attempts.forget(&self.key, lease.holder).await;
        if let Err(error) = forgotten {
            tracing::warn!(%error, "an attempt of which nothing was sent stays stored");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LEASE, MAX_RUNS_OF_PROJECT, ProjectSlot, RUNS_OF_PROJECTS};
    use portico_lifecycle::idempotency::{MAX_REQUEST_TIME, SEARCH_TIME};
    use portico_openstack::rest::ServiceOptions;
    use std::time::Duration;

    #[test]
    fn a_request_ends_before_its_lease_and_before_the_search_for_its_cluster() {
        let limit = ServiceOptions::default().change_timeout;
        let longest = Duration::try_from(MAX_REQUEST_TIME).unwrap();
        assert!(limit <= longest, "{limit:?}");
        for end in [LEASE, SEARCH_TIME] {
            assert!(end > MAX_REQUEST_TIME, "{end:?}");
        }
    }

    #[test]
    fn a_project_cannot_use_all_runs() {
        let project = "send-tests";
        let slots: Vec<_> = (0..MAX_RUNS_OF_PROJECT)
            .map(|_| ProjectSlot::acquire(project).unwrap())
            .collect();
        assert!(ProjectSlot::acquire(project).is_none());
        assert!(ProjectSlot::acquire("send-tests-other").is_some());
        drop(slots);
        assert!(ProjectSlot::acquire(project).is_some());
        assert!(!RUNS_OF_PROJECTS.lock().contains_key(project));
    }
}
