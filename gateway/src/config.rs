//! `[gateway]` and `[[apps]]`: the configuration that the gateway owns.
mod app;
mod app_hosts;
mod audit;
mod cluster_list;
mod connections;
mod error;
mod federation;
mod identity;
pub mod keystone;
pub(crate) mod limits;
mod provider;
mod stay;
pub mod upstream;

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use ipnet::IpNet;
use portico_domain::access::RoleInProject;
use portico_runtime::tls::{CertificateFiles, TlsVersion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

pub(crate) use app::PANEL_ID;
pub use app::{AppConfig, AppKind, KEYSTONE_BEARER, is_path_free};
pub use app_hosts::{AppHostError, HostCollision};
pub use audit::AuditConfig;
pub use cluster_list::ClusterListConfig;
pub use connections::ConnectionsConfig;
pub use error::ConfigError;
pub(crate) use federation::{
    CarriedToken, FederationAttribute, FederationConfig, InvalidFederation,
};
pub(crate) use identity::header_name;
pub use identity::{
    AppRole, Content, Fact, HeaderFrom, IdentityConfig, IdentityFault, IdentityKind,
};
pub use keystone::{KeystoneMethod, KeystoneSignIn, WebSso};
pub use limits::AppLimits;
pub use portico_proxy::config::{HealthConfig, LimitsConfig, UpstreamConfig};
pub use provider::{ProviderConfig, ProviderError, ProviderKind};
pub use stay::StaySignedIn;

/// `[gateway]`: sign-in, sessions and the reverse proxy.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GatewayConfig {
    /// Where the gateway listens.
    #[serde(default = "default_listen")]
    pub listen: SocketAddr,
    /// The address that users open; cookies, redirects and assertions contain it.
    pub public_url: Url,
    /// App `<id>` is served at `<id>.<apps_domain>`, with the scheme and port of `public_url`.
    pub apps_domain: String,
    /// Certificate chain (PEM), to serve HTTPS without a proxy in front.
    #[serde(default)]
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub tls_cert_file: Option<PathBuf>,
    /// Private key (PEM) of `tls_cert_file`.
    #[serde(default)]
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub tls_key_file: Option<PathBuf>,
    /// Certificates for other names, such as `*.apps.example.org`: a client gets the first one that
    /// is valid for the host it asks for, else that of `tls_cert_file`. All files are read again
    /// when they change.
    #[serde(default)]
    pub tls_certificates: Vec<CertificateFiles>,
    /// The minimum TLS version: `1.2` or `1.3`.
    #[serde(default)]
    pub tls_min_version: TlsVersion,
    /// Ed25519 key (PKCS#8 PEM) that signs identity for the panel and the apps. The file is read
    /// again when it changes; services that verify the signature must know the new public key
    /// before.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub assertion_key_file: PathBuf,
    /// Networks of proxies whose `X-Forwarded-*` headers are trusted. Empty: none.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub trusted_proxies: Vec<IpNet>,
    /// Networks whose clients are shown Portico's address when they use a wrong host name. Empty:
    /// none, so that scanners learn no names; `0.0.0.0/0` and `::/0`: all.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub tell_address_to: Vec<IpNet>,
    /// The address of the panel, as the gateway reaches it.
    pub panel_url: Url,
    /// X25519 public key of the panel: only it can open the Keystone token sent to it.
    pub panel_sealing_key_file: PathBuf,
    /// The ways to sign in with Keystone itself.
    #[serde(default)]
    pub keystone: KeystoneSignIn,
    /// How long sessions live.
    #[serde(default)]
    pub session: SessionConfig,
    /// OIDC providers that users sign in with. Empty: Keystone only.
    #[serde(default)]
    pub providers: Vec<ProviderConfig>,
    /// Limits of the reverse proxy.
    #[serde(default)]
    pub limits: LimitsConfig,
    /// Limits on what clients may keep open.
    #[serde(default)]
    pub connections: ConnectionsConfig,
    /// The audit log: retention, and who may read a project's entries.
    #[serde(default)]
    pub audit: AuditConfig,
    /// The list of enrolled clusters for kube-auth. Without it none is published.
    #[serde(default)]
    pub cluster_list: Option<ClusterListConfig>,
    /// Lists users on the sign-in page. For demonstrations only.
    #[serde(default)]
    pub demo: Option<DemoConfig>,
}

