//! Operations on sessions that are made of others, the same on every database.
use super::{EndReason, EndedSession, NewChild, Session, SessionKind, Sessions, TABLE};
use crate::error::StoreError;
use jiff::Timestamp;
use secrecy::SecretString;
use uuid::Uuid;

pub(super) async fn create_child<S: Sessions + ?Sized>(
    sessions: &S,
    new: &NewChild,
    now: Timestamp,
) -> Result<Option<(SecretString, Session)>, StoreError> {
    let Some(parent) = sessions.get(new.parent).await? else {
        return Ok(None);
    };
    if !parent.is_live(now) {
        return Ok(None);
    }
    let (secret, child) = parent.into_child(new, now)?;
    let cookie = (child.kind == SessionKind::App).then_some(&secret);
    sessions.insert(&child, cookie).await?;
    // the parent may have ended between the lookup and the insert
    let parent = sessions.get(child.root()).await?;
    if parent.is_some_and(|parent| parent.is_live(now)) {
        Ok(Some((secret, child)))
    } else {
        sessions.end(child.id, EndReason::ParentEnded, now).await?;
        Ok(None)
    }
}

pub(super) async fn end_all_of_user<S: Sessions + ?Sized>(
    sessions: &S,
    user_id: &str,
    except: Option<Uuid>,
    reason: EndReason,
    now: Timestamp,
) -> Result<Vec<EndedSession>, StoreError> {
    let mut all = Vec::new();
    for session in sessions.list_of_user(user_id, now).await? {
        if session.parent.is_none() && Some(session.id) != except {
            all.extend(sessions.end(session.id, reason, now).await?);
        }
    }
    Ok(all)
}

pub(super) async fn end_of_provider<S: Sessions + ?Sized>(
    sessions: &S,
    provider: &str,
    subject: Option<&str>,
    sid: Option<&str>,
    now: Timestamp,
) -> Result<Vec<EndedSession>, StoreError> {
    let mut all = Vec::new();
    let found = sessions.list_of_provider(provider, subject, sid, now);
    for session in found.await? {
        let reason = EndReason::EndedByProvider;
        all.extend(sessions.end(session.id, reason, now).await?);
    }
    Ok(all)
}

pub(super) async fn end_expired<S: Sessions + ?Sized>(
    sessions: &S,
    now: Timestamp,
) -> Result<Vec<EndedSession>, StoreError> {
    let mut all = Vec::new();
    for id in sessions.expired(now).await? {
        let id = Uuid::parse_str(&id).map_err(|error| StoreError::Corrupt {
            table: TABLE,
            column: "id",
            reason: error.to_string(),
        })?;
        all.extend(sessions.expire(id, now).await?);
    }
    Ok(all)
}
