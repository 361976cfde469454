//! The journals of managed clusters.
mod append;

use super::SqlStore;
use crate::cluster_journal::{
    ClusterJournal, ENTRIES, HEADS, JournalEntry, JournalHead, JournalKey, JournalSource,
    LastObservation, NewJournalEntry, NewJournalEvent,
};
use crate::error::StoreError;
use crate::row::Columns;
use append::{New, append, append_all, lock};
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

    async fn head(&self, key: &JournalKey) -> Result<Option<JournalHead>, StoreError> {
        let row = sqlx::query(
            "SELECT sequence, hash FROM cluster_journal_heads
             WHERE project_id = $1 AND cluster_id = $2",
        )
        .bind(&key.project_id)
        .bind(key.cluster.to_string())
        .fetch_optional(&self.pool)
        .await
        .map_err(failed_to_read())?;
        row.map(|row| {
            let columns = Columns::new(HEADS, &row);
            Ok(JournalHead {
                sequence: columns.integer("sequence")?,
                hash: columns.text("hash")?,
            })
        })
        .transpose()
    }

    async fn journals(
        &self,
        after: Option<&JournalKey>,
        limit: u32,
    ) -> Result<Vec<JournalKey>, StoreError> {
        let (project, cluster) = after.map_or_else(Default::default, |after| {
            (after.project_id.clone(), after.cluster.to_string())
        });
        let rows = sqlx::query(
            "SELECT project_id, cluster_id FROM cluster_journal_heads
             WHERE project_id > $1 OR (project_id = $1 AND cluster_id > $2)
             ORDER BY project_id, cluster_id
             LIMIT $3",
        )
        .bind(project)
        .bind(cluster)
        .bind(i64::from(limit))
        .fetch_all(&self.pool)
        .await
        .map_err(failed_to_read())?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new(HEADS, row);
                Ok(JournalKey {
                    project_id: columns.text("project_id")?,
                    cluster: columns.uuid("cluster_id")?,
                })
            })
            .collect()
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
        let head = lock(&mut transaction, key, now).await?;
        let appended = append_all(&mut transaction, key, head, events, now).await?;
        transaction.commit().await.map_err(failed_to_store())?;
        Ok(appended)
    }

    async fn last_events(
        &self,
        key: &JournalKey,
        source: JournalSource,
        limit: u32,
    ) -> Result<Vec<String>, StoreError> {
        let rows = sqlx::query(
            "SELECT event_id FROM cluster_journal_entries
             WHERE project_id = $1 AND cluster_id = $2 AND event_id IS NOT NULL AND source = $3
             ORDER BY sequence DESC
             LIMIT $4",
        )
        .bind(&key.project_id)
        .bind(key.cluster.to_string())
        .bind(source.as_str())
        .bind(i64::from(limit))
        .fetch_all(&self.pool)
        .await
        .map_err(failed_to_read())?;
        rows.iter()
            .map(|row| Columns::new(ENTRIES, row).text("event_id"))
            .collect()
    }

    async fn count_events(
        &self,
        key: &JournalKey,
        source: JournalSource,
        since: Timestamp,
    ) -> Result<u32, StoreError> {
        let row = sqlx::query(
            "SELECT COUNT(*) AS count FROM cluster_journal_entries
             WHERE project_id = $1 AND cluster_id = $2 AND event_id IS NOT NULL AND source = $3
                 AND at_millis >= $4",
        )
        .bind(&key.project_id)
        .bind(key.cluster.to_string())
        .bind(source.as_str())
        .bind(since.as_millisecond())
        .fetch_one(&self.pool)
        .await
        .map_err(failed_to_read())?;
        let count = Columns::new(ENTRIES, &row).integer("count")?;
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    async fn last_nodes(&self, key: &JournalKey) -> Result<Option<LastObservation>, StoreError> {
        let row = sqlx::query(
            "SELECT nodes, nodes_revision, nodes_at
             FROM cluster_journal_heads
             WHERE project_id = $1 AND cluster_id = $2 AND nodes IS NOT NULL",
        )
        .bind(&key.project_id)
        .bind(key.cluster.to_string())
        .fetch_optional(&self.pool)
        .await
        .map_err(StoreError::database("read the nodes of a cluster"))?;
        row.map(|row| {
            let columns = Columns::new(HEADS, &row);
            Ok(LastObservation {
                content: columns.text("nodes")?,
                revision: columns.integer("nodes_revision")?,
                observed_at: columns.time("nodes_at")?,
            })
        })
        .transpose()
    }

    async fn observe_nodes(
        &self,
        key: &JournalKey,
        expected: i64,
        nodes: &str,
        events: &[NewJournalEvent],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.pool.begin().await.map_err(failed_to_store())?;
        let head = lock(&mut transaction, key, now).await?;
        let replaced = sqlx::query(
            "UPDATE cluster_journal_heads
             SET nodes = $3, nodes_at = $4, nodes_revision = nodes_revision + 1
             WHERE project_id = $1 AND cluster_id = $2 AND nodes_revision = $5",
        )
        .bind(&key.project_id)
        .bind(key.cluster.to_string())
        .bind(nodes)
        .bind(now.as_second())
        .bind(expected)
        .execute(&mut *transaction)
        .await
        .map_err(failed_to_store())?;
        if replaced.rows_affected() == 0 {
            // rolled back
            return Ok(false);
        }
        append_all(&mut transaction, key, head, events, now).await?;
        transaction.commit().await.map_err(failed_to_store())?;
        Ok(true)
    }

    async fn list_events(
        &self,
        key: &JournalKey,
        source: JournalSource,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<JournalEntry>, StoreError> {
        let rows = sqlx::query(
            "SELECT sequence, at_millis, source, content, hash
             FROM cluster_journal_entries
             WHERE project_id = $1 AND cluster_id = $2 AND sequence < $3
                 AND event_id IS NOT NULL AND source = $4
             ORDER BY sequence DESC
             LIMIT $5",
        )
        .bind(&key.project_id)
        .bind(key.cluster.to_string())
        .bind(before.unwrap_or(i64::MAX))
        .bind(source.as_str())
        .bind(i64::from(limit))
        .fetch_all(&self.pool)
        .await
        .map_err(failed_to_read())?;
        rows.iter().map(entry).collect()
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
