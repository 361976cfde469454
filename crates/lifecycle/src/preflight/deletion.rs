//! Checks before a cluster is deleted.
use super::Checks;
use crate::model::Cluster;

/// What is known before a deletion.
#[derive(Clone, Debug)]
pub struct DeletionContext<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// Portico's own flag.
    pub is_protected: bool,
    /// The name that the user typed.
    pub typed_name: &'a str,
    /// Whether the Kubernetes API answers, so that volumes and Services can be listed.
    pub is_api_reachable: bool,
    /// Whether the creator still has a role in the project. `None`: not known.
    pub has_creator: Option<bool>,
}

/// Checks a deletion.
pub fn before_deletion(context: &DeletionContext<'_>) -> Checks {
    let mut checks = Checks::default();
    if context.is_protected {
        checks.block(
            "Protection",
            "The cluster is protected from deletion in Portico. Switch the protection off first.",
        );
    }
    if context.typed_name != context.cluster.name {
        let text = format!(
            "Type the name {} to delete the cluster.",
            context.cluster.name
        );
        checks.block("Name", text);
    }
    if context.cluster.status.is_deletion() && context.cluster.status.is_in_progress() {
        checks.warn("State", "The cluster is already being deleted.");
    }
    if !context.is_api_reachable {
        checks.warn(
            "Contents",
            "The Kubernetes API does not answer: volumes and load balancers of workloads are found by \
             their metadata only.",
        );
    }
    if context.has_creator == Some(false) {
        checks.warn(
            "Credential",
            "The creator of the cluster has no role in the project any longer: its cloud credential may be \
             invalid, and the deletion may not finish.",
        );
    }
    checks
}
