//! Nodes of clusters that Magnum makes.
use super::{Json, PanelClient};
use crate::error::UiError;
use leptos::prelude::*;
use portico_domain::panel::{
    DrainOptions,
    lifecycle::{ChangeOutcome, ClusterNodes, NodeDrain, NodeGroupReview, NodeRemoval},
};
use uuid::Uuid;

/// Returns the nodes of a cluster, with what the viewer may do with each.
#[server(prefix = "/api", endpoint = "managed_clusters/nodes", input = Json, output = Json, client = PanelClient)]
pub async fn get_cluster_nodes(cluster: Uuid) -> Result<ClusterNodes, UiError> {
    super::answer(super::panel()?.cluster_nodes(cluster).await)
}

/// Returns what the removal of a node, alone or with others of its group, would do; changes nothing.
#[server(prefix = "/api", endpoint = "managed_clusters/review_node_removal", input = Json, output = Json, client = PanelClient)]
pub async fn review_node_removal(
    cluster: Uuid,
    server: String,
    others: Option<Vec<String>>,
) -> Result<NodeGroupReview, UiError> {
    let node = NodeRemoval {
        server,
        others: others.unwrap_or_default(),
        ..NodeRemoval::default()
    };
    super::answer(super::panel()?.review_node_removal(cluster, node).await)
}

/// Removes a node, alone or with others of its group.
#[server(prefix = "/api", endpoint = "managed_clusters/remove_node", input = Json, output = Json, client = PanelClient)]
pub async fn remove_node(
    cluster: Uuid,
    node: NodeRemoval,
    reason: String,
) -> Result<ChangeOutcome, UiError> {
    super::answer(super::panel()?.remove_node(cluster, node, reason).await)
}

/// Begins the drain of a node, or another time: cordons it, and evicts the first pods.
#[server(prefix = "/api", endpoint = "managed_clusters/begin_node_drain", input = Json, output = Json, client = PanelClient)]
pub async fn begin_node_drain(
    cluster: Uuid,
    server: String,
    options: DrainOptions,
    reason: String,
) -> Result<(), UiError> {
    super::answer(
        super::panel()?
            .begin_node_drain(cluster, server, options, reason)
            .await,
    )
}

/// Evicts some more pods of the node on a server whose drain was begun; repeated until the drain is done.
#[server(prefix = "/api", endpoint = "managed_clusters/continue_node_drain", input = Json, output = Json, client = PanelClient)]
pub async fn continue_node_drain(
    cluster: Uuid,
    server: String,
    options: DrainOptions,
) -> Result<NodeDrain, UiError> {
    super::answer(
        super::panel()?
            .continue_node_drain(cluster, server, options)
            .await,
    )
}

/// Stops a drain that was begun; the node stays cordoned, unless it is to take pods again.
#[server(prefix = "/api", endpoint = "managed_clusters/stop_node_drain", input = Json, output = Json, client = PanelClient)]
pub async fn stop_node_drain(cluster: Uuid, server: String, uncordon: bool) -> Result<(), UiError> {
    super::answer(
        super::panel()?
            .stop_node_drain(cluster, server, uncordon)
            .await,
    )
}

/// Returns what the replacement of a node would do; changes nothing.
#[server(prefix = "/api", endpoint = "managed_clusters/review_node_replacement", input = Json, output = Json, client = PanelClient)]
pub async fn review_node_replacement(
    cluster: Uuid,
    server: String,
) -> Result<NodeGroupReview, UiError> {
    super::answer(
        super::panel()?
            .review_node_replacement(cluster, server)
            .await,
    )
}

/// Begins the replacement of a node: adds one to its group.
#[server(prefix = "/api", endpoint = "managed_clusters/replace_node", input = Json, output = Json, client = PanelClient)]
pub async fn replace_node(
    cluster: Uuid,
    server: String,
    reason: String,
) -> Result<ChangeOutcome, UiError> {
    super::answer(super::panel()?.replace_node(cluster, server, reason).await)
}

/// Begins the replacement of a node in place: removes it.
#[server(prefix = "/api", endpoint = "managed_clusters/replace_node_in_place", input = Json, output = Json, client = PanelClient)]
pub async fn replace_node_in_place(
    cluster: Uuid,
    node: NodeRemoval,
    reason: String,
) -> Result<ChangeOutcome, UiError> {
    super::answer(
        super::panel()?
            .replace_node_in_place(cluster, node, reason)
            .await,
    )
}

/// Adds the new node of a replacement in place whose old node has left.
#[server(prefix = "/api", endpoint = "managed_clusters/add_replacing_node", input = Json, output = Json, client = PanelClient)]
pub async fn add_replacing_node(cluster: Uuid, reason: String) -> Result<ChangeOutcome, UiError> {
    super::answer(super::panel()?.add_replacing_node(cluster, reason).await)
}

/// Stops a replacement that was begun; the nodes stay as they are.
#[server(prefix = "/api", endpoint = "managed_clusters/stop_node_replacement", input = Json, output = Json, client = PanelClient)]
pub async fn stop_node_replacement(cluster: Uuid) -> Result<(), UiError> {
    super::answer(super::panel()?.stop_node_replacement(cluster).await)
}
