//! Access and refresh tokens of command-line sessions: short-lived access tokens, rotating refresh
//! tokens.
use crate::error::StoreError;
use crate::random::random_secret;
use crate::row::Columns;
use crate::sessions::Session;
use crate::store::Store;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::any::AnyRow;
use uuid::Uuid;

const TABLE: &str = "refresh_tokens";
pub(crate) const ACCESS: &str = "access token";
pub(crate) const REFRESH: &str = "refresh token";

/// Access and refresh tokens of the command line; see [`Store::access_tokens`].
#[derive(Clone, Copy)]
pub struct AccessTokens<'s>(pub(crate) &'s Store);

/// A refresh token that replaces another.
#[derive(Clone, Debug)]
pub struct RefreshGrant {
    /// The command-line session.
    pub session: Uuid,
    pub refresh_token: SecretString,
}

/// The result of presenting a refresh token.
#[derive(Clone, Debug)]
pub enum Rotation {
    /// The token was valid and is now used; this is its successor.
    Rotated(RefreshGrant),
    /// The token had been used before, so another program may have it. End this session.
    Reused { session: Uuid },
    /// The token is unknown or has expired.
    Unknown,
}

impl AccessTokens<'_> {
    /// Issues an access token for a command-line session.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn issue(
        self,
        session: Uuid,
        expires_at: Timestamp,
    ) -> Result<SecretString, StoreError> {
        let token = random_secret()?;
        if let Some(redis) = self.0.redis() {
            let issued = redis.issue_access(&self.0.keys, &token, session, expires_at);
            return issued.await.map(|()| token);
        }
        sqlx::query(
            "INSERT INTO access_tokens (token_hash, session_id, expires_at)
             VALUES ($1, $2, $3)",
        )
        .bind(self.0.keys.hash(ACCESS, token.expose_secret()))
        .bind(session.to_string())
        .bind(expires_at.as_second())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("store an access token"))?;
        Ok(token)
    }

    /// Returns the live session of an access token.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn find_session(
        self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<Session>, StoreError> {
        if let Some(redis) = self.0.redis() {
            let found = redis.session_of_access(&self.0.keys, token, now).await?;
            let Some(id) = found else { return Ok(None) };
            let session = redis.get_session(&self.0.keys, id).await?;
            return Ok(session.filter(|session| session.is_live(now)));
        }
        for hash in self.0.keys.hashes(ACCESS, token) {
            let row = sqlx::query(
                "SELECT session_id
                 FROM access_tokens
                 WHERE token_hash = $1 AND expires_at > $2",
            )
            .bind(hash)
            .bind(now.as_second())
            .fetch_optional(&self.0.pool)
            .await
            .map_err(StoreError::database("find an access token"))?;
            let Some(row) = row else { continue };
            let id = Columns::new("access_tokens", &row).uuid("session_id")?;
            let session = self.0.sessions().get(id).await?;
            return Ok(session.filter(|session| session.is_live(now)));
        }
        Ok(None)
    }

    /// Issues the first refresh token of a command-line session.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn issue_refresh(
        self,
        session: Uuid,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<SecretString, StoreError> {
        let token = random_secret()?;
        if let Some(redis) = self.0.redis() {
            let issued = redis.insert_refresh(&self.0.keys, &token, session, expires_at, now);
            return issued.await.map(|()| token);
        }
        let hash = self.0.keys.hash(REFRESH, token.expose_secret());
        self.insert_refresh(&hash, session, expires_at, now).await?;
        Ok(token)
    }

    /// Exchanges a refresh token for its successor. Within `grace`, the token rotated last may be
    /// presented once more, by a client that did not receive the response; the lost successor then
    /// counts as used, so that only one of two holders can continue.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn rotate(
        self,
        token: &str,
        grace: SignedDuration,
        now: Timestamp,
    ) -> Result<Rotation, StoreError> {
        if let Some(redis) = self.0.redis() {
            let successor = random_secret()?;
            let rotated = redis.rotate_refresh(&self.0.keys, token, successor, grace, now);
            return rotated.await;
        }
        for hash in self.0.keys.hashes(REFRESH, token) {
            if let Some(rotation) = self.rotate_hash(&hash, grace, now).await? {
                return Ok(rotation);
            }
        }
        Ok(Rotation::Unknown)
    }

    /// Returns the command-line session of an access or refresh token, for revocation (RFC 7009):
    /// expired ones included.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn session_of_any(self, token: &str) -> Result<Option<Uuid>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.session_of_any_token(&self.0.keys, token).await;
        }
        let queries = [
            (
                ACCESS,
                "SELECT session_id FROM access_tokens WHERE token_hash = $1",
            ),
            (
                REFRESH,
                "SELECT session_id FROM refresh_tokens WHERE token_hash = $1",
            ),
        ];
        for (purpose, query) in queries {
            for hash in self.0.keys.hashes(purpose, token) {
                let row = sqlx::query(query)
                    .bind(hash)
                    .fetch_optional(&self.0.pool)
                    .await
                    .map_err(StoreError::database("find a token"))?;
                if let Some(row) = row {
                    return Ok(Some(Columns::new(TABLE, &row).uuid("session_id")?));
                }
            }
        }
        Ok(None)
    }

    async fn rotate_hash(
        self,
        hash: &str,
        grace: SignedDuration,
        now: Timestamp,
    ) -> Result<Option<Rotation>, StoreError> {
        let successor = random_secret()?;
        let successor_hash = self.0.keys.hash(REFRESH, successor.expose_secret());
        let first = sqlx::query(
            "UPDATE refresh_tokens
             SET rotated_at = $1, successor_hash = $2
             WHERE token_hash = $3 AND rotated_at IS NULL AND expires_at > $1
             RETURNING session_id, expires_at",
        )
        .bind(now.as_second())
        .bind(successor_hash.as_str())
        .bind(hash)
        .fetch_optional(&self.0.pool)
        .await
        .map_err(StoreError::database("rotate a refresh token"))?;
        let row = match first {
            Some(row) => row,
            None => match self.repeat(hash, &successor_hash, grace, now).await? {
                Repeat::Granted(row) => row,
                Repeat::Refused(rotation) => return Ok(rotation),
            },
        };
        let columns = Columns::new(TABLE, &row);
        let session = columns.uuid("session_id")?;
        self.insert_refresh(&successor_hash, session, columns.time("expires_at")?, now)
            .await?;
        Ok(Some(Rotation::Rotated(RefreshGrant {
            session,
            refresh_token: successor,
        })))
    }

    async fn repeat(
        self,
        hash: &str,
        successor_hash: &str,
        grace: SignedDuration,
        now: Timestamp,
    ) -> Result<Repeat, StoreError> {
        let row = sqlx::query(
            "SELECT session_id, expires_at, rotated_at, successor_hash
             FROM refresh_tokens
             WHERE token_hash = $1",
        )
        .bind(hash)
        .fetch_optional(&self.0.pool)
        .await
        .map_err(StoreError::database("rotate a refresh token"))?;
        let Some(row) = row else {
            return Ok(Repeat::Refused(None));
        };
        let columns = Columns::new(TABLE, &row);
        if now >= columns.time("expires_at")? {
            return Ok(Repeat::Refused(Some(Rotation::Unknown)));
        }
        let session = columns.uuid("session_id")?;
        let reused = Ok(Repeat::Refused(Some(Rotation::Reused { session })));
        let (Some(rotated_at), Some(lost)) = (
            columns.optional_time("rotated_at")?,
            columns.optional_text("successor_hash")?,
        ) else {
            return reused;
        };
        if now.duration_since(rotated_at) > grace {
            return reused;
        }
        // if another client holds the lost successor, presenting it is reported as reuse: it has no
        // successor of its own
        let unused = sqlx::query(
            "UPDATE refresh_tokens
             SET rotated_at = $1
             WHERE token_hash = $2 AND rotated_at IS NULL",
        )
        .bind(now.as_second())
        .bind(lost)
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("rotate a refresh token"))?;
        if unused.rows_affected() == 0 {
            return reused;
        }
        sqlx::query(
            "UPDATE refresh_tokens
             SET successor_hash = $1
             WHERE token_hash = $2",
        )
        .bind(successor_hash)
        .bind(hash)
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("rotate a refresh token"))?;
        Ok(Repeat::Granted(row))
    }

    async fn insert_refresh(
        self,
        hash: &str,
        session: Uuid,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO refresh_tokens (token_hash, session_id, created_at, expires_at)
             VALUES ($1, $2, $3, $4)",
        )
        .bind(hash)
        .bind(session.to_string())
        .bind(now.as_second())
        .bind(expires_at.as_second())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("store a refresh token"))?;
        Ok(())
    }
}

enum Repeat {
    Granted(AnyRow),
    Refused(Option<Rotation>),
}
