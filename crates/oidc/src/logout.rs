//! The end of a session: at the provider (RP-Initiated Logout 1.0) and from it (Back-Channel
//! Logout 1.0).
use jiff::{SignedDuration, Timestamp};
use openidconnect::{ClientId, LogoutRequest, PostLogoutRedirectUrl};
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use crate::{
    error::{Error, TokenFault},
    jwt::Header,
    provider::Provider,
};

const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";
/// Maximum age of a logout token: older ones are refused, so that the marks of used ones can be
/// deleted.
const MAX_TOKEN_AGE: SignedDuration = SignedDuration::from_mins(10);

/// The sessions that a provider wants ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogoutToken {
    /// Unique: a second token with the same ID is a replay.
    pub id: String,
    /// One session of the provider.
    pub session: Option<String>,
    /// Without a session: every session of this subject.
    pub subject: Option<String>,
    /// Until when its ID must be stored.
    pub remember_until: Timestamp,
}

impl Provider {
    /// Returns the URL at which the browser ends the provider's session; `None` if the provider
    /// does not support it. The URL comes from discovery only.
    ///
    /// # Errors
    /// If the provider cannot be discovered.
    pub async fn logout_url(
        &self,
        id_token: Option<&SecretString>,
        back: &Url,
    ) -> Result<Option<Url>, Error> {
        let metadata = self.metadata().await?;
        let Some(endpoint) = metadata.end_session_endpoint().cloned() else {
            return Ok(None);
        };
        let mut url = LogoutRequest::from(endpoint)
            .set_client_id(ClientId::new(self.client_id().to_owned()))
            .set_post_logout_redirect_uri(PostLogoutRedirectUrl::from_url(back.clone()))
            .http_get_url();
        if let Some(token) = id_token {
            // as text: the library would parse it to set it
            url.query_pairs_mut()
                .append_pair("id_token_hint", token.expose_secret());
        }
        Ok(Some(url))
    }

    /// Verifies a logout token. The caller stores its ID and refuses a second one.
    ///
    /// # Errors
    /// [`Error::Token`] with the reason why it is refused.
    pub async fn verify_logout_token(&self, token: &str) -> Result<LogoutToken, Error> {
        let settings = &self.0.settings;
        let header = Header::read(token, &settings.algorithms)?;
        // Back-Channel Logout 1.0 2.4: the type is recommended, not required
        header.expect_type(&[Some("logout+jwt"), Some("jwt"), None])?;
        let claims = self.signed_claims(token, &header).await?;
        if !claims.audiences()?.contains(&settings.client_id.as_str()) {
            return Err(TokenFault::Audience.into());
        }
        let issued = claims.time("iat")?.ok_or(TokenFault::Claim("iat"))?;
        let skew = SignedDuration::try_from(settings.skew).unwrap_or_default();
        let now = self.0.clock.now();
        if issued > now + skew {
            return Err(TokenFault::NotYet.into());
        }
        if issued < now - MAX_TOKEN_AGE - skew {
            return Err(TokenFault::TooOld.into());
        }
        if let Some(expires) = claims.time("exp")?
            && now - skew >= expires
        {
            return Err(TokenFault::Expired.into());
        }
        let id = claims.text("jti")?.to_owned();
        let event = claims.0.get("events").and_then(|events| events.get(EVENT));
        if !event.is_some_and(serde_json::Value::is_object) {
            return Err(TokenFault::Claim("events").into());
        }
        // its presence identifies an ID token
        if claims.0.contains_key("nonce") {
            return Err(TokenFault::Nonce.into());
        }
        let session = claims.optional_text("sid")?.map(str::to_owned);
        let subject = claims.optional_text("sub")?.map(str::to_owned);
        if session.is_none() && subject.is_none() {
            return Err(TokenFault::Claim("sub").into());
        }
        Ok(LogoutToken {
            id,
            session,
            subject,
            remember_until: issued + MAX_TOKEN_AGE + skew + skew,
        })
    }
}
