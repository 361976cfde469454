//! The sealed tokens that OIDC providers issued for sessions, and the lease that lets one replica
//! at a time refresh them.
//!
//! A refresh token is often valid for one use. A replica that refreshes therefore holds the row's
//! lease, and writes the new tokens only over the version that it has read. If the holder dies, its
//! lease expires and the next holder continues with the tokens in the row.
use crate::error::StoreError;
use crate::sessions::ProviderProfile;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use uuid::Uuid;

pub(crate) const TABLE: &str = "provider_tokens";

/// The tokens of OIDC providers; see [`crate::Store::provider_tokens`].
#[async_trait]
pub trait ProviderTokens: Send + Sync {
    /// Stores the tokens of a sign-in.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn store(&self, new: &NewProviderTokens, now: Timestamp) -> Result<(), StoreError>;

    /// Returns the tokens of a session, by its root.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn find(&self, session: Uuid) -> Result<Option<HeldTokens>, StoreError>;

    /// Acquires the lease of a live session's tokens for `holder`, unless another replica holds it.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn lease(
        &self,
        session: Uuid,
        holder: Uuid,
        life: SignedDuration,
        now: Timestamp,
    ) -> Result<Lease, StoreError>;

    /// Replaces the tokens with those of a refresh, if they still have the version that the refresh
    /// started with, for the session's family too, and releases the lease, all in one transaction.
    /// Returns whether it did: not if the tokens were replaced meanwhile.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn replace(
        &self,
        session: Uuid,
        version: i64,
        new: &RefreshedTokens,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Releases a lease without new tokens.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read; the lease then expires by
    /// itself.
    async fn release(&self, session: Uuid, holder: Uuid) -> Result<(), StoreError>;

    /// Returns the tokens of ended sessions whose next revocation attempt is due.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn ended(&self, limit: i64, now: Timestamp) -> Result<Vec<EndedTokens>, StoreError>;

    /// Counts a failed revocation attempt.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn revocation_failed(&self, session: Uuid, next: Timestamp) -> Result<(), StoreError>;

    /// Deletes the tokens of a session after they were revoked.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn forget(&self, session: Uuid) -> Result<(), StoreError>;
}

/// The tokens of a new sign-in.
#[derive(Clone, Debug)]
pub struct NewProviderTokens {
    /// The root of the session.
    pub session: Uuid,
    /// The provider's ID in the configuration.
    pub provider: String,
    pub refresh_token: Option<SecretString>,
    pub access_token: SecretString,
    /// For the provider's own logout endpoint (`id_token_hint`).
    pub id_token: Option<SecretString>,
}

/// The tokens of a refresh.
#[derive(Clone, Debug)]
pub struct RefreshedTokens {
    /// `None`: the previous one remains valid.
    pub refresh_token: Option<SecretString>,
    pub access_token: SecretString,
    /// `None`: the previous one is kept.
    pub id_token: Option<SecretString>,
    /// The provider's current claims about its subject; `None`: unchanged.
    pub profile: Option<ProviderProfile>,
    /// When the tokens must have been refreshed.
    pub expires_at: Timestamp,
}

/// The tokens of a session.
#[derive(Clone, Debug)]
pub struct HeldTokens {
    pub session: Uuid,
    pub provider: String,
    pub refresh_token: Option<SecretString>,
    pub access_token: SecretString,
    pub id_token: Option<SecretString>,
    pub version: i64,
    pub refreshed_at: Timestamp,
    pub leased_until: Option<Timestamp>,
}

/// The result of requesting the lease.
#[derive(Clone, Debug)]
pub enum Lease {
    /// The caller holds the lease exclusively until it ends. The tokens are the current ones.
    Yours(Box<HeldTokens>),
    /// Another replica holds the lease; the tokens still have this version.
    Taken { version: i64, until: Timestamp },
    /// The session has no tokens, or no longer has any.
    Gone,
}

/// Tokens of a session that has ended: they must be revoked.
#[derive(Clone, Debug)]
pub struct EndedTokens {
    pub tokens: HeldTokens,
    /// The number of attempts so far.
    pub attempts: i64,
}
