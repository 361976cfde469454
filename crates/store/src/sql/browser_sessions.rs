//! The state of browsers before and beside their identity sessions.
use super::SqlStore;
use crate::browser_sessions::{
    BrowserSession, BrowserSessionCreation, BrowserSessions, PURPOSE, TABLE,
};
use crate::error::StoreError;
use crate::row::Columns;
use crate::sealing::Place;
use async_trait::async_trait;
use jiff::Timestamp;
use secrecy::ExposeSecret as _;

#[async_trait]
impl BrowserSessions for SqlStore {
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
        let sealed = keys.seal(place(&hash), new.data.expose_secret())?;
        let inserted = sqlx::query(
            "INSERT INTO browser_sessions (id_hash, data_sealed, created_at, expires_at)
             SELECT $1, $2, $3, $4
             WHERE (SELECT COUNT(*) FROM browser_sessions) < $5
             ON CONFLICT (id_hash) DO NOTHING",
        )
        .bind(hash.as_str())
        .bind(sealed)
        .bind(now.as_second())
        .bind(new.expires_at.as_second())
        .bind(i64::from(max_sessions))
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("store a browser session"))?;
        if inserted.rows_affected() > 0 {
            return Ok(BrowserSessionCreation::Created);
        }
        let taken = sqlx::query("SELECT expires_at FROM browser_sessions WHERE id_hash = $1")
            .bind(hash)
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("find a browser session"))?;
        Ok(match taken {
            Some(_) => BrowserSessionCreation::IdTaken,
            None => BrowserSessionCreation::Full,
        })
    }

    async fn save(
        &self,
        id: &str,
        changed: &BrowserSession,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        changed.check_size()?;
        let keys = &self.shared.keys;
        for hash in keys.hashes(PURPOSE, id) {
            let sealed = keys.seal(place(&hash), changed.data.expose_secret())?;
            let saved = sqlx::query(
                "UPDATE browser_sessions
                 SET data_sealed = $1, expires_at = $2
                 WHERE id_hash = $3 AND expires_at > $4",
            )
            .bind(sealed)
            .bind(changed.expires_at.as_second())
            .bind(hash)
            .bind(now.as_second())
            .execute(&self.pool)
            .await
            .map_err(StoreError::database("update a browser session"))?;
            if saved.rows_affected() > 0 {
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
            let gone = sqlx::query("DELETE FROM browser_sessions WHERE id_hash = $1")
                .bind(hash)
                .execute(&self.pool)
                .await
                .map_err(StoreError::database("delete a browser session"))?;
            deleted |= gone.rows_affected() > 0;
        }
        Ok(deleted)
    }
}

impl SqlStore {
    async fn browser_session(
        &self,
        hash: &str,
        now: Timestamp,
    ) -> Result<Option<BrowserSession>, StoreError> {
        let row = sqlx::query(
            "SELECT data_sealed, expires_at
             FROM browser_sessions
             WHERE id_hash = $1 AND expires_at > $2",
        )
        .bind(hash)
        .bind(now.as_second())
        .fetch_optional(&self.pool)
        .await
        .map_err(StoreError::database("find a browser session"))?;
        row.map(|row| {
            let columns = Columns::new(TABLE, &row);
            let data = columns.bytes("data_sealed")?;
            Ok(BrowserSession {
                data: self.shared.keys.open(place(hash), &data)?,
                expires_at: columns.time("expires_at")?,
            })
        })
        .transpose()
    }
}

fn place(hash: &str) -> Place<'_> {
    Place {
        table: TABLE,
        row: hash,
        column: "data_sealed",
    }
}
