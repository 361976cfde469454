//! The journals of managed clusters.
use super::SqlStore;
use crate::cluster_journal::{
    ClusterJournal, ENTRIES, HEADS, JournalEntry, JournalHead, JournalKey, LastObservation,
    MAX_CONTENT_BYTES, MAX_ENTRIES, NewJournalEntry, NewJournalEvent, RETENTION, digest,
};
use crate::error::StoreError;
use crate::instrumented_pool::Transaction;
use crate::row::Columns;
use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::any::AnyRow;

#[async_trait]
impl ClusterJournal for SqlStore {
    async fn append(
        &self,
        key: &JournalKey,
        entry: &NewJournalEntry,
        now: Timestamp,
    ) -> Result<JournalHead, StoreError> {
        let mut transaction = self.pool.begin().await.map_err(failed_to_store())?;
        let head = lock(&mut transaction, key, now).await?;
        let head = append(&mut transaction, key, &head, &New::of(entry), now).await?;
        transaction.commit().await.map_err(failed_to_store())?;
        Ok(head)
    }

    async fn last_observation(
        &self,
        key: &JournalKey,
    ) -> Result<Option<LastObservation>, StoreError> {
        let row = sqlx::query(
            "SELECT observation, revision, observed_at
             FROM cluster_journal_heads
             WHERE project_id = $1 AND cluster_id = $2 AND observation IS NOT NULL",
        )
        .bind(&key.project_id)
        .bind(key.cluster.to_string())
        .fetch_optional(&self.pool)
        .await
        .map_err(StoreError::database("read the observation of a cluster"))?;
        row.map(|row| {
            let columns = Columns::new(HEADS, &row);
            Ok(LastObservation {
                content: columns.text("observation")?,
                revision: columns.integer("revision")?,
                observed_at: columns.time("observed_at")?,
            })
        })
        .transpose()
    }

    async fn observe(
        &self,
        key: &JournalKey,
        expected: i64,
        observation: &str,
        entry: Option<&NewJournalEntry>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.pool.begin().await.map_err(failed_to_store())?;
        let head = lock(&mut transaction, key, now).await?;
        let replaced = sqlx::query(
            "UPDATE cluster_journal_heads
             SET observation = $3, observed_at = $4, revision = revision + 1
             WHERE project_id = $1 AND cluster_id = $2 AND revision = $5",
        )
        .bind(&key.project_id)
        .bind(key.cluster.to_string())
        .bind(observation)
        .bind(now.as_second())
        .bind(expected)
        .execute(&mut *transaction)
        .await
        .map_err(failed_to_store())?;
        if replaced.rows_affected() == 0 {
            // rolled back
            return Ok(false);
        }
        if let Some(entry) = entry {
            append(&mut transaction, key, &head, &New::of(entry), now).await?;
        }
        transaction.commit().await.map_err(failed_to_store())?;
        Ok(true)
    }

    async fn append_events(
        &self,
        key: &JournalKey,
        events: &[NewJournalEvent],
        now: Timestamp,
    ) -> Result<u32, StoreError> {
        let mut transaction = self.pool.begin().await.map_err(failed_to_store())?;
        let mut head = lock(&mut transaction, key, now).await?;
        let mut appended = 0;
        for event in events {
            let new = New {
                entry: &event.entry,
                event_id: Some(&event.id),
            };
            let next = append(&mut transaction, key, &head, &new, now).await?;
            appended += u32::from(next.sequence > head.sequence);
            head = next;
        }
        transaction.commit().await.map_err(failed_to_store())?;
        Ok(appended)
    }

    async fn last_events(&self, key: &JournalKey, limit: u32) -> Result<Vec<String>, StoreError> {
        let rows = sqlx::query(
            "SELECT event_id FROM cluster_journal_entries
             WHERE project_id = $1 AND cluster_id = $2 AND event_id IS NOT NULL
             ORDER BY sequence DESC
             LIMIT $3",
        )
        .bind(&key.project_id)
        .bind(key.cluster.to_string())
        .bind(i64::from(limit))
        .fetch_all(&self.pool)
        .await
        .map_err(failed_to_read())?;
        rows.iter()
            .map(|row| Columns::new(ENTRIES, row).text("event_id"))
            .collect()
    }

    async fn list(
        &self,
        key: &JournalKey,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<JournalEntry>, StoreError> {
        let rows = sqlx::query(
            "SELECT sequence, at_millis, source, content, hash
             FROM cluster_journal_entries
             WHERE project_id = $1 AND cluster_id = $2 AND sequence < $3
             ORDER BY sequence DESC
             LIMIT $4",
        )
        .bind(&key.project_id)
        .bind(key.cluster.to_string())
        .bind(before.unwrap_or(i64::MAX))
        .bind(i64::from(limit))
        .fetch_all(&self.pool)
        .await
        .map_err(failed_to_read())?;
        rows.iter().map(entry).collect()
    }

    async fn list_without_events(
        &self,
        key: &JournalKey,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<JournalEntry>, StoreError> {
        let rows = sqlx::query(
            "SELECT sequence, at_millis, source, content, hash
             FROM cluster_journal_entries
             WHERE project_id = $1 AND cluster_id = $2 AND sequence < $3 AND event_id IS NULL
             ORDER BY sequence DESC
             LIMIT $4",
        )
        .bind(&key.project_id)
        .bind(key.cluster.to_string())
        .bind(before.unwrap_or(i64::MAX))
        .bind(i64::from(limit))
        .fetch_all(&self.pool)
        .await
        .map_err(failed_to_read())?;
        rows.iter().map(entry).collect()
    }
}

/// An entry to append, with the ID of the event that it is about.
struct New<'a> {
    entry: &'a NewJournalEntry,
    event_id: Option<&'a str>,
}

impl<'a> New<'a> {
    fn of(entry: &'a NewJournalEntry) -> Self {
        Self {
            entry,
            event_id: None,
        }
    }
}

fn entry(row: &AnyRow) -> Result<JournalEntry, StoreError> {
    let columns = Columns::new(ENTRIES, row);
    let at = columns.integer("at_millis")?;
    Ok(JournalEntry {
        sequence: columns.integer("sequence")?,
        at: Timestamp::from_millisecond(at).map_err(|error| columns.corrupt("at_millis", error))?,
        source: columns.parsed("source")?,
        content: columns.text("content")?,
        hash: columns.text("hash")?,
    })
}

fn failed_to_read() -> impl FnOnce(sqlx::Error) -> StoreError {
    StoreError::database("read the journal of a cluster")
}

fn failed_to_store() -> impl FnOnce(sqlx::Error) -> StoreError {
    StoreError::database("write the journal of a cluster")
}

/// Returns the head of a journal, which is made if there is none. The first step of each transaction:
/// writers of the same journal wait for each other from here to the commit.
async fn lock(
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

/// Appends an entry after a head that is locked, and deletes the oldest one of a full journal. Returns the
/// same head if the journal has the event.
async fn append(
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
