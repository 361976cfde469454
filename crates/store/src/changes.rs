//! The change feed: every replica learns within moments what another replica has done to a session.
//!
//! A change is announced in the transaction that makes it, so that no change is lost and none is
//! announced that did not happen. Its position is counted in a row that stays locked until the
//! commit: positions appear in their order and without gaps, which a sequence of PostgreSQL does
//! not guarantee. A reader of the feed therefore needs to remember one number only.
use crate::error::StoreError;
use crate::sessions::EndReason;
use async_trait::async_trait;
use jiff::Timestamp;
use std::str::FromStr as _;
use uuid::Uuid;

pub(crate) const TABLE: &str = "session_changes";
/// Maximum number of changes that one read returns.
pub(crate) const MAX_CHANGES: i64 = 500;

/// The change feed; see [`crate::Store::changes`].
#[async_trait]
pub trait Changes: Send + Sync {
    /// Returns the current end of the feed, where a new reader starts.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn position(&self) -> Result<Position, StoreError>;

    /// Returns the changes after `position`.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn since(&self, position: Position) -> Result<News, StoreError>;

    /// Announces a change that no transaction of the store announces itself.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn announce(
        &self,
        session: Uuid,
        kind: ChangeKind,
        now: Timestamp,
    ) -> Result<(), StoreError>;
}

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
