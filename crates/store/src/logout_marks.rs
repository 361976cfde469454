use crate::error::StoreError;
use crate::store::Store;
use jiff::Timestamp;

/// Used logout tokens; see [`Store::logout_marks`].
#[derive(Clone, Copy)]
pub struct LogoutMarks<'s>(pub(crate) &'s Store);

impl LogoutMarks<'_> {
    /// Marks a logout token of a provider as used, by its ID (`jti`), until it would have expired
    /// anyway; returns whether this was its first use.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn mark(
        self,
        provider: &str,
        token_id: &str,
        expires_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let hash = self.0.keys.hash("logout token", token_id);
        if let Some(redis) = self.0.redis() {
            return redis.mark_logout(provider, &hash, expires_at).await;
        }
        let marked = sqlx::query(
            "INSERT INTO logout_marks (provider, token_hash, expires_at)
             VALUES ($1, $2, $3)
             ON CONFLICT (provider, token_hash) DO NOTHING",
        )
        .bind(provider)
        .bind(hash)
        .bind(expires_at.as_second())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("mark a logout token"))?;
        Ok(marked.rows_affected() > 0)
    }
}
