//! The replacement of a node by auto-healing, where the driver ignores which nodes are chosen: the node is
//! drained, the user deletes its server, and the cluster makes a new one.
use super::reading::Found;
use crate::{
    kube::Api,
    service::{
        error::ServiceError,
        lifecycle::{pods, viewer::Viewer},
    },
};
use portico_cluster_operations::nodes::Node;
use portico_lifecycle::{
    driver::Family,
    model::Cluster,
    plan::ChosenNode,
    preflight::{AutoHealing, HealingContext, Level, auto_healing, before_healing},
    rights::Call,
};
use serde_json::Value;

/// Returns whether a node of Kubernetes is offered to be drained for auto-healing.
pub fn is_offered(found: &Found, viewer: &Viewer, node: &Node) -> bool {
    let cluster = &found.target.cluster;
    let group = node.group.as_deref();
    let group = group.and_then(|group| found.target.group(group));
    cluster.driver.family == Family::CapiHelm
        && auto_healing(cluster) != AutoHealing::Off
        && node.server.is_some()
        && group.is_some_and(|group| !group.is_control_plane())
        && viewer
            .refusal(Call::ResizeCluster, cluster.user_id.as_deref())
            .is_none()
}

/// Checks before a node is drained that the cluster would make a new one. Other drivers remove the node
/// themselves.
///
/// # Errors
/// `Conflict` if auto-healing is off, too many nodes would be unhealthy, or the nodes cannot be read.
pub async fn ensure_healed(
    api: &Api,
    cluster: &Cluster,
    node: &ChosenNode,
) -> Result<(), ServiceError> {
    if cluster.driver.family != Family::CapiHelm {
        return Ok(());
    }
    let read = pods::nodes_with(api, node).await;
    let (nodes, own) = read.map_err(ServiceError::conflict)?;
    let leaving = own["metadata"]["name"].as_str().unwrap_or_default();
    match refusal(cluster, &nodes, leaving) {
        Some(reason) => Err(ServiceError::conflict(reason)),
        None => Ok(()),
    }
}

/// Returns why a node is not drained for auto-healing, as sentences; `leaving` is its name in Kubernetes.
pub fn refusal(cluster: &Cluster, nodes: &[Value], leaving: &str) -> Option<String> {
    let checks = before_healing(&HealingContext {
        cluster,
        nodes: Ok(nodes),
        leaving,
    });
    let mut checks = checks.0.into_iter();
    let blocking = checks.find(|check| check.level == Level::Blocks);
    blocking.map(|check| check.text)
}
