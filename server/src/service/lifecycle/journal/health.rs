//! The changes of a cluster's health and its nodes, from its journal.
use super::content::ObservationContent;
use super::event_rows;
use super::rows::MAX_EXACT;
use crate::service::lifecycle::{access::MagnumAccess, viewer::Viewer, words};
use jiff::Timestamp;
use portico_cache::Cache;
use portico_domain::panel::{
    Health,
    lifecycle::{HealthChange, HealthHistory},
};
use portico_lifecycle::journal::{Difference, NodeChange, NodeEvent};
use portico_openstack::magnum::HealthStatus;
use portico_store::{JournalEntry, JournalKey, JournalSource, Store, StoreError};
use std::time::Duration;
use uuid::Uuid;

/// The field of observations with Magnum's word.
const WORD: &str = "Health";
/// The beginning of the fields with Magnum's reasons.
const REASON: &str = "Health of ";
/// The beginnings of the fields with nodes that came or went.
const NODES: [&str; 2] = ["Nodes of ", "Addresses of nodes"];
/// Maximum number of changes.
const MAX_CHANGES: usize = 20;
/// Maximum number of lines of a change.
const MAX_LINES: usize = 20;
/// Number of entries that are read at once.
const BATCH: u32 = 500;
/// Maximum number of reads; older changes are left out.
const MAX_READS: u32 = 4;
/// Number of events of nodes among which changes are looked for.
const NODE_EVENTS: u32 = 200;
/// How long a history is reused for all viewers: it can take several reads of many entries.
const TTL: Duration = Duration::from_secs(10);
/// Maximum number of journals whose history is reused.
const MAX_JOURNALS: u64 = 2_000;

/// The histories of the last seconds.
pub type HealthHistories = Cache<JournalKey, Vec<HealthChange>, StoreError>;

/// Returns an empty cache.
pub fn health_histories() -> HealthHistories {
    Cache::builder()
        .max_capacity(MAX_JOURNALS)
        .time_to_live(TTL)
        .build()
}

/// Returns the newest changes of the health that Magnum reported and of the nodes, as far as Portico has observed
/// them; they can be ten seconds old.
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
    read(&access.health_histories, store, &key).await
}

/// Returns a history that was read within the last seconds, or reads it: once for all who ask meanwhile.
async fn read(histories: &HealthHistories, store: &Store, key: &JournalKey) -> HealthHistory {
    let read = try_read(store, key);
    match histories.try_get_with(key.clone(), read).await {
        Ok(changes) => HealthHistory { changes, gap: None },
        Err(error) => {
            tracing::warn!(%error, "a journal cannot be read");
            HealthHistory {
                changes: Vec::new(),
                gap: Some(
                    "The journal cannot be read now: Portico's store does not answer.".to_owned(),
                ),
            }
        }
    }
}

async fn try_read(store: &Store, key: &JournalKey) -> Result<Vec<HealthChange>, StoreError> {
    let journal = store.cluster_journal();
    let source = JournalSource::Kubernetes;
    let events = journal.list_events(key, source, None, NODE_EVENTS).await?;
    let mut changes: Vec<HealthChange> = events.iter().filter_map(of_node).collect();
    let mut observed = 0;
    let mut before = None;
    for _ in 0..MAX_READS {
        let entries = journal.list_without_events(key, before, BATCH).await?;
        let found = entries.iter().filter_map(of_observation);
        let known = changes.len();
        changes.extend(found);
        observed += changes.len() - known;
        let is_last = entries.len() < usize::try_from(BATCH).unwrap_or(usize::MAX);
        match entries.last() {
            Some(oldest) if !is_last && observed < MAX_CHANGES => before = Some(oldest.sequence),
            _ => break,
        }
    }
    changes.sort_by_key(|change| std::cmp::Reverse(change.at));
    changes.truncate(MAX_CHANGES);
    Ok(changes)
}

/// Returns a node that came, went, or is ready or no longer; `None` for other events.
fn of_node(entry: &JournalEntry) -> Option<HealthChange> {
    let event: NodeEvent = serde_json::from_str(&entry.content).ok()?;
    match event.change {
        NodeChange::Joined | NodeChange::Left | NodeChange::Ready | NodeChange::NotReady => {}
        NodeChange::Version
        | NodeChange::Cordoned
        | NodeChange::Uncordoned
        | NodeChange::Reported
        | NodeChange::Warned
        | NodeChange::Stopped => return None,
    }
    let row = event_rows::of_node(entry.sequence, &event);
    Some(HealthChange {
        at: row.at,
        since: row.since,
        text: row.title,
        lines: row.lines,
        health: row.health,
    })
}

