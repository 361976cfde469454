//! Authorization codes of the command line: loopback redirect URI with PKCE (RFC 8252, RFC 7636).
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use uuid::Uuid;

pub(crate) const PURPOSE: &str = "authorization code";
pub(crate) const CODE_TTL: SignedDuration = SignedDuration::from_secs(60);

/// The authorization codes; see [`crate::Store::authorization_codes`].
#[async_trait]
pub trait AuthorizationCodes: Send + Sync {
    /// Issues a code that is valid once, for one minute.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn create(
        &self,
        new: &NewAuthorizationCode,
        now: Timestamp,
    ) -> Result<SecretString, StoreError>;

    /// Redeems a code and deletes it.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn redeem(
        &self,
        code: &str,
        now: Timestamp,
    ) -> Result<Option<AuthorizationCode>, StoreError>;
}

/// The values that a code is bound to.
#[derive(Clone, Debug)]
pub struct NewAuthorizationCode {
    /// The browser session that approved.
    pub session: Uuid,
    /// The client's name.
    pub client: String,
    pub redirect_uri: String,
    /// The PKCE challenge (S256).
    pub code_challenge: String,
    pub project: Option<String>,
}

/// A redeemed code. The caller of [`AuthorizationCodes::redeem`] must compare redirect URI and
/// challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationCode {
    pub session: Uuid,
    pub client: String,
    pub redirect_uri: String,
    pub code_challenge: String,
    pub project: Option<String>,
}
