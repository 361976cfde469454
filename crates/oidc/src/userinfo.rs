//! The userinfo endpoint (OpenID Connect Core 5.3): more claims about the same subject.
use ::http::{Request, header};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};

use crate::{claims::Identity, error::Error, provider::Provider};

impl Provider {
    /// Returns whether the provider has a userinfo endpoint.
    pub(crate) async fn has_userinfo(&self) -> bool {
        self.metadata()
            .await
            .is_ok_and(|metadata| metadata.userinfo_endpoint.is_some())
    }

    /// Adds the claims of the userinfo endpoint. Another subject is an error, whatever the other
    /// claims.
    pub(crate) async fn describe_from_userinfo(
        &self,
        identity: &mut Identity,
        access_token: &SecretString,
    ) -> Result<(), Error> {
        let metadata = self.metadata().await?;
        let Some(endpoint) = &metadata.userinfo_endpoint else {
            return Err(Error::Unusable("it has no userinfo endpoint".to_owned()));
        };
        let request = Request::get(endpoint.as_str())
            .header(header::ACCEPT, "application/json")
            .header(
                header::AUTHORIZATION,
                format!("Bearer {}", access_token.expose_secret()),
            )
            .body(Vec::new())
            .map_err(|_| Error::Unusable("its access token is not text".to_owned()))?;
        let answer = self.0.http.send(request).await?;
        if !answer.status().is_success() {
            return Err(Error::Unusable(format!(
                "userinfo answers {}",
                answer.status()
            )));
        }
        let claims: Map<String, Value> = serde_json::from_slice(answer.body())
            .map_err(|_| Error::Unusable("userinfo is not a JSON object".to_owned()))?;
        if claims.get("sub").and_then(Value::as_str) != Some(&identity.subject) {
            return Err(Error::OtherSubject);
        }
        identity.describe(&claims, &self.0.settings.claims);
        Ok(())
    }
}
