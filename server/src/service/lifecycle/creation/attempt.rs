//! One run of a creation: Magnum, time, and the stored attempt with its lease.
use crate::service::error::ServiceError;
use app::error::UiErrorKind;
use jiff::Timestamp;
use portico_clock::Clock;
use portico_cluster_operations::Clients;
use portico_lifecycle::{
    creation::{CreationEnvironment, ListError, SendError},
    idempotency::{Attempt, Candidate, Delivery, MARKER_LABEL},
};
use portico_openstack::{
    magnum::NewCluster,
    rest::{Cut, Effect, Error, ScopedToken},
};
use portico_store::{AttemptKey, AttemptLease, AttemptState, CreationAttempt, Store, StoreError};
use serde_json::{Map, Value};
use std::time::Duration;
use uuid::Uuid;

/// For how long the record of a new cluster may be missing.
const RECORD_TIMEOUT: Duration = Duration::from_secs(20);

/// Why a run cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("{0}")]
    Service(Box<Error>),
    #[error("{0}")]
    Store(StoreError),
    #[error("another request of this attempt is running")]
    LeaseLost,
    #[error("the list of clusters is incomplete: {0}")]
    Incomplete(Cut),
    #[error("the request is invalid: {0}")]
    Request(serde_json::Error),
}

impl From<Error> for RunError {
    fn from(error: Error) -> Self {
        Self::Service(Box::new(error))
    }
}

/// Returns the refusal to create a cluster without a database for the attempts.
pub fn no_storage() -> ServiceError {
    ServiceError::new(
        UiErrorKind::Unavailable,
        "Clusters cannot be created here: Portico has no database for the attempts.",
    )
    .next("Ask the operator for one, or use `portico cluster create`.")
}

/// Returns an error of the store, when nothing was sent.
pub fn of_store(error: &StoreError) -> ServiceError {
    let described = match error {
        StoreError::NeedsSql { .. } => no_storage(),
        _ => ServiceError::new(
            UiErrorKind::Unavailable,
            "Portico's store does not respond, so nothing was sent.",
        )
        .next("Try again in a minute."),
    };
    ServiceError {
        cause: Some(error.to_string()),
        ..described
    }
}

/// Returns a stored attempt for the engine. Its marker is the UUID that the page made.
pub fn of_stored(stored: &CreationAttempt) -> Attempt {
    Attempt {
        marker: stored.key.attempt.to_string(),
        name: stored.cluster_name.clone(),
        sent_at: stored.sent_at,
        delivery: match stored.state {
            AttemptState::NotSent => Delivery::NotSent,
            AttemptState::Unknown => Delivery::Unknown,
            AttemptState::Accepted(cluster)
            | AttemptState::Created(cluster)
            | AttemptState::Complete(cluster) => Delivery::Accepted(cluster.to_string()),
        },
    }
}

/// One run. It holds the lease of the attempt, and owns what it needs.
pub struct Run {
    pub clients: Clients,
    pub token: ScopedToken,
    pub store: Store,
    pub clock: Clock,
    pub key: AttemptKey,
    pub lease: AttemptLease,
    /// When the request was last sent.
    pub sent_at: Option<Timestamp>,
    /// Nothing is to be sent after the creation.
    pub is_complete: bool,
    /// The cluster, once Magnum has its record.
    pub recorded: Option<Uuid>,
    /// The request was sent in this run.
    pub is_sent: bool,
    /// Magnum refused it.
    pub is_refused: bool,
}

impl Run {
    async fn advance(&self, state: AttemptState) -> Result<(), RunError> {
        let attempts = self.store.creation_attempts();
        let now = self.clock.now();
        let stored = attempts.advance(&self.key, self.lease, state, self.sent_at, now);
        held(stored.await)
    }

    async fn prolong(&self) -> Result<(), RunError> {
        let attempts = self.store.creation_attempts();
        let now = self.clock.now();
        held(attempts.prolong(&self.key, self.lease, now).await)
    }

