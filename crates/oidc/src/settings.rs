//! Settings of a provider.
use std::time::Duration;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// A provider, and this client's registration with it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The issuer identifier, exactly as the provider writes it in `iss`.
    pub issuer: String,
    pub client_id: String,
    /// `None` for a public client.
    pub client_secret: Option<SecretString>,
    /// Requested besides `openid`.
    pub scopes: Vec<String>,
    pub claims: ClaimPointers,
    /// Audiences besides `client_id` that an ID token may name.
    pub audiences: Vec<String>,
    /// Accepted signature algorithms. There is no way to allow `none` or HMAC.
    pub algorithms: Vec<Algorithm>,
    /// The audience of bearer tokens of API callers; `None`: no bearer token is accepted.
    pub api_audience: Option<String>,
    /// Hosts besides the issuer's own at which its endpoints may be.
    pub endpoint_hosts: Vec<String>,
    /// Whether the userinfo endpoint is queried for claims too.
    pub userinfo: bool,
    /// Certificate authorities (PEM) to trust instead of the public ones.
    pub ca: Option<String>,
    /// Time limit for one call.
    pub timeout: Duration,
    /// Maximum clock skew.
    pub skew: Duration,
    /// Minimum time between two fetches of the keys, however many tokens name unknown ones.
    pub key_interval: Duration,
}

/// Positions of claims in the ID token (or the userinfo response), as JSON pointers (RFC 6901).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClaimPointers {
    /// The display name. If the claim is missing: `name`, `email`, then `sub`.
    pub name: String,
    /// The e-mail address. It does not identify the user: identity is issuer and subject.
    pub email: String,
    /// Whether the address was verified. A missing claim counts as not verified.
    pub email_verified: String,
    /// The groups: a list of texts, or one text. Empty: none are read.
    pub groups: String,
    /// The roles, in the same form; rules see them as groups `role:<name>`. Empty: none are read.
    pub roles: String,
}

impl Default for ClaimPointers {
    fn default() -> Self {
        Self {
            name: "/preferred_username".to_owned(),
            email: "/email".to_owned(),
            email_verified: "/email_verified".to_owned(),
            groups: "/groups".to_owned(),
            roles: String::new(),
        }
    }
}

/// A signature algorithm for tokens (RFC 7518, RFC 8037).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Algorithm {
    RS256,
    RS384,
    RS512,
    PS256,
    PS384,
    PS512,
    ES256,
    ES384,
    EdDSA,
}

impl Algorithm {
    /// The algorithms that are accepted unless the configuration sets others.
    pub const DEFAULT: [Self; 5] = [
        Self::RS256,
        Self::PS256,
        Self::ES256,
        Self::ES384,
        Self::EdDSA,
    ];

    /// Returns the algorithm of a header's `alg`; `None` for `none`, HMAC and unknown ones.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "RS256" => Self::RS256,
            "RS384" => Self::RS384,
            "RS512" => Self::RS512,
            "PS256" => Self::PS256,
            "PS384" => Self::PS384,
            "PS512" => Self::PS512,
            "ES256" => Self::ES256,
            "ES384" => Self::ES384,
            "EdDSA" => Self::EdDSA,
            _ => return None,
        })
    }
}

/// The reason why a provider cannot be used as configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSettings {
    #[error("issuer {0:?} must be https://host[/path] without query and fragment")]
    Issuer(String),
    #[error("issuer {0:?} is plain HTTP, which only works on localhost")]
    PlainHttp(String),
    #[error("client_id must not be empty")]
    ClientId,
    #[error("algorithms must name at least one")]
    NoAlgorithm,
    #[error("claims: {0:?} is not a JSON pointer: it must be empty or start with /")]
    Pointer(String),
    #[error(
        "api_audience must differ from client_id and from every entry of audiences: an ID token \
         would count as a bearer"
    )]
    ApiAudience,
    #[error("the certificate authorities cannot be read: {0}")]
    Authority(String),
    #[error("{0} must be longer than zero")]
    Zero(&'static str),
    #[error("the HTTP client cannot be built: {0}")]
    Client(String),
}

