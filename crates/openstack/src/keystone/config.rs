//! The configuration section `[keystone]`.
use super::service_account::{InvalidServiceAccount, ServiceAccountConfig};
use crate::http::is_private;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// `[keystone]`: the cloud's identity service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeystoneConfig {
    /// The identity API v3, `https://host:port/v3`.
    pub url: Url,
    /// Other endpoints of the same Keystone, tried in this order if the previous ones do not
    /// respond.
    #[serde(default)]
    pub fallback_urls: Vec<Url>,
    /// Whether plain HTTP to a Keystone on another machine is allowed. Any observer of that network
    /// can read every password and token.
    #[serde(default)]
    pub allow_plain_http: bool,
    /// Certificate authorities (PEM) to trust instead of the public ones.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// The domain of users who enter none at sign-in.
    #[serde(default = "default_domain")]
    pub default_domain: String,
    /// Time limit for one call, connecting and other endpoints included.
    #[serde(default = "default_timeout", with = "humantime_serde")]
    #[schemars(with = "String")]
    pub timeout: Duration,
    /// The service account for calls that a user's own token cannot make; `portico kube-auth sync`
    /// needs it.
    #[serde(default)]
    pub service_account: Option<ServiceAccountConfig>,
}

/// Maximum number of fallback URLs: each gets its share of the timeout.
const MAX_FALLBACKS: usize = 7;

fn default_domain() -> String {
    "Default".to_owned()
}

fn default_timeout() -> Duration {
    Duration::from_secs(5)
}

/// The reason why the section cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidConfig {
    #[error("keystone.url must be http or https and end with /v3")]
    Url,
    #[error("keystone.fallback_urls: each must be http or https and end with /v3")]
    FallbackUrl,
    #[error(
        "keystone.fallback_urls: at most 7, each different from the others and from keystone.url"
    )]
    FallbackUrls,
    #[error(
        "keystone.url: passwords and tokens would cross the network in the clear; use https, or set keystone.allow_plain_http"
    )]
    PlainHttp,
    #[error("keystone.timeout must be between 100ms and 20s")]
    Timeout,
    #[error("keystone.default_domain must not be empty")]
    DefaultDomain,
    #[error("keystone.service_account: {0}")]
    ServiceAccount(#[from] InvalidServiceAccount),
}

impl KeystoneConfig {
    /// Returns the section for a Keystone at `url`, with defaults for everything else.
    pub fn new(url: Url) -> Self {
        Self {
            url,
            fallback_urls: Vec::new(),
            allow_plain_http: false,
            ca_file: None,
            default_domain: default_domain(),
            timeout: default_timeout(),
            service_account: None,
        }
    }

    /// Returns every endpoint, in the order in which they are tried.
    pub fn urls(&self) -> impl Iterator<Item = &Url> {
        std::iter::once(&self.url).chain(&self.fallback_urls)
    }

    /// Checks constraints that the types do not express.
    ///
    /// # Errors
    /// The first setting that cannot be used.
    pub fn validate(&self) -> Result<(), InvalidConfig> {
        if !is_identity_api(&self.url) {
            return Err(InvalidConfig::Url);
        }
        if !self.fallback_urls.iter().all(is_identity_api) {
            return Err(InvalidConfig::FallbackUrl);
        }
        if !self.allow_plain_http && !self.urls().all(is_private) {
            return Err(InvalidConfig::PlainHttp);
        }
        let different: HashSet<&Url> = self.urls().collect();
        if self.fallback_urls.len() > MAX_FALLBACKS
            || different.len() != self.fallback_urls.len() + 1
        {
            return Err(InvalidConfig::FallbackUrls);
        }
        // a TokenReview waits for this, and the API server gives up after 30 s
        if !(Duration::from_millis(100)..=Duration::from_secs(20)).contains(&self.timeout) {
            return Err(InvalidConfig::Timeout);
        }
        if self.default_domain.is_empty() {
            return Err(InvalidConfig::DefaultDomain);
        }
        if let Some(account) = &self.service_account {
            account.credentials(&self.default_domain)?;
        }
        Ok(())
    }
}

fn is_identity_api(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.path().trim_end_matches('/').ends_with("/v3")
        && url.query().is_none()
        && url.username().is_empty()
        && url.password().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_url(url: &str) -> KeystoneConfig {
        KeystoneConfig::new(Url::parse(url).unwrap())
    }

    #[test]
    fn only_the_identity_api_v3_is_accepted() {
        for (url, valid) in [
            ("https://keystone.example.org/v3", true),
            ("https://cloud.example.org/identity/v3/", true),
            ("http://127.0.0.1:5000/v3", true),
            ("https://keystone.example.org/v2.0", false),
            ("https://keystone.example.org", false),
            ("ftp://keystone.example.org/v3", false),
            ("https://user:pw@keystone.example.org/v3", false),
            ("https://keystone.example.org/v3?x=1", false),
        ] {
            assert_eq!(with_url(url).validate().is_ok(), valid, "{url}");
        }
    }

    #[test]
    fn plain_http_stays_on_this_machine_unless_it_is_allowed() {
        for (url, private) in [
            ("http://127.0.0.1:5000/v3", true),
            ("http://[::1]:5000/v3", true),
            ("http://keystone.localhost/v3", true),
            ("https://keystone.example.org/v3", true),
            ("http://keystone.example.org/v3", false),
            ("http://10.0.0.5:5000/v3", false),
            ("http://169.254.169.254/v3", false),
            ("http://localhost.example.org/v3", false),
        ] {
            let mut config = with_url(url);
            let expected = if private {
                Ok(())
            } else {
                Err(InvalidConfig::PlainHttp)
            };
            assert_eq!(config.validate(), expected, "{url}");
            config.allow_plain_http = true;
            assert_eq!(config.validate(), Ok(()), "{url}");
        }
        let mut config = with_url("https://keystone.example.org/v3");
        config.fallback_urls = vec!["http://10.0.0.5:5000/v3".parse().unwrap()];
        assert_eq!(config.validate(), Err(InvalidConfig::PlainHttp));
    }

    #[test]
    fn fallbacks_are_other_endpoints_of_the_same_kind() {
        let with = |fallbacks: &[&str]| {
            let mut config = with_url("https://keystone-1.example.org/v3");
            config.fallback_urls = fallbacks.iter().map(|url| url.parse().unwrap()).collect();
            config.validate()
        };
        let second = "https://keystone-2.example.org/v3";
        assert_eq!(with(&[second]), Ok(()));
        assert_eq!(
            with(&[second, "https://keystone-3.example.org/"]),
            Err(InvalidConfig::FallbackUrl)
        );
        for same in [
            &["https://keystone-1.example.org/v3"][..],
            &[second, second],
        ] {
            assert_eq!(with(same), Err(InvalidConfig::FallbackUrls));
        }
    }

    #[test]
    fn a_timeout_longer_than_the_api_server_waits_is_refused() {
        let mut config = with_url("http://127.0.0.1:5000/v3");
        config.timeout = Duration::from_secs(31);
        assert_eq!(config.validate(), Err(InvalidConfig::Timeout));
    }

    #[test]
    fn unknown_keys_are_errors() {
        let section = r#"{"url": "http://127.0.0.1:5000/v3", "timeout": "2s", "tiemout": "3s"}"#;
        assert!(serde_json::from_str::<KeystoneConfig>(section).is_err());
    }
}