    async fn candidates(&self) -> Result<Vec<Candidate>, RunError> {
        let listing = self.clients.magnum.clusters(&self.token).await?;
        // a cluster that is missing in an incomplete list may exist
        if let Some(cut) = listing.cut {
            return Err(RunError::Incomplete(cut));
        }
        let found = listing.items.into_iter().map(|cluster| Candidate {
            uuid: cluster.uuid.to_string(),
            marker: cluster.labels.applied.get(MARKER_LABEL).cloned(),
            name: cluster.name,
            created_at: cluster.created_at,
        });
        Ok(found.collect())
    }
}

/// Returns an error if the lease is no longer held.
fn held(changed: Result<bool, StoreError>) -> Result<(), RunError> {
    match changed {
        Ok(true) => Ok(()),
        Ok(false) => Err(RunError::LeaseLost),
        Err(error) => Err(RunError::Store(error)),
    }
}

impl CreationEnvironment for Run {
    type Error = RunError;

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    async fn sleep_until(&mut self, at: Timestamp) {
        let pause = at.duration_since(self.clock.now());
        tokio::time::sleep(Duration::try_from(pause).unwrap_or_default()).await;
    }

    async fn clusters(&mut self) -> Result<Vec<Candidate>, ListError<RunError>> {
        self.prolong().await.map_err(ListError::Final)?;
        self.candidates().await.map_err(|error| {
            // Magnum answers 400 while the record of a cluster has no node groups yet
            let is_final = matches!(&error, RunError::Service(error)
                if error.is_refusal() && error.status != Some(400));
            if is_final {
                ListError::Final(error)
            } else {
                ListError::Outage(error)
            }
        })
    }

    async fn send(&mut self, request: Map<String, Value>) -> Result<String, SendError<RunError>> {
        let body: NewCluster = match serde_json::from_value(Value::Object(request)) {
            Ok(body) => body,
            Err(error) => return Err(SendError::Refused(RunError::Request(error))),
        };
        self.is_sent = true;
        match self.clients.magnum.create_cluster(&self.token, &body).await {
            Ok(uuid) => Ok(uuid.to_string()),
            Err(error) if error.effect == Effect::Unknown => Err(SendError::Lost(error.into())),
            Err(error) => {
                self.is_refused = true;
                Err(SendError::Refused(error.into()))
            }
        }
    }

    async fn is_recorded(&mut self, uuid: &str) -> Result<bool, RunError> {
        // the UUID is one of Magnum's answers or of the store
        let Ok(cluster) = uuid.parse::<Uuid>() else {
            return Ok(false);
        };
        let magnum = &self.clients.magnum;
        let found = magnum.created_cluster(&self.token, cluster, RECORD_TIMEOUT);
        let is_recorded = found.await?.is_some();
        self.recorded = is_recorded.then_some(cluster);
        Ok(is_recorded)
    }

    async fn store(&mut self, attempt: &Attempt) -> Result<(), RunError> {
        self.sent_at = attempt.sent_at;
        self.advance(match &attempt.delivery {
            Delivery::NotSent | Delivery::Refused => AttemptState::NotSent,
            Delivery::Unknown => AttemptState::Unknown,
            Delivery::Accepted(uuid) => match uuid.parse() {
                Ok(cluster) => AttemptState::Accepted(cluster),
                Err(_) => AttemptState::Unknown,
            },
        })
        .await
    }

    /// Forgets an attempt that was refused. One that made a cluster stays stored, so that the same form
    /// never makes a second one, not even after the first is deleted.
    async fn forget(&mut self) -> Result<(), RunError> {
        match self.recorded {
            Some(cluster) if self.is_complete => {
                self.advance(AttemptState::Complete(cluster)).await
            }
            Some(cluster) => self.advance(AttemptState::Created(cluster)).await,
            None => {
                let attempts = self.store.creation_attempts();
                held(attempts.forget(&self.key, self.lease.holder).await)
            }
        }
    }

    fn note_lost(&mut self, error: &RunError) {
        tracing::warn!(%error, "the response to the request for a cluster was lost");
    }
}
