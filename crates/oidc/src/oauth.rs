//! The OAuth 2.0 client (RFC 6749, RFC 7636): exchanges codes and refresh tokens for tokens.
use futures::{FutureExt as _, future::BoxFuture};
use jiff::{SignedDuration, Timestamp};
use oauth2::{
    AccessToken, AsyncHttpClient, AuthType, AuthUrl, AuthorizationCode, Client, ClientId,
    ClientSecret, EndpointNotSet, EndpointSet, ExtraTokenFields, HttpRequest, HttpResponse,
    PkceCodeVerifier, RedirectUrl, RefreshToken, RequestTokenError, StandardRevocableToken,
    StandardTokenResponse, TokenResponse as _, TokenUrl,
    basic::{
        BasicErrorResponse, BasicErrorResponseType, BasicRevocationErrorResponse,
        BasicTokenIntrospectionResponse, BasicTokenType,
    },
};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{error::Error, http::Http, metadata::Metadata, settings::Settings};

/// Access tokens with a longer lifetime are refreshed after this time.
pub(crate) const MAX_ACCESS_TOKEN_TTL: SignedDuration = SignedDuration::from_hours(24);

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IdTokenField {
    // of oauth2's own type, which does not print its content
    #[serde(default, skip_serializing)]
    id_token: Option<AccessToken>,
}

impl ExtraTokenFields for IdTokenField {}

type Answer = StandardTokenResponse<IdTokenField, BasicTokenType>;

pub(crate) type OAuth = Client<
    BasicErrorResponse,
    Answer,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointSet,
>;

/// The token endpoint's response, which is not verified yet.
#[derive(Debug)]
pub(crate) struct Given {
    pub access_token: SecretString,
    pub refresh_token: Option<SecretString>,
    pub id_token: Option<SecretString>,
    /// `None` if the provider does not send it.
    pub expires_at: Option<Timestamp>,
}

impl From<Answer> for Given {
    fn from(answer: Answer) -> Self {
        let life = answer
            .expires_in()
            .and_then(|life| SignedDuration::try_from(life).ok())
            .map(|life| life.min(MAX_ACCESS_TOKEN_TTL));
        Self {
            access_token: SecretString::from(answer.access_token().secret().clone()),
            refresh_token: answer
                .refresh_token()
                .map(|token| SecretString::from(token.secret().clone())),
            id_token: answer
                .extra_fields()
                .id_token
                .as_ref()
                .map(|token| SecretString::from(token.secret().clone())),
            expires_at: life.map(|life| Timestamp::now() + life),
        }
    }
}

/// Returns whether the secret is sent in the body: if the provider does not accept it in the
/// header, and for public clients.
pub(crate) fn secret_in_body(settings: &Settings, metadata: &Metadata) -> bool {
    let methods = &metadata.token_endpoint_auth_methods_supported;
    let offers = |name: &str| methods.iter().any(|method| method == name);
    settings.client_secret.is_none()
        || (offers("client_secret_post") && !offers("client_secret_basic"))
}

pub(crate) fn client(settings: &Settings, metadata: &Metadata) -> OAuth {
    let auth_type = if secret_in_body(settings, metadata) {
        AuthType::RequestBody
    } else {
        AuthType::BasicAuth
    };
    let client = Client::new(ClientId::new(settings.client_id.clone()))
        .set_auth_uri(AuthUrl::from_url(metadata.authorization_endpoint.clone()))
        .set_token_uri(TokenUrl::from_url(metadata.token_endpoint.clone()))
        .set_auth_type(auth_type);
    match &settings.client_secret {
        Some(secret) => {
            client.set_client_secret(ClientSecret::new(secret.expose_secret().to_owned()))
        }
        None => client,
    }
}

/// The bounded client, with the interface of `oauth2`.
struct Calls(Http);

impl<'c> AsyncHttpClient<'c> for Calls {
    type Error = Error;
    type Future = BoxFuture<'c, Result<HttpResponse, Error>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        self.0.send(request).boxed()
    }
}

/// Redeems an authorization code.
pub(crate) async fn redeem(
    client: OAuth,
    http: &Http,
    code: &SecretString,
    verifier: &SecretString,
    redirect: &Url,
) -> Result<Given, Error> {
    let client = client.set_redirect_uri(RedirectUrl::from_url(redirect.clone()));
    client
        .exchange_code(AuthorizationCode::new(code.expose_secret().to_owned()))
        .set_pkce_verifier(PkceCodeVerifier::new(verifier.expose_secret().to_owned()))
        .request_async(&Calls(http.clone()))
        .await
        .map(Given::from)
        .map_err(failure)
}

/// Uses a refresh token.
pub(crate) async fn refresh(
    client: OAuth,
    http: &Http,
    token: &SecretString,
) -> Result<Given, Error> {
    client
        .exchange_refresh_token(&RefreshToken::new(token.expose_secret().to_owned()))
        .request_async(&Calls(http.clone()))
        .await
        .map(Given::from)
        .map_err(failure)
}

fn failure(error: RequestTokenError<Error, BasicErrorResponse>) -> Error {
    match error {
        RequestTokenError::Request(error) => error,
        RequestTokenError::ServerResponse(answer) => match answer.error() {
            BasicErrorResponseType::InvalidGrant => Error::InvalidGrant,
            BasicErrorResponseType::Extension(code)
                if matches!(
                    code.as_str(),
                    "temporarily_unavailable" | "server_error" | "slow_down"
                ) =>
            {
                Error::Unavailable(format!("it answers {code}"))
            }
            // the provider's own description must not reach the log
            other => Error::Client(other.to_string().chars().take(60).collect()),
        },
        // the error itself would quote the response
        RequestTokenError::Parse(_, _) => {
            Error::Unusable("the token endpoint does not answer as RFC 6749 requires".to_owned())
        }
        RequestTokenError::Other(_) => {
            Error::Unusable("the token endpoint answers with nothing".to_owned())
        }
    }
}
