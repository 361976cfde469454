//! Access and refresh tokens of the command line.
use super::SqlStore;
use crate::access_tokens::{ACCESS, AccessTokens, REFRESH, RefreshGrant, Rotation};
use crate::error::StoreError;
use crate::instrumented_pool::Transaction;
use crate::random::random_secret;
use crate::row::Columns;
use crate::sessions::{Session, Sessions};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::Any;
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use uuid::Uuid;

const TABLE: &str = "refresh_tokens";

enum Repeat {
    Granted(AnyRow),
    Refused(Option<Rotation>),
}

#[async_trait]
impl AccessTokens for SqlStore {
    async fn issue(
        &self,
        session: Uuid,
        expires_at: Timestamp,
    ) -> Result<SecretString, StoreError> {
        let token = random_secret()?;
        sqlx::query(
            "INSERT INTO access_tokens (token_hash, session_id, expires_at)
             VALUES ($1, $2, $3)",
        )
        .bind(self.shared.keys.hash(ACCESS, token.expose_secret()))
        .bind(session.to_string())
        .bind(expires_at.as_second())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("store an access token"))?;
        Ok(token)
    }

    async fn find_session(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<Session>, StoreError> {
        for hash in self.shared.keys.hashes(ACCESS, token) {
            let row = sqlx::query(
                "SELECT session_id
                 FROM access_tokens
                 WHERE token_hash = $1 AND expires_at > $2",
            )
            .bind(hash)
            .bind(now.as_second())
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("find an access token"))?;
            let Some(row) = row else { continue };
            let id = Columns::new("access_tokens", &row).uuid("session_id")?;
            let session = Sessions::get(self, id).await?;
            return Ok(session.filter(|session| session.is_live(now)));
        }
        Ok(None)
    }

    async fn issue_refresh(
        &self,
        session: Uuid,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<SecretString, StoreError> {
        let token = random_secret()?;
        let hash = self.shared.keys.hash(REFRESH, token.expose_secret());
        insert_refresh(&hash, session, expires_at, now)
            .execute(&self.pool)
            .await
            .map_err(StoreError::database("store a refresh token"))?;
        Ok(token)
    }

    async fn rotate(
        &self,
        token: &str,
        grace: SignedDuration,
        now: Timestamp,
    ) -> Result<Rotation, StoreError> {
        for hash in self.shared.keys.hashes(REFRESH, token) {
            if let Some(rotation) = self.rotate_hash(&hash, grace, now).await? {
                return Ok(rotation);
            }
        }
        Ok(Rotation::Unknown)
    }

    async fn session_of_any(&self, token: &str) -> Result<Option<Uuid>, StoreError> {
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
            for hash in self.shared.keys.hashes(purpose, token) {
                let row = sqlx::query(query)
                    .bind(hash)
                    .fetch_optional(&self.pool)
                    .await
                    .map_err(StoreError::database("find a token"))?;
                if let Some(row) = row {
                    return Ok(Some(Columns::new(TABLE, &row).uuid("session_id")?));
                }
            }
        }
        Ok(None)
    }
}

impl SqlStore {
    async fn rotate_hash(
        &self,
        hash: &str,
        grace: SignedDuration,
        now: Timestamp,
    ) -> Result<Option<Rotation>, StoreError> {
        let successor = random_secret()?;
        let successor_hash = self.shared.keys.hash(REFRESH, successor.expose_secret());
        // one transaction: a second redemption that saw the mark without the successor would be
        // reported as reuse
        let mut transaction = self.pool.begin().await.map_err(failed_to_rotate())?;
        // begins with a write, which locks the row (on SQLite the database): redemptions of the same
        // token wait for each other from here to the commit
        let first = sqlx::query(
            "UPDATE refresh_tokens
             SET rotated_at = $1, successor_hash = $2
             WHERE token_hash = $3 AND rotated_at IS NULL AND expires_at > $1
             RETURNING session_id, expires_at",
        )
        .bind(now.as_second())
        .bind(successor_hash.as_str())
        .bind(hash)
        .fetch_optional(&mut *transaction)
        .await
        .map_err(failed_to_rotate())?;
        let row = match first {
            Some(row) => row,
            None => {
                match repeat_rotation(&mut transaction, hash, &successor_hash, grace, now).await? {
                    Repeat::Granted(row) => row,
                    Repeat::Refused(rotation) => return Ok(rotation),
                }
            }
        };
        let columns = Columns::new(TABLE, &row);
        let session = columns.uuid("session_id")?;
        let expires_at = columns.time("expires_at")?;
        insert_refresh(&successor_hash, session, expires_at, now)
            .execute(&mut *transaction)
            .await
            .map_err(failed_to_rotate())?;
        transaction.commit().await.map_err(failed_to_rotate())?;
        Ok(Some(Rotation::Rotated(RefreshGrant {
            session,
            refresh_token: successor,
        })))
    }
}

/// Gives a token that was rotated before another successor, if its grace allows it. A refusal has
/// changed nothing.
async fn repeat_rotation(
    transaction: &mut Transaction,
    hash: &str,
    successor_hash: &str,
    grace: SignedDuration,
    now: Timestamp,
) -> Result<Repeat, StoreError> {
    // the write locks the row: the update that matched nothing did not, and of two repetitions that
    // read the same lost successor, the second would be reported as reuse
    let row = sqlx::query(
        "UPDATE refresh_tokens
         SET rotated_at = rotated_at
         WHERE token_hash = $1
         RETURNING session_id, expires_at, rotated_at, successor_hash",
    )
    .bind(hash)
    .fetch_optional(&mut **transaction)
    .await
    .map_err(failed_to_rotate())?;
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
    .execute(&mut **transaction)
    .await
    .map_err(failed_to_rotate())?;
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
    .execute(&mut **transaction)
    .await
    .map_err(failed_to_rotate())?;
    Ok(Repeat::Granted(row))
}

/// Returns the statement that stores a refresh token.
fn insert_refresh(
    hash: &str,
    session: Uuid,
    expires_at: Timestamp,
    now: Timestamp,
) -> Query<'_, Any, AnyArguments<'_>> {
    sqlx::query(
        "INSERT INTO refresh_tokens (token_hash, session_id, created_at, expires_at)
         VALUES ($1, $2, $3, $4)",
    )
    .bind(hash)
    .bind(session.to_string())
    .bind(now.as_second())
    .bind(expires_at.as_second())
}

fn failed_to_rotate() -> impl FnOnce(sqlx::Error) -> StoreError {
    StoreError::database("rotate a refresh token")
}
