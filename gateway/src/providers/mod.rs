//! Sign-in with OIDC providers, besides Keystone's own form.
//!
//! `start` redirects a browser to a provider, `callback` handles the response, `establish` creates
//! the session; `refresh` refreshes it before it expires, `end` revokes its tokens, `logout` ends
//! it when the provider reports its end. Users without Keystone tokens get apps by their groups,
//! and no clusters (`oidc_only_user`).
pub(crate) mod callback;
pub(crate) mod config;
pub(crate) mod end;
pub(crate) mod establish;
pub(crate) mod logout;
pub(crate) mod oidc_only_user;
pub(crate) mod refresh;
pub(crate) mod start;

use std::sync::Arc;

use portico_oidc::{Error, Provider};
use portico_runtime::secret_file::{SecretFileError, read_secret_file};
use url::Url;

use crate::{
    BuildError, access::return_path::ReturnPath, config::GatewayConfig, error_response::Problem,
    state::Gateway,
};
use config::{ProviderConfig, ProviderKind};

/// The OIDC providers, in the order of the configuration.
#[derive(Debug, Default)]
pub(crate) struct Providers(Vec<Arc<OidcProvider>>);

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
    /// prevent startup.
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
                crate::metrics::provider(&provider.id);
                crate::metrics::refreshes_of(&provider.id);
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

    /// Returns the providers that are offered to a user on their way to `path`.
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

/// Returns the ID of the app that a return path leads to.
fn app_of(path: &ReturnPath) -> Option<String> {
    (path.path() == "/oauth2/handover")
        .then(|| path.query("app"))
        .flatten()
}

impl Gateway {
    /// Returns whether Keystone's form is offered to a user on their way to `path`.
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
    /// Returns the problem for a provider that cannot be used: its name, and where the cause lies.
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
