//! `[panel]`: the configuration of the panel's server.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};
use url::Url;

/// `[panel]`: the pages behind the gateway.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanelConfig {
    /// Where the panel listens; only the gateway should reach it.
    #[serde(default = "default_listen")]
    pub listen: SocketAddr,
    /// X25519 private key: opens the Keystone tokens that the gateway sends along.
    pub private_key_file: PathBuf,
    /// Public keys (PEM) of gateways. Empty: that of `gateway.assertion_key_file`, where both
    /// run in one process.
    #[serde(default)]
    pub assertion_public_key_files: Vec<PathBuf>,
    /// The built browser half of the panel.
    #[serde(default = "default_site_root")]
    pub site_root: PathBuf,
    /// Whom people ask for roles, as it stands in a sentence.
    #[serde(default = "default_support_contact")]
    pub support_contact: String,
    /// The address that people type. Default: `gateway.public_url`.
    #[serde(default)]
    pub public_url: Option<Url>,
    /// Names of Keystone roles by ID, shown where a viewer's own token does not have them.
    #[serde(default)]
    pub role_names: BTreeMap<String, String>,
    /// Where the panel reads kube-auth's figures: `/metrics` of its admin port, for example
    /// `http://10.0.0.5:9180/metrics`. Default: the own admin port where kube-auth runs in the same
    /// process; else the authentication page has no figures.
    #[serde(default)]
    pub kube_auth_metrics_url: Option<Url>,
    /// Where this documentation is published for your people; pages link to it. Without it they
    /// name the guide only.
    #[serde(default)]
    pub docs_url: Option<Url>,
}

fn default_listen() -> SocketAddr {
    SocketAddr::new(IpAddr::from([127, 0, 0, 1]), 9190)
}

fn default_site_root() -> PathBuf {
    PathBuf::from("target/site")
}

fn default_support_contact() -> String {
    "your cloud's administrators".to_owned()
}
