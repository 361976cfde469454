//! The queue of Keystone tokens to revoke, and the revocations that are reported to users as
//! unfinished.
use crate::error::StoreError;
use crate::keystone_tokens::{COLUMNS, KeystoneTokens, TABLE};
use crate::row::Columns;
use jiff::Timestamp;
use secrecy::SecretString;
use uuid::Uuid;

/// A token that must be revoked.
#[derive(Clone, Debug)]
pub struct PendingRevocation {
    pub id: Uuid,
    pub session: Uuid,
    /// Whether the token is unscoped: the one that a session starts with.
    pub unscoped: bool,
    pub token: SecretString,
    /// The number of attempts so far.
    pub attempts: i64,
    pub expires_at: Timestamp,
}

/// Tokens of ended sessions that still work at Keystone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnfinishedRevocations {
    pub tokens: i64,
    /// When the last of them expires; revocation is tried until then.
    pub until: Timestamp,
}

impl KeystoneTokens<'_> {
    /// Makes a token due for revocation at `at`, because another one has replaced it.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn revoke_later(self, id: Uuid, at: Timestamp) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.revoke_token_at(id, at, 0).await;
        }
        sqlx::query(
            "UPDATE keystone_tokens
             SET revoke_at = $1
             WHERE id = $2",
        )
        .bind(at.as_second())
        .bind(id.to_string())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("queue a revocation"))?;
        Ok(())
    }

    /// Returns the tokens that are due for revocation now, oldest first.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn due_revocations(
        self,
        limit: i64,
        now: Timestamp,
    ) -> Result<Vec<PendingRevocation>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.due_revocations(&self.0.keys, limit, now).await;
        }
        let query = format!(
            "SELECT {COLUMNS}
             FROM keystone_tokens
             WHERE revoke_at <= $1 AND expires_at > $1
             ORDER BY revoke_at, id
             LIMIT $2"
        );
        self.revocations(sqlx::query(&query).bind(now.as_second()).bind(limit))
            .await
    }

    /// Returns the tokens of the session and its children that wait for revocation, due or not.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn pending_revocations(
        self,
        session: Uuid,
    ) -> Result<Vec<PendingRevocation>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.pending_revocations(&self.0.keys, session).await;
        }
        let query = format!(
            "SELECT {COLUMNS}
             FROM keystone_tokens
             WHERE revoke_at IS NOT NULL
                 AND session_id IN (SELECT id FROM sessions WHERE id = $1 OR parent = $1)
             ORDER BY revoke_at, id"
        );
        self.revocations(sqlx::query(&query).bind(session.to_string()))
            .await
    }

    /// Claims the revocation of a token until `until`; returns false if another replica has tried
    /// or is trying since the entry was read.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn claim_revocation(
        self,
        pending: &PendingRevocation,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis
                .claim_revocation(pending.id, pending.attempts, until, now)
                .await;
        }
        let claimed = sqlx::query(
            "UPDATE keystone_tokens
             SET revoke_at = $1
             WHERE id = $2 AND revoke_attempts = $3 AND revoke_at <= $4",
        )
        .bind(until.as_second())
        .bind(pending.id.to_string())
        .bind(pending.attempts)
        .bind(now.as_second())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("claim a revocation"))?;
        Ok(claimed.rows_affected() > 0)
    }

    /// Postpones a failed revocation until `next`.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn revocation_failed(self, id: Uuid, next: Timestamp) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.revoke_token_at(id, next, 1).await;
        }
        sqlx::query(
            "UPDATE keystone_tokens
             SET revoke_at = $1, revoke_attempts = revoke_attempts + 1
             WHERE id = $2",
        )
        .bind(next.as_second())
        .bind(id.to_string())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("queue a revocation"))?;
        Ok(())
    }

    async fn revocations<'q>(
        self,
        query: sqlx::query::Query<'q, sqlx::Any, sqlx::any::AnyArguments<'q>>,
    ) -> Result<Vec<PendingRevocation>, StoreError> {
        let rows = query
            .fetch_all(&self.0.pool)
            .await
            .map_err(StoreError::database("list revocations"))?;
        rows.iter()
            .map(|row| {
                let token = self.token(row)?;
                Ok(PendingRevocation {
                    id: token.id,
                    session: token.session,
                    unscoped: token.project.is_none(),
                    token: token.token,
                    attempts: Columns::new(TABLE, row).integer("revoke_attempts")?,
                    expires_at: token.expires_at,
                })
            })
            .collect()
    }

    /// Returns the number of tokens whose revocation is due or has failed: those that
    /// [`Self::unfinished_of_user`] counts, for all users.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn count_unfinished(self, now: Timestamp) -> Result<i64, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.count_unfinished_revocations(now).await;
        }
        sqlx::query_scalar(
            "SELECT COUNT(*)
             FROM keystone_tokens
             WHERE expires_at > $1
                 AND (revoke_at <= $1 OR (revoke_at IS NOT NULL AND revoke_attempts > 0))",
        )
        .bind(now.as_second())
        .fetch_one(&self.0.pool)
        .await
        .map_err(StoreError::database("count pending revocations"))
    }

    /// Returns the user's tokens whose revocation is due or has failed; `None` if there are none. A
    /// revocation that is only planned, because the token was replaced, does not count.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn unfinished_of_user(
        self,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Option<UnfinishedRevocations>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.unfinished_revocations(user_id, now).await;
        }
        let row = sqlx::query(
            "SELECT COUNT(*) AS tokens, COALESCE(MAX(keystone_tokens.expires_at), 0) AS until
             FROM keystone_tokens
             JOIN sessions ON sessions.id = keystone_tokens.session_id
             WHERE sessions.user_id = $1 AND keystone_tokens.expires_at > $2
                 AND (keystone_tokens.revoke_at <= $2
                     OR (keystone_tokens.revoke_at IS NOT NULL
                         AND (keystone_tokens.revoke_attempts > 0
                             OR sessions.ended_at IS NOT NULL)))",
        )
        .bind(user_id)
        .bind(now.as_second())
        .fetch_one(&self.0.pool)
        .await
        .map_err(StoreError::database("count pending revocations"))?;
        let columns = Columns::new("keystone_tokens", &row);
        let tokens = columns.integer("tokens")?;
        if tokens == 0 {
            return Ok(None);
        }
        Ok(Some(UnfinishedRevocations {
            tokens,
            until: columns.time("until")?,
        }))
    }
}
