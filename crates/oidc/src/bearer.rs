//! Bearer tokens of API callers: JWT access tokens (RFC 9068) with an audience of their own.
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};

use crate::{
    claims::Identity,
    error::{Error, TokenFault},
    jwt::Header,
    provider::Provider,
};

/// The caller, and the token's expiry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BearerIdentity {
    pub identity: Identity,
    pub expires_at: Timestamp,
}

impl Provider {
    /// Verifies a bearer token: signed by this provider, for `api_audience`, valid now. ID tokens
    /// and logout tokens are refused.
    ///
    /// # Errors
    /// [`Error::Token`] with the reason why it is refused.
    pub async fn verify_bearer(&self, token: &SecretString) -> Result<BearerIdentity, Error> {
        let settings = &self.0.settings;
        let audience = settings
            .api_audience
            .as_deref()
            .ok_or(TokenFault::NoBearers)?;
        let token = token.expose_secret();
        let header = Header::read(token, &settings.algorithms)?;
        // RFC 9068 requires at+jwt; widespread providers write JWT, or nothing
        header.expect_type(&[Some("at+jwt"), Some("jwt"), None])?;
        let claims = self.signed_claims(token, &header).await?;
        let audiences = claims.audiences()?;
        if !audiences.contains(&audience) {
            return Err(TokenFault::Audience.into());
        }
        // an ID token issued to this client is not a bearer token, whatever its other audiences
        if header.typ.as_deref() != Some("at+jwt")
            && (claims.0.contains_key("nonce") || audiences.contains(&settings.client_id.as_str()))
        {
            return Err(TokenFault::Type.into());
        }
        if claims.0.contains_key("events") {
            return Err(TokenFault::Type.into());
        }
        let expires_at = claims.expect_valid(self.0.clock.now(), settings.skew)?;
        Ok(BearerIdentity {
            identity: Identity::read(&claims, &settings.claims)?,
            expires_at,
        })
    }
}
