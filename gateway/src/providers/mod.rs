//! Who may vouch for people beside Keystone's own form: OIDC providers, several at once.
//!
//! `start` sends a browser to a provider, `callback` takes the answer, `establish` makes the
//! session; `refresh` keeps it true ahead of expiry, `end` revokes what is left, `logout` hears
//! from the provider that its session is over. Whoever has no Keystone tokens gets apps by their
//! groups, and no clusters (`without_keystone`).
pub(crate) mod callback;
pub(crate) mod config;
pub(crate) mod end;
pub(crate) mod establish;
pub(crate) mod logout;
pub(crate) mod refresh;
pub(crate) mod start;
pub(crate) mod without_keystone;

use std::sync::Arc;

use portico_oidc::{Error, Provider};
use portico_runtime::secret_file::{SecretFileError, read_secret_file};
use url::Url;

use crate::{
    BuildError, access::return_path::ReturnPath, config::GatewayConfig, problem::Problem,
    state::Gateway,
};
use config::{ProviderConfig, ProviderKind};

/// The OIDC providers, in the order of the configuration.
#[derive(Debug, Default)]
pub(crate) struct Providers(Vec<Arc<OidcProvider>>);

/// One OIDC provider with what the gateway knows of it.
#[derive(Debug)]
pub(crate) struct OidcProvider {
    pub config: ProviderConfig,
    pub client: Provider,
    /// Where its answers arrive.
    pub callback: Url,
}

impl Providers {
    /// Builds the clients; asks nobody, so that a provider that is down keeps nobody from
    /// starting.
    pub fn build(config: &GatewayConfig) -> Result<Self, BuildError> {
        config
            .providers
            .iter()
            .filter(|provider| provider.kind == ProviderKind::Oidc)
            .map(|provider| {
                let secret = provider
                    .client_secret_file
                    .as_deref()
                    .map(read_secret_file)
                    .transpose()?;
                let ca = provider.ca_file.as_deref().map(crate::read).transpose()?;
                let settings = provider
                    .settings(secret, ca)
                    .map_err(crate::config::ConfigError::from)?;
                let client = Provider::new(settings).map_err(|source| {
                    crate::config::ConfigError::from(config::ProviderError::Settings {
                        id: provider.id.clone(),
                        source,
                    })
                })?;
                let callback = config
                    .public_url
                    .join(&format!("/oauth2/callback/{}", provider.id))
                    .map_err(|_| {
                        crate::config::ConfigError::PublicUrl(config.public_url.clone())
                    })?;
                crate::meters::provider(&provider.id);
                crate::meters::refreshes_of(&provider.id);
                Ok(Arc::new(OidcProvider {
                    config: provider.clone(),
                    client,
                    callback,
                }))
            })
            .collect::<Result<_, BuildError>>()
            .map(Self)
    }

    pub fn get(&self, id: &str) -> Option<&Arc<OidcProvider>> {
        self.0.iter().find(|provider| provider.config.id == id)
    }

    pub fn all(&self) -> &[Arc<OidcProvider>] {
        &self.0
    }

    /// The providers that are offered to somebody on their way to `path`.
    pub fn offered<'a>(
        &'a self,
        path: &'a ReturnPath,
    ) -> impl Iterator<Item = &'a Arc<OidcProvider>> + 'a {
        let app = app_of(path);
        self.0
            .iter()
            .filter(move |provider| provider.config.is_offered_for(app.as_deref()))
    }
}

/// The app that somebody is on their way to.
fn app_of(path: &ReturnPath) -> Option<String> {
    (path.path() == "/oauth2/handover")
        .then(|| path.query("app"))
        .flatten()
}

impl Gateway {
    /// Whether Keystone's form is offered to somebody on their way to `path`.
    pub fn offers_keystone(&self, path: &ReturnPath) -> bool {
        let app = app_of(path);
        let providers = &self.config.providers;
        providers.is_empty()
            || providers.iter().any(|provider| {
                provider.kind == ProviderKind::Keystone && provider.is_offered_for(app.as_deref())
            })
    }
}

impl OidcProvider {
    /// What to say when the provider cannot be used: which one it is, and whose matter.
    pub fn problem(&self, error: &Error) -> Problem {
        tracing::warn!(provider = self.config.id, %error, "a provider cannot be used");
        Problem::provider_unavailable(&self.config.name, error.is_outage())
    }
}

impl From<SecretFileError> for BuildError {
    fn from(error: SecretFileError) -> Self {
        BuildError::Secret(error)
    }
}
