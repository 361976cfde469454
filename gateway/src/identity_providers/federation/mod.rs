//! Exchanges an identity of an OIDC provider for a Keystone token, where the provider's
//! configuration has a `federation`.
//!
//! The token is unscoped; projects and clusters are read with it as after a sign-in by password. It
//! cannot be renewed, so before it ends the gateway refreshes the session at the provider and
//! passes the new identity to Keystone. The session continues without a new sign-in.
mod attribute;

use std::collections::HashMap;

use portico_oidc::Identity;
use portico_openstack::keystone::{
    self, Assertion, FederatedProtocol, FederationError, IssuedToken, TokenScope,
};
use secrecy::SecretString;

use crate::config::{
    CarriedToken, ConfigError, FederationConfig, GatewayConfig, InvalidFederation, ProviderError,
};

/// The federations of the providers that have one, by the provider's ID.
#[derive(Debug, Default)]
pub(crate) struct Federations(HashMap<String, Federation>);

/// The federation of one provider.
#[derive(Debug)]
pub(crate) struct Federation {
    pub config: FederationConfig,
    way: FederatedProtocol,
    keystone: keystone::Client,
}

/// What a provider has just issued for a user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IssuedIdentity<'a> {
    /// `None`: the response contained no identity.
    pub identity: Option<&'a Identity>,
    pub id_token: Option<&'a SecretString>,
    pub access_token: &'a SecretString,
}

/// Why there is no Keystone token for an identity.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoToken {
    /// Not an error: Keystone maps the identity to no user.
    #[error("Keystone has no user for this identity: {0}")]
    NotMapped(String),
    /// An error in the configuration, of Portico or of Keystone.
    #[error("Keystone does not trust the provider: {0}")]
    NotTrusted(FederationError),
    /// The provider's response did not contain enough this time.
    #[error("the provider sent no attribute that could be passed on")]
    NoAttributes,
    #[error("Keystone cannot be asked: {0}")]
    Unavailable(keystone::Error),
}

impl Federations {
    /// Builds the clients without a request to any server.
    pub fn build(config: &GatewayConfig, keystone: &keystone::Client) -> Result<Self, ConfigError> {
        let mut all = HashMap::new();
        for provider in &config.providers {
            let Some(federation) = &provider.federation else {
                continue;
            };
            let at = |error: String| ProviderError::Federation {
                id: provider.id.clone(),
                source: InvalidFederation::Url(error),
            };
            let keystone = match &federation.url {
                Some(url) => keystone
                    .at(url, federation.allow_plain_http)
                    .map_err(|error| at(error.to_string()))?,
                None => keystone.clone(),
            };
            let built = Federation {
                way: federation.way(),
                config: federation.clone(),
                keystone,
            };
            all.insert(provider.id.clone(), built);
        }
        Ok(Self(all))
    }

    /// Returns the federation of a provider, if it has one.
    pub fn get(&self, provider: &str) -> Option<&Federation> {
        self.0.get(provider)
    }
}

impl Federation {
    /// Returns a Keystone token for an identity that the provider has just confirmed.
    pub async fn token(&self, word: IssuedIdentity<'_>) -> Result<IssuedToken, NoToken> {
        let assertion = match self.config.bearer {
            None => {
                let identity = word.identity.ok_or(NoToken::NoAttributes)?;
                let headers = attribute::headers(&self.config.headers, identity)
                    .map_err(|error| NoToken::NotMapped(error.to_string()))?;
                Assertion::Headers(headers)
            }
            Some(CarriedToken::AccessToken) => Assertion::Bearer(word.access_token.clone()),
            Some(CarriedToken::IdToken) => {
                Assertion::Bearer(word.id_token.cloned().ok_or(NoToken::NoAttributes)?)
            }
        };
        let issued = self.keystone.federate(&self.way, &assertion).await;
        let issued = issued.map_err(|error| match error {
            FederationError::NotMapped => {
                NoToken::NotMapped("no rule of the mapping fits".to_owned())
            }
            FederationError::UnknownProvider | FederationError::UntrustedIssuer => {
                NoToken::NotTrusted(error)
            }
            FederationError::Call(error) => NoToken::Unavailable(error),
        })?;
        if issued.details.scope == TokenScope::Unscoped {
            return Ok(issued);
        }
        // a mapping that sets projects of its own may still issue an unscoped token
        Err(NoToken::NotMapped("the token is not unscoped".to_owned()))
    }
}
