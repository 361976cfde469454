//! `[panel]`: the configuration of the panel's server.
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
    /// Where the panel listens; only the gateway should reach it.
    #[serde(default = "default_listen")]
    pub listen: SocketAddr,
    /// X25519 private key: opens the Keystone tokens that the gateway sends along.
    pub private_key_file: PathBuf,
    /// Public keys (PEM) of gateways. Empty: that of `gateway.assertion_key_file`, where both
    /// run in one process.
    #[serde(default)]
    pub assertion_public_key_files: Vec<PathBuf>,
    /// The built browser half of the panel. Default: `share/portico/site` beside the directory of
    /// the program, or `/usr/share/portico/site`; for a program in `target`, `target/site`.
    #[serde(default = "installed_site_root")]
    // where that is differs from machine to machine, and the reference must not
    #[schemars(extend("default" = "/usr/share/portico/site"))]
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

/// Where the built site is, as seen from the program; no key or variable of the configuration, so
/// that a machine without the role `panel` needs none.
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
    // a test's program lies elsewhere, and runs at the root of the source tree
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
        // nothing is built: the place that the image and the packages use
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
}
