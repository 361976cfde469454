//! Used TOTP codes; see [`crate::TotpMarks`].
use super::Redis;
use super::scripts::CODES;
use crate::error::StoreError;
use jiff::Timestamp;

impl Redis {
    /// Marks a code by its hash; says whether it was the first time.
    pub async fn mark_code(&self, hash: &str, expires_at: Timestamp) -> Result<bool, StoreError> {
        let mut call = self.call(&CODES, "mark");
        call.arg(hash).arg(expires_at.as_second());
        self.script("mark a code", &call).await
    }
}
