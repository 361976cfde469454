//! Revocation of tokens (RFC 7009). It is not `openidconnect`'s, which refuses an endpoint without
//! TLS even for a provider on this machine; [`Http`](crate::http::Http) has the rule of hosts.
use ::http::{Request, header};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use secrecy::{ExposeSecret as _, SecretString};
use url::{Url, form_urlencoded};

use crate::{
    client::secret_in_body, error::Error, metadata::Metadata, provider::Provider,
    settings::Settings,
};

impl Provider {
    /// Revokes a token (RFC 7009); returns whether the provider supports that.
    ///
    /// # Errors
    /// If it does not respond, or refuses.
    pub async fn revoke(&self, token: &SecretString, hint: &str) -> Result<bool, Error> {
        let settings = &self.0.settings;
        let metadata = self.metadata().await?;
        let Some(endpoint) = metadata.revocation_endpoint() else {
            return Ok(false);
        };
        let request = revocation(settings, &metadata, endpoint.url(), token, hint)?;
        let answer = self.0.http.send(request).await?;
        if answer.status().is_success() {
            Ok(true)
        } else {
            Err(Error::Client(format!("revocation: {}", answer.status())))
        }
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
