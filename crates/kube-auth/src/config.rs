//! The configuration section `[kube_auth]`.
use portico_runtime::conditional_get::is_private;
use portico_runtime::tls::{ClientAuth, TlsFiles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

/// The longest time that a response of Keystone may be cached.
pub const MAX_CACHE_TTL: Duration = Duration::from_secs(30);

/// `[kube_auth]`: the webhook for Kubernetes API servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KubeAuthConfig {
    /// The address to listen on.
    #[serde(default = "default_listen")]
    pub listen: SocketAddr,
    /// The certificate chain (PEM), for the name or address that API servers connect to.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub tls_cert_file: PathBuf,
    /// Its private key (PEM).
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub tls_key_file: PathBuf,
    /// The authority (PEM) of the API servers' client certificates.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub client_ca_file: PathBuf,
    /// Private X25519 keys. The first is the current one; the others are retired but still open
    /// what was sealed to them. Remove a key 15 minutes after it was last used for sealing.
    pub key_files: Vec<PathBuf>,
    /// How long a response of Keystone is cached, at most 30 s. A revoked token works for this
    /// long, plus the API server's own cache, plus 10 s.
    #[serde(default = "default_cache_ttl", with = "humantime_serde")]
    #[schemars(with = "String")]
    pub cache_ttl: Duration,
    /// Whether tokens are validated with `[keystone.service_account]` instead of with each token
    /// itself: for clouds that do not let a token validate itself, and for trusts that impersonate
    /// the trustor. The account needs the role `service`, and no other.
    #[serde(default)]
    pub ask_with_service_account: bool,
    /// The maximum number of tokens per second that Keystone validates for one cluster. Further
    /// reviews get 503 Service Unavailable, so that a flood of requests from one cluster does not
    /// affect the others.
    #[serde(default = "default_keystone_calls_per_second")]
    pub keystone_calls_per_second: NonZeroU32,
    /// The signed list of the clusters that users enrolled. Without it only the clusters of the
    /// configuration file are served.
    #[serde(default)]
    pub cluster_list: Option<ClusterListConfig>,
}

/// `[kube_auth.cluster_list]`: the clusters that users enrolled, fetched from the gateway every 10
/// seconds. Those of the configuration file have precedence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterListConfig {
    /// The gateway's base URL, as reached by kube-auth; the list is at
    /// `/.well-known/portico-clusters` below it. Redirects are not followed.
    pub url: String,
    /// The gateway's public URL, which is the issuer in the list. Default: `url`.
    #[serde(default)]
    pub issuer: Option<String>,
    /// The public keys (PEM, one after the other) of which one must have signed the list: the
    /// counterparts of `gateway.cluster_list.signing_key_file`. During a rotation both keys.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub keys_file: PathBuf,
    /// The token with which kube-auth asks for the list: the same as in
    /// `gateway.cluster_list.token_file`, at least 32 characters. Read at the start.
    pub token_file: PathBuf,
    /// The authority (PEM) of the gateway's certificate. Default: the public authorities.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// A file for the last good list. With it, enrolled clusters are served after a restart while
    /// the gateway cannot be reached, and an older list is refused. It holds no secret.
    #[serde(default)]
    pub state_file: Option<PathBuf>,
}

impl ClusterListConfig {
    /// Returns the issuer that a list must name.
    pub(crate) fn issuer(&self) -> &str {
        let issuer = self.issuer.as_ref().unwrap_or(&self.url);
        issuer.trim_end_matches('/')
    }
}

fn default_listen() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 9443).into()
}

fn default_keystone_calls_per_second() -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(199)
}

fn default_cache_ttl() -> Duration {
    Duration::from_secs(10)
}

/// The reason why the section cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidConfig {
    #[error("kube_auth.cache_ttl must be at most 30s")]
    CacheTtl,
    #[error("kube_auth.key_files must name at least one key")]
    KeyFiles,
    #[error(
        "kube_auth.cluster_list.url must begin with https://, as kube-auth sends its token there; \
         http:// is accepted for loopback addresses only"
    )]
    ListUrl,
}

