//! The change feed: every replica learns within moments what another replica has done to a session.
//!
//! A change is announced in the transaction that makes it, so that no change is lost and none is
//! announced that did not happen. Its position is counted in a row that stays locked until the
//! commit: positions appear in their order and without gaps, which a sequence of PostgreSQL does
//! not guarantee. A reader of the feed therefore needs to remember one number only.
use crate::error::StoreError;
use crate::instrumented_pool::Transaction;
use crate::row::Columns;
use crate::sessions::EndReason;
use crate::store::Store;
use jiff::Timestamp;
use sqlx::any::AnyRow;
use std::str::FromStr as _;
use uuid::Uuid;

const TABLE: &str = "session_changes";
/// Maximum number of changes that one read returns.
pub(crate) const MAX_CHANGES: i64 = 500;

/// The change feed; see [`Store::changes`].
#[derive(Clone, Copy)]
pub struct Changes<'s>(pub(crate) &'s Store);

/// A position in the feed: how far a reader has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(pub(crate) i64);

/// The kind of a change to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The session has ended, and its children with it.
    Ended(EndReason),
    /// The session's tokens were replaced: streams opened with the old ones must reconnect.
    Renewed,
    /// The session's row, or what is stored about its tokens, has changed.
    Changed,
}

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The session: a root or a child.
    pub session: Uuid,
    pub kind: ChangeKind,
    /// Whether this process announced the change.
    pub own: bool,
}

/// The result of a read of the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// The changes, in their order.
    pub changes: Vec<Change>,
    /// Where to continue.
    pub position: Position,
    /// Whether these are all changes since the last read; if not, cached data must be discarded.
    pub complete: bool,
    /// Whether there are more changes.
    pub more: bool,
}

impl ChangeKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ended(_) => "ended",
            Self::Renewed => "renewed",
            Self::Changed => "changed",
        }
    }

    /// Returns the kind for a stored value; `reason` is empty if there is none.
    pub(crate) fn read(word: &str, reason: &str) -> Self {
        match word {
            // a value written by a newer version still means that the session has ended
            "ended" => Self::Ended(EndReason::from_str(reason).unwrap_or(EndReason::Revoked)),
            "renewed" => Self::Renewed,
            _ => Self::Changed,
        }
    }

    pub(crate) fn reason(self) -> Option<&'static str> {
        match self {
            Self::Ended(reason) => Some(reason.as_str()),
            Self::Renewed | Self::Changed => None,
        }
    }
}

impl Changes<'_> {
    /// Returns the current end of the feed, where a new reader starts.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn position(self) -> Result<Position, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.position_of_changes().await;
        }
        sqlx::query_scalar("SELECT position FROM session_feed WHERE id = 1")
            .fetch_one(&self.0.pool)
            .await
            .map(Position)
            .map_err(StoreError::database("read the feed of changes"))
    }

    /// Returns the changes after `position`.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn since(self, position: Position) -> Result<News, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.changes_since(position).await;
        }
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
        .fetch_all(&self.0.pool)
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
            news.changes.push(self.change(row)?);
        }
        news.more = i64::try_from(news.changes.len()).is_ok_and(|count| count == MAX_CHANGES);
        if !news.more && last != news.position.0 {
            // deleted before they were read, or the database was replaced
            news.complete = false;
            news.position = Position(last);
        }
        Ok(news)
    }

    /// Announces a change that no transaction of the store announces itself.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn announce(
        self,
        session: Uuid,
        kind: ChangeKind,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.announce_change(session, kind, now).await;
        }
        let failed = || StoreError::database("announce a change");
        let mut transaction = self.0.pool.begin().await.map_err(failed())?;
        self.announce_in(&mut transaction, session, kind, now)
            .await?;
        transaction.commit().await.map_err(failed())
    }

    /// Announces a change as part of the transaction that makes it. Must be the transaction's last
    /// step: the feed is locked from here to the commit.
    pub(crate) async fn announce_in(
        self,
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
        .bind(self.0.origin.to_string())
        .bind(now.as_second())
        .execute(&mut **transaction)
        .await
        .map_err(failed())?;
        Ok(())
    }

    fn change(self, row: &AnyRow) -> Result<Change, StoreError> {
        let columns = Columns::new(TABLE, row);
        let reason = columns.optional_text("end_reason")?;
        let kind = ChangeKind::read(&columns.text("kind")?, &reason.unwrap_or_default());
        Ok(Change {
            session: columns.uuid("session_id")?,
            kind,
            own: columns.uuid("origin")? == self.0.origin,
        })
    }
}
