//! `[[apps]]`: the apps behind the gateway, each on a host of its own or on a path of the panel's
//! host.
use std::{collections::HashSet, path::PathBuf};

use portico_access_policy::{AppPolicy, RuleConfig};
use portico_domain::access::Rule;
use portico_request::rewrite::{Rewrite, below};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::{
    AppLimits, ConfigError, IdentityConfig, ProviderConfig, ProviderKind, UpstreamConfig,
    is_incomplete, is_label, upstream,
};
use crate::own_paths;

/// The panel as an upstream and as the audience of assertions; no app can have this ID.
pub(crate) const PANEL_ID: &str = "panel";

/// The value for Keystone's tokens in `apps.bearer`.
pub const KEYSTONE_BEARER: &str = "keystone";

/// `[[apps]]`: a web application behind the gateway, on a host of its own.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppConfig {
    /// One DNS label: the first label of the app's host.
    pub id: String,
    /// The name shown to users.
    pub name: String,
    /// What the app is for, in one sentence.
    #[serde(default)]
    pub description: String,
    /// ID of the project that owns the app.
    pub project: String,
    /// The address of the app, as the gateway reaches it: `http://`, `https://` or `h2c://`
    /// (unencrypted HTTP/2) with host, port and an optional path, or `unix:/path/to.sock`. Several
    /// servers are listed in `upstream.backends` instead.
    #[serde(default)]
    pub url: Option<Url>,
    /// How the gateway connects to the app: TLS, timeouts, several servers, health checks, paths.
    #[serde(default)]
    pub upstream: UpstreamConfig,
    /// Serves the app under this path of the panel's host, such as `/grafana`, instead of a host of
    /// its own. The app's scripts can then do everything that the panel's can, so this needs
    /// `trusted`.
    #[serde(default)]
    pub path: Option<String>,
    /// Declares that the app's scripts may run on the panel's own origin, which a `path` implies.
    /// Never set it for an app of a tenant.
    #[serde(default)]
    pub trusted: bool,
    /// The app's host, with a port if it is not the default, where the app is not served at
    /// `<id>.<apps_domain>`.
    #[serde(default)]
    pub host: Option<String>,
    /// Another proxy serves the app and asks `/oauth2/auth` whether each request is permitted. That
    /// proxy forwards `/oauth2/` of the app's host to Portico, and its network is in
    /// `gateway.trusted_proxies`. Portico forwards no requests to `url`; if it is set, the
    /// launchpad checks there whether the app runs.
    #[serde(default)]
    pub forward_auth: bool,
    /// What the launchpad opens.
    #[serde(default)]
    pub kind: AppKind,
    /// Who may open the app: holders of a role in a project, or members of a group of an OIDC
    /// provider. Empty: no one.
    #[serde(default)]
    pub allow: Vec<Rule>,
    /// The bearer tokens that the app accepts from programs: `keystone` (project-scoped tokens, as
    /// `X-Auth-Token` or bearer token) or the ID of an OIDC provider with an `api_audience`. Empty:
    /// browsers only. The same rule (`allow`) applies as to users.
    #[serde(default)]
    pub bearer: Vec<String>,
    /// Rules that permit or refuse requests to the app, in addition to `allow`.
    #[serde(default)]
    pub rules: Vec<RuleConfig>,
    /// A file (TOML) with more rules as `[[rules]]`, and with `[[tests]]`. It is read again when it
    /// changes; a file that is invalid, or whose tests fail, changes nothing.
    #[serde(default)]
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub rules_file: Option<PathBuf>,
    /// Forwards CORS preflight requests to the app without a session. Only genuine preflights are
    /// forwarded.
    #[serde(default)]
    pub preflight: bool,
    /// Limits on the requests of one user.
    #[serde(default)]
    pub limits: AppLimits,
    /// How the user's identity is passed to the app.
    #[serde(default)]
    pub identity: IdentityConfig,
}

