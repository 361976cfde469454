//! Compares the newest entry of a journal with the audit log, which names one with each change (ADR 0025).
//!
//! `portico audit verify` checks all entries, and the seals of the audit log.
use jiff::{SignedDuration, Timestamp};
use portico_cache::Cache;
use portico_domain::panel::lifecycle::JournalAgreement;
use portico_store::{
    AuditEvent, AuditFilter, JournalEntry, JournalHead, JournalKey, MAX_JOURNAL_ENTRIES, Store,
    StoreError,
};
use std::time::Duration;
use tokio::time::timeout;

/// How long a comparison is reused.
const TTL: Duration = Duration::from_secs(60);
/// How long a page waits for the audit log.
const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum number of journals whose comparison is reused.
const MAX_JOURNALS: u64 = 2_000;
/// Number of entries of the audit log in which the newest one that names an entry is looked for.
const MAX_AUDIT_ENTRIES: i64 = 50;
/// How long a journal is stored after its last entry, less a day: the audit log may have more.
const RETENTION: SignedDuration = SignedDuration::from_hours(24 * 399);

/// The comparisons of the last minute.
pub type Agreements = Cache<JournalKey, Option<JournalAgreement>>;

/// Returns an empty cache.
pub fn agreements() -> Agreements {
    Cache::builder()
        .max_capacity(MAX_JOURNALS)
        .time_to_live(TTL)
        .build()
}

/// Returns whether the journal agrees with the audit log; `None` if the audit log names none of its entries, or
/// cannot be read: a panel in a process of its own may have no right to it.
pub async fn agreement(
    cache: &Agreements,
    store: &Store,
    key: &JournalKey,
    now: Timestamp,
) -> Option<JournalAgreement> {
    if let Some(known) = cache.get(key).await {
        return known;
    }
    let found = match timeout(PATIENCE, compare(store, key, now)).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => {
            tracing::debug!(
                %error,
                cluster_id = %key.cluster,
                "a journal was not compared with the audit log"
            );
            None
        }
        Err(_) => None,
    };
    cache.insert(key.clone(), found.clone()).await;
    found
}

async fn compare(
    store: &Store,
    key: &JournalKey,
    now: Timestamp,
) -> Result<Option<JournalAgreement>, StoreError> {
    let filter = AuditFilter {
        project_id: Some(key.project_id.clone()),
        cluster_id: Some(key.cluster.to_string()),
        action: Some("panel".to_owned()),
        since: now.checked_sub(RETENTION).ok(),
        ..AuditFilter::default()
    };
    // first, so that the journal has the entry that is named
    let audited = store.audit().list(&filter, MAX_AUDIT_ENTRIES).await?;
    let Some((named, at)) = audited.iter().find_map(named) else {
        return Ok(None);
    };
    let journal = store.cluster_journal();
    let head = journal.head(key).await?.unwrap_or_default();
    let entries = journal
        .list(key, Some(named.sequence.saturating_add(1)), 1)
        .await?;
    Ok(assess(&named, at, &head, entries.first()))
}

/// Returns the entry of a journal that an entry of the audit log names.
fn named(stored: &AuditEvent) -> Option<(JournalHead, Timestamp)> {
    let text = stored.event.detail.get("journal")?.as_str()?;
    Some((text.parse().ok()?, stored.at))
}