impl Settings {
    /// Returns settings of a provider, with defaults for everything else.
    pub fn new(issuer: &str, client_id: &str, client_secret: Option<SecretString>) -> Self {
        Self {
            issuer: issuer.to_owned(),
            client_id: client_id.to_owned(),
            client_secret,
            scopes: vec!["profile".to_owned(), "email".to_owned()],
            claims: ClaimPointers::default(),
            audiences: Vec::new(),
            algorithms: Algorithm::DEFAULT.to_vec(),
            api_audience: None,
            endpoint_hosts: Vec::new(),
            userinfo: false,
            ca: None,
            timeout: Duration::from_secs(10),
            skew: Duration::from_secs(60),
            key_interval: Duration::from_secs(30),
        }
    }

    /// Checks constraints that the types do not express, without a request.
    ///
    /// # Errors
    /// The first invalid setting.
    pub fn validate(&self) -> Result<(), InvalidSettings> {
        let issuer = || InvalidSettings::Issuer(self.issuer.clone());
        let url = Url::parse(&self.issuer).map_err(|_| issuer())?;
        let plain = url.host().is_some()
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        match url.scheme() {
            "https" if plain => {}
            "http" if plain && is_loopback(&url) => {}
            "http" if plain => return Err(InvalidSettings::PlainHttp(self.issuer.clone())),
            _ => return Err(issuer()),
        }
        if self.client_id.is_empty() {
            return Err(InvalidSettings::ClientId);
        }
        if self.algorithms.is_empty() {
            return Err(InvalidSettings::NoAlgorithm);
        }
        let claims = &self.claims;
        for pointer in [
            &claims.name,
            &claims.email,
            &claims.email_verified,
            &claims.groups,
            &claims.roles,
        ] {
            if !pointer.is_empty() && !pointer.starts_with('/') {
                return Err(InvalidSettings::Pointer(pointer.clone()));
            }
        }
        if let Some(audience) = &self.api_audience
            && (audience.is_empty()
                || *audience == self.client_id
                || self.audiences.contains(audience))
        {
            return Err(InvalidSettings::ApiAudience);
        }
        for (name, duration) in [
            ("timeout", self.timeout),
            ("key_interval", self.key_interval),
        ] {
            if duration.is_zero() {
                return Err(InvalidSettings::Zero(name));
            }
        }
        Ok(())
    }
}

/// Returns whether requests to a URL stay on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valid() -> Settings {
        Settings::new("https://id.example.org", "portico", None)
    }

    #[test]
    fn the_defaults_are_valid() {
        assert_eq!(valid().validate(), Ok(()));
        let local = Settings::new("http://127.0.0.1:9000", "portico", None);
        assert_eq!(local.validate(), Ok(()));
    }

    #[test]
    fn plain_http_is_for_this_machine_only() {
        let settings = Settings::new("http://id.example.org", "portico", None);
        assert!(matches!(
            settings.validate(),
            Err(InvalidSettings::PlainHttp(_))
        ));
    }

    #[test]
    fn an_issuer_is_a_plain_address() {
        for issuer in [
            "",
            "id.example.org",
            "ftp://id.example.org",
            "https://id.example.org/?a=b",
            "https://id.example.org/#x",
            "https://u:p@id.example.org",
        ] {
            let settings = Settings::new(issuer, "portico", None);
            assert!(
                matches!(settings.validate(), Err(InvalidSettings::Issuer(_))),
                "{issuer}"
            );
        }
    }

    #[test]
    fn an_id_token_can_never_be_a_bearer() {
        for audience in ["portico", "other", ""] {
            let settings = Settings {
                api_audience: Some(audience.to_owned()),
                audiences: vec!["other".to_owned()],
                ..valid()
            };
            assert_eq!(settings.validate(), Err(InvalidSettings::ApiAudience));
        }
    }

    #[test]
    fn neither_none_nor_hmac_can_be_written() {
        for name in ["none", "None", "HS256", "HS512", ""] {
            assert!(serde_json::from_value::<Algorithm>(name.into()).is_err());
            assert_eq!(Algorithm::parse(name), None);
        }
        assert_eq!(Algorithm::parse("EdDSA"), Some(Algorithm::EdDSA));
    }
}
