//! The changes of a cluster's health, from its journal.
use super::content::ObservationContent;
use crate::service::lifecycle::{access::MagnumAccess, viewer::Viewer, words};
use portico_domain::panel::lifecycle::{HealthChange, HealthHistory};
use portico_lifecycle::journal::Difference;
use portico_openstack::magnum::HealthStatus;
use portico_store::{JournalEntry, JournalKey, JournalSource, Store};
use uuid::Uuid;

/// The field of observations.
const FIELD: &str = "Health";
/// Maximum number of changes.
const MAX_CHANGES: usize = 10;
/// Number of entries that are read at once.
const BATCH: u32 = 500;
/// Maximum number of reads; older changes are left out.
const MAX_READS: u32 = 4;

/// Returns the newest changes of the health that Magnum reported, as far as Portico has observed them.
pub async fn health_history(
    access: &MagnumAccess,
    viewer: &Viewer,
    cluster: Uuid,
) -> HealthHistory {
    let Some(store) = access.feeds.journal().store() else {
        return HealthHistory {
            changes: Vec::new(),
            gap: Some("Portico writes no journals here: its store is Redis.".to_owned()),
        };
    };
    let key = JournalKey {
        project_id: viewer.project_id().to_owned(),
        cluster,
    };
    read(store, &key).await
}

async fn read(store: &Store, key: &JournalKey) -> HealthHistory {
    let mut history = HealthHistory::default();
    let mut before = None;
    for _ in 0..MAX_READS {
        let journal = store.cluster_journal();
        let list = journal.list_without_events(key, before, BATCH).await;
        let entries = match list {
            Ok(entries) => entries,
            Err(error) => {
                tracing::warn!(%error, "a journal cannot be read");
                history.gap = Some(
                    "The journal cannot be read now: Portico's store does not answer.".to_owned(),
                );
                break;
            }
        };
        history.changes.extend(entries.iter().filter_map(change));
        let is_last = entries.len() < usize::try_from(BATCH).unwrap_or(usize::MAX);
        match entries.last() {
            Some(oldest) if !is_last && history.changes.len() < MAX_CHANGES => {
                before = Some(oldest.sequence);
            }
            _ => break,
        }
    }
    history.changes.truncate(MAX_CHANGES);
    history
}

/// Returns the change of the health in an entry; `None` if it has none.
fn change(entry: &JournalEntry) -> Option<HealthChange> {
    if entry.source != JournalSource::Observation {
        return None;
    }
    let content: ObservationContent = serde_json::from_str(&entry.content).ok()?;
    let Difference { before, after, .. } = content
        .differences
        .into_iter()
        .find(|difference| difference.field == FIELD)?;
    let [before, after] = [before, after].map(|word| word.map(HealthStatus::from));
    Some(HealthChange {
        at: entry.at.as_second(),
        before: words::health_status(before.as_ref()),
        after: words::health_status(after.as_ref()),
        health: words::health_tone(after.as_ref()),
    })
}

#[cfg(test)]
mod tests {
    use super::super::record::Journal;
    use super::*;
    use jiff::Timestamp;
    use portico_domain::panel::Health;
    use portico_lifecycle::journal::Observation;
    use portico_store::KeyRing;
    use serde_json::{Value, json};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn observed(health: Value) -> Observation {
        let observation = json!({"status": "CREATE_COMPLETE", "template": "t1", "health": health});
        serde_json::from_value(observation).unwrap()
    }

    #[tokio::test]
    async fn the_history_has_the_newest_ten_changes_of_health_only() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let store = Store::connect(&url, 2, KeyRing::random().unwrap()).await;
        let store = store.unwrap();
        store.migrate().await.unwrap();
        let key = JournalKey {
            project_id: "acme".to_owned(),
            cluster: Uuid::from_u128(1),
        };
        let journal = Journal::new(Some(store.clone()));
        assert_eq!(read(&store, &key).await, HealthHistory::default());
        journal.observe(&key, observed(Value::Null), at(0)).await;
        for second in 1..=12 {
            let word = if second % 2 == 0 {
                "HEALTHY"
            } else {
                "UNHEALTHY"
            };
            journal
                .observe(&key, observed(json!(word)), at(second))
                .await;
        }
        // another change, which is not about health
        let mut busy = observed(json!("HEALTHY"));
        busy.status = "UPDATE_IN_PROGRESS".to_owned();
        journal.observe(&key, busy, at(20)).await;
        let history = read(&store, &key).await;
        assert_eq!((history.changes.len(), history.gap), (10, None));
        let newest = &history.changes[0];
        assert_eq!(newest.at, at(12).as_second());
        let words = (newest.before.as_str(), newest.after.as_str());
        assert_eq!(words, ("Unhealthy", "Healthy"));
        assert_eq!(newest.health, Health::Ok);
        assert_eq!(history.changes[9].at, at(3).as_second());
    }
}
