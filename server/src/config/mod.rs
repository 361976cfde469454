//! The program's configuration, composed of the sections that each part defines.
//!
//! Every role may read the same file; a role needs its own sections only, and opens no secret file
//! of another role.
mod changes;
pub mod enrolment;
pub mod magnum;
pub mod panel;
mod print;
pub mod prometheus;
mod role;
mod rules;
mod schema;

pub(crate) use changes::Changes;
pub use role::Role;
pub(crate) use schema::{ConfigSchema, TakesEffect};

use gateway::config::{AppConfig, GatewayConfig};
use portico_domain::cluster::ClusterRecord;
use portico_kube_auth::KubeAuthConfig;
use portico_openstack::KeystoneConfig;
use portico_runtime::admin::AdminConfig;
use portico_runtime::config::{ConfigError, load, process_environment};
use portico_runtime::lifecycle::ShutdownConfig;
use portico_runtime::telemetry::LogConfig;
use portico_runtime::traces::TelemetryConfig;
use portico_store::StoreConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use url::Url;

use self::{enrolment::EnrolmentConfig, magnum::MagnumConfig, panel::PanelConfig};

const FILES_VARIABLE: &str = "PORTICO_CONFIG";
/// Read if no file is given.
const DEFAULT_FILES: [&str; 2] = ["portico.toml", "/etc/portico/portico.toml"];

/// Portico's configuration file (TOML). `PORTICO_<SECTION>__<KEY>` in the environment takes
/// precedence; a list in a variable is written `a,b` or `["a", "b"]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Portico configuration")]
pub struct Config {
    #[serde(default)]
    pub log: LogConfig,
    #[serde(default)]
    pub admin: AdminConfig,
    #[serde(default)]
    pub shutdown: ShutdownConfig,
    #[serde(default)]
    pub telemetry: TelemetryConfig,
    #[serde(default)]
    pub store: Option<StoreConfig>,
    #[serde(default)]
    pub keystone: Option<KeystoneConfig>,
    #[serde(default)]
    pub gateway: Option<GatewayConfig>,
    #[serde(default)]
    pub panel: Option<PanelConfig>,
    #[serde(default)]
    pub kube_auth: Option<KubeAuthConfig>,
    /// The Kubernetes clusters that users access through Portico.
    #[serde(default)]
    pub clusters: Vec<ClusterRecord>,
    #[serde(default)]
    pub enrolment: Option<EnrolmentConfig>,
    #[serde(default)]
    pub magnum: MagnumConfig,
    /// The web applications behind the gateway.
    #[serde(default)]
    pub apps: Vec<AppConfig>,
}

impl Config {
    /// Reads the files (or the first default file that exists) and the environment.
    ///
    /// # Errors
    /// If a file cannot be read or holds an unknown, missing or invalid value.
    pub fn load(named: &[PathBuf]) -> Result<Self, ConfigError> {
        load(&files(named), process_environment())
    }
}

impl Config {
    /// Returns the URL at which a process with this configuration reaches its own metrics.
    pub fn own_metrics_url(&self) -> Option<Url> {
        let mut address = self.admin.listen;
        if address.ip().is_unspecified() {
            address.set_ip(match address {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        Url::parse(&format!("http://{address}/metrics")).ok()
    }
}

/// Returns the files to read: the given ones, else those of `PORTICO_CONFIG` (separated by colons),
/// else the first default one that exists.
pub fn files(named: &[PathBuf]) -> Vec<PathBuf> {
    if !named.is_empty() {
        return named.to_vec();
    }
    let variable = process_environment()
        .into_iter()
        .find_map(|(name, value)| (name == FILES_VARIABLE).then_some(value));
    let from_environment: Vec<PathBuf> = std::env::split_paths(&variable.unwrap_or_default())
        // a script may pass on a variable that is set but empty
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    if !from_environment.is_empty() {
        return from_environment;
    }
    DEFAULT_FILES
        .into_iter()
        .map(PathBuf::from)
        .find(|path| path.exists())
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests;