/// Returns the change of health and nodes in an entry; `None` if it has none.
fn of_observation(entry: &JournalEntry) -> Option<HealthChange> {
    if entry.source != JournalSource::Observation {
        return None;
    }
    let content: ObservationContent = serde_json::from_str(&entry.content).ok()?;
    let differences = &content.differences;
    let word = differences.iter().find(|one| one.field == WORD);
    let reasons: Vec<(String, bool)> = differences.iter().filter_map(reason).collect();
    let nodes = differences.iter().filter_map(node_line);
    let is_good = reasons.iter().all(|(_, is_good)| *is_good);
    let mut lines: Vec<String> = reasons.into_iter().map(|(line, _)| line).collect();
    let has_reasons = !lines.is_empty();
    lines.extend(nodes);
    lines.truncate(MAX_LINES);
    let (text, health) = match word {
        Some(word) => words_of(word),
        None if has_reasons && is_good => ("Details of health changed".to_owned(), Health::Ok),
        None if has_reasons => ("Details of health changed".to_owned(), Health::Warning),
        None if lines.is_empty() => return None,
        None => ("Nodes changed".to_owned(), Health::Unknown),
    };
    let since = content
        .since
        .and_then(|since| Timestamp::from_second(since).ok());
    let since = since.filter(|since| entry.at.duration_since(*since) > MAX_EXACT);
    Some(HealthChange {
        at: entry.at.as_second(),
        since: since.map(Timestamp::as_second),
        text,
        lines,
        health,
    })
}

fn words_of(word: &Difference) -> (String, Health) {
    let status = |text: &Option<String>| text.clone().map(HealthStatus::from);
    let (before, after) = (status(&word.before), status(&word.after));
    let text = format!(
        "{} → {}",
        words::health_status(before.as_ref()),
        words::health_status(after.as_ref())
    );
    (text, words::health_tone(after.as_ref()))
}

/// Returns what Magnum reports about a part, and whether it is good.
fn reason(difference: &Difference) -> Option<(String, bool)> {
    let part = difference.field.strip_prefix(REASON)?;
    let read = |text: &Option<String>| text.as_ref().map(|text| words::health_part(part, text));
    Some(match (read(&difference.before), read(&difference.after)) {
        (Some(before), Some(after)) => (
            format!("{}: {} → {}", after.name, before.text, after.text),
            after.is_good,
        ),
        (None, Some(after)) => (format!("{}: {}", after.name, after.text), after.is_good),
        (Some(before), None) => (format!("{}: no longer reported", before.name), true),
        (None, None) => return None,
    })
}

