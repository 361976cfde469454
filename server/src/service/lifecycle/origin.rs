//! Whether a cluster was made through Portico.
use super::access::MagnumAccess;
use jiff::{SignedDuration, Timestamp};
use portico_lifecycle::idempotency::MARKER_LABEL;
use portico_openstack::magnum::Cluster;
use std::collections::HashSet;
use uuid::Uuid;

/// For how long an attempt is certainly stored: the store keeps it for a week. Without one, a younger
/// cluster with the label of an attempt was made by a `portico cluster create` that talked to Magnum itself.
const ATTEMPTS_KNOWN: SignedDuration = SignedDuration::from_hours(24 * 6);

/// Who made a cluster, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An attempt of the panel made it, or the command line with a session of Portico.
    Portico,
    /// Another client of Magnum made it.
    Outside,
    /// It may have been made here: the attempt has no answer, cannot be read, or is no longer stored.
    Unknown,
}

/// The stored attempts of a project.
#[derive(Clone, Debug, Default)]
pub struct StoredCreations {
    attempts: HashSet<Uuid>,
    clusters: HashSet<Uuid>,
}

impl FromIterator<(Uuid, Option<Uuid>)> for StoredCreations {
    /// Takes the ID of each attempt, with the cluster that it made.
    fn from_iter<I: IntoIterator<Item = (Uuid, Option<Uuid>)>>(all: I) -> Self {
        let mut creations = Self::default();
        for (attempt, cluster) in all {
            creations.attempts.insert(attempt);
            creations.clusters.extend(cluster);
        }
        creations
    }
}

/// Reads the attempts of a project; `None` if they cannot be read.
pub async fn creations(access: &MagnumAccess, project_id: &str) -> Option<StoredCreations> {
    match access.attempts.of_project(project_id).await {
        Ok(all) => Some(all.into_iter().collect()),
        Err(error) => {
            let cause = error.cause.unwrap_or(error.message);
            tracing::warn!(cause, "the creations of a project cannot be read");
            None
        }
    }
}

/// Returns who made a cluster.
pub fn of(cluster: &Cluster, creations: Option<&StoredCreations>, now: Timestamp) -> Origin {
    let Some(creations) = creations else {
        return Origin::Unknown;
    };
    if creations.clusters.contains(&cluster.uuid) {
        return Origin::Portico;
    }
    let Some(marker) = cluster.labels.applied.get(MARKER_LABEL) else {
        return Origin::Outside;
    };
    let is_attempt = |marker: Uuid| creations.attempts.contains(&marker);
    if Uuid::parse_str(marker).is_ok_and(is_attempt) {
        return Origin::Unknown;
    }
    let is_young = |at: Timestamp| now.duration_since(at) < ATTEMPTS_KNOWN;
    if cluster.created_at.is_some_and(is_young) {
        Origin::Outside
    } else {
        Origin::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures;
    use super::*;
    use serde_json::{Value, json};

    const MARKER: Uuid = Uuid::from_u128(9);

    fn found(labels: Value, days: i64, creations: Option<&StoredCreations>) -> Origin {
        let at = Timestamp::from_second(1_800_000_000).unwrap();
        let change = json!({"labels": labels, "created_at": at.to_string()});
        let cluster = fixtures::with("CREATE_COMPLETE", change);
        of(
            &cluster,
            creations,
            at + SignedDuration::from_hours(24 * days),
        )
    }

    #[test]
    fn case_23_a_cluster_of_another_client_was_made_outside_of_portico() {
        let none = StoredCreations::default();
        assert_eq!(found(json!({}), 30, Some(&none)), Origin::Outside);
        // the command line without a session of Portico, which has no stored attempts
        let marked = json!({ MARKER_LABEL: MARKER.to_string() });
        assert_eq!(found(marked.clone(), 1, Some(&none)), Origin::Outside);
        // its attempt may have been here
        assert_eq!(found(marked.clone(), 7, Some(&none)), Origin::Unknown);
        assert_eq!(found(marked, 1, None), Origin::Unknown);
    }

    #[test]
    fn an_attempt_that_made_the_cluster_decides_and_its_label_alone_does_not() {
        let marked = json!({ MARKER_LABEL: MARKER.to_string() });
        let made: StoredCreations = [(MARKER, Some(fixtures::CLUSTER))].into_iter().collect();
        assert_eq!(found(marked.clone(), 1, Some(&made)), Origin::Portico);
        let unanswered: StoredCreations = [(MARKER, None)].into_iter().collect();
        assert_eq!(found(marked, 1, Some(&unanswered)), Origin::Unknown);
        let other: StoredCreations = [(MARKER, Some(Uuid::from_u128(8)))].into_iter().collect();
        assert_eq!(found(json!({}), 1, Some(&other)), Origin::Outside);
    }
}
