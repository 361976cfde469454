//! The audit log: who did what, and with what outcome.
//!
//! Entries form a chain ([`chain`]) that [`Audit::verify`] checks; [`writer`] appends them, [`sql`]
//! and `redis/audit.rs` store them.
pub(crate) mod chain;
pub(crate) mod filter;
mod sql;
mod verify;
pub(crate) mod writer;

pub use filter::AuditFilter;
pub use verify::{BreakKind, ChainBreak, ChainMark, ChainReport};

use crate::error::StoreError;
use crate::row::to_json;
use crate::store::Store;
use chain::{Head, Link, Record};
use filter::Order;
use jiff::Timestamp;
use std::str::FromStr;
use uuid::Uuid;

pub(crate) const TABLE: &str = "audit_events";

/// Counts entries that could not be stored.
pub(crate) const LOST: &str = "portico_audit_lost_total";
/// Counts heads of the chain that a writer found changed by another program.
pub(crate) const BREAKS: &str = "portico_audit_breaks_total";

/// Maximum number of entries that one transaction chains or deletes.
const MAX_BATCH: u16 = 200;
/// Maximum length of a text, in characters, and of the details, in bytes. Longer texts are cut;
/// longer details are left out.
const MAX_TEXT_CHARS: usize = 1_000;
const MAX_DETAIL_BYTES: usize = 16 * 1024;
/// Maximum number of entries in one list.
pub(crate) const MAX_LISTED_ENTRIES: i64 = 10_000;

/// The audit log; see [`Store::audit`].
#[derive(Clone, Copy)]
pub struct Audit<'s>(pub(crate) &'s Store);

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

impl Audit<'_> {
    /// Appends an event; returns when it is stored. The event is stored even if the caller gives up
    /// waiting.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read: the action that needs the
    /// record must not be carried out then.
    pub async fn append(self, event: &NewAuditEvent, now: Timestamp) -> Result<(), StoreError> {
        self.0.write_audit(record(event, now)?).await
    }

    /// Returns the newest matching events, newest first.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn list(
        self,
        filter: &AuditFilter,
        limit: i64,
    ) -> Result<Vec<AuditEvent>, StoreError> {
        self.events(filter, Order::NewestFirst, limit).await
    }

    /// Returns the oldest matching events, oldest first; with [`AuditFilter::after`], those that
    /// were appended since.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn list_forward(
        self,
        filter: &AuditFilter,
        limit: i64,
    ) -> Result<Vec<AuditEvent>, StoreError> {
        self.events(filter, Order::OldestFirst, limit).await
    }

    /// Returns the size of the log without counting its entries.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn size(self) -> Result<AuditSize, StoreError> {
        let head = self.head().await?.unwrap_or_default();
        let first = self
            .read(&AuditFilter::default(), Order::OldestFirst, 1)
            .await?;
        Ok(AuditSize {
            entries: head.sequence - head.start_sequence,
            oldest: first.first().and_then(Entry::at),
        })
    }

    /// Gives entries written by versions without the chain a place in it, and seals the head with
    /// the current key. Returns the number of entries. Several replicas may call it at any time.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn adopt(self, now: Timestamp) -> Result<u64, StoreError> {
        self.adopt_all(now, false).await
    }

    pub(crate) async fn adopt_all(
        self,
        now: Timestamp,
        is_migration: bool,
    ) -> Result<u64, StoreError> {
        let mut all = 0;
        loop {
            let adopted = match self.0.redis() {
                Some(redis) => {
                    redis
                        .adopt_events(&self.0.keys, now, MAX_BATCH, is_migration)
                        .await?
                }
                None => sql::adopt(self.0, now, i64::from(MAX_BATCH), is_migration).await?,
            };
            all += adopted;
            if adopted < u64::from(MAX_BATCH) {
                return Ok(all);
            }
        }
    }

    /// Deletes events older than `before`, from the start of the chain; returns their number. The
    /// head then names the newest deleted entry, so that the rest can be verified.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn trim(self, before: Timestamp) -> Result<u64, StoreError> {
        let mut all = 0;
        loop {
            let deleted = match self.0.redis() {
                Some(redis) => redis.trim_events(&self.0.keys, before, MAX_BATCH).await?,
                None => sql::trim(self.0, before, i64::from(MAX_BATCH)).await?,
            };
            all += deleted;
            if deleted < u64::from(MAX_BATCH) {
                return Ok(all);
            }
        }
    }

    async fn events(
        self,
        filter: &AuditFilter,
        order: Order,
        limit: i64,
    ) -> Result<Vec<AuditEvent>, StoreError> {
        let entries = self.read(filter, order, limit).await?;
        entries
            .into_iter()
            .map(|entry| {
                let seal = entry.link.check(&self.0.keys, &entry.record);
                event(entry, seal == crate::sealing::Signature::Invalid)
            })
            .collect()
    }

    async fn read(
        self,
        filter: &AuditFilter,
        order: Order,
        limit: i64,
    ) -> Result<Vec<Entry>, StoreError> {
        let limit = limit.clamp(0, MAX_LISTED_ENTRIES);
        match self.0.redis() {
            Some(redis) => redis.read_events(filter, order, limit).await,
            None => sql::list(self.0, filter, order, limit).await,
        }
    }

    async fn head(self) -> Result<Option<Head>, StoreError> {
        match self.0.redis() {
            Some(redis) => redis.audit_head().await,
            None => sql::head(self.0).await,
        }
    }

    async fn outside(self, head: &Head) -> Result<(i64, i64), StoreError> {
        match self.0.redis() {
            Some(redis) => redis.audit_outside(head).await,
            None => sql::outside(self.0, head).await,
        }
    }
}

