//! The creations that the panel has sent, in Portico's store.
use super::{
    attempts::Attempts,
    creation::{of_store, stored_steps},
};
use crate::service::error::ServiceError;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use portico_clock::Clock;
use portico_domain::panel::lifecycle::{PlannedStep, UnfinishedCreation};
use portico_lifecycle::{
    driver::{ApiVersion, Cloud},
    model::{Cluster, NodeGroup},
};
use portico_store::{AttemptState, CreationAttempt, Store};
use uuid::Uuid;

/// The newest Magnum: what it lacks was refused before the creation was sent.
const NEWEST: Cloud = Cloud {
    api: ApiVersion(14),
    release: None,
};

/// For how long after a request was sent its outcome may become known by itself.
pub const RECENT: SignedDuration = SignedDuration::from_mins(5);

/// The creations of a SQL database. On Redis none can be stored, and none is sent.
#[derive(Clone, Debug)]
pub struct StoredAttempts {
    store: Store,
    clock: Clock,
}

impl StoredAttempts {
    /// Returns the creations of a store.
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock }
    }
}

#[async_trait]
impl Attempts for StoredAttempts {
    async fn unfinished(
        &self,
        project_id: &str,
        user_id: &str,
    ) -> Result<Vec<UnfinishedCreation>, ServiceError> {
        if !self.store.has_sql() {
            return Ok(Vec::new());
        }
        let attempts = self.store.creation_attempts();
        let now = self.clock.now();
        let all = attempts.of_user(project_id, user_id, now).await;
        let all = all.map_err(|error| of_store(&error))?;
        Ok(all.iter().filter_map(|one| unfinished(one, now)).collect())
    }

    async fn remaining(
        &self,
        project_id: &str,
        cluster: &Cluster,
        groups: &[NodeGroup],
    ) -> Result<Vec<PlannedStep>, ServiceError> {
        if !self.store.has_sql() {
            return Ok(Vec::new());
        }
        let now = self.clock.now();
        stored_steps(&self.store, project_id, cluster, groups, NEWEST, now).await
    }

    async fn of_project(
        &self,
        project_id: &str,
    ) -> Result<Vec<(Uuid, Option<Uuid>)>, ServiceError> {
        if !self.store.has_sql() {
            return Ok(Vec::new());
        }
        let attempts = self.store.creation_attempts();
        let all = attempts.of_project(project_id, self.clock.now()).await;
        all.map_err(|error| of_store(&error))
    }

    fn store(&self) -> Option<Store> {
        self.store.has_sql().then(|| self.store.clone())
    }
}

fn unfinished(stored: &CreationAttempt, now: Timestamp) -> Option<UnfinishedCreation> {
    let text = match stored.state {
        AttemptState::Unknown => {
            "The response to the request for this cluster was lost. Send it again: Portico looks for the \
             cluster and does not request a second one."
                .to_owned()
        }
        AttemptState::Accepted(cluster) => format!(
            "Magnum accepted the cluster {cluster}, and has not confirmed its record. Send it again to look \
             for it: nothing is requested twice."
        ),
        AttemptState::NotSent | AttemptState::Created(_) | AttemptState::Complete(_) => return None,
    };
    Some(UnfinishedCreation {
        attempt: stored.key.attempt,
        name: stored.cluster_name.clone(),
        sent_at: stored.sent_at.map(Timestamp::as_second),
        is_recent: stored
            .sent_at
            .is_some_and(|sent| now.duration_since(sent) < RECENT),
        text,
    })
}
