use crate::error::StoreError;
use crate::store::Store;
use jiff::Timestamp;

/// Used TOTP codes; see [`Store::totp_marks`].
#[derive(Clone, Copy)]
pub struct TotpMarks<'s>(pub(crate) &'s Store);

impl TotpMarks<'_> {
    /// Marks a code as used until `expires_at`; returns whether this was its first use. Keystone
    /// itself accepts a code repeatedly while it is valid.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn mark(
        self,
        user_id: &str,
        code: &str,
        expires_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut first = true;
        // under every key: replicas may switch to new keys one after the other
        for hash in self.0.keys.hashes("totp", &format!("{user_id}\0{code}")) {
            if let Some(redis) = self.0.redis() {
                first &= redis.mark_code(&hash, expires_at).await?;
                continue;
            }
            let marked = sqlx::query(
                "INSERT INTO totp_marks (user_id, code_hash, expires_at)
                 VALUES ($1, $2, $3)
                 ON CONFLICT (user_id, code_hash) DO NOTHING",
            )
            .bind(user_id)
            .bind(hash)
            .bind(expires_at.as_second())
            .execute(&self.0.pool)
            .await
            .map_err(StoreError::database("mark a code"))?;
            first &= marked.rows_affected() > 0;
        }
        Ok(first)
    }
}
