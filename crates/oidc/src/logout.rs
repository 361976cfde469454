//! The end of a session: at the provider (RP-Initiated Logout 1.0, RFC 7009) and from it
//! (Back-Channel Logout 1.0).
use ::http::{Request, header};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use url::{Url, form_urlencoded};

use crate::{
    error::{Error, TokenFault},
    jwt::Header,
    metadata::Metadata,
    oauth::secret_in_body,
    provider::Provider,
    settings::Settings,
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
        let Some(mut url) = metadata.end_session_endpoint.clone() else {
            return Ok(None);
        };
        let mut query = url.query_pairs_mut();
        if let Some(token) = id_token {
            query.append_pair("id_token_hint", token.expose_secret());
        }
        query
            .append_pair("client_id", self.client_id())
            .append_pair("post_logout_redirect_uri", back.as_str());
        drop(query);
        Ok(Some(url))
    }

    /// Revokes a token (RFC 7009); returns whether the provider supports that.
    ///
    /// # Errors
    /// If it does not respond, or refuses.
    pub async fn revoke(&self, token: &SecretString, hint: &str) -> Result<bool, Error> {
        let settings = &self.0.settings;
        let metadata = self.metadata().await?;
        let Some(endpoint) = &metadata.revocation_endpoint else {
            return Ok(false);
        };
        let request = revocation(settings, &metadata, endpoint, token, hint)?;
        let answer = self.0.http.send(request).await?;
        if answer.status().is_success() {
            Ok(true)
        } else {
            Err(Error::Client(format!("revocation: {}", answer.status())))
        }
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
        let now = Timestamp::now();
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

/// Returns a revocation request of this client.
fn revocation(
    settings: &Settings,
    metadata: &Metadata,
    endpoint: &Url,
    token: &SecretString,
    hint: &str,
) -> Result<Request<Vec<u8>>, Error> {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("token", token.expose_secret())
        .append_pair("token_type_hint", hint);
    let mut request = Request::post(endpoint.as_str())
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    match &settings.client_secret {
        Some(secret) if !secret_in_body(settings, metadata) => {
            // RFC 6749 2.3.1: both are form-encoded before they are joined
            let encode =
                |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let pair = format!(
                "{}:{}",
                encode(&settings.client_id),
                encode(secret.expose_secret())
            );
            request = request.header(
                header::AUTHORIZATION,
                format!("Basic {}", STANDARD.encode(pair)),
            );
        }
        secret => {
            form.append_pair("client_id", &settings.client_id);
            if let Some(secret) = secret {
                form.append_pair("client_secret", secret.expose_secret());
            }
        }
    }
    request
        .body(form.finish().into_bytes())
        .map_err(|_| Error::Unusable("the revocation endpoint is not a URL".to_owned()))
}
