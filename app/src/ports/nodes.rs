//! The nodes of clusters that Magnum makes.
use crate::error::UiError;
use async_trait::async_trait;
use portico_domain::panel::lifecycle::{ChangeOutcome, ClusterNodes, NodeGroupReview, NodeRemoval};
use uuid::Uuid;

/// Nodes, and what is done with one of them. As for [`super::Lifecycle`], all calls use the viewer's own
/// token in the project of the URL; a cluster of another project is `NotFound`.
#[async_trait]
pub trait NodeOperations {
    /// Returns the nodes of a cluster, with what the viewer may do with each.
    async fn cluster_nodes(&self, cluster: Uuid) -> Result<ClusterNodes, UiError>;
    /// Returns what the removal of a node would do; changes nothing. `server` is the ID of its server.
    async fn review_node_removal(
        &self,
        cluster: Uuid,
        server: String,
    ) -> Result<NodeGroupReview, UiError>;
    /// Removes a node. `reason` is for the journal; it may be empty.
    async fn remove_node(
        &self,
        cluster: Uuid,
        node: NodeRemoval,
        reason: String,
    ) -> Result<ChangeOutcome, UiError>;
    /// Returns what the replacement of a node would do; changes nothing. `server` is the ID of its server.
    async fn review_node_replacement(
        &self,
        cluster: Uuid,
        server: String,
    ) -> Result<NodeGroupReview, UiError>;
    /// Begins the replacement of a node: adds one to its group. `reason` is for the journal; it may be empty.
    async fn replace_node(
        &self,
        cluster: Uuid,
        server: String,
        reason: String,
    ) -> Result<ChangeOutcome, UiError>;
    /// Stops a replacement that was begun; both nodes stay.
    async fn stop_node_replacement(&self, cluster: Uuid) -> Result<(), UiError>;
}
