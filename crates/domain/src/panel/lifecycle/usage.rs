//! What a project uses, on the list of its clusters.
use super::QuotaUse;
use serde::{Deserialize, Serialize};

/// The content of the card of the usage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectUsage {
    /// Clusters, instances, cores and RAM: of the whole project, not of its clusters only.
    pub quotas: Vec<QuotaUse>,
    /// Magnum's own count; `None`: it is not known.
    pub stats: Option<ClusterStats>,
    /// What could not be read, as sentences.
    pub gaps: Vec<String>,
    pub read_at: i64,
}

/// Magnum's count of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterStats {
    pub clusters: u64,
    /// With those of the control planes.
    pub nodes: u64,
}
