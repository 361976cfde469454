//! The queue of Keystone tokens to revoke, and what people are told about those that Keystone has
//! not taken back yet.
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
    /// Whether it is for no project: what a session begins with.
    pub unscoped: bool,
    pub token: SecretString,
    /// How often it was tried.
    pub attempts: i64,
    pub expires_at: Timestamp,
}

/// Tokens of ended sessions that still work at Keystone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnfinishedRevocations {
    pub tokens: i64,
    /// Until when revoking them is tried: then the last of them has expired.
    pub until: Timestamp,
}

impl KeystoneTokens<'_> {
    /// Makes one token due for revocation, for one that another has taken the place of.
    ///
    /// # Errors
    /// When the store cannot say.
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

    /// Tokens that are due for revocation now, oldest first.
    ///
    /// # Errors
    /// When the store cannot say.
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

    /// Tokens of the session and its children that wait for their revocation, due or not.
    ///
    /// # Errors
    /// When the store cannot say.
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

    /// Takes the right to try a revocation until `until`; false when another replica has tried or
    /// is trying since it was read.
    ///
    /// # Errors
    /// When the store cannot say.
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

    /// Puts a revocation that did not work off until `next`.
    ///
    /// # Errors
    /// When the store cannot say.
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

    /// How many tokens wait for their revocation, because it is due or has failed: those that
    /// [`Self::unfinished_of_user`] counts, of everybody.
    ///
    /// # Errors
    /// When the store cannot say.
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

    /// The user's tokens whose revocation is due or has failed; `None` when there is none. One
    /// that is only planned, because another has taken its place, does not count.
    ///
    /// # Errors
    /// When the store cannot say.
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
