//! The audit log: who did what, and what came of it.
use crate::error::StoreError;
use crate::row::{Columns, to_json};
use crate::store::Store;
use jiff::Timestamp;
use std::str::FromStr;
use uuid::Uuid;

const TABLE: &str = "audit_events";

/// The audit log; see [`Store::audit`].
#[derive(Clone, Copy)]
pub struct Audit<'s>(pub(crate) &'s Store);

/// What came of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is about to be tried; the end has an event of its own with the same request ID.
    Intended,
    Succeeded,
    /// Somebody may not.
    Denied,
    Failed,
}

impl Outcome {
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
        [Self::Intended, Self::Succeeded, Self::Denied, Self::Failed]
            .into_iter()
            .find(|outcome| outcome.as_str() == text)
            .ok_or_else(|| format!("unknown outcome {text}"))
    }
}

/// What happened. No secret of any kind.
#[derive(Clone, Debug)]
pub struct NewAuditEvent {
    pub request_id: Option<Uuid>,
    /// The session's public ID.
    pub session: Option<Uuid>,
    pub user_id: Option<String>,
    /// The user's name, or the name that somebody tried.
    pub user_name: Option<String>,
    pub project_id: Option<String>,
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
    pub at: Timestamp,
    pub event: NewAuditEvent,
}

/// Which events to list; every field that is set must fit.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    pub user_id: Option<String>,
    pub session: Option<Uuid>,
    pub since: Option<Timestamp>,
}

impl Audit<'_> {
    /// Appends an event.
    ///
    /// # Errors
    /// When the store cannot say: what needs a record must not happen then.
    pub async fn append(self, event: &NewAuditEvent, now: Timestamp) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.append_event(&self.0.keys, event, now).await;
        }
        sqlx::query(
            "INSERT INTO audit_events (
                 id, at_millis, request_id, session_id, user_id, user_name, project_id, action,
                 target, outcome, detail
             )
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        )
        .bind(Uuid::new_v4().to_string())
        .bind(now.as_millisecond())
        .bind(event.request_id.map(|id| id.to_string()))
        .bind(event.session.map(|id| id.to_string()))
        .bind(event.user_id.as_deref())
        .bind(event.user_name.as_deref())
        .bind(event.project_id.as_deref())
        .bind(event.action.as_str())
        .bind(event.target.as_str())
        .bind(event.outcome.as_str())
        .bind(to_json(TABLE, "detail", &event.detail)?)
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("append to the audit log"))?;
        Ok(())
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
        if let Some(redis) = self.0.redis() {
            return redis.list_events(&self.0.keys, filter, limit).await;
        }
        let rows = sqlx::query(
            "SELECT id, at_millis, request_id, session_id, user_id, user_name, project_id,
                 action, target, outcome, detail
             FROM audit_events
             WHERE ($1 = '' OR user_id = $1)
                 AND ($2 = '' OR session_id = $2)
                 AND at_millis >= $3
             ORDER BY at_millis DESC, id
             LIMIT $4",
        )
        .bind(filter.user_id.clone().unwrap_or_default())
        .bind(filter.session.map(|id| id.to_string()).unwrap_or_default())
        .bind(filter.since.map_or(0, Timestamp::as_millisecond))
        .bind(limit)
        .fetch_all(&self.0.pool)
        .await
        .map_err(StoreError::database("read the audit log"))?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new(TABLE, row);
                let at = Timestamp::from_millisecond(columns.integer("at_millis")?)
                    .map_err(|error| columns.corrupt("at_millis", error))?;
                Ok(AuditEvent {
                    id: columns.uuid("id")?,
                    at,
                    event: NewAuditEvent {
                        request_id: columns.optional_uuid("request_id")?,
                        session: columns.optional_uuid("session_id")?,
                        user_id: columns.optional_text("user_id")?,
                        user_name: columns.optional_text("user_name")?,
                        project_id: columns.optional_text("project_id")?,
                        action: columns.text("action")?,
                        target: columns.text("target")?,
                        outcome: columns.parsed("outcome")?,
                        detail: columns.json("detail")?,
                    },
                })
            })
            .collect()
    }
}
