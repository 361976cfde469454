//! `[[apps]]`: what is behind the gateway, each on a host of its own.
use std::collections::HashSet;

use portico_domain::access::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::{ConfigError, ProviderConfig, ProviderKind, is_incomplete, is_label};

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
    /// The app, as the gateway reaches it. With `forward_auth` nothing is passed on to it; the
    /// launchpad looks there whether it runs.
    pub url: Url,
    /// The app's host, with a port if it has one of its own, where it does not live at
    /// `<id>.<apps_domain>`.
    #[serde(default)]
    pub host: Option<String>,
    /// Another proxy serves the app and asks `/oauth2/auth` who may see it. That proxy passes
    /// `/oauth2/` of the app's host on to Portico, and its network is in `gateway.trusted_proxies`.
    #[serde(default)]
    pub forward_auth: bool,
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
}

impl AppConfig {
    /// The address of the app's host, with the scheme of the public one.
    pub fn origin(&self, public: &Url, apps_domain: &str) -> Url {
        let usual = format!("{}.{apps_domain}", self.id);
        let (host, port) = match self.host.as_deref().and_then(host_and_port) {
            Some((host, port)) => (host, port.or(public.port())),
            None => (usual.as_str(), public.port()),
        };
        let mut origin = public.clone();
        // neither fails: validation has seen to it that this is a host name
        let _ = origin.set_host(Some(host));
        let _ = origin.set_port(port);
        origin
    }
}

fn host_and_port(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match text.split_once(':') {
        Some((host, port)) => (host, Some(port.parse().ok()?)),
        None => (text, None),
    };
    host.split('.').all(is_label).then_some((host, port))
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
    }
    Ok(())
}

/// Checks that each host is a name, and one app's only.
pub(super) fn validate_hosts(
    apps: &[AppConfig],
    public: &Url,
    apps_domain: &str,
) -> Result<(), ConfigError> {
    let mut seen = HashSet::from([public.host_str().unwrap_or_default().to_ascii_lowercase()]);
    for app in apps {
        let text = app.host.as_deref();
        let origin = app.origin(public, apps_domain);
        let host = origin.host_str().unwrap_or_default().to_ascii_lowercase();
        if text.is_some_and(|text| host_and_port(text).is_none()) || !seen.insert(host) {
            let text = text.unwrap_or(apps_domain).to_owned();
            return Err(ConfigError::AppHost(app.id.clone(), text));
        }
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