/// Returns nodes that came or went, as a line.
fn node_line(difference: &Difference) -> Option<String> {
    let field = &difference.field;
    NODES.iter().find(|start| field.starts_with(**start))?;
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".to_owned());
    Some(format!(
        "{field}: {} → {}",
        text(&difference.before),
        text(&difference.after)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::record::Journal;
    use super::*;
    use portico_lifecycle::journal::Observation;
    use portico_store::{KeyRing, NewJournalEntry, NewJournalEvent};
    use serde_json::{Value, json};

    /// Reads the history anew.
    async fn read_now(store: &Store, key: &JournalKey) -> HealthHistory {
        read(&health_histories(), store, key).await
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn observed(health: Value) -> Observation {
        let observation = json!({"status": "CREATE_COMPLETE", "template": "t1", "health": health});
        serde_json::from_value(observation).unwrap()
    }

    #[tokio::test]
    async fn the_history_has_the_newest_twenty_changes_of_health() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let store = Store::connect(&url, 2, KeyRing::random().unwrap()).await;
        let store = store.unwrap();
        store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        let key = JournalKey {
            project_id: "acme".to_owned(),
            cluster: Uuid::from_u128(1),
        };
        let journal = Journal::new(Some(store.clone()));
        assert_eq!(read_now(&store, &key).await, HealthHistory::default());
        journal.observe(&key, observed(Value::Null), at(0)).await;
        for second in 1..=22 {
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
        journal.observe(&key, busy, at(30)).await;
        let history = read_now(&store, &key).await;
        assert_eq!((history.changes.len(), history.gap), (20, None));
        let newest = &history.changes[0];
        assert_eq!(newest.at, at(22).as_second());
        assert_eq!(newest.text, "Unhealthy → Healthy");
        assert_eq!((newest.health, newest.since), (Health::Ok, None));
        assert_eq!(history.changes[19].at, at(3).as_second());
    }

    #[tokio::test]
    async fn the_history_has_the_reasons_and_the_nodes_that_came_or_went() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let store = Store::connect(&url, 2, KeyRing::random().unwrap()).await;
        let store = store.unwrap();
        store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        let key = JournalKey {
            project_id: "acme".to_owned(),
            cluster: Uuid::from_u128(1),
        };
        let difference = |field: &str, before: Value, after: Value| json!({"field": field, "before": before, "after": after, "is_requested": false});
        let contents = [
            json!([
                difference("Health", json!("HEALTHY"), json!("UNHEALTHY")),
                difference("Health of n1.Ready", json!("True"), json!("False")),
            ]),
            json!([difference(
                "Health of n1.Ready",
                json!("False"),
                json!("True")
            )]),
            json!([difference(
                "Addresses of nodes",
                json!("192.0.2.1"),
                json!("192.0.2.9")
            )]),
            json!([difference("Keypair", json!("a"), json!("b"))]),
        ];
        let journal = store.cluster_journal();
        for (second, differences) in (0..).zip(contents) {
            let content = json!({"since": at(second * 1_000 - 999).as_second(), "is_busy": false,
                                 "status": "CREATE_COMPLETE", "differences": differences});
            let entry = NewJournalEntry {
                source: JournalSource::Observation,
                content: content.to_string(),
            };
            let now = at(second * 1_000);
            journal.append(&key, &entry, now).await.unwrap();
        }
        let events = [("joined", 1_500), ("cordoned", 1_600), ("not_ready", 2_500)];
        let events = events.map(|(change, second)| NewJournalEvent {
            id: change.to_owned(),
            entry: NewJournalEntry {
                source: JournalSource::Kubernetes,
                content: json!({"at": at(second), "node": "n2", "change": change}).to_string(),
            },
        });
        // recorded later than they happened
        journal
            .append_events(&key, &events, at(9_000))
            .await
            .unwrap();
        let history = read_now(&store, &key).await;
        let shown: Vec<_> = history
            .changes
            .iter()
            .map(|one| one.text.as_str())
            .collect();
        assert_eq!(
            shown,
            [
                "Node n2 is not ready",
                "Nodes changed",
                "Node n2 joined",
                "Details of health changed",
                "Healthy → Unhealthy",
            ]
        );
        let lines = |index: usize| history.changes[index].lines.join("; ");
        assert_eq!(lines(4), "n1: ready → not ready");
        assert_eq!(lines(3), "n1: not ready → ready");
        assert_eq!(lines(1), "Addresses of nodes: 192.0.2.1 → 192.0.2.9");
        assert_eq!(history.changes[4].since, Some(at(-999).as_second()));
        assert_eq!(history.changes[4].health, Health::Warning);
    }

    #[tokio::test]
    async fn a_history_is_read_once_in_ten_seconds_for_all_viewers() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let store = Store::connect(&url, 2, KeyRing::random().unwrap()).await;
        let store = store.unwrap();
        store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        let key = |project: &str| JournalKey {
            project_id: project.to_owned(),
            cluster: Uuid::from_u128(1),
        };
        let (acme, globex) = (key("acme"), key("globex"));
        let journal = Journal::new(Some(store.clone()));
        let histories = health_histories();
        for (second, word) in [(0, "HEALTHY"), (1, "UNHEALTHY")] {
            for key in [&acme, &globex] {
                journal
                    .observe(key, observed(json!(word)), at(second))
                    .await;
            }
        }
        let first = read(&histories, &store, &acme).await;
        assert_eq!(first.changes.len(), 1);
        journal
            .observe(&acme, observed(json!("HEALTHY")), at(2))
            .await;
        // another viewer
        assert_eq!(read(&histories, &store, &acme).await, first);
        assert_eq!(read_now(&store, &acme).await.changes.len(), 2);
        // the journal of another project has a history of its own
        journal
            .observe(&globex, observed(json!("HEALTHY")), at(2))
            .await;
        let other = read(&histories, &store, &globex).await;
        assert_eq!(other.changes.len(), 2);
    }
}
