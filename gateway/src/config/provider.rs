//! `[[gateway.providers]]`: the OIDC providers, and where each is offered.
use std::{collections::HashSet, path::PathBuf, time::Duration};

use portico_access_policy::{GroupError, GroupSource, RuleConfig, Who, check_group};
use portico_domain::access::Rule;
use portico_oidc::{Algorithm, ClaimPointers, InvalidSettings, Settings};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::{
    AppConfig,
    federation::{FederationConfig, InvalidFederation},
};

/// The main host in [`ProviderConfig::hosts`].
pub const MAIN_HOST: &str = "main";

/// `[[gateway.providers]]`: a provider that users can sign in with. Without any entry, only
/// Keystone is offered.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProviderConfig {
    /// The provider's ID, part of the callback URL `/oauth2/callback/<id>`: one lower-case DNS
    /// label.
    pub id: String,
    /// The name shown to users.
    pub name: String,
    /// The kind of provider.
    pub kind: ProviderKind,
    /// Where the provider is offered: IDs of apps, and `main` for the panel. Empty: everywhere.
    /// Access to an app is decided by the app's rules, not here.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// OIDC: the issuer identifier, exactly as the provider writes it; HTTPS.
    #[serde(default)]
    pub issuer: Option<String>,
    /// OIDC: the client ID of this Portico at the provider.
    #[serde(default)]
    pub client_id: Option<String>,
    /// OIDC: file with the client secret. Without it, a public client.
    #[serde(default)]
    pub client_secret_file: Option<PathBuf>,
    /// OIDC: scopes to request besides `openid`. Many providers issue a refresh token only for
    /// `offline_access`.
    #[serde(default = "default_scopes")]
    pub scopes: Vec<String>,
    /// OIDC: the claims with name, e-mail, groups and roles.
    #[serde(default)]
    pub claims: ClaimPointers,
    /// OIDC: audiences besides `client_id` that an ID token may contain.
    #[serde(default)]
    pub audiences: Vec<String>,
    /// OIDC: accepted signature algorithms.
    #[serde(default = "default_algorithms")]
    pub algorithms: Vec<Algorithm>,
    /// OIDC: the audience of JWTs that API callers present as bearer tokens. Without it, no bearer
    /// tokens are accepted.
    #[serde(default)]
    pub api_audience: Option<String>,
    /// OIDC: hosts of the provider's endpoints besides the issuer's own.
    #[serde(default)]
    pub endpoint_hosts: Vec<String>,
    /// OIDC: certificate authorities (PEM) to trust instead of the public ones.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// OIDC: whether claims are also read from the userinfo endpoint, at sign-in and at each
    /// refresh.
    #[serde(default)]
    pub userinfo: bool,
    /// OIDC: the timeout of one call.
    #[serde(default = "default_timeout", with = "humantime_serde")]
    #[schemars(with = "String")]
    pub timeout: Duration,
    /// OIDC: the maximum difference between the provider's clock and Portico's.
    #[serde(default = "default_skew", with = "humantime_serde")]
    #[schemars(with = "String")]
    pub clock_skew: Duration,
    /// OIDC: how long before its access token expires a session in use is refreshed.
    #[serde(default = "default_refresh_ahead", with = "humantime_serde")]
    #[schemars(with = "String")]
    pub refresh_ahead: Duration,
    /// OIDC: the maximum duration of a session without a refresh token, since the provider cannot
    /// be asked about it meanwhile.
    #[serde(default = "default_unrefreshed", with = "humantime_serde")]
    #[schemars(with = "String")]
    pub unrefreshed: Duration,
    /// OIDC: how identities of this provider become Keystone users. Without it, they can open apps
    /// but no clusters.
    #[serde(default)]
    pub federation: Option<FederationConfig>,
}

/// The kind of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// The cloud's Keystone: a form for user name and password.
    Keystone,
    /// An OpenID Connect provider.
    Oidc,
}

