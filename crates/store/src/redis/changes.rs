//! The feed of changes.
use super::scripts::CHANGES;
use super::{Redis, RedisStore};
use crate::changes::{Change, ChangeKind, Changes, MAX_CHANGES, News, Position, TABLE};
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

const READ: &str = "read the feed of changes";
/// Maximum number of changes that one script deletes: a script blocks all other commands.
const MAX_DELETED: u64 = 500;

#[async_trait]
impl Changes for RedisStore {
    async fn position(&self) -> Result<Position, StoreError> {
        let call = self.redis.call(&CHANGES, "position");
        let position: i64 = self.redis.script(READ, &call).await?;
        Ok(Position(position))
    }

    async fn since(&self, position: Position) -> Result<News, StoreError> {
        let mut call = self.redis.call(&CHANGES, "since");
        call.arg(position.0).arg(MAX_CHANGES);
        let (last, found): (i64, Vec<String>) = self.redis.script(READ, &call).await?;
        let mut news = News {
            changes: Vec::with_capacity(found.len()),
            position,
            complete: true,
            more: false,
        };
        for text in &found {
            let (at, before, change) =
                change(text, self.redis.origin).ok_or_else(|| StoreError::Corrupt {
                    table: TABLE,
                    column: "change",
                    reason: format!("it reads {text:?}"),
                })?;
            news.complete &= before == news.position;
            news.position = at;
            news.changes.push(change);
        }
        news.more = i64::try_from(found.len()).is_ok_and(|count| count == MAX_CHANGES);
        if !news.more && last != news.position.0 {
            // deleted before they were read, or Redis has lost them
            news.complete = false;
            news.position = Position(last);
        }
        Ok(news)
    }

    async fn announce(
        &self,
        session: Uuid,
        kind: ChangeKind,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut call = self.redis.call(&CHANGES, "announce");
        call.arg(session.to_string())
            .arg(kind.as_str())
            .arg(kind.reason().unwrap_or_default())
            .arg(now.as_second());
        let _done: i64 = self.redis.script("announce a change", &call).await?;
        Ok(())
    }
}

impl Redis {
    /// Deletes old changes; returns their number.
    pub(super) async fn forget_changes_before(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut all = 0;
        loop {
            let mut call = self.call(&CHANGES, "forget");
            call.arg(before.as_second()).arg(MAX_DELETED);
            let deleted: u64 = self.script("forget old changes", &call).await?;
            all += deleted;
            if deleted < MAX_DELETED {
                return Ok(all);
            }
        }
    }
}

/// Returns a change as `announce` of the scripts writes it, with its position and the one before
/// it.
fn change(text: &str, origin: Uuid) -> Option<(Position, Position, Change)> {
    let mut parts = text.split(':');
    let position = parts.next()?.parse().ok()?;
    let before = parts.next()?.parse().ok()?;
    let _at = parts.next()?;
    let kind = ChangeKind::read(parts.next()?, parts.next()?);
    let change = Change {
        session: parts.next()?.parse().ok()?,
        kind,
        own: parts.next()?.parse::<Uuid>().ok()? == origin,
    };
    Some((Position(position), Position(before), change))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::EndReason;

    #[test]
    fn a_change_is_read_with_the_position_before_it() {
        let (session, origin) = (Uuid::new_v4(), Uuid::new_v4());
        let text = format!("18:17:1000:ended:signed_out:{session}:{origin}");
        let (at, before, change) = change(&text, origin).expect("a change");
        assert_eq!((at, before), (Position(18), Position(17)));
        assert_eq!(change.session, session);
        assert_eq!(change.kind, ChangeKind::Ended(EndReason::SignedOut));
        assert!(change.own);
        assert!(super::change("18:17:1000:ended", origin).is_none());
    }
}
