//! Used TOTP codes.
use super::SqlStore;
use crate::error::StoreError;
use crate::totp_marks::{TotpMarks, hashes};
use async_trait::async_trait;
use jiff::Timestamp;

#[async_trait]
impl TotpMarks for SqlStore {
    async fn mark(
        &self,
        user_id: &str,
        code: &str,
        expires_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut first = true;
        for hash in hashes(&self.shared.keys, user_id, code) {
            let marked = sqlx::query(
                "INSERT INTO totp_marks (user_id, code_hash, expires_at)
                 VALUES ($1, $2, $3)
                 ON CONFLICT (user_id, code_hash) DO NOTHING",
            )
            .bind(user_id)
            .bind(hash)
            .bind(expires_at.as_second())
            .execute(&self.pool)
            .await
            .map_err(StoreError::database("mark a code"))?;
            first &= marked.rows_affected() > 0;
        }
        Ok(first)
    }
}
