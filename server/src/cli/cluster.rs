//! Finds the cluster that an operator's command names, by name or UUID.
use super::error::CliError;
use crate::config::Config;
use portico_domain::cluster::ClusterRecord;
use portico_runtime::config::{ConfigError, Problem};
use uuid::Uuid;

/// The reason why a text does not identify a cluster of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum UnknownCluster {
    /// There is no cluster with that name or UUID.
    #[error("no cluster {wanted:?}; known: {known}")]
    NotFound { wanted: String, known: String },
    /// There are several clusters with that name.
    #[error("several clusters are named {wanted:?}; give the UUID of one: {known}")]
    Ambiguous { wanted: String, known: String },
}

impl From<UnknownCluster> for CliError {
    fn from(error: UnknownCluster) -> Self {
        let problem = Problem::new("clusters", error.to_string());
        Self::Config(ConfigError::Invalid(vec![problem]))
    }
}

/// Returns the cluster with this UUID, or else the one with this name.
pub(super) fn find<'a>(
    config: &'a Config,
    wanted: &str,
) -> Result<&'a ClusterRecord, UnknownCluster> {
    let id = Uuid::parse_str(wanted).ok();
    if let Some(found) = config.clusters.iter().find(|one| Some(one.id) == id) {
        return Ok(found);
    }
    let named: Vec<_> = config
        .clusters
        .iter()
        .filter(|one| one.name == wanted)
        .collect();
    let wanted = wanted.to_owned();
    match named.as_slice() {
        [found] => Ok(found),
        [] => Err(UnknownCluster::NotFound {
            wanted,
            known: listed(&config.clusters),
        }),
        _ => Err(UnknownCluster::Ambiguous {
            wanted,
            known: listed(named.iter().copied()),
        }),
    }
}

fn listed<'a>(clusters: impl IntoIterator<Item = &'a ClusterRecord>) -> String {
    let listed: Vec<String> = clusters
        .into_iter()
        .map(|one| format!("{} ({})", one.id, one.name))
        .collect();
    if listed.is_empty() {
        return "none: there is no [[clusters]]".to_owned();
    }
    listed.join(", ")
}