impl Entry {
    pub fn at(&self) -> Option<Timestamp> {
        self.record.at()
    }
}

/// Returns the record of an event. Texts that a database would refuse, or that are too long, are
/// shortened or replaced: a shortened entry is better than none.
fn record(event: &NewAuditEvent, now: Timestamp) -> Result<Record, StoreError> {
    let optional = |text: &Option<String>| text.as_deref().map(bounded);
    let mut detail = to_json(TABLE, "detail", &event.detail)?;
    if detail.len() > MAX_DETAIL_BYTES {
        detail = serde_json::json!({ "omitted_bytes": detail.len() }).to_string();
    }
    Ok(Record {
        id: Uuid::new_v4().to_string(),
        at_millis: now.as_millisecond(),
        adopted_millis: None,
        request_id: event.request_id.map(|id| id.to_string()),
        session_id: event.session.map(|id| id.to_string()),
        user_id: optional(&event.user_id),
        user_name: optional(&event.user_name),
        project_id: optional(&event.project_id),
        cluster_id: optional(&event.cluster_id),
        action: bounded(&event.action),
        target: bounded(&event.target),
        outcome: event.outcome.as_str().to_owned(),
        detail,
    })
}

/// Returns a text of bounded length without NUL, which PostgreSQL cannot store.
fn bounded(text: &str) -> String {
    text.chars()
        .take(MAX_TEXT_CHARS)
        .map(|c| if c == '\0' { '\u{fffd}' } else { c })
        .collect()
}

fn event(entry: Entry, is_forged: bool) -> Result<AuditEvent, StoreError> {
    const UNVERIFIED: &str = "changed since, or written without the store's keys";
    let Entry { record, link } = entry;
    let corrupt = |column: &'static str, reason: String| StoreError::Corrupt {
        table: TABLE,
        column,
        reason,
    };
    let uuid = |column: &'static str, text: &str| {
        Uuid::parse_str(text).map_err(|error| corrupt(column, error.to_string()))
    };
    let optional = |column: &'static str, text: &Option<String>| {
        text.as_deref().map(|text| uuid(column, text)).transpose()
    };
    let time = |column: &'static str, millis: i64| {
        Timestamp::from_millisecond(millis).map_err(|error| corrupt(column, error.to_string()))
    };
    let mut detail = serde_json::from_str(&record.detail)
        .map_err(|error| corrupt("detail", error.to_string()))?;
    if is_forged {
        detail = serde_json::json!({ "unverified": UNVERIFIED, "detail": detail });
    }
    Ok(AuditEvent {
        id: uuid("id", &record.id)?,
        sequence: link.sequence,
        at: time("at_millis", record.at_millis)?,
        adopted_at: record
            .adopted_millis
            .map(|millis| time("adopted_millis", millis))
            .transpose()?,
        event: NewAuditEvent {
            request_id: optional("request_id", &record.request_id)?,
            session: optional("session_id", &record.session_id)?,
            user_id: record.user_id,
            user_name: record.user_name,
            project_id: record.project_id,
            cluster_id: record.cluster_id,
            action: record.action,
            target: record.target,
            outcome: record
                .outcome
                .parse()
                .map_err(|error| corrupt("outcome", error))?,
            detail,
        },
    })
}
