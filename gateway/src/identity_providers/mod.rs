//! The identity providers of users: clients of OIDC providers, and how their identities are exchanged
//! for Keystone tokens.
pub(crate) mod federation;
pub(crate) mod profile;

use std::{collections::HashMap, sync::Arc};

use portico_clock::Clock;
use portico_oidc::Provider;
use portico_runtime::secret_file::read_secret_file;
use url::Url;

use crate::{
    build_error::{BuildError, read_file},
    config::{ConfigError, GatewayConfig, ProviderConfig, ProviderError, ProviderKind},
    metrics,
};

pub(crate) use profile::{authenticated_at, profile_of, user_of};

/// The identity providers.
#[derive(Debug, Default)]
pub(crate) struct Providers {
    /// The OIDC providers, in the order of the configuration.
    oidc: Vec<Arc<OidcProvider>>,
    /// The configuration entries for Keystone.
    keystone: Vec<ProviderConfig>,
    /// The display names of all providers, by ID.
    names: HashMap<String, String>,
}

/// One OIDC provider with its client and settings.
#[derive(Debug)]
pub(crate) struct OidcProvider {
    pub config: ProviderConfig,
    pub client: Provider,
    /// The redirect URI of its responses.
    pub callback: Url,
}

impl Providers {
    /// Builds the clients without a request to any provider, so that one that is down does not
    /// prevent startup. The clock decides which of their tokens are valid.
    pub fn build(config: &GatewayConfig, clock: &Clock) -> Result<Self, BuildError> {
        let is_oidc = |provider: &&ProviderConfig| provider.kind == ProviderKind::Oidc;
        let (oidc, keystone): (Vec<_>, Vec<_>) = config.providers.iter().partition(is_oidc);
        let name = |provider: &ProviderConfig| (provider.id.clone(), provider.name.clone());
        Ok(Self {
            oidc: oidc
                .into_iter()
                .map(|provider| {
                    let built = OidcProvider::build(provider, &config.public_url, clock);
                    Ok(Arc::new(built?))
                })
                .collect::<Result<_, BuildError>>()?,
            keystone: keystone.into_iter().cloned().collect(),
            names: config.providers.iter().map(name).collect(),
        })
    }

    pub fn get(&self, id: &str) -> Option<&Arc<OidcProvider>> {
        self.oidc.iter().find(|provider| provider.config.id == id)
    }

    pub fn all(&self) -> &[Arc<OidcProvider>] {
        &self.oidc
    }

    /// Returns the providers that are offered to a user on their way to an app, or to no app.
    pub fn offered<'a>(
        &'a self,
        app: Option<&'a str>,
    ) -> impl Iterator<Item = &'a Arc<OidcProvider>> + 'a {
        self.oidc
            .iter()
            .filter(move |provider| provider.config.is_offered_for(app))
    }

    /// Returns whether Keystone's form is offered to a user on their way to an app, or to no app.
    pub fn offers_keystone(&self, app: Option<&str>) -> bool {
        self.names.is_empty() || self.keystone.iter().any(|entry| entry.is_offered_for(app))
    }

    /// Returns whether the configuration names Keystone as a provider.
    pub fn names_keystone(&self) -> bool {
        !self.keystone.is_empty()
    }

    /// Returns the display name of a provider; its ID if it is not configured any more.
    pub fn name_of(&self, id: &str) -> String {
        self.names.get(id).map_or(id, String::as_str).to_owned()
    }
}

impl OidcProvider {
    fn build(config: &ProviderConfig, public_url: &Url, clock: &Clock) -> Result<Self, BuildError> {
        let secret = config
            .client_secret_file
            .as_deref()
            .map(read_secret_file)
            .transpose()?;
        let ca = config.ca_file.as_deref().map(read_file).transpose()?;
        let settings = config.settings(secret, ca).map_err(ConfigError::from)?;
        let client = Provider::new(settings, clock.clone()).map_err(|source| {
            ConfigError::from(ProviderError::Settings {
                id: config.id.clone(),
                source,
            })
        })?;
        let callback = public_url
            .join(&format!("/oauth2/callback/{}", config.id))
            .map_err(|_| ConfigError::PublicUrl(public_url.clone()))?;
        metrics::provider(&config.id);
        metrics::refreshes_of(&config.id);
        Ok(Self {
            config: config.clone(),
            client,
            callback,
        })
    }
}
