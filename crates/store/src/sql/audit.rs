//! The audit log on SQLite and PostgreSQL.
use super::SqlStore;
use super::audit_filter::{Conditions, Value};
use crate::audit::chain::{Head, Link, Record};
use crate::audit::filter::{AuditFilter, Order};
use crate::audit::log::AuditLog;
use crate::audit::writer::Writer;
use crate::audit::{Entry, TABLE};
use crate::error::StoreError;
use crate::instrumented_pool::Transaction;
use crate::row::Columns;
use crate::sealing::{KeyRing, Signature};
use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::any::AnyRow;

const CHAIN: &str = "audit_chain";
const COLUMNS: &str = "id, at_millis, adopted_millis, request_id, session_id, user_id, user_name, \
    project_id, cluster_id, action, target, outcome, detail, sequence, hash, seal";

#[async_trait]
impl AuditLog for SqlStore {
    fn keys(&self) -> &KeyRing {
        &self.shared.keys
    }

    fn writer(&self) -> &Writer {
        &self.shared.audit_writer
    }

    async fn append_records(&self, records: &[Record], now_millis: i64) -> Result<(), StoreError> {
        const OPERATION: &str = "append to the audit log";
        let keys = &self.shared.keys;
        let begin = self.pool.begin().await;
        let mut transaction = begin.map_err(StoreError::database(OPERATION))?;
        let found = lock_head(&mut transaction, OPERATION).await?;
        let (mut head, broken) = resume(keys, &mut transaction, found, now_millis, false).await?;
        for record in broken.iter().chain(records) {
            let link = head.extend(keys, record);
            insert(&mut transaction, record, &link).await?;
        }
        head.seal(keys);
        write_head(&mut transaction, &head).await?;
        let committed = transaction.commit().await;
        committed.map_err(StoreError::database(OPERATION))
    }

    async fn adopt_entries(
        &self,
        now: Timestamp,
        limit: u16,
        is_migration: bool,
    ) -> Result<u64, StoreError> {
        const OPERATION: &str = "chain audit events";
        let keys = &self.shared.keys;
        let begin = self.pool.begin().await;
        let mut transaction = begin.map_err(StoreError::database(OPERATION))?;
        let found = lock_head(&mut transaction, OPERATION).await?;
        let query = format!(
            "SELECT {COLUMNS} FROM audit_events WHERE sequence IS NULL
             ORDER BY at_millis, id LIMIT $1"
        );
        let rows = sqlx::query(&query)
            .bind(i64::from(limit))
            .fetch_all(&mut *transaction)
            .await
            .map_err(StoreError::database(OPERATION))?;
        let is_current = found
            .as_ref()
            .is_some_and(|head| keys.is_current(&head.seal));
        if rows.is_empty() && is_current {
            return Ok(0);
        }
        let at = now.as_millisecond();
        let (mut head, broken) = resume(keys, &mut transaction, found, at, is_migration).await?;
        if let Some(record) = &broken {
            let link = head.extend(keys, record);
            insert(&mut transaction, record, &link).await?;
        }
        for row in &rows {
            let mut record = record(row)?;
            record.adopted_millis = Some(at);
            let link = head.extend(keys, &record);
            sqlx::query(
                "UPDATE audit_events SET sequence = $1, hash = $2, seal = $3, adopted_millis = $4
                 WHERE id = $5 AND sequence IS NULL",
            )
            .bind(link.sequence)
            .bind(link.hash.as_str())
            .bind(link.seal.as_str())
            .bind(at)
            .bind(record.id.as_str())
            .execute(&mut *transaction)
            .await
            .map_err(StoreError::database(OPERATION))?;
        }
        head.seal(keys);
        write_head(&mut transaction, &head).await?;
        let committed = transaction.commit().await;
        committed.map_err(StoreError::database(OPERATION))?;
        Ok(rows.len() as u64)
    }