/// `[gateway.session]`: how long a session lasts. It also ends with its Keystone token.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SessionConfig {
    /// Ends a session that has not been used for this long.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub idle: Duration,
    /// Ends a session after this time, used or not.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub absolute: Duration,
    /// How often a session in use is validated at Keystone.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub validate_every: Duration,
    /// How long sessions continue with their last known roles while Keystone cannot be reached.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub stale_for: Duration,
    /// Whether users may choose to stay signed in, in one project, after their Keystone token has
    /// ended: `offered` creates an expiring application credential for each such session, `off`
    /// creates none.
    pub stay_signed_in: StaySignedIn,
    /// The maximum duration of such a session, at most one day; `absolute` applies too.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub stay_signed_in_for: Duration,
    /// Administrators of the cloud: who may list and end the sessions of every user at
    /// `/oauth2/sessions`. Empty: no one.
    pub admins: Vec<RoleInProject>,
}

/// `[gateway.demo]`: users that the sign-in page lists.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DemoConfig {
    /// File with the password that all listed users share.
    pub password_file: PathBuf,
    /// The listed users.
    pub users: Vec<DemoUser>,
}

/// A user listed on the demo's sign-in page.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DemoUser {
    /// The user's name in Keystone.
    pub name: String,
    /// A short description of the user.
    pub note: String,
}

fn default_listen() -> SocketAddr {
    SocketAddr::new(IpAddr::from([127, 0, 0, 1]), 8080)
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(2 * 3600),
            absolute: Duration::from_secs(12 * 3600),
            validate_every: Duration::from_secs(60),
            stale_for: Duration::from_secs(300),
            stay_signed_in: StaySignedIn::Off,
            stay_signed_in_for: Duration::from_secs(12 * 3600),
            admins: Vec::new(),
        }
    }
}

impl GatewayConfig {
    /// Checks what serde cannot, before any port is bound.
    ///
    /// # Errors
    /// Returns the first invalid setting.
    pub fn validate(&self, apps: &[AppConfig]) -> Result<(), ConfigError> {
        let url = &self.public_url;
        let bare = url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        let host = match url.host_str() {
            Some(host) if bare && matches!(url.scheme(), "http" | "https") => host,
            _ => return Err(ConfigError::PublicUrl(url.clone())),
        };
        if url.scheme() == "http" && self.tls_cert_file.is_some() {
            let authority = url.as_str().trim_start_matches("http://");
            let authority = authority.trim_end_matches('/').to_owned();
            return Err(ConfigError::PlainHttpWithTls(authority));
        }
        if url.scheme() == "http" && !is_loopback(host) {
            return Err(ConfigError::PlainHttp(host.to_owned()));
        }
        if self.apps_domain.eq_ignore_ascii_case(host) || !self.apps_domain.split('.').all(is_label)
        {
            return Err(ConfigError::AppsDomain(self.apps_domain.clone()));
        }
        let list = self.cluster_list.as_ref();
        if list.is_some_and(|list| list.signing_key_file == self.assertion_key_file) {
            return Err(ConfigError::ListKey);
        }
        if self.panel_url.scheme() != "http" || self.panel_url.host_str().is_none() {
            return Err(ConfigError::PanelUrl(self.panel_url.clone()));
        }
        if self.tls_cert_file.is_some() != self.tls_key_file.is_some()
            || (self.tls_cert_file.is_none() && !self.tls_certificates.is_empty())
        {
            return Err(ConfigError::HalfTls);
        }
        for (name, duration) in [
            ("session.idle", self.session.idle),
            ("session.absolute", self.session.absolute),
            ("session.validate_every", self.session.validate_every),
            (
                "session.stay_signed_in_for",
                self.session.stay_signed_in_for,
            ),
            ("limits.connect", self.limits.connect),
            ("limits.response", self.limits.response),
        ] {
            if duration.is_zero() {
                return Err(ConfigError::Zero(name));
            }
        }
        if self.session.stay_signed_in_for > stay::MAX_STAY_SIGNED_IN {
            return Err(ConfigError::LongStay);
        }
        if self.session.admins.iter().any(is_incomplete) {
            return Err(ConfigError::AdminRule);
        }
        if !self.audit.is_valid() {
            return Err(ConfigError::AuditRole);
        }
        self.connections.validate()?;
        self.keystone.validate()?;
        app::validate(apps)?;
        app_hosts::validate(apps, url, &self.apps_domain)?;
        limits::validate(apps)?;
        provider::validate(&self.providers, apps)?;
        app::validate_bearers(apps, &self.providers)
    }
}

