//! `[panel]`: the configuration of the panel's server.
use super::prometheus::PrometheusConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};
use url::Url;

/// `[panel]`: the pages behind the gateway.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanelConfig {
    /// The address on which the panel listens; only the gateway should be able to connect to it.
    #[serde(default = "default_listen")]
    pub listen: SocketAddr,
    /// X25519 private key: opens the Keystone tokens that the gateway forwards.
    pub private_key_file: PathBuf,
    /// Public keys (PEM) of gateways. Empty: that of `gateway.assertion_key_file`, if both run in
    /// one process.
    #[serde(default)]
    #[schemars(extend("x-portico-takes-effect" = "reload"))]
    pub assertion_public_key_files: Vec<PathBuf>,
    /// The built browser half of the panel. Default: `share/portico/site` beside the directory of
    /// the program, or `/usr/share/portico/site`; for a program in `target`, `target/site`.
    #[serde(default = "installed_site_root")]
    // the location differs between machines, and the reference must not
    #[schemars(extend("default" = "/usr/share/portico/site"))]
    pub site_root: PathBuf,
    /// Whom users ask for roles, as a part of a sentence.
    #[serde(default = "default_support_contact")]
    pub support_contact: String,
    /// The public address, as users type it. Default: `gateway.public_url`.
    #[serde(default)]
    pub public_url: Option<Url>,
    /// Names of Keystone roles by ID, shown if a viewer's own token does not include them.
    #[serde(default)]
    pub role_names: BTreeMap<String, String>,
    /// The URL of kube-auth's metrics: `/metrics` of its admin port, for example
    /// `http://10.0.0.5:9180/metrics`. Default: the process's own admin port if kube-auth runs in
    /// the same process; otherwise the authentication page has no figures.
    #[serde(default)]
    pub kube_auth_metrics_url: Option<Url>,
    /// The URL at which this documentation is published for your users; pages link to its guides.
    /// Without it the pages show no links to guides.
    #[serde(default)]
    pub docs_url: Option<Url>,
    /// Directory with the program `portico` for other systems than the panel's own, which signed-in
    /// users download from the page *Authentication*. A file is offered if its name is
    /// `portico-<system>-<architecture>`, with `linux`, `darwin` or `windows` as the system and the
    /// ending `.exe` for `windows`: `portico-linux-amd64`, `portico-darwin-arm64`,
    /// `portico-windows-amd64.exe`. Files with other names are ignored. Without the directory the
    /// panel offers only the program that it runs itself; a file of the directory for the same
    /// system and architecture replaces it.
    #[serde(default)]
    pub downloads: Option<PathBuf>,
    /// Limits of one session.
    #[serde(default)]
    pub streams: StreamLimits,
    /// The Prometheus from which the panel reads the use of CPU and memory, with a history. Without
    /// this section it reads `metrics.k8s.io` of each cluster that has it, with the user's own token.
    #[serde(default)]
    pub prometheus: Option<PrometheusConfig>,
}

/// `[panel.streams]`: what one session may keep open in one process of the panel. When a limit is
/// reached, the page explains it, and `portico_panel_session_limits_reached_total` counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StreamLimits {
    /// Event streams: one for each browser tab that shows live data.
    pub max_streams: usize,
    /// Terminals.
    pub max_terminals: usize,
    /// Requests that stay open at API servers. A live list takes one for each of its namespaces (at
    /// most 40; longer lists are polled), an object or a log takes one. At least 40.
    pub max_watches: usize,
    /// Memory for the rows of live lists, in bytes; about 500 per row. At least 1048576 (1 MiB).
    pub max_list_bytes: usize,
    /// Calls of `portico cluster` with the session of `portico login` at the same time. One command makes
    /// up to 8. At least 8.
    pub max_cloud_calls: usize,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self {
            max_streams: 16,
            max_terminals: 16,
            max_watches: 240,
            max_list_bytes: 64 * 1024 * 1024,
            max_cloud_calls: 16,
        }
    }
}

/// The fault in `panel.streams`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamLimitsError {
    #[error("panel.streams.{0} must be at least 1")]
    Zero(&'static str),
    #[error(
        "panel.streams.max_watches must be at least 40, so that a list over 40 namespaces fits"
    )]
    Watches,
    #[error("panel.streams.max_list_bytes must be at least 1048576 (1 MiB)")]
    ListBytes,
    #[error("panel.streams.max_cloud_calls must be at least 8, so that every command can complete")]
    CloudCalls,
}

