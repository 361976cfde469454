//! Conversion between events and the records that are stored.
use super::chain::Record;
use super::{AuditEvent, Entry, NewAuditEvent, TABLE};
use crate::error::StoreError;
use crate::row::to_json;
use jiff::Timestamp;
use uuid::Uuid;

/// Maximum length of a text, in characters, and of the details, in bytes. Longer texts are cut;
/// longer details are left out.
const MAX_TEXT_CHARS: usize = 1_000;
const MAX_DETAIL_BYTES: usize = 16 * 1024;

/// Returns the record of an event. Texts that a database would refuse, or that are too long, are
/// shortened or replaced: a shortened entry is better than none.
pub(super) fn record(event: &NewAuditEvent, now: Timestamp) -> Result<Record, StoreError> {
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

/// Returns the event of a stored entry; `is_forged` if its seal does not match.
pub(super) fn event(entry: Entry, is_forged: bool) -> Result<AuditEvent, StoreError> {
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
