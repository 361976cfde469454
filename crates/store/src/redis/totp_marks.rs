//! Used TOTP codes and logout tokens; see [`crate::TotpMarks`] and [`crate::LogoutMarks`].
use super::Redis;
use super::scripts::CODES;
use crate::error::StoreError;
use jiff::Timestamp;

impl Redis {
    /// Marks a code as used, by its hash; returns whether this was its first use.
    pub async fn mark_code(&self, hash: &str, expires_at: Timestamp) -> Result<bool, StoreError> {
        let mut call = self.call(&CODES, "mark");
        call.arg("totp").arg(hash).arg(expires_at.as_second());
        self.script("mark a code", &call).await
    }

    /// Marks a logout token of a provider as used, by its hash; returns whether this was its first
    /// use.
    pub async fn mark_logout(
        &self,
        provider: &str,
        hash: &str,
        expires_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut call = self.call(&CODES, "mark");
        call.arg("logout")
            .arg(format!("{provider}:{hash}"))
            .arg(expires_at.as_second());
        self.script("mark a logout token", &call).await
    }
}
