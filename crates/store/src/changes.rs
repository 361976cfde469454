//! The feed of changes: what one replica does to a session, every other learns within moments.
//!
//! A change is announced in the transaction that makes it, so that none is lost and none is told
//! that did not happen. Its position is counted in a row that stays locked until the commit:
//! positions appear in their order and without gaps, which a sequence of PostgreSQL's does not
//! promise. Whoever follows the feed therefore needs to remember one number only.
use crate::error::StoreError;
use crate::measured::Transaction;
use crate::row::Columns;
use crate::sessions::EndReason;
use crate::store::Store;
use jiff::Timestamp;
use sqlx::any::AnyRow;
use std::str::FromStr as _;
use uuid::Uuid;

const TABLE: &str = "session_changes";
/// Changes that one look brings at most.
pub(crate) const AT_ONCE: i64 = 500;

/// The feed; see [`Store::changes`].
#[derive(Clone, Copy)]
pub struct Changes<'s>(pub(crate) &'s Store);

/// How far the feed has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(pub(crate) i64);

/// What has happened to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It has ended, and with it its children.
    Ended(EndReason),
    /// Its tokens have been replaced: what was opened with the old ones must come back.
    Renewed,
    /// Its row, or what is stored about its tokens, is another than before.
    Changed,
}

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The session: a root or a child.
    pub session: Uuid,
    pub kind: ChangeKind,
    /// Whether this process announced it.
    pub own: bool,
}

/// What a look at the feed brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// In their order.
    pub changes: Vec<Change>,
    /// Where to go on.
    pub position: Position,
    /// Whether these are all changes since the last look; else nothing remembered can be trusted.
    pub complete: bool,
    /// Whether there are more.
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

    /// What the feed holds; `reason` is empty where there is none.
    pub(crate) fn read(word: &str, reason: &str) -> Self {
        match word {
            // a word of a newer version still says that it has ended
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
    /// Where the feed ends now: for somebody who remembers nothing yet.
    ///
    /// # Errors
    /// When the store cannot say.
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

    /// The changes after `position`.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn since(self, position: Position) -> Result<News, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.changes_since(position).await;
        }
        // one statement, so that the feed's end and its changes are of one moment
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
        .bind(AT_ONCE)
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
        news.more = i64::try_from(news.changes.len()).is_ok_and(|count| count == AT_ONCE);
        if !news.more && last != news.position.0 {
            // cleared away unread, or the database is another than before
            news.complete = false;
            news.position = Position(last);
        }
        Ok(news)
    }

    /// Tells of a change that no transaction of the store's own tells of.
    ///
    /// # Errors
    /// When the store cannot say.
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

    /// Tells of a change as part of the transaction that makes it. The last step of it: the feed
    /// is locked from here to the commit.
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
