use crate::error::StoreError;
use crate::sealing::KeyRing;
use async_trait::async_trait;
use jiff::Timestamp;

/// Used logout tokens; see [`crate::Store::logout_marks`].
#[async_trait]
pub trait LogoutMarks: Send + Sync {
    /// Marks a logout token of a provider as used, by its ID (`jti`), until it would have expired
    /// anyway; returns whether this was its first use.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn mark(
        &self,
        provider: &str,
        token_id: &str,
        expires_at: Timestamp,
    ) -> Result<bool, StoreError>;
}

/// Returns the hash under which a token is marked.
pub(crate) fn hash(keys: &KeyRing, token_id: &str) -> String {
    keys.hash("logout token", token_id)
}