/// Compares what the audit log names with the newest entry that is not newer.
fn assess(
    named: &JournalHead,
    at: Timestamp,
    head: &JournalHead,
    found: Option<&JournalEntry>,
) -> Option<JournalAgreement> {
    let at = at.strftime("%Y-%m-%d %H:%M UTC").to_string();
    let number = named.sequence;
    let warning = |what: String| {
        Some(JournalAgreement {
            agrees: false,
            text: format!(
                "{what} Portico's database was changed by hand, or restored to an earlier state. Ask the operator \
                 to run `portico audit verify`."
            ),
        })
    };
    match found.filter(|entry| entry.sequence == number) {
        Some(entry) if entry.hash != named.hash => warning(format!(
            "Entry {number} is not the one that the audit log has of {at}."
        )),
        Some(_) if head.sequence == number => Some(JournalAgreement {
            agrees: true,
            text: "The newest entry agrees with the audit log.".to_owned(),
        }),
        Some(_) => Some(JournalAgreement {
            agrees: true,
            text: format!(
                "Entry {number}, that of the newest change through Portico, agrees with the audit log. {}",
                later(head.sequence.saturating_sub(number))
            ),
        }),
        // a full journal has deleted it, as the oldest one
        None if head.sequence.saturating_sub(number) >= MAX_JOURNAL_ENTRIES => None,
        None if head.sequence > number => warning(format!(
            "Entry {number}, which the audit log has of {at}, is missing."
        )),
        None => warning(format!(
            "The newest entries are missing: the audit log has entry {number}, of {at}."
        )),
    }
}

fn later(count: i64) -> String {
    match count {
        1 => "One later entry is not named there.".to_owned(),
        count => format!("{count} later entries are not named there."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_store::{JournalSource, KeyRing, NewAuditEvent, NewJournalEntry, Outcome};
    use uuid::Uuid;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    async fn store(directory: &tempfile::TempDir) -> Store {
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let store = Store::connect(&url, 2, KeyRing::random().unwrap()).await;
        let store = store.unwrap();
        store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        store
    }

    async fn append(store: &Store, key: &JournalKey, second: i64) -> JournalHead {
        let entry = NewJournalEntry {
            source: JournalSource::Observation,
            content: "{}".to_owned(),
        };
        let journal = store.cluster_journal();
        journal.append(key, &entry, at(second)).await.unwrap()
    }

    async fn audit(store: &Store, key: &JournalKey, journal: &str) {
        let event = NewAuditEvent {
            project_id: Some(key.project_id.clone()),
            cluster_id: Some(key.cluster.to_string()),
            detail: serde_json::json!({ "journal": journal }),
            ..NewAuditEvent::new("panel.resize_node_group", Outcome::Succeeded)
        };
        store.audit().append(&event, at(3)).await.unwrap();
    }

    #[test]
    fn an_entry_that_a_full_journal_has_deleted_is_not_missing() {
        let named = JournalHead {
            sequence: 5,
            hash: "x".to_owned(),
        };
        let found = |sequence| {
            let head = JournalHead {
                sequence,
                hash: "y".to_owned(),
            };
            assess(&named, at(0), &head, None)
        };
        assert_eq!(found(MAX_JOURNAL_ENTRIES + 5), None);
        let missing = found(MAX_JOURNAL_ENTRIES + 4).unwrap();
        assert!(
            !missing.agrees && missing.text.contains("is missing"),
            "{}",
            missing.text
        );
    }

    #[tokio::test]
    async fn the_newest_entry_that_the_audit_log_names_is_compared() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(&directory).await;
        let key = JournalKey {
            project_id: "acme".to_owned(),
            cluster: Uuid::from_u128(1),
        };
        let text = async || {
            let found = agreement(&agreements(), &store, &key, at(4)).await;
            found.map(|found| (found.agrees, found.text))
        };
        append(&store, &key, 1).await;
        assert_eq!(text().await, None);
        let head = append(&store, &key, 2).await;
        audit(&store, &key, &head.to_string()).await;
        let newest = "The newest entry agrees with the audit log.";
        assert_eq!(text().await, Some((true, newest.to_owned())));
        append(&store, &key, 3).await;
        let (agrees, later) = text().await.unwrap();
        assert!(
            agrees && later.contains("Entry 2, ") && later.contains("One later entry"),
            "{later}"
        );
        // a log of entries that the journal does not have
        audit(&store, &key, "3:other").await;
        let (agrees, other) = text().await.unwrap();
        assert!(
            !agrees && other.starts_with("Entry 3 is not the one"),
            "{other}"
        );
        audit(&store, &key, "9:cut").await;
        let (agrees, cut) = text().await.unwrap();
        assert!(
            !agrees && cut.contains("the audit log has entry 9"),
            "{cut}"
        );
        assert!(cut.contains("`portico audit verify`"), "{cut}");
    }
}
