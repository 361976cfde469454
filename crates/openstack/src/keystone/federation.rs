//! Keystone's federation API (OS-FEDERATION): exchanges an identity provider's assertion for a
//! token.
//!
//! Keystone itself does not verify what a provider has signed. It trusts the web server in front of
//! it (`mod_auth_openidc`, `mod_auth_mellon`), which passes the assertion on in headers: any client
//! that reaches Keystone without passing that server can claim anything. So there are two ways: a
//! bearer token that the web server verifies, or headers set by Portico, sent to a port that no
//! other client can reach.
use super::call::Call;
use super::client::Client;
use super::endpoints::Endpoints;
use super::error::Error;
use super::token::IssuedToken;
use crate::http::secret_header;
use crate::keystone::config::{InvalidConfig, KeystoneConfig};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Method, StatusCode, Url};
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

const MAX_ID_BYTES: usize = 64;

/// A federation protocol in Keystone, by the IDs that its administrators have chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FederatedProtocol {
    /// The identity provider's ID in Keystone.
    pub identity_provider: String,
    /// The protocol's ID, such as `openid`; also the name of the method in tokens.
    pub protocol: String,
}

/// The assertion about a user, and how it is sent.
#[derive(Clone, Debug)]
pub enum Assertion {
    /// Headers as the web server in front of Keystone would set them. Only for a Keystone that no
    /// other client can reach.
    Headers(HeaderMap),
    /// A token of the identity provider, which the web server in front of Keystone verifies.
    Bearer(SecretString),
}

/// The reason why federation returned no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FederationError {
    /// 404: the configuration names an identity provider or protocol that Keystone does not have.
    #[error("keystone knows no such identity provider or protocol")]
    UnknownProvider,
    /// 403: the issuer is not among the identity provider's `remote_ids`, or it is disabled.
    #[error("keystone does not trust this issuer for the identity provider")]
    UntrustedIssuer,
    /// 401: no rule of the mapping returns a user for the assertion.
    #[error("keystone's mapping gives no user for this identity")]
    NotMapped,
    #[error(transparent)]
    Call(Error),
}

impl FederatedProtocol {
    /// Returns whether both IDs can be part of a URL unchanged.
    pub fn is_plain(&self) -> bool {
        is_plain(&self.identity_provider) && is_plain(&self.protocol)
    }

    fn path(&self) -> String {
        let Self {
            identity_provider,
            protocol,
        } = self;
        format!("OS-FEDERATION/identity_providers/{identity_provider}/protocols/{protocol}/auth")
    }
}