    async fn trim_entries(
        &self,
        before: Timestamp,
        limit: u16,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        const OPERATION: &str = "delete old audit events";
        let keys = &self.shared.keys;
        let begin = self.pool.begin().await;
        let mut transaction = begin.map_err(StoreError::database(OPERATION))?;
        let found = lock_head(&mut transaction, OPERATION).await?;
        let now = now.as_millisecond();
        // a changed head is recorded before its ends are moved
        let (mut head, broken) = resume(keys, &mut transaction, found, now, false).await?;
        if let Some(record) = &broken {
            let link = head.extend(keys, record);
            insert(&mut transaction, record, &link).await?;
        }
        let rows = sqlx::query(
            "SELECT sequence, hash, seal, at_millis FROM audit_events WHERE sequence IS NOT NULL
             ORDER BY sequence LIMIT $1",
        )
        .bind(i64::from(limit))
        .fetch_all(&mut *transaction)
        .await
        .map_err(StoreError::database(OPERATION))?;
        let mut last = None;
        for row in &rows {
            if Columns::new(TABLE, row).integer("at_millis")? >= before.as_millisecond() {
                break;
            }
            last = Some(link(row)?);
        }
        let deleted = match last {
            Some(last) => {
                head.start_sequence = last.sequence;
                head.start_hash = last.hash;
                let deleted = sqlx::query("DELETE FROM audit_events WHERE sequence <= $1")
                    .bind(last.sequence)
                    .execute(&mut *transaction)
                    .await
                    .map_err(StoreError::database(OPERATION))?;
                deleted.rows_affected()
            }
            None if broken.is_none() => return Ok(0),
            None => 0,
        };
        head.seal(keys);
        write_head(&mut transaction, &head).await?;
        let committed = transaction.commit().await;
        committed.map_err(StoreError::database(OPERATION))?;
        Ok(deleted)
    }

    async fn read_entries(
        &self,
        filter: &AuditFilter,
        order: Order,
        limit: i64,
    ) -> Result<Vec<Entry>, StoreError> {
        let conditions = Conditions::of(filter);
        let direction = match order {
            Order::NewestFirst => "DESC",
            Order::OldestFirst => "ASC",
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM audit_events WHERE {conditions}
             ORDER BY sequence {direction} LIMIT ${limit_at}",
            conditions = conditions.text,
            limit_at = conditions.values.len() + 1
        );
        let mut query = sqlx::query(&sql);
        for value in conditions.values {
            query = match value {
                Value::Text(text) => query.bind(text),
                Value::Integer(number) => query.bind(number),
            };
        }
        let rows = query
            .bind(limit)
            .fetch_all(&self.pool)
            .await
            .map_err(StoreError::database("read the audit log"))?;
        rows.iter()
            .map(|row| {
                Ok(Entry {
                    record: record(row)?,
                    link: link(row)?,
                })
            })
            .collect()
    }

    async fn head(&self) -> Result<Option<Head>, StoreError> {
        let row = sqlx::query(
            "SELECT sequence, hash, start_sequence, start_hash, seal FROM audit_chain WHERE id = 1",
        )
        .fetch_optional(&self.pool)
        .await
        .map_err(StoreError::database("read the head of the audit log"))?;
        row.as_ref().map(head_of).transpose()
    }

    async fn outside(&self, head: &Head) -> Result<(i64, i64), StoreError> {
        let row = sqlx::query(
            "SELECT
                 (SELECT COUNT(*) FROM audit_events WHERE sequence IS NULL) AS unchained,
                 (SELECT COUNT(*) FROM audit_events WHERE sequence <= $1) AS outside",
        )
        .bind(head.start_sequence)
        .fetch_one(&self.pool)
        .await
        .map_err(StoreError::database("read the audit log"))?;
        let columns = Columns::new(TABLE, &row);
        Ok((columns.integer("unchained")?, columns.integer("outside")?))
    }
}

/// Decides where to continue, see [`Head::resume`]; a migration may begin a chain.
async fn resume(
    keys: &KeyRing,
    transaction: &mut Transaction,
    found: Option<Head>,
    now: i64,
    may_begin: bool,
) -> Result<(Head, Option<Record>), StoreError> {
    let good = found
        .as_ref()
        .is_some_and(|head| head.check(keys) == Signature::Valid);
    let last = if good {
        None
    } else {
        let row = sqlx::query(
            "SELECT sequence, hash, seal FROM audit_events WHERE sequence IS NOT NULL
             ORDER BY sequence DESC LIMIT 1",
        )
        .fetch_optional(&mut **transaction)
        .await
        .map_err(StoreError::database("read the end of the audit log"))?;
        row.as_ref().map(link).transpose()?
    };
    if may_begin && last.is_none() && found.as_ref().is_some_and(Head::is_new) {
        return Ok((Head::default(), None));
    }
    Ok(Head::resume(found, keys, last.as_ref(), now))
}

