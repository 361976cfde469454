//! Sign-ins at OIDC providers that are in progress: each is bound to the browser that started it,
//! and usable once.
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;

pub(crate) const TABLE: &str = "provider_flows";
pub(crate) const STATE: &str = "provider flow state";
pub(crate) const BROWSER: &str = "provider flow browser";
/// How long a sign-in at the provider may take.
pub(crate) const FLOW_TTL: SignedDuration = SignedDuration::from_mins(15);

/// Sign-ins at OIDC providers; see [`crate::Store::provider_flows`].
#[async_trait]
pub trait ProviderFlows: Send + Sync {
    /// Starts a sign-in, which must be completed within fifteen minutes.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn begin(&self, new: &NewProviderFlow, now: Timestamp) -> Result<(), StoreError>;

    /// Takes the sign-in of a `state`, once: only for the provider at which it was started and the
    /// browser that started it. Any other request leaves it unchanged.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn take(
        &self,
        provider: &str,
        state: &str,
        browser: &str,
        now: Timestamp,
    ) -> Result<Option<ProviderFlow>, StoreError>;
}

/// A new sign-in.
#[derive(Clone, Debug)]
pub struct NewProviderFlow {
    /// The provider's ID in the configuration.
    pub provider: String,
    pub state: SecretString,
    /// The secret in the cookie of the browser.
    pub browser: SecretString,
    pub nonce: SecretString,
    /// The PKCE verifier.
    pub verifier: SecretString,
    /// Where to go after the sign-in; the caller that stores it has checked it.
    pub return_path: String,
}

/// A sign-in whose response has arrived.
#[derive(Clone, Debug)]
pub struct ProviderFlow {
    pub nonce: SecretString,
    pub verifier: SecretString,
    pub return_path: String,
}
