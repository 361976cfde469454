//! The audit log: who did what, and what came of it.
//!
//! Entries form a chain ([`chain`]) that [`Audit::verify`] checks; [`writer`] appends them,
//! [`sql`] and `redis/audit.rs` keep them.
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

/// Entries that could not be stored.
pub(crate) const LOST: &str = "portico_audit_lost_total";
/// Heads of the chain that a writer found changed by something else.
pub(crate) const BREAKS: &str = "portico_audit_breaks_total";

/// Entries of one transaction, when they join the chain or are removed.
const AT_ONCE: u16 = 200;
/// Characters of a text, and bytes of the details. What is longer is cut off or left out.
const MAX_TEXT: usize = 1_000;
const MAX_DETAIL: usize = 16 * 1024;
/// Entries of one answer.
pub(crate) const MAX_LIST: i64 = 10_000;

/// The audit log; see [`Store::audit`].
#[derive(Clone, Copy)]
pub struct Audit<'s>(pub(crate) &'s Store);

/// What came of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is about to be tried; the end has an event of its own with the same request ID.
    Intended,
    Succeeded,
    /// Refused: the user has no right to it.
    Denied,
    Failed,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 4] = [Self::Intended, Self::Succeeded, Self::Denied, Self::Failed];

    /// The word in the database.
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

/// What happened. No secret of any kind.
#[derive(Clone, Debug)]
pub struct NewAuditEvent {
    pub request_id: Option<Uuid>,
    /// The session's public ID.
    pub session: Option<Uuid>,
    pub user_id: Option<String>,
    /// The user's name, or the name that was tried.
    pub user_name: Option<String>,
    pub project_id: Option<String>,
    pub cluster_id: Option<String>,
    /// What was done: `session.sign_in`, `session.end`, `app.open`, `cluster.token`, …
    pub action: String,
    /// What it was done to; empty where there is nothing.
    pub target: String,
    pub outcome: Outcome,
    /// Anything else, such as the reason of a denial.
    pub detail: serde_json::Value,
}

impl NewAuditEvent {
    /// An event with nothing but the action and what came of it.
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
    /// When it joined the chain, where a version of Portico without the chain has written it.
    pub adopted_at: Option<Timestamp>,
    pub event: NewAuditEvent,
}

/// How much the audit log holds.
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
    /// When the store cannot say: what needs a record must not happen then.
    pub async fn append(self, event: &NewAuditEvent, now: Timestamp) -> Result<(), StoreError> {
        self.0.write_audit(record(event, now)?).await
    }

    /// The newest events that fit, newest first.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn list(
        self,
        filter: &AuditFilter,
        limit: i64,
    ) -> Result<Vec<AuditEvent>, StoreError> {
        self.events(filter, Order::NewestFirst, limit).await
    }

    /// The oldest events that fit, oldest first: with [`AuditFilter::after`], those that were
    /// appended since.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn list_forward(
        self,
        filter: &AuditFilter,
        limit: i64,
    ) -> Result<Vec<AuditEvent>, StoreError> {
        self.events(filter, Order::OldestFirst, limit).await
    }

    /// How much the log holds, without counting it.
    ///
    /// # Errors
    /// When the store cannot say.
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

    /// Gives a place in the chain to entries of versions that do not know it, and seals the head
    /// with the current key; returns how many entries. Several replicas may call it at any time.
    ///
    /// # Errors
    /// When the store cannot say.
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
                        .adopt_events(&self.0.keys, now, AT_ONCE, is_migration)
                        .await?
                }
                None => sql::adopt(self.0, now, i64::from(AT_ONCE), is_migration).await?,
            };
            all += adopted;
            if adopted < u64::from(AT_ONCE) {
                return Ok(all);
            }
        }
    }

    /// Deletes events older than `before`, from the start of the chain; returns how many. The head
    /// then names the newest one that was deleted, so that the rest can be verified.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn trim(self, before: Timestamp) -> Result<u64, StoreError> {
        let mut all = 0;
        loop {
            let deleted = match self.0.redis() {
                Some(redis) => redis.trim_events(&self.0.keys, before, AT_ONCE).await?,
                None => sql::trim(self.0, before, i64::from(AT_ONCE)).await?,
            };
            all += deleted;
            if deleted < u64::from(AT_ONCE) {
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
        let limit = limit.clamp(0, MAX_LIST);
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

/// The record of an event. Texts that a database would refuse, or that are too long, are adapted:
/// an entry that is cut off is better than none.
fn record(event: &NewAuditEvent, now: Timestamp) -> Result<Record, StoreError> {
    let optional = |text: &Option<String>| text.as_deref().map(bounded);
    let mut detail = to_json(TABLE, "detail", &event.detail)?;
    if detail.len() > MAX_DETAIL {
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

/// PostgreSQL stores no NUL.
fn bounded(text: &str) -> String {
    text.chars()
        .take(MAX_TEXT)
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