/// Reads the head and keeps other writers out until the transaction ends.
async fn lock_head(
    transaction: &mut Transaction,
    operation: &'static str,
) -> Result<Option<Head>, StoreError> {
    let row = sqlx::query(
        "UPDATE audit_chain SET sequence = sequence WHERE id = 1
         RETURNING sequence, hash, start_sequence, start_hash, seal",
    )
    .fetch_optional(&mut **transaction)
    .await
    .map_err(StoreError::database(operation))?;
    row.as_ref().map(head_of).transpose()
}

async fn write_head(transaction: &mut Transaction, head: &Head) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO audit_chain (id, sequence, hash, start_sequence, start_hash, seal)
         VALUES (1, $1, $2, $3, $4, $5)
         ON CONFLICT (id) DO UPDATE SET
             sequence = excluded.sequence, hash = excluded.hash,
             start_sequence = excluded.start_sequence, start_hash = excluded.start_hash,
             seal = excluded.seal",
    )
    .bind(head.sequence)
    .bind(head.hash.as_str())
    .bind(head.start_sequence)
    .bind(head.start_hash.as_str())
    .bind(head.seal.as_str())
    .execute(&mut **transaction)
    .await
    .map_err(StoreError::database("write the head of the audit log"))?;
    Ok(())
}

async fn insert(
    transaction: &mut Transaction,
    record: &Record,
    link: &Link,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO audit_events (
             id, at_millis, request_id, session_id, user_id, user_name, project_id, cluster_id,
             action, target, outcome, detail, sequence, hash, seal
         )
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
    )
    .bind(record.id.as_str())
    .bind(record.at_millis)
    .bind(record.request_id.as_deref())
    .bind(record.session_id.as_deref())
    .bind(record.user_id.as_deref())
    .bind(record.user_name.as_deref())
    .bind(record.project_id.as_deref())
    .bind(record.cluster_id.as_deref())
    .bind(record.action.as_str())
    .bind(record.target.as_str())
    .bind(record.outcome.as_str())
    .bind(record.detail.as_str())
    .bind(link.sequence)
    .bind(link.hash.as_str())
    .bind(link.seal.as_str())
    .execute(&mut **transaction)
    .await
    .map_err(StoreError::database("append to the audit log"))?;
    Ok(())
}

fn head_of(row: &AnyRow) -> Result<Head, StoreError> {
    let columns = Columns::new(CHAIN, row);
    Ok(Head {
        sequence: columns.integer("sequence")?,
        hash: columns.text("hash")?,
        start_sequence: columns.integer("start_sequence")?,
        start_hash: columns.text("start_hash")?,
        seal: columns.text("seal")?,
    })
}

/// Reads a link. A value that was cleared by hand is not a hash, but it is not an error either: the
/// chain breaks there.
fn link(row: &AnyRow) -> Result<Link, StoreError> {
    let columns = Columns::new(TABLE, row);
    Ok(Link {
        sequence: columns.integer("sequence")?,
        hash: columns.optional_text("hash")?.unwrap_or_default(),
        seal: columns.optional_text("seal")?.unwrap_or_default(),
    })
}

fn record(row: &AnyRow) -> Result<Record, StoreError> {
    let columns = Columns::new(TABLE, row);
    Ok(Record {
        id: columns.text("id")?,
        at_millis: columns.integer("at_millis")?,
        adopted_millis: columns.optional_integer("adopted_millis")?,
        request_id: columns.optional_text("request_id")?,
        session_id: columns.optional_text("session_id")?,
        user_id: columns.optional_text("user_id")?,
        user_name: columns.optional_text("user_name")?,
        project_id: columns.optional_text("project_id")?,
        cluster_id: columns.optional_text("cluster_id")?,
        action: columns.text("action")?,
        target: columns.text("target")?,
        outcome: columns.text("outcome")?,
        detail: columns.text("detail")?,
    })
}