/// Returns whether an ID of Keystone's federation can be part of a URL unchanged.
pub fn is_plain(id: &str) -> bool {
    (1..=MAX_ID_BYTES).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Returns the URL for single sign-on at Keystone. `public` is the identity API as browsers reach
/// it; `origin` is the address that gets the token, which must be among Keystone's
/// `trusted_dashboard`. Without an identity provider Keystone finds it by the issuer.
pub fn websso_address(
    public: &Url,
    identity_provider: Option<&str>,
    protocol: &str,
    origin: &str,
) -> Url {
    let mut url = public.clone();
    let base = url.path().trim_end_matches('/').to_owned();
    url.set_path(&match identity_provider {
        Some(provider) => format!(
            "{base}/auth/OS-FEDERATION/identity_providers/{provider}/protocols/{protocol}/websso"
        ),
        None => format!("{base}/auth/OS-FEDERATION/websso/{protocol}"),
    });
    url.set_query(None);
    url.query_pairs_mut().append_pair("origin", origin);
    url
}

impl Client {
    /// Returns an unscoped token for a user of an identity provider.
    ///
    /// # Errors
    /// Depends on the fault: the configuration ([`FederationError::UnknownProvider`]), the trust
    /// ([`FederationError::UntrustedIssuer`]), the mapping ([`FederationError::NotMapped`]), or the
    /// call.
    pub async fn federate(
        &self,
        way: &FederatedProtocol,
        assertion: &Assertion,
    ) -> Result<IssuedToken, FederationError> {
        let headers = match assertion {
            Assertion::Headers(headers) => headers.clone(),
            Assertion::Bearer(token) => bearer(token).ok_or(FederationError::NotMapped)?,
        };
        let call = Call {
            operation: "federate",
            method: Method::POST,
            path: way.path(),
            query: None,
            headers,
            body: None,
        };
        let mut status = None;
        let result = self
            .run(call, |answer| {
                status = Some(answer.status);
                answer.issued(Error::InvalidCredentials)
            })
            .await;
        result.map_err(|error| typed(status, error))
    }

    /// Returns the same Keystone at another address, for the calls that only a closed port accepts.
    ///
    /// # Errors
    /// If the address is not of an identity API, or tokens would be sent over a network
    /// unencrypted.
    pub fn at(&self, url: &Url, allow_plain_http: bool) -> Result<Self, InvalidConfig> {
        let mut config = KeystoneConfig::new(url.clone());
        config.allow_plain_http = allow_plain_http;
        config.timeout = self.timeout;
        config.validate()?;
        Ok(Self {
            endpoints: Endpoints::new(&config),
            ..self.clone()
        })
    }
}

fn typed(status: Option<StatusCode>, error: Error) -> FederationError {
    match (status, error) {
        (Some(StatusCode::NOT_FOUND), Error::InvalidCredentials) => {
            FederationError::UnknownProvider
        }
        (_, Error::InvalidCredentials) => FederationError::NotMapped,
        (_, Error::Forbidden) => FederationError::UntrustedIssuer,
        (_, error) => FederationError::Call(error),
    }
}

fn bearer(token: &SecretString) -> Option<HeaderMap> {
    // the characters of a token are checked before it becomes part of a header
    secret_header(token)?;
    let mut value = HeaderValue::try_from(format!("Bearer {}", token.expose_secret())).ok()?;
    value.set_sensitive(true);
    Some(HeaderMap::from_iter([(AUTHORIZATION, value)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_cannot_lead_to_another_address() {
        for (id, plain) in [
            ("op", true),
            ("my-op_1", true),
            ("", false),
            ("a/b", false),
            ("..", false),
            ("a?b", false),
            ("a%2fb", false),
            ("ö", false),
        ] {
            assert_eq!(is_plain(id), plain, "{id}");
        }
        assert!(!is_plain(&"a".repeat(65)));
    }

    #[test]
    fn single_sign_on_names_the_address_that_gets_the_token() {
        let public = Url::parse("https://cloud.example.org/identity/v3/").unwrap();
        let back = "https://portico.example.org/oauth2/websso";
        let origin = "?origin=https%3A%2F%2Fportico.example.org%2Foauth2%2Fwebsso";
        assert_eq!(
            websso_address(&public, None, "openid", back).as_str(),
            format!(
                "https://cloud.example.org/identity/v3/auth/OS-FEDERATION/websso/openid{origin}"
            )
        );
        assert_eq!(
            websso_address(&public, Some("op"), "openid", back).as_str(),
            format!(
                "https://cloud.example.org/identity/v3/auth/OS-FEDERATION/identity_providers/op/\
                 protocols/openid/websso{origin}"
            )
        );
    }

    #[test]
    fn faults_of_a_federation_are_distinguished() {
        let of = |status: u16, error| typed(StatusCode::from_u16(status).ok(), error);
        assert_eq!(
            of(404, Error::InvalidCredentials),
            FederationError::UnknownProvider
        );
        assert_eq!(
            of(401, Error::InvalidCredentials),
            FederationError::NotMapped
        );
        assert_eq!(of(403, Error::Forbidden), FederationError::UntrustedIssuer);
        let busy = Error::Unavailable(super::super::error::Unavailable::Status(503));
        assert_eq!(of(503, busy.clone()), FederationError::Call(busy));
    }

    #[test]
    fn a_token_that_would_add_a_header_is_none() {
        assert!(bearer(&SecretString::from("a\r\nx: y")).is_none());
        assert!(bearer(&SecretString::from("eyJ.a.b")).is_some());
    }
}
