//! The userinfo endpoint (OpenID Connect Core 5.3): more claims about the same subject, as JSON or
//! as a signed JWT.
use ::http::{HeaderValue, header};
use futures::{FutureExt as _, future::BoxFuture};
use openidconnect::{
    AccessToken, AsyncHttpClient, HttpRequest, HttpResponse, SubjectIdentifier, UserInfoClaims,
    UserInfoError, core::CoreGenderClaim,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value, json};

use crate::{
    claims::Identity,
    client::{self, UserInfoMember},
    error::{Error, TokenFault},
    provider::Provider,
};

/// The HTTP client for userinfo requests. The library receives the subject, which it compares, and
/// the claims in a member of their own: it neither judges a signed response, nor refuses a claim
/// whose type is not that of OpenID Connect (`email_verified` as text).
struct UserInfoClient<'p>(&'p Provider);

impl<'c> AsyncHttpClient<'c> for UserInfoClient<'_> {
    type Error = Error;
    type Future = BoxFuture<'c, Result<HttpResponse, Error>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        async move {
            let response = self.0.0.http.send(request).await?;
            if !response.status().is_success() {
                return Ok(response);
            }
            let claims = self.0.userinfo_claims(&response).await?;
            let subject = claims
                .get("sub")
                .and_then(Value::as_str)
                .ok_or(Error::OtherSubject)?;
            let body = json!({ "sub": subject, "claims": claims });
            Ok(HttpResponse::new(body.to_string().into_bytes()))
        }
        .boxed()
    }
}

impl Provider {
    /// Returns whether the provider has a userinfo endpoint.
    pub(crate) async fn has_userinfo(&self) -> bool {
        self.metadata()
            .await
            .is_ok_and(|metadata| metadata.has_userinfo())
    }

    /// Adds the claims of the userinfo endpoint. Another subject is an error, whatever the other
    /// claims.
    pub(crate) async fn describe_from_userinfo(
        &self,
        identity: &mut Identity,
        access_token: &SecretString,
    ) -> Result<(), Error> {
        let metadata = self.metadata().await?;
        let token = access_token.expose_secret();
        // the library would panic
        if HeaderValue::from_str(token).is_err() {
            return Err(Error::Unusable("its access token is not text".to_owned()));
        }
        let client = client::client(&self.0.settings, &metadata);
        let request = client
            .user_info(
                AccessToken::new(token.to_owned()),
                Some(SubjectIdentifier::new(identity.subject.clone())),
            )
            .map_err(|_| Error::Unusable("it has no userinfo endpoint".to_owned()))?;
        let given: UserInfoClaims<UserInfoMember, CoreGenderClaim> = request
            .request_async(&UserInfoClient(self))
            .await
            .map_err(failure)?;
        identity.describe(&given.additional_claims().claims, &self.0.settings.claims);
        Ok(())
    }

    /// Returns the claims of a response, which is a signed JWT if its media type says so.
    async fn userinfo_claims(&self, response: &HttpResponse) -> Result<Map<String, Value>, Error> {
        if is_jwt(response) {
            let token = std::str::from_utf8(response.body()).map_err(|_| TokenFault::NotAJwt)?;
            return Ok(self.verify_userinfo(token.trim()).await?.0);
        }
        serde_json::from_slice(response.body())
            .map_err(|_| Error::Unusable("userinfo is not a JSON object".to_owned()))
    }
}

fn is_jwt(response: &HttpResponse) -> bool {
    response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/jwt"))
}

/// Returns the error without the response's body and subject.
fn failure(error: UserInfoError<Error>) -> Error {
    match error {
        UserInfoError::Request(error) => error,
        UserInfoError::Response(status, _, _) => {
            Error::Unusable(format!("userinfo answers {status}"))
        }
        UserInfoError::ClaimsVerification(_) => Error::OtherSubject,
        _ => Error::Unusable("userinfo is not a JSON object".to_owned()),
    }
}
