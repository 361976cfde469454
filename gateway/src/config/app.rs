//! `[[apps]]`: what is behind the gateway, each on a host of its own.
use std::{collections::HashSet, path::PathBuf};

use portico_domain::access::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::{
    ConfigError, ProviderConfig, ProviderKind, is_incomplete, is_label, rules::RuleConfig,
};

/// The word for Keystone's tokens in `apps.bearer`.
pub const KEYSTONE_BEARER: &str = "keystone";

/// `[[apps]]`: a web application behind the gateway, on a host of its own.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppConfig {
    /// One DNS label: the first of the app's host.
    pub id: String,
    /// The name that people see.
    pub name: String,
    /// What it is for, in one sentence.
    #[serde(default)]
    pub description: String,
    /// ID of the project that owns the app.
    pub project: String,
    /// The app, as the gateway reaches it.
    pub url: Url,
    /// What the launchpad opens.
    #[serde(default)]
    pub kind: AppKind,
    /// Who may open it: by a role in a project, or by a group of an OIDC provider. Empty: nobody.
    #[serde(default)]
    pub allow: Vec<Rule>,
    /// Whose bearer tokens programs may come with: `keystone` (project-scoped tokens, as
    /// `X-Auth-Token` or bearer) or the ID of an OIDC provider with an `api_audience`. Empty:
    /// browsers only. The rule (`allow`) is the same as for people.
    #[serde(default)]
    pub bearer: Vec<String>,
    /// What may be asked of the app beyond `allow`, and what may not.
    #[serde(default)]
    pub rules: Vec<RuleConfig>,
    /// A file (TOML) with more of them as `[[rules]]`, and with `[[tests]]`. It is read again when it
    /// changes; one that cannot be used, or whose tests fail, changes nothing.
    #[serde(default)]
    pub rules_file: Option<PathBuf>,
    /// Passes CORS preflights on to the app, without a session: real ones only.
    #[serde(default)]
    pub preflight: bool,
}

/// How the panel presents an app.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AppKind {
    /// It has a user interface of its own.
    #[default]
    Web,
    /// A container registry: the panel lists repositories and tags.
    Registry,
    /// Alertmanager: the panel lists alerts.
    Alertmanager,
}

/// Checks what serde cannot.
pub(super) fn validate(apps: &[AppConfig]) -> Result<(), ConfigError> {
    let mut seen = HashSet::new();
    for app in apps {
        if !is_label(&app.id) {
            return Err(ConfigError::AppId(app.id.clone()));
        }
        if !seen.insert(app.id.as_str()) {
            return Err(ConfigError::AppTwice(app.id.clone()));
        }
        if app.url.scheme() != "http" || app.url.host_str().is_none() {
            return Err(ConfigError::AppUrl(app.id.clone(), app.url.clone()));
        }
        if app.allow.iter().any(is_incomplete_rule) {
            return Err(ConfigError::AppRule(app.id.clone()));
        }
        crate::rules::check(app).map_err(|error| ConfigError::Rules(error.to_string()))?;
    }
    Ok(())
}

/// Checks that whoever is named in `apps.bearer` exists and issues tokens for APIs.
pub(super) fn validate_bearers(
    apps: &[AppConfig],
    providers: &[ProviderConfig],
) -> Result<(), ConfigError> {
    let provider = |id: &str| {
        let mut providers = providers.iter();
        providers.find(|provider| provider.id == id && provider.kind == ProviderKind::Oidc)
    };
    for app in apps {
        for issuer in &app.bearer {
            let known = match provider(issuer) {
                // which of the two is meant could not be said
                Some(_) if issuer == KEYSTONE_BEARER => false,
                Some(provider) => provider.api_audience.is_some(),
                None => issuer == KEYSTONE_BEARER,
            };
            if !known {
                return Err(ConfigError::AppBearer(app.id.clone(), issuer.clone()));
            }
        }
    }
    Ok(())
}

fn is_incomplete_rule(rule: &Rule) -> bool {
    match rule {
        Rule::Role(rule) => is_incomplete(rule),
        Rule::Group(rule) => rule.group.is_empty() || rule.provider.is_empty(),
    }
}