/// What is wrong with the configured providers.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum ProviderError {
    #[error("gateway.providers.id {0:?} must be one lower-case DNS label")]
    Id(String),
    #[error("gateway.providers: two have the id {0:?}")]
    Twice(String),
    #[error("gateway.providers: only one entry may be of kind keystone")]
    TwoKeystones,
    #[error("gateway.providers {id}: {field} is needed for kind oidc")]
    Missing { id: String, field: &'static str },
    #[error("gateway.providers {id}: {field} belongs to kind oidc, not to keystone")]
    NotForKeystone { id: String, field: &'static str },
    #[error("gateway.providers {id}: hosts names {host:?}, which is neither main nor an app's id")]
    Host { id: String, host: String },
    #[error("gateway.providers {id}: {source}")]
    Settings {
        id: String,
        #[source]
        source: InvalidSettings,
    },
    #[error("gateway.providers {id}: federation.{source}")]
    Federation {
        id: String,
        #[source]
        source: InvalidFederation,
    },
    #[error(transparent)]
    Group(#[from] GroupError),
}

fn default_scopes() -> Vec<String> {
    vec!["profile".to_owned(), "email".to_owned()]
}

fn default_algorithms() -> Vec<Algorithm> {
    Algorithm::DEFAULT.to_vec()
}

fn default_timeout() -> Duration {
    Duration::from_secs(10)
}

fn default_skew() -> Duration {
    Duration::from_secs(60)
}

fn default_refresh_ahead() -> Duration {
    Duration::from_secs(60)
}

fn default_unrefreshed() -> Duration {
    Duration::from_secs(3600)
}

impl ProviderConfig {
    /// Returns whether the provider is offered for an app, or with `None` for the panel.
    pub fn is_offered_for(&self, app: Option<&str>) -> bool {
        let host = app.unwrap_or(MAIN_HOST);
        self.hosts.is_empty() || self.hosts.iter().any(|offered| offered == host)
    }

    /// Returns the settings of an OIDC provider, with the contents of its files.
    ///
    /// # Errors
    /// [`ProviderError::Missing`] without `issuer` or `client_id`, [`ProviderError::Settings`] for
    /// invalid settings.
    pub fn settings(
        &self,
        client_secret: Option<SecretString>,
        ca: Option<String>,
    ) -> Result<Settings, ProviderError> {
        let needed = |value: &Option<String>, field| {
            value.clone().ok_or_else(|| ProviderError::Missing {
                id: self.id.clone(),
                field,
            })
        };
        let settings = Settings {
            issuer: needed(&self.issuer, "issuer")?,
            client_id: needed(&self.client_id, "client_id")?,
            client_secret,
            scopes: self.scopes.clone(),
            claims: self.claims.clone(),
            audiences: self.audiences.clone(),
            algorithms: self.algorithms.clone(),
            api_audience: self.api_audience.clone(),
            endpoint_hosts: self.endpoint_hosts.clone(),
            userinfo: self.userinfo,
            ca,
            timeout: self.timeout,
            skew: self.clock_skew,
            key_interval: Duration::from_secs(30),
        };
        settings
            .validate()
            .map_err(|source| ProviderError::Settings {
                id: self.id.clone(),
                source,
            })?;
        Ok(settings)
    }

    /// Returns what rules about the provider's groups depend on; `None` unless it is an OIDC provider.
    pub fn group_source(&self) -> Option<GroupSource> {
        (self.kind == ProviderKind::Oidc).then(|| GroupSource {
            id: self.id.clone(),
            groups: !self.claims.groups.is_empty(),
            roles: !self.claims.roles.is_empty(),
        })
    }

    fn validate(&self, apps: &[AppConfig]) -> Result<(), ProviderError> {
        if !crate::config::is_label(&self.id) {
            return Err(ProviderError::Id(self.id.clone()));
        }
        for host in &self.hosts {
            if host != MAIN_HOST && !apps.iter().any(|app| app.id == *host) {
                return Err(ProviderError::Host {
                    id: self.id.clone(),
                    host: host.clone(),
                });
            }
        }
        if let Some(federation) = &self.federation {
            federation
                .validate()
                .map_err(|source| ProviderError::Federation {
                    id: self.id.clone(),
                    source,
                })?;
        }
        match self.kind {
            ProviderKind::Oidc => self.settings(None, None).map(drop),
            ProviderKind::Keystone => {
                for (field, given) in [
                    ("issuer", self.issuer.is_some()),
                    ("client_id", self.client_id.is_some()),
                    ("client_secret_file", self.client_secret_file.is_some()),
                    ("api_audience", self.api_audience.is_some()),
                    ("federation", self.federation.is_some()),
                ] {
                    if given {
                        return Err(ProviderError::NotForKeystone {
                            id: self.id.clone(),
                            field,
                        });
                    }
                }
                Ok(())
            }
        }
    }
}

/// Checks the providers, and that every rule about groups can be evaluated.
pub(crate) fn validate(
    providers: &[ProviderConfig],
    apps: &[AppConfig],
) -> Result<(), ProviderError> {
    let mut seen = HashSet::new();
    for provider in providers {
        provider.validate(apps)?;
        if !seen.insert(provider.id.as_str()) {
            return Err(ProviderError::Twice(provider.id.clone()));
        }
    }
    let is_keystone = |provider: &&ProviderConfig| provider.kind == ProviderKind::Keystone;
    if providers.iter().filter(is_keystone).count() > 1 {
        return Err(ProviderError::TwoKeystones);
    }
    let sources: Vec<GroupSource> = providers
        .iter()
        .filter_map(ProviderConfig::group_source)
        .collect();
    for app in apps {
        let of_list = app.allow_and_identity().filter_map(Rule::group);
        let of_rules = app.rules.iter().flat_map(RuleConfig::named);
        let of_rules = of_rules.filter_map(|who| match who {
            Who::Group(group) => Some(group),
            _ => None,
        });
        for group in of_list.chain(of_rules) {
            check_group(&app.id, group, &sources)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
