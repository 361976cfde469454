//! Used logout tokens.
use super::SqlStore;
use crate::error::StoreError;
use crate::logout_marks::{LogoutMarks, hash};
use async_trait::async_trait;
use jiff::Timestamp;

#[async_trait]
impl LogoutMarks for SqlStore {
    async fn mark(
        &self,
        provider: &str,
        token_id: &str,
        expires_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let hash = hash(&self.shared.keys, token_id);
        let marked = sqlx::query(
            "INSERT INTO logout_marks (provider, token_hash, expires_at)
             VALUES ($1, $2, $3)
             ON CONFLICT (provider, token_hash) DO NOTHING",
        )
        .bind(provider)
        .bind(hash)
        .bind(expires_at.as_second())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("mark a logout token"))?;
        Ok(marked.rows_affected() > 0)
    }
}