impl StreamLimits {
    /// Maximum number of watched namespaces of one list.
    pub const MAX_WATCHES_PER_LIST: usize = 40;
    const MIN_LIST_BYTES: usize = 1024 * 1024;
    const MIN_CLOUD_CALLS: usize = 8;

    /// Checks the values.
    ///
    /// # Errors
    /// The first limit that is too small.
    pub fn validate(&self) -> Result<(), StreamLimitsError> {
        if self.max_streams == 0 {
            return Err(StreamLimitsError::Zero("max_streams"));
        }
        if self.max_terminals == 0 {
            return Err(StreamLimitsError::Zero("max_terminals"));
        }
        if self.max_watches < Self::MAX_WATCHES_PER_LIST {
            return Err(StreamLimitsError::Watches);
        }
        if self.max_list_bytes < Self::MIN_LIST_BYTES {
            return Err(StreamLimitsError::ListBytes);
        }
        if self.max_cloud_calls < Self::MIN_CLOUD_CALLS {
            return Err(StreamLimitsError::CloudCalls);
        }
        Ok(())
    }
}

fn default_listen() -> SocketAddr {
    SocketAddr::new(IpAddr::from([127, 0, 0, 1]), 9190)
}

/// Returns the directory of the built site, relative to the program; without a key or variable of
/// the configuration, so that a machine without the role `panel` needs none.
fn installed_site_root() -> PathBuf {
    let program = std::env::current_exe().ok();
    site_beside(program.as_deref().and_then(Path::parent), Path::new("/"))
}

fn site_beside(directory: Option<&Path>, root: &Path) -> PathBuf {
    let system = root.join("usr/share/portico/site");
    let beside = directory.and_then(|directory| {
        // target/debug/portico has target/site, /usr/local/bin/portico has /usr/local/share
        let candidates = ["../site", "../share/portico/site"].map(|site| directory.join(site));
        candidates
            .into_iter()
            .find(|site| site.join("pkg").is_dir())
    });
    let found = beside.or_else(|| system.join("pkg").is_dir().then(|| system.clone()));
    // a test's program is elsewhere, and runs at the root of the source tree
    let in_tree = || PathBuf::from("target/site");
    match found {
        Some(site) => site.canonicalize().unwrap_or(site),
        None if in_tree().is_dir() => in_tree(),
        None => system,
    }
}

fn default_support_contact() -> String {
    "your cloud's administrators".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_o2_the_site_is_found_from_where_the_program_is() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let system = root.join("usr/share/portico/site");
        let bin = root.join("usr/local/bin");
        std::fs::create_dir_all(&bin).unwrap();
        let found = || site_beside(Some(&bin), &root);
        // no build found: the location that the image and the packages use
        if !Path::new("target/site").is_dir() {
            assert_eq!(found(), system);
        }
        std::fs::create_dir_all(system.join("pkg")).unwrap();
        assert_eq!(found(), system);
        let local = root.join("usr/local/share/portico/site");
        std::fs::create_dir_all(local.join("pkg")).unwrap();
        assert_eq!(found(), local);
        let target = root.join("target/debug");
        std::fs::create_dir_all(&target).unwrap();
        std::fs::create_dir_all(root.join("target/site/pkg")).unwrap();
        assert_eq!(site_beside(Some(&target), &root), root.join("target/site"));
    }

    #[test]
    fn finding_s12_limits_that_no_list_fits_into_are_refused() {
        let default = StreamLimits::default();
        assert_eq!(default.validate(), Ok(()));
        for (limits, error) in [
            (
                StreamLimits {
                    max_streams: 0,
                    ..default
                },
                StreamLimitsError::Zero("max_streams"),
            ),
            (
                StreamLimits {
                    max_watches: 39,
                    ..default
                },
                StreamLimitsError::Watches,
            ),
            (
                StreamLimits {
                    max_list_bytes: 1000,
                    ..default
                },
                StreamLimitsError::ListBytes,
            ),
            (
                StreamLimits {
                    max_cloud_calls: 7,
                    ..default
                },
                StreamLimitsError::CloudCalls,
            ),
        ] {
            assert_eq!(limits.validate(), Err(error));
        }
    }
}