impl AppConfig {
    /// Returns the settings that decide about requests to the app.
    pub fn policy(&self) -> AppPolicy {
        AppPolicy {
            id: self.id.clone(),
            project: self.project.clone(),
            allow: self.allow.clone(),
            rules: self.rules.clone(),
            rules_file: self.rules_file.clone(),
            preflight: self.preflight,
            rewrite: Rewrite::new(
                self.upstream.strip_prefix.as_deref(),
                self.upstream.add_prefix.as_deref(),
            ),
        }
    }

    /// Returns every entry of `allow` and `identity` that refers to users.
    pub(crate) fn allow_and_identity(&self) -> impl Iterator<Item = &Rule> {
        self.allow.iter().chain(self.identity.rules())
    }
}

/// What is wrong with `apps.path`.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AppPathError {
    #[error(
        "apps.path of {0} puts its scripts on the panel's own origin: set trusted = true if they \
         may do there what the panel's may, or give it a host of its own"
    )]
    NotTrusted(String),
    #[error("apps.trusted of {0} needs apps.path")]
    OnlyWithPath(String),
    #[error(
        "apps.path of {0} must be a path such as /grafana: without a slash at the end, a query or \
         anything to be decoded"
    )]
    NoPath(String),
    #[error("apps.path of {0} begins like a path of the panel or the gateway")]
    Taken(String),
    #[error("apps.path of {0} and of {1}: one contains the other")]
    Nested(String, String),
    #[error(
        "apps.path of {0} is on the panel's host: an app with a host of its own, or that another \
         proxy serves (forward_auth), has none"
    )]
    HasHost(String),
}

impl AppConfig {
    /// Returns the addresses of the app's servers.
    pub fn addresses(&self) -> impl Iterator<Item = &Url> {
        self.url.iter().chain(&self.upstream.backends)
    }

    /// Returns the address of the app's first server.
    pub fn address(&self) -> Option<&Url> {
        self.addresses().next()
    }
}

impl AppKind {
    /// Returns the path that is requested first: by the browser, or by the panel for its page about
    /// the app.
    pub fn first_path(self) -> &'static str {
        match self {
            Self::Web => "/",
            Self::Registry => "/v2/_catalog",
            Self::Alertmanager => "/api/v2/alerts",
        }
    }
}

impl AppConfig {
    /// Returns the path that is requested first, as on the app's host.
    pub fn first_path(&self) -> String {
        let own = self.path.as_deref().unwrap_or_default();
        format!("{own}{}", self.kind.first_path())
    }

    /// Returns the URL to open in a browser: the page that explains why the app is not accessible,
    /// or leads to access.
    pub fn first_url(&self, public: &Url, apps_domain: &str) -> Url {
        let mut url = match &self.path {
            Some(_) => public.clone(),
            None => self.origin(public, apps_domain),
        };
        url.set_path(&self.first_path());
        url
    }

    /// Returns whether a path of the app's host belongs to the app: every path of a host of its
    /// own, or the paths below `apps.path` on the main host.
    pub fn has_path(&self, path: &str) -> bool {
        let own = self.path.as_deref();
        own.is_none_or(|own| below(path, own).is_some())
    }

    /// Returns the origin of the app's host, with the scheme of the public URL.
    pub fn origin(&self, public: &Url, apps_domain: &str) -> Url {
        let usual = format!("{}.{apps_domain}", self.id);
        let (host, port) = match self.host.as_deref().and_then(host_and_port) {
            Some((host, port)) => (host, port.or(public.port())),
            None => (usual.as_str(), public.port()),
        };
        let mut origin = public.clone();
        // neither call fails: validation has checked that this is a host name
        let _ = origin.set_host(Some(host));
        let _ = origin.set_port(port);
        origin
    }

    /// Returns the host of the app, with the port unless it is the scheme's default:
    /// `registry.apps.example.org`, `registry.apps.localhost:8080`. Returns `None` for an app under
    /// a path of the panel's host.
    pub fn authority(&self, public: &Url, apps_domain: &str) -> Option<String> {
        if self.path.is_some() {
            return None;
        }
        let origin = self.origin(public, apps_domain);
        let host = origin.host_str()?;
        Some(match origin.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        })
    }
}

