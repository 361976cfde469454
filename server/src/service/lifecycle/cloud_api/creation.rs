//! The creation of a cluster by the command line, stored beside those of the panel: by it Portico knows
//! the cluster as its own, whose page enrols it.
use super::{super::viewer::Viewer, check::Changing};
use jiff::{SignedDuration, Timestamp};
use portico_store::{
    AttemptKey, AttemptLease, AttemptState, BegunAttempt, NewCreationAttempt, Store, StoreError,
};
use uuid::Uuid;

/// One run stores it, within two statements.
const LEASE: SignedDuration = SignedDuration::from_secs(10);

/// Stores that a cluster was created through Portico. The command line sends what remains of its
/// specification itself, so nothing remains here. Without a database, or if it does not answer, the
/// cluster counts as made elsewhere: it is enrolled on request.
pub async fn store_creation(
    store: Option<Store>,
    viewer: &Viewer,
    cluster: Uuid,
    change: &Changing,
    now: Timestamp,
) {
    let Some(store) = store else { return };
    let error = match put(&store, viewer, cluster, &change.target, now).await {
        Ok(true) => return,
        Ok(false) => "the lease of the attempt ended before".to_owned(),
        Err(error) => error.to_string(),
    };
    tracing::warn!(
        error,
        cluster_id = %cluster,
        project_id = viewer.project_id(),
        "it is not stored that a cluster was created through Portico"
    );
}

/// Returns false if the lease of the attempt ended before it was complete.
async fn put(
    store: &Store,
    viewer: &Viewer,
    cluster: Uuid,
    name: &str,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let attempts = store.creation_attempts();
    let lease = AttemptLease {
        holder: Uuid::new_v4(),
        life: LEASE,
    };
    let new = NewCreationAttempt {
        key: AttemptKey {
            project_id: viewer.project_id().to_owned(),
            user_id: viewer.user_id.clone(),
            // Magnum's UUID: a cluster is created once
            attempt: cluster,
        },
        cluster_name: name.to_owned(),
        specification: "{}".to_owned(),
    };
    let BegunAttempt::Yours(begun) = attempts.begin(&new, lease, now).await? else {
        // another run stores it
        return Ok(true);
    };
    let state = AttemptState::Complete(cluster);
    let stored = attempts
        .advance(&new.key, lease, state, Some(now), now)
        .await;
    match stored {
        Ok(true) => attempts.release(&new.key, lease.holder).await?,
        Ok(false) => {}
        // an attempt of which nothing was sent would stay
        Err(_) if begun.state == AttemptState::NotSent => {
            attempts.forget(&new.key, lease.holder).await?;
        }
        Err(_) => {}
    }
    stored
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::lifecycle::{
        attempts::Attempts,
        fixtures,
        origin::{self, Origin, StoredCreations},
        stored_attempts::StoredAttempts,
        viewer::tests::viewer,
    };
    use portico_clock::Clock;
    use portico_store::KeyRing;

    #[tokio::test]
    async fn a_cluster_of_the_command_line_counts_as_created_through_portico() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let keys = KeyRing::random().unwrap();
        let store = Store::connect(&url, 2, keys).await.unwrap();
        store.migrate(Timestamp::UNIX_EPOCH).await.unwrap();
        let (clock, viewer) = (Clock::system(), viewer("ada", &["member"]));
        let (cluster, now) = (Uuid::from_u128(7), clock.now());
        let stored = put(&store, &viewer, cluster, "shop", now).await;
        assert!(stored.unwrap());
        let project = viewer.project_id();
        let attempts = store.creation_attempts();
        let stored = attempts.of_cluster(project, cluster, now).await.unwrap();
        assert_eq!(stored.unwrap().cluster_name, "shop");
        let all = StoredAttempts::new(store, clock);
        let unfinished = all.unfinished(project, &viewer.user_id).await.unwrap();
        assert!(unfinished.is_empty());
        let creations = all.of_project(project).await.unwrap();
        assert_eq!(creations, [(cluster, Some(cluster))]);
        let creations: StoredCreations = creations.into_iter().collect();
        let mut created = fixtures::with("CREATE_COMPLETE", serde_json::json!({}));
        created.uuid = cluster;
        let origin = origin::of(&created, Some(&creations), now);
        assert_eq!(origin, Origin::Portico);
    }
}
