//! What people are told about tokens that Keystone has not taken back yet.
use crate::error::StoreError;
use crate::keystone_tokens::KeystoneTokens;
use crate::row::Columns;
use jiff::Timestamp;

/// Tokens of ended sessions that still work at Keystone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnfinishedRevocations {
    pub tokens: i64,
    /// Until when revoking them is tried: then the last of them has expired.
    pub until: Timestamp,
}

impl KeystoneTokens<'_> {
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
