//! The audit log: who did what, and with what outcome.
//!
//! Entries form a chain ([`chain`]) that [`Audit::verify`] checks; [`writer`] appends them, and
//! `sql/audit.rs` and `redis/audit.rs` store them, each as a [`log::AuditLog`].
pub(crate) mod chain;
pub(crate) mod filter;
pub(crate) mod log;
mod record;
mod verify;
pub(crate) mod writer;

pub use filter::AuditFilter;
pub use verify::{BreakKind, ChainBreak, ChainMark, ChainReport};

use crate::error::StoreError;
use async_trait::async_trait;
use chain::{Link, Record};
use jiff::Timestamp;
use std::str::FromStr;
use uuid::Uuid;

pub(crate) const TABLE: &str = "audit_events";

/// Counts entries that could not be stored.
pub(crate) const LOST: &str = "portico_audit_lost_total";
/// Counts heads of the chain that a writer found changed by another program.
pub(crate) const BREAKS: &str = "portico_audit_breaks_total";

/// Maximum number of entries in one list.
pub(crate) const MAX_LISTED_ENTRIES: i64 = 10_000;

/// The audit log; see [`crate::Store::audit`].
#[async_trait]
pub trait Audit: Send + Sync {
    /// Appends an event; returns when it is stored. The event is stored even if the caller gives up
    /// waiting.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read: the action that needs the
    /// record must not be carried out then.
    async fn append(&self, event: &NewAuditEvent, now: Timestamp) -> Result<(), StoreError>;

    /// Returns the newest matching events, newest first.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn list(&self, filter: &AuditFilter, limit: i64) -> Result<Vec<AuditEvent>, StoreError>;

    /// Returns the oldest matching events, oldest first; with [`AuditFilter::after`], those that
    /// were appended since.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn list_forward(
        &self,
        filter: &AuditFilter,
        limit: i64,
    ) -> Result<Vec<AuditEvent>, StoreError>;

    /// Returns the size of the log without counting its entries.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn size(&self) -> Result<AuditSize, StoreError>;

    /// Gives entries written by versions without the chain a place in it, and seals the head with
    /// the current key. Returns the number of entries. Several replicas may call it at any time.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn adopt(&self, now: Timestamp) -> Result<u64, StoreError>;

    /// Deletes events older than `before`, from the start of the chain; returns their number. The
    /// head then names the newest deleted entry, so that the rest can be verified. `now` is the time
    /// of an entry about a break, if there is one.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn trim(&self, before: Timestamp, now: Timestamp) -> Result<u64, StoreError>;

    /// Verifies every entry from the oldest to the newest and reports the first break. Entries that
    /// are appended meanwhile are not checked. With `noted`, the head recorded earlier must still
    /// be in the chain.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn verify(&self, noted: Option<&ChainMark>) -> Result<ChainReport, StoreError>;
}

/// The outcome of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The action is about to be tried; its result has an event of its own with the same request
    /// ID.
    Intended,
    Succeeded,
    /// The action was refused: the user is not allowed to do it.
    Denied,
    Failed,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 4] = [Self::Intended, Self::Succeeded, Self::Denied, Self::Failed];

    /// Returns the name used in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Intended => "intended",
            Self::Succeeded => "succeeded",
            Self::Denied => "denied",
            Self::Failed => "failed",
        }
    }
}

impl FromStr for Outcome {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.as_str() == text)
            .ok_or_else(|| {
                format!("unknown outcome {text}: use intended, succeeded, denied or failed")
            })
    }
}

/// A new event. Holds no secret of any kind.
#[derive(Clone, Debug)]
pub struct NewAuditEvent {
    pub request_id: Option<Uuid>,
    /// The session's public ID.
    pub session: Option<Uuid>,
    pub user_id: Option<String>,
    /// The user's name, or the name that was entered.
    pub user_name: Option<String>,
    pub project_id: Option<String>,
    pub cluster_id: Option<String>,
    /// The action: `session.sign_in`, `session.end`, `app.open`, `cluster.token`, …
    pub action: String,
    /// The object of the action; empty if there is none.
    pub target: String,
    pub outcome: Outcome,
    /// Further details, such as the reason of a denial.
    pub detail: serde_json::Value,
}

impl NewAuditEvent {
    /// Returns an event that holds nothing but the action and its outcome.
    pub fn new(action: impl Into<String>, outcome: Outcome) -> Self {
        Self {
            request_id: None,
            session: None,
            user_id: None,
            user_name: None,
            project_id: None,
            cluster_id: None,
            action: action.into(),
            target: String::new(),
            outcome,
            detail: serde_json::Value::Null,
        }
    }
}

/// A stored event.
#[derive(Clone, Debug)]
pub struct AuditEvent {
    pub id: Uuid,
    /// The place in the chain.
    pub sequence: i64,
    pub at: Timestamp,
    /// When the event joined the chain, if a version of Portico without the chain wrote it.
    pub adopted_at: Option<Timestamp>,
    pub event: NewAuditEvent,
}

/// The size of the audit log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditSize {
    pub entries: i64,
    pub oldest: Option<Timestamp>,
}

/// A stored record with its place.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub record: Record,
    pub link: Link,
}

impl Entry {
    pub fn at(&self) -> Option<Timestamp> {
        self.record.at()
    }
}
