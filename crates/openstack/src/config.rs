//! The section `[keystone]` of the configuration.
use crate::keystone::service_account::{InvalidServiceAccount, ServiceAccountConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// `[keystone]`: the cloud's identity service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeystoneConfig {
    /// The identity API v3, `https://host:port/v3`.
    pub url: Url,
    /// Certificate authorities (PEM) to trust instead of the public ones.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// The domain of users who name none at sign-in.
    #[serde(default = "default_domain")]
    pub default_domain: String,
    /// How long one call may take, connecting included.
    #[serde(default = "default_timeout", with = "humantime_serde")]
    #[schemars(with = "String")]
    pub timeout: Duration,
    /// The account for what a user's own token cannot do; `portico kube-auth sync` needs it.
    #[serde(default)]
    pub service_account: Option<ServiceAccountConfig>,
}

fn default_domain() -> String {
    "Default".to_owned()
}

fn default_timeout() -> Duration {
    Duration::from_secs(5)
}

/// Why the section cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidConfig {
    #[error("keystone.url must be http or https and end with /v3")]
    Url,
    #[error("keystone.timeout must be between 100ms and 20s")]
    Timeout,
    #[error("keystone.default_domain must not be empty")]
    DefaultDomain,
    #[error("keystone.service_account: {0}")]
    ServiceAccount(#[from] InvalidServiceAccount),
}

impl KeystoneConfig {
    /// The section for a Keystone at `url`, everything else at its default.
    pub fn new(url: Url) -> Self {
        Self {
            url,
            ca_file: None,
            default_domain: default_domain(),
            timeout: default_timeout(),
            service_account: None,
        }
    }

    /// Checks what types cannot.
    ///
    /// # Errors
    /// With the first setting that cannot be used.
    pub fn validate(&self) -> Result<(), InvalidConfig> {
        let path = self.url.path().trim_end_matches('/');
        if !matches!(self.url.scheme(), "http" | "https")
            || !self.url.has_host()
            || !path.ends_with("/v3")
            || self.url.query().is_some()
            || !self.url.username().is_empty()
            || self.url.password().is_some()
        {
            return Err(InvalidConfig::Url);
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
