//! Used logout tokens.
use super::RedisStore;
use super::scripts::CODES;
use crate::error::StoreError;
use crate::logout_marks::{LogoutMarks, hash};
use async_trait::async_trait;
use jiff::Timestamp;

#[async_trait]
impl LogoutMarks for RedisStore {
    async fn mark(
        &self,
        provider: &str,
        token_id: &str,
        expires_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let hash = hash(&self.shared.keys, token_id);
        let mut call = self.redis.call(&CODES, "mark");
        call.arg("logout")
            .arg(format!("{provider}:{hash}"))
            .arg(expires_at.as_second());
        self.redis.script("mark a logout token", &call).await
    }
}
