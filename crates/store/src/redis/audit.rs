//! The audit log; see [`crate::Audit`].
use super::Redis;
use super::binding::{self, FIELD};
use super::entry::{Entry, Fields, Found, or_empty};
use super::scripts::AUDIT;
use crate::audit::{AuditEvent, AuditFilter, NewAuditEvent};
use crate::error::StoreError;
use crate::row::to_json;
use crate::sealing::KeyRing;
use jiff::Timestamp;
use serde_json::json;
use std::cmp::Reverse;
use uuid::Uuid;

const TABLE: &str = "audit_events";
const UNVERIFIED: &str = "changed since, or written with a key that is configured no longer";
const DELETE_AT_ONCE: u16 = 500;

impl Redis {
    /// Appends an event. Redis cannot refuse a later change as the databases do: the binding tells.
    pub async fn append_event(
        &self,
        keys: &KeyRing,
        event: &NewAuditEvent,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let id = Uuid::new_v4().to_string();
        let at = now.as_millisecond();
        let detail = to_json(TABLE, "detail", &event.detail)?;
        let fields = Fields::default()
            .with("id", &id)
            .with("at_millis", at)
            .optional("request_id", event.request_id)
            .optional("session_id", event.session)
            .optional("user_id", event.user_id.as_ref())
            .optional("user_name", event.user_name.as_ref())
            .optional("project_id", event.project_id.as_ref())
            .with("action", &event.action)
            .with("target", &event.target)
            .with("outcome", event.outcome.as_str())
            .with("detail", &detail)
            .with(FIELD, bound(keys, &id, at, event, &detail));
        let mut call = self.call(&AUDIT, "append");
        call.arg(&id)
            .arg(at)
            .arg(or_empty(event.user_id.as_ref()))
            .arg(or_empty(event.session));
        fields.append_to(&mut call);
        let _done: i64 = self.script("append to the audit log", &call).await?;
        Ok(())
    }

    /// The newest events that fit.
    pub async fn list_events(
        &self,
        keys: &KeyRing,
        filter: &AuditFilter,
        limit: i64,
    ) -> Result<Vec<AuditEvent>, StoreError> {
        let index = match (filter.session, &filter.user_id) {
            (Some(session), _) => format!("audit_session:{session}"),
            (None, Some(user_id)) => format!("audit_user:{user_id}"),
            (None, None) => "audit".to_owned(),
        };
        // of two filters one is left for us: then all of the index is looked at
        let two = filter.session.is_some() && filter.user_id.is_some();
        let mut call = self.call(&AUDIT, "list");
        call.arg(index)
            .arg(filter.since.map_or(0, Timestamp::as_millisecond))
            .arg(if two { -1 } else { limit });
        let found: Vec<Found> = self.script("read the audit log", &call).await?;
        let mut events = Vec::with_capacity(found.len());
        for entry in found
            .into_iter()
            .filter_map(|fields| Entry::of(TABLE, fields))
        {
            let event = event(keys, &entry)?;
            if filter.user_id.is_none() || filter.user_id == event.event.user_id {
                events.push(event);
            }
        }
        events.sort_by_key(|event| (Reverse(event.at), event.id));
        events.truncate(usize::try_from(limit).unwrap_or(0));
        Ok(events)
    }

    /// Deletes events older than `before`.
    pub async fn delete_events_before(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut all = 0;
        loop {
            let mut call = self.call(&AUDIT, "delete");
            call.arg(before.as_millisecond()).arg(DELETE_AT_ONCE);
            let deleted: u64 = self.script("delete old audit events", &call).await?;
            all += deleted;
            if deleted < u64::from(DELETE_AT_ONCE) {
                return Ok(all);
            }
        }
    }
}

fn bound(keys: &KeyRing, id: &str, at: i64, event: &NewAuditEvent, detail: &str) -> String {
    with_parts(id, at, event, detail, |parts| {
        binding::of(keys, TABLE, parts)
    })
}

fn with_parts<T>(
    id: &str,
    at: i64,
    event: &NewAuditEvent,
    detail: &str,
    then: impl FnOnce(&[&str]) -> T,
) -> T {
    then(&[
        id,
        &at.to_string(),
        &or_empty(event.request_id),
        &or_empty(event.session),
        event.user_id.as_deref().unwrap_or_default(),
        event.user_name.as_deref().unwrap_or_default(),
        event.project_id.as_deref().unwrap_or_default(),
        &event.action,
        &event.target,
        event.outcome.as_str(),
        detail,
    ])
}

fn event(keys: &KeyRing, entry: &Entry) -> Result<AuditEvent, StoreError> {
    let at = entry.integer("at_millis")?;
    let mut event = NewAuditEvent {
        request_id: entry.optional("request_id")?,
        session: entry.optional("session_id")?,
        user_id: entry.optional_owned("user_id"),
        user_name: entry.optional_owned("user_name"),
        project_id: entry.optional_owned("project_id"),
        action: entry.owned("action")?,
        target: entry.owned("target")?,
        outcome: entry.parsed("outcome")?,
        detail: entry.json("detail")?,
    };
    let (id, detail) = (entry.text("id")?, entry.text("detail")?);
    let checked = with_parts(id, at, &event, detail, |parts| {
        binding::check_entry(keys, TABLE, parts, entry)
    });
    if checked.is_err() {
        // the log outlives the keys: it is shown, with a word of doubt
        event.detail = json!({ "unverified": UNVERIFIED, "detail": event.detail });
    }
    Ok(AuditEvent {
        id: entry.uuid("id")?,
        at: Timestamp::from_millisecond(at).map_err(|error| entry.corrupt("at_millis", error))?,
        event,
    })
}