pub(super) fn host_and_port(text: &str) -> Option<(&str, Option<u16>)> {
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
    /// An app with a user interface of its own.
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
        // assertions for the panel hold more than an app may know
        if app.id == PANEL_ID {
            return Err(ConfigError::AppIsPanel);
        }
        if !seen.insert(app.id.as_str()) {
            return Err(ConfigError::AppTwice(app.id.clone()));
        }
        upstream::validate(app)?;
        if app.allow.iter().any(is_incomplete_rule) {
            return Err(ConfigError::AppRule(app.id.clone()));
        }
        app.policy()
            .check()
            .map_err(|error| ConfigError::Rules(error.to_string()))?;
        app.identity
            .validate()
            .map_err(|fault| ConfigError::AppIdentity(app.id.clone(), fault))?;
    }
    Ok(validate_paths(apps)?)
}

fn validate_paths(apps: &[AppConfig]) -> Result<(), AppPathError> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for app in apps {
        let id = || app.id.clone();
        let Some(path) = &app.path else {
            if app.trusted {
                return Err(AppPathError::OnlyWithPath(id()));
            }
            continue;
        };
        if !app.trusted {
            return Err(AppPathError::NotTrusted(id()));
        }
        if app.host.is_some() || app.forward_auth {
            return Err(AppPathError::HasHost(id()));
        }
        if !upstream::is_prefix(path) {
            return Err(AppPathError::NoPath(id()));
        }
        if !is_path_free(path) {
            return Err(AppPathError::Taken(id()));
        }
        let nested = |other: &str| below(path, other).is_some() || below(other, path).is_some();
        if let Some((other, _)) = seen.iter().find(|(_, other)| nested(other)) {
            return Err(AppPathError::Nested(id(), (*other).to_owned()));
        }
        seen.push((&app.id, path));
    }
    Ok(())
}

/// Returns whether neither the panel nor the gateway serves anything below a path of the main host.
pub fn is_path_free(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next();
    first.is_some_and(|first| !first.is_empty() && !own_paths::is_reserved_segment(first))
}

/// Checks that each entry of `apps.bearer` is `keystone` or an existing provider that issues tokens
/// for APIs.
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
                // the entry would be ambiguous
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

