use crate::error::StoreError;
use crate::sealing::KeyRing;
use async_trait::async_trait;
use jiff::Timestamp;

/// Used TOTP codes; see [`crate::Store::totp_marks`].
#[async_trait]
pub trait TotpMarks: Send + Sync {
    /// Marks a code as used until `expires_at`; returns whether this was its first use. Keystone
    /// itself accepts a code repeatedly while it is valid.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn mark(
        &self,
        user_id: &str,
        code: &str,
        expires_at: Timestamp,
    ) -> Result<bool, StoreError>;
}

/// Returns the hashes under which a code is marked, one for every key: replicas may switch to new
/// keys one after the other.
pub(crate) fn hashes(
    keys: &KeyRing,
    user_id: &str,
    code: &str,
) -> impl Iterator<Item = String> + use<> {
    keys.hashes("totp", &format!("{user_id}\0{code}"))
}