fn is_incomplete(rule: &RoleInProject) -> bool {
    rule.role.is_empty() || rule.project.is_empty()
}

pub(crate) fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

pub(crate) fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host.ends_with(".localhost")
        || host
            .trim_matches(['[', ']'])
            .parse::<IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(public_url: &str, apps_domain: &str) -> GatewayConfig {
        serde_json::from_value(serde_json::json!({
            "public_url": public_url,
            "apps_domain": apps_domain,
            "assertion_key_file": "assertion.pem",
            "panel_url": "http://127.0.0.1:9190",
            "panel_sealing_key_file": "panel.pub",
        }))
        .expect("valid shape")
    }

    fn app(id: &str) -> AppConfig {
        serde_json::from_value(serde_json::json!({
            "id": id, "name": id, "project": "p1", "url": "http://127.0.0.1:9090",
            "allow": [{ "role": "k8s_admin", "project": "p1" }],
        }))
        .expect("valid shape")
    }

    #[test]
    fn the_demo_configuration_is_valid() {
        let config = config("http://localhost:8080", "apps.localhost");
        assert_eq!(config.validate(&[app("prometheus")]), Ok(()));
    }

    #[test]
    fn the_key_of_assertions_does_not_sign_the_cluster_list() {
        let mut config = config("http://localhost:8080", "apps.localhost");
        for (file, expected) in [
            ("list.pem", Ok(())),
            ("assertion.pem", Err(ConfigError::ListKey)),
        ] {
            let section = serde_json::json!({ "signing_key_file": file, "token_file": "token" });
            config.cluster_list = serde_json::from_value(section).expect("valid shape");
            assert_eq!(config.validate(&[]), expected, "{file}");
        }
    }

    #[test]
    fn plain_http_needs_a_loopback_host() {
        let config = config("http://portico.example.org", "apps.example.org");
        assert!(matches!(
            config.validate(&[]),
            Err(ConfigError::PlainHttp(_))
        ));
    }

    #[test]
    fn finding_o12_a_plain_public_url_beside_tls_files_is_refused_with_the_remedy() {
        for (url, remedy) in [
            (
                "http://localhost:8080",
                "write https://localhost:8080, or remove",
            ),
            (
                "http://portico.example.org",
                "write https://portico.example.org, or remove",
            ),
        ] {
            let mut config = config(url, "apps.example.org");
            config.tls_cert_file = Some("gateway.crt".into());
            config.tls_key_file = Some("gateway.key".into());
            let refused = config.validate(&[]).expect_err("refused").to_string();
            assert!(refused.contains(remedy), "{refused}");
            assert!(refused.contains("gateway.tls_cert_file"), "{refused}");
        }
        let mut config = config("https://portico.example.org", "apps.example.org");
        config.tls_cert_file = Some("gateway.crt".into());
        config.tls_key_file = Some("gateway.key".into());
        assert_eq!(config.validate(&[]), Ok(()));
    }

    #[test]
    fn a_public_url_with_a_path_or_user_is_refused() {
        for url in [
            "https://a.example/x",
            "https://u@a.example",
            "ftp://a.example",
        ] {
            let config = config(url, "apps.example");
            assert!(
                matches!(config.validate(&[]), Err(ConfigError::PublicUrl(_))),
                "{url}"
            );
        }
    }

    #[test]
    fn app_ids_are_dns_labels_and_unique() {
        let config = config("https://a.example", "apps.example");
        for id in ["", "Prom", "a.b", "-a", "a_b"] {
            assert!(
                matches!(config.validate(&[app(id)]), Err(ConfigError::AppId(_))),
                "{id}"
            );
        }
        assert!(matches!(
            config.validate(&[app("a"), app("a")]),
            Err(ConfigError::AppTwice(_))
        ));
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        let result: Result<SessionConfig, _> = serde_json::from_str(r#"{"idel": "2h"}"#);
        assert!(result.is_err());
    }
}
