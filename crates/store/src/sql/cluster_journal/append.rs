//! Appends entries to the journals of managed clusters, in the transaction of the caller.
use super::failed_to_store;
use crate::cluster_journal::{
    HEADS, JournalHead, JournalKey, MAX_CONTENT_BYTES, MAX_ENTRIES, NewJournalEntry,
    NewJournalEvent, RETENTION, digest,
};
use crate::error::StoreError;
use crate::instrumented_pool::Transaction;
use crate::row::Columns;
use jiff::Timestamp;

/// An entry to append, with the ID of the event that it is about.
pub(super) struct New<'a> {
    entry: &'a NewJournalEntry,
    event_id: Option<&'a str>,
}

impl<'a> New<'a> {
    pub(super) fn of(entry: &'a NewJournalEntry) -> Self {
        Self {
            entry,
            event_id: None,
        }
    }
}

/// Returns the head of a journal, which is made if there is none. The first step of each transaction:
/// writers of the same journal wait for each other from here to the commit.
pub(super) async fn lock(
    transaction: &mut Transaction,
    key: &JournalKey,
    now: Timestamp,
) -> Result<JournalHead, StoreError> {
    sqlx::query(
        "INSERT INTO cluster_journal_heads
             (project_id, cluster_id, sequence, hash, revision, expires_at)
         VALUES ($1, $2, 0, '', 0, $3)
         ON CONFLICT (project_id, cluster_id) DO UPDATE SET expires_at = excluded.expires_at",
    )
    .bind(&key.project_id)
    .bind(key.cluster.to_string())
    .bind((now + RETENTION).as_second())
    .execute(&mut **transaction)
    .await
    .map_err(failed_to_store())?;
    let row = sqlx::query(
        "SELECT sequence, hash FROM cluster_journal_heads
         WHERE project_id = $1 AND cluster_id = $2",
    )
    .bind(&key.project_id)
    .bind(key.cluster.to_string())
    .fetch_one(&mut **transaction)
    .await
    .map_err(failed_to_store())?;
    let columns = Columns::new(HEADS, &row);
    Ok(JournalHead {
        sequence: columns.integer("sequence")?,
        hash: columns.text("hash")?,
    })
}

/// Appends the events that the journal does not have after a head that is locked; returns how many those are.
pub(super) async fn append_all(
    transaction: &mut Transaction,
    key: &JournalKey,
    head: JournalHead,
    events: &[NewJournalEvent],
    now: Timestamp,
) -> Result<u32, StoreError> {
    let mut head = head;
    let mut appended = 0;
    for event in events {
        let new = New {
            entry: &event.entry,
            event_id: Some(&event.id),
        };
        let next = append(transaction, key, &head, &new, now).await?;
        appended += u32::from(next.sequence > head.sequence);
        head = next;
    }
    Ok(appended)
}

/// Appends an entry after a head that is locked, and deletes the oldest one of a full journal. Returns the
/// same head if the journal has the event.
pub(super) async fn append(
    transaction: &mut Transaction,
    key: &JournalKey,
    head: &JournalHead,
    new: &New<'_>,
    now: Timestamp,
) -> Result<JournalHead, StoreError> {
    let entry = new.entry;
    if entry.content.len() > MAX_CONTENT_BYTES {
        return Err(StoreError::JournalEntryTooLarge {
            bytes: entry.content.len(),
            max: MAX_CONTENT_BYTES,
        });
    }
    let sequence = head.sequence + 1;
    let at_millis = now.as_millisecond();
    let hash = digest(&head.hash, key, sequence, at_millis, entry);
    let inserted = sqlx::query(
        "INSERT INTO cluster_journal_entries
             (project_id, cluster_id, sequence, at_millis, source, content, hash, event_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (project_id, cluster_id, event_id) DO NOTHING",
    )
    .bind(&key.project_id)
    .bind(key.cluster.to_string())
    .bind(sequence)
    .bind(at_millis)
    .bind(entry.source.as_str())
    .bind(entry.content.as_str())
    .bind(hash.as_str())
    .bind(new.event_id)
    .execute(&mut **transaction)
    .await
    .map_err(failed_to_store())?;
    if inserted.rows_affected() == 0 {
        return Ok(head.clone());
    }
    sqlx::query(
        "UPDATE cluster_journal_heads SET sequence = $3, hash = $4
         WHERE project_id = $1 AND cluster_id = $2",
    )
    .bind(&key.project_id)
    .bind(key.cluster.to_string())
    .bind(sequence)
    .bind(hash.as_str())
    .execute(&mut **transaction)
    .await
    .map_err(failed_to_store())?;
    if sequence > MAX_ENTRIES {
        sqlx::query(
            "DELETE FROM cluster_journal_entries
             WHERE project_id = $1 AND cluster_id = $2 AND sequence <= $3",
        )
        .bind(&key.project_id)
        .bind(key.cluster.to_string())
        .bind(sequence - MAX_ENTRIES)
        .execute(&mut **transaction)
        .await
        .map_err(failed_to_store())?;
    }
    Ok(JournalHead { sequence, hash })
}