pub(super) fn is_incomplete_rule(rule: &Rule) -> bool {
    match rule {
        Rule::Role(rule) => is_incomplete(rule),
        Rule::Group(rule) => rule.group.is_empty() || rule.provider.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::app_hosts;
    use crate::config::app_hosts::AppHostError;
    use serde_json::{Value, json};

    fn app(id: &str, more: Value) -> AppConfig {
        let mut whole = json!({ "id": id, "name": id, "project": "p", "url": "http://a" });
        for (key, value) in more.as_object().expect("object") {
            whole[key] = value.clone();
        }
        serde_json::from_value(whole).expect("shape")
    }

    fn at(path: &str) -> AppConfig {
        app("a", json!({ "path": path, "trusted": true }))
    }

    #[test]
    fn a_path_needs_trust_in_words() {
        let untrusted = app("a", json!({ "path": "/grafana" }));
        let refused = AppPathError::NotTrusted("a".to_owned());
        assert_eq!(validate_paths(&[untrusted]), Err(refused));
        let nothing = app("a", json!({ "trusted": true }));
        let refused = AppPathError::OnlyWithPath("a".to_owned());
        assert_eq!(validate_paths(&[nothing]), Err(refused));
        for elsewhere in [
            json!({ "host": "a.example" }),
            json!({ "forward_auth": true }),
        ] {
            let mut two_places = at("/grafana");
            two_places.host = elsewhere["host"].as_str().map(str::to_owned);
            two_places.forward_auth = elsewhere["forward_auth"] == true;
            let refused = AppPathError::HasHost("a".to_owned());
            assert_eq!(validate_paths(&[two_places]), Err(refused));
        }
        assert_eq!(validate_paths(&[at("/grafana")]), Ok(()));
        assert_eq!(validate_paths(&[at("/tools/grafana")]), Ok(()));
    }

    #[test]
    fn a_host_is_a_name_and_one_apps_only() {
        let public: Url = "https://portico.example.org".parse().expect("url");
        let check = |apps: &[AppConfig]| app_hosts::validate(apps, &public, "apps.example.org");
        let with = |id: &str, host: &str| app(id, json!({ "host": host }));
        for host in [
            "grafana.example.org",
            "grafana.example.org:8443",
            "localhost",
        ] {
            assert_eq!(check(&[with("a", host)]), Ok(()), "{host}");
        }
        for host in [
            "",
            "Grafana.example.org",
            "https://grafana.example.org",
            "grafana.example.org/x",
            "grafana.example.org:x",
            "u@grafana.example.org",
            "grafana..org",
        ] {
            let refused = AppHostError::NotAName("a".to_owned(), host.to_owned());
            assert_eq!(check(&[with("a", host)]), Err(refused), "{host}");
        }
        let origin = |app: &AppConfig| app.origin(&public, "apps.example.org").to_string();
        let usual = app("a", json!({}));
        assert_eq!(origin(&usual), "https://a.apps.example.org/");
        let own = with("a", "grafana.example.org:8443");
        assert_eq!(origin(&own), "https://grafana.example.org:8443/");
    }

    #[test]
    fn finding_p23_the_host_of_an_app_has_its_port_where_one_is_needed() {
        let authority = |app: &AppConfig, public: &str| {
            app.authority(&public.parse().expect("url"), "apps.example.org")
        };
        let usual = app("registry", json!({ "kind": "registry" }));
        for (public, host) in [
            ("https://portico.example.org", "registry.apps.example.org"),
            (
                "https://portico.example.org:443",
                "registry.apps.example.org",
            ),
            (
                "http://portico.example.org:8080",
                "registry.apps.example.org:8080",
            ),
        ] {
            assert_eq!(authority(&usual, public).as_deref(), Some(host));
        }
        let own = app("registry", json!({ "host": "images.example.org:5000" }));
        let host = authority(&own, "https://portico.example.org");
        assert_eq!(host.as_deref(), Some("images.example.org:5000"));
        assert_eq!(
            authority(&at("/registry"), "https://portico.example.org"),
            None
        );
    }

    #[test]
    fn no_path_of_ours_can_be_taken() {
        for path in [
            "/oauth2",
            "/oauth2/x",
            "/OAuth2",
            "/ping",
            "/ready/x",
            "/.well-known",
            "/api/v1",
            "/projects",
            "/projects/p1",
            "/apps",
            "/apps/grafana",
            "/pkg",
            "/favicon.svg",
        ] {
            let refused = AppPathError::Taken("a".to_owned());
            assert_eq!(validate_paths(&[at(path)]), Err(refused), "{path}");
        }
        for path in ["", "/", "grafana", "/grafana/", "/a/../b", "/%61pi"] {
            let refused = AppPathError::NoPath("a".to_owned());
            assert_eq!(validate_paths(&[at(path)]), Err(refused), "{path}");
        }
    }

    #[test]
    fn no_two_apps_share_a_path() {
        let other = |path: &str| app("b", json!({ "path": path, "trusted": true }));
        for path in ["/g", "/g/h"] {
            let refused = AppPathError::Nested("b".to_owned(), "a".to_owned());
            assert_eq!(validate_paths(&[at("/g"), other(path)]), Err(refused));
            let turned = AppPathError::Nested("a".to_owned(), "b".to_owned());
            assert_eq!(validate_paths(&[other(path), at("/g")]), Err(turned));
        }
        assert_eq!(validate_paths(&[at("/g"), other("/gh")]), Ok(()));
    }
}