impl KubeAuthConfig {
    /// Checks constraints that the types do not express.
    ///
    /// # Errors
    /// The first setting that cannot be used.
    pub fn validate(&self) -> Result<(), InvalidConfig> {
        if self.cache_ttl > MAX_CACHE_TTL {
            return Err(InvalidConfig::CacheTtl);
        }
        if self.key_files.is_empty() {
            return Err(InvalidConfig::KeyFiles);
        }
        if self
            .cluster_list
            .as_ref()
            .is_some_and(|list| !is_private(&list.url))
        {
            return Err(InvalidConfig::ListUrl);
        }
        Ok(())
    }

    /// Returns the listener's TLS files: a client certificate is required.
    pub fn tls_files(&self) -> TlsFiles {
        TlsFiles {
            cert_file: self.tls_cert_file.clone(),
            key_file: self.tls_key_file.clone(),
            client_ca_file: Some(self.client_ca_file.clone()),
            client_auth: ClientAuth::Required,
            ..TlsFiles::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(extra: &str) -> Result<KubeAuthConfig, serde_json::Error> {
        serde_json::from_str(&format!(
            r#"{{"tls_cert_file": "c", "tls_key_file": "k", "client_ca_file": "a",
                "key_files": ["kube-auth-1.key"]{extra}}}"#
        ))
    }

    #[test]
    fn the_defaults_are_short_and_local() {
        let config = parsed("").unwrap();
        assert_eq!(config.cache_ttl, Duration::from_secs(10));
        assert!(config.listen.ip().is_loopback());
        assert_eq!(config.validate(), Ok(()));
    }

    #[test]
    fn a_cache_longer_than_the_stated_bound_is_refused() {
        let config = parsed(r#", "cache_ttl": "31s""#).unwrap();
        assert_eq!(config.validate(), Err(InvalidConfig::CacheTtl));
    }

    #[test]
    fn the_issuer_of_the_list_is_its_address_unless_it_is_named() {
        let list = |extra: &str| {
            let section = format!(
                r#", "cluster_list": {{"url": "https://10.0.0.7/", "keys_file": "k",
                    "token_file": "t"{extra}}}"#
            );
            parsed(&section).unwrap().cluster_list.unwrap()
        };
        assert_eq!(list("").issuer(), "https://10.0.0.7");
        let named = list(r#", "issuer": "https://portico.example.org""#);
        assert_eq!(named.issuer(), "https://portico.example.org");
    }

    #[test]
    fn the_token_of_the_list_goes_over_tls_or_stays_on_the_machine() {
        let validated = |url: &str| {
            let section = format!(
                r#", "cluster_list": {{"url": "{url}", "keys_file": "k", "token_file": "t"}}"#
            );
            parsed(&section).unwrap().validate()
        };
        for good in [
            "https://portico.example.org",
            "https://10.0.0.7:8443/",
            "http://127.0.0.1:8080",
            "http://[::1]:8080",
            "http://localhost",
            "http://portico.localhost:8080/",
        ] {
            assert_eq!(validated(good), Ok(()), "{good}");
        }
        for bad in [
            "portico",
            "http://portico.example.org",
            "http://10.0.0.7",
            "http://localhost.example.org",
            "http://127.0.0.1.example.org",
            "http://127.0.0.1@example.org",
            "ftp://127.0.0.1",
            "https://",
        ] {
            assert_eq!(validated(bad), Err(InvalidConfig::ListUrl), "{bad}");
        }
        let message = InvalidConfig::ListUrl.to_string();
        assert!(message.starts_with("kube_auth.cluster_list.url must"));
    }

    #[test]
    fn a_list_needs_a_token() {
        let section = r#", "cluster_list": {"url": "https://10.0.0.7", "keys_file": "k"}"#;
        let refused = parsed(section).unwrap_err().to_string();
        assert!(refused.contains("token_file"), "{refused}");
    }

    #[test]
    fn unknown_keys_are_errors() {
        assert!(parsed(r#", "cache_tll": "10s""#).is_err());
    }
}
