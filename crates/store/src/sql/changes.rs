//! The feed of changes.
use super::SqlStore;
use crate::changes::{Change, ChangeKind, Changes, MAX_CHANGES, News, Position, TABLE};
use crate::error::StoreError;
use crate::instrumented_pool::Transaction;
use crate::row::Columns;
use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::any::AnyRow;
use uuid::Uuid;

#[async_trait]
impl Changes for SqlStore {
    async fn position(&self) -> Result<Position, StoreError> {
        sqlx::query_scalar("SELECT position FROM session_feed WHERE id = 1")
            .fetch_one(&self.pool)
            .await
            .map(Position)
            .map_err(StoreError::database("read the feed of changes"))
    }

    async fn since(&self, position: Position) -> Result<News, StoreError> {
        // one statement, so that the feed's end and its changes are from the same moment
        let rows = sqlx::query(
            "SELECT session_feed.position AS last, session_changes.position AS position,
                 session_id, kind, end_reason, origin
             FROM session_feed
             LEFT JOIN session_changes ON session_changes.position > $1
             WHERE session_feed.id = 1
             ORDER BY session_changes.position
             LIMIT $2",
        )
        .bind(position.0)
        .bind(MAX_CHANGES)
        .fetch_all(&self.pool)
        .await
        .map_err(StoreError::database("read the feed of changes"))?;
        let mut news = News {
            changes: Vec::with_capacity(rows.len()),
            position,
            complete: true,
            more: false,
        };
        let mut last = position.0;
        for row in &rows {
            let columns = Columns::new(TABLE, row);
            last = columns.integer("last")?;
            let Some(at) = columns.optional_integer("position")? else {
                break;
            };
            news.complete &= at == news.position.0 + 1;
            news.position = Position(at);
            news.changes.push(change(row, self.origin)?);
        }
        news.more = i64::try_from(news.changes.len()).is_ok_and(|count| count == MAX_CHANGES);
        if !news.more && last != news.position.0 {
            // deleted before they were read, or the database was replaced
            news.complete = false;
            news.position = Position(last);
        }
        Ok(news)
    }

    async fn announce(
        &self,
        session: Uuid,
        kind: ChangeKind,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let failed = || StoreError::database("announce a change");
        let mut transaction = self.pool.begin().await.map_err(failed())?;
        self.announce_in(&mut transaction, session, kind, now)
            .await?;
        transaction.commit().await.map_err(failed())
    }
}

impl SqlStore {
    /// Announces a change as part of the transaction that makes it. Must be the transaction's last
    /// step: the feed is locked from here to the commit.
    pub(super) async fn announce_in(
        &self,
        transaction: &mut Transaction,
        session: Uuid,
        kind: ChangeKind,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let failed = || StoreError::database("announce a change");
        let position: i64 = sqlx::query_scalar(
            "UPDATE session_feed
             SET position = position + 1
             WHERE id = 1
             RETURNING position",
        )
        .fetch_one(&mut **transaction)
        .await
        .map_err(failed())?;
        sqlx::query(
            "INSERT INTO session_changes (
                 position, session_id, kind, end_reason, origin, created_at
             )
             VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(position)
        .bind(session.to_string())
        .bind(kind.as_str())
        .bind(kind.reason())
        .bind(self.origin.to_string())
        .bind(now.as_second())
        .execute(&mut **transaction)
        .await
        .map_err(failed())?;
        Ok(())
    }
}

fn change(row: &AnyRow, origin: Uuid) -> Result<Change, StoreError> {
    let columns = Columns::new(TABLE, row);
    let reason = columns.optional_text("end_reason")?;
    let kind = ChangeKind::read(&columns.text("kind")?, &reason.unwrap_or_default());
    Ok(Change {
        session: columns.uuid("session_id")?,
        kind,
        own: columns.uuid("origin")? == origin,
    })
}
