//! Used TOTP codes.
use super::RedisStore;
use super::scripts::CODES;
use crate::error::StoreError;
use crate::totp_marks::{TotpMarks, hashes};
use async_trait::async_trait;
use jiff::Timestamp;

#[async_trait]
impl TotpMarks for RedisStore {
    async fn mark(
        &self,
        user_id: &str,
        code: &str,
        expires_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut first = true;
        for hash in hashes(&self.shared.keys, user_id, code) {
            let mut call = self.redis.call(&CODES, "mark");
            call.arg("totp").arg(&hash).arg(expires_at.as_second());
            let marked: bool = self.redis.script("mark a code", &call).await?;
            first &= marked;
        }
        Ok(first)
    }
}
