//! The state of browsers before and beside their identity sessions.
use super::RedisStore;
use super::entry::{Entry, Fields, Found};
use super::scripts::BROWSER_SESSIONS;
use crate::browser_sessions::{
    BrowserSession, BrowserSessionCreation, BrowserSessions, PURPOSE, TABLE,
};
use crate::error::StoreError;
use crate::sealing::Place;
use async_trait::async_trait;
use jiff::Timestamp;
use secrecy::ExposeSecret as _;

#[async_trait]
impl BrowserSessions for RedisStore {
    async fn create(
        &self,
        id: &str,
        new: &BrowserSession,
        max_sessions: u32,
        now: Timestamp,
    ) -> Result<BrowserSessionCreation, StoreError> {
        new.check_size()?;
        let keys = &self.shared.keys;
        // an ID of a time before the current key is taken as well
        for hash in keys.hashes(PURPOSE, id).skip(1) {
            if self.browser_session(&hash, now).await?.is_some() {
                return Ok(BrowserSessionCreation::IdTaken);
            }
        }
        let hash = keys.hash(PURPOSE, id);
        let mut call = self.redis.call(&BROWSER_SESSIONS, "create");
        call.arg(&hash)
            .arg(new.expires_at.as_second())
            .arg(now.as_second())
            .arg(max_sessions);
        self.browser_session_fields(&hash, new)?
            .append_to(&mut call);
        let outcome: String = self.redis.script("store a browser session", &call).await?;
        match outcome.as_str() {
            "created" => Ok(BrowserSessionCreation::Created),
            "taken" => Ok(BrowserSessionCreation::IdTaken),
            "full" => Ok(BrowserSessionCreation::Full),
            other => Err(StoreError::Corrupt {
                table: TABLE,
                column: "outcome",
                reason: format!("{other:?} is not an outcome"),
            }),
        }
    }

    async fn save(
        &self,
        id: &str,
        changed: &BrowserSession,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        changed.check_size()?;
        for hash in self.shared.keys.hashes(PURPOSE, id) {
            let mut call = self.redis.call(&BROWSER_SESSIONS, "save");
            call.arg(&hash)
                .arg(changed.expires_at.as_second())
                .arg(now.as_second());
            self.browser_session_fields(&hash, changed)?
                .append_to(&mut call);
            let saved: bool = self.redis.script("update a browser session", &call).await?;
            if saved {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn find(&self, id: &str, now: Timestamp) -> Result<Option<BrowserSession>, StoreError> {
        for hash in self.shared.keys.hashes(PURPOSE, id) {
            let found = self.browser_session(&hash, now).await?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    async fn delete(&self, id: &str) -> Result<bool, StoreError> {
        let mut deleted = false;
        for hash in self.shared.keys.hashes(PURPOSE, id) {
            let mut call = self.redis.call(&BROWSER_SESSIONS, "delete");
            call.arg(&hash);
            deleted |= self
                .redis
                .script::<bool>("delete a browser session", &call)
                .await?;
        }
        Ok(deleted)
    }
}

impl RedisStore {
    async fn browser_session(
        &self,
        hash: &str,
        now: Timestamp,
    ) -> Result<Option<BrowserSession>, StoreError> {
        let mut call = self.redis.call(&BROWSER_SESSIONS, "find");
        call.arg(hash);
        let found: Found = self.redis.script("find a browser session", &call).await?;
        let Some(entry) = Entry::of(TABLE, found) else {
            return Ok(None);
        };
        let expires_at = entry.time("expires_at")?;
        if now >= expires_at {
            return Ok(None);
        }
        let bound = bound(hash, expires_at);
        let sealed = entry.sealed("data_sealed")?;
        Ok(Some(BrowserSession {
            data: self.shared.keys.open(place(&bound), &sealed)?,
            expires_at,
        }))
    }

    fn browser_session_fields(
        &self,
        hash: &str,
        session: &BrowserSession,
    ) -> Result<Fields, StoreError> {
        let bound = bound(hash, session.expires_at);
        let keys = &self.shared.keys;
        let sealed = keys.seal(place(&bound), session.data.expose_secret())?;
        Ok(Fields::default()
            .sealed("data_sealed", &sealed)
            .time("expires_at", session.expires_at))
    }
}

/// Ties the data to its entry and its end: neither can be changed or moved alone.
fn bound(hash: &str, expires_at: Timestamp) -> String {
    format!("{hash}|{}", expires_at.as_second())
}

fn place(bound: &str) -> Place<'_> {
    Place {
        table: TABLE,
        row: bound,
        column: "data_sealed",
    }
}
