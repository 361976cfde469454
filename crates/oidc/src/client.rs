//! The client of a provider, of `openidconnect`: it exchanges codes and refresh tokens for tokens
//! (RFC 6749, RFC 7636). ID tokens are opaque to it: see [`Answer`].
use jiff::{SignedDuration, Timestamp};
use openidconnect::{
    AccessToken, AdditionalClaims, AuthType, AuthorizationCode, Client, ClientId, ClientSecret,
    EndpointMaybeSet, EndpointNotSet, EndpointSet, ExtraTokenFields, IdToken,
    OAuth2TokenResponse as _, PkceCodeVerifier, RedirectUrl, RefreshToken, RequestTokenError,
    StandardErrorResponse, StandardTokenResponse, TokenResponse,
    core::{
        CoreAuthDisplay, CoreAuthPrompt, CoreClientAuthMethod, CoreErrorResponseType,
        CoreGenderClaim, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm,
        CoreJwsSigningAlgorithm, CoreRevocableToken, CoreRevocationErrorResponse,
        CoreTokenIntrospectionResponse, CoreTokenType,
    },
};
use portico_clock::Clock;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use crate::{error::Error, http::Http, metadata::Metadata, settings::Settings};

/// Access tokens with a longer lifetime are refreshed after this time.
pub(crate) const MAX_ACCESS_TOKEN_TTL: SignedDuration = SignedDuration::from_hours(24);

/// The member of the token endpoint's response that OpenID Connect adds.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IdTokenField {
    // of a type that does not print its content
    #[serde(default, skip_serializing)]
    id_token: Option<AccessToken>,
}

impl ExtraTokenFields for IdTokenField {}

/// All claims of a userinfo response, in the one member that our client of that endpoint adds.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct UserInfoMember {
    pub claims: Map<String, Value>,
}

impl AdditionalClaims for UserInfoMember {}

/// The token endpoint's response.
pub(crate) type Answer = StandardTokenResponse<IdTokenField, CoreTokenType>;

impl
    TokenResponse<
        UserInfoMember,
        CoreGenderClaim,
        CoreJweContentEncryptionAlgorithm,
        CoreJwsSigningAlgorithm,
    > for Answer
{
    /// Returns `None` always: the library must not parse or judge an ID token, which is for
    /// `Provider::verify_id_token` alone.
    fn id_token(
        &self,
    ) -> Option<
        &IdToken<
            UserInfoMember,
            CoreGenderClaim,
            CoreJweContentEncryptionAlgorithm,
            CoreJwsSigningAlgorithm,
        >,
    > {
        None
    }
}

type ErrorAnswer = StandardErrorResponse<CoreErrorResponseType>;

pub(crate) type OidcClient = Client<
    UserInfoMember,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    ErrorAnswer,
    Answer,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointSet,
    EndpointMaybeSet,
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

impl Given {
    /// Reads a response that was received at `now`.
    fn new(answer: &Answer, now: Timestamp) -> Self {
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
            expires_at: life.map(|life| now + life),
        }
    }
}

/// Returns whether the secret is sent in the body: if the provider does not accept it in the
/// header, and for public clients.
pub(crate) fn secret_in_body(settings: &Settings, metadata: &Metadata) -> bool {
    settings.client_secret.is_none()
        || (metadata.offers(&CoreClientAuthMethod::ClientSecretPost)
            && !metadata.offers(&CoreClientAuthMethod::ClientSecretBasic))
}

/// Returns the client of a provider. It has no keys, since it verifies nothing.
pub(crate) fn client(settings: &Settings, metadata: &Metadata) -> OidcClient {
    let auth_type = if secret_in_body(settings, metadata) {
        AuthType::RequestBody
    } else {
        AuthType::BasicAuth
    };
    let secret = settings
        .client_secret
        .as_ref()
        .map(|secret| ClientSecret::new(secret.expose_secret().to_owned()));
    Client::from_provider_metadata(
        metadata.document().clone(),
        ClientId::new(settings.client_id.clone()),
        secret,
    )
    .set_token_uri(metadata.token_endpoint().clone())
    .set_auth_type(auth_type)
}

/// Redeems an authorization code.
pub(crate) async fn redeem(
    client: OidcClient,
    http: &Http,
    code: &SecretString,
    verifier: &SecretString,
    redirect: &Url,
    clock: &Clock,
) -> Result<Given, Error> {
    let client = client.set_redirect_uri(RedirectUrl::from_url(redirect.clone()));
    client
        .exchange_code(AuthorizationCode::new(code.expose_secret().to_owned()))
        .set_pkce_verifier(PkceCodeVerifier::new(verifier.expose_secret().to_owned()))
        .request_async(http)
        .await
        .map(|answer| Given::new(&answer, clock.now()))
        .map_err(failure)
}

/// Uses a refresh token.
pub(crate) async fn refresh(
    client: OidcClient,
    http: &Http,
    token: &SecretString,
    clock: &Clock,
) -> Result<Given, Error> {
    client
        .exchange_refresh_token(&RefreshToken::new(token.expose_secret().to_owned()))
        .request_async(http)
        .await
        .map(|answer| Given::new(&answer, clock.now()))
        .map_err(failure)
}

fn failure(error: RequestTokenError<Error, ErrorAnswer>) -> Error {
    match error {
        RequestTokenError::Request(error) => error,
        RequestTokenError::ServerResponse(answer) => match answer.error() {
            CoreErrorResponseType::InvalidGrant => Error::InvalidGrant,
            CoreErrorResponseType::Extension(code)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_token_is_opaque_to_the_library_and_no_token_is_printed() {
        let answer: Answer = serde_json::from_value(json!({
            "access_token": "secret-access", "token_type": "Bearer", "expires_in": 60,
            "refresh_token": "secret-refresh", "id_token": "secret-id, not a JWT",
        }))
        .unwrap();
        assert!(answer.id_token().is_none());
        let printed = format!("{answer:?}");
        assert!(!printed.contains("secret-"), "{printed}");
        let now = Timestamp::UNIX_EPOCH;
        let given = Given::new(&answer, now);
        let printed = format!("{given:?}");
        assert!(!printed.contains("secret-"), "{printed}");
        let id_token = given.id_token.unwrap();
        assert_eq!(id_token.expose_secret(), "secret-id, not a JWT");
        assert_eq!(given.expires_at, Some(now + SignedDuration::from_mins(1)));
    }

    #[test]
    fn a_very_long_lifetime_is_shortened() {
        let answer: Answer = serde_json::from_value(json!({
            "access_token": "a", "token_type": "bearer", "expires_in": u64::MAX,
        }))
        .unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let given = Given::new(&answer, now);
        assert!(
            given
                .expires_at
                .is_none_or(|at| at <= now + MAX_ACCESS_TOKEN_TTL)
        );
    }
}
