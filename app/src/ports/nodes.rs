//! The nodes of clusters that Magnum makes.
use crate::error::UiError;
use async_trait::async_trait;
use portico_domain::panel::{
    DrainOptions,
    lifecycle::{ChangeOutcome, ClusterNodes, NodeDrain, NodeGroupReview, NodeRemoval},
};
use uuid::Uuid;

/// Nodes, and what is done with one of them. As for [`super::Lifecycle`], all calls use the viewer's own
/// token in the project of the URL; a cluster of another project is `NotFound`.
#[async_trait]
pub trait NodeOperations {
    /// Returns the nodes of a cluster, with what the viewer may do with each.
    async fn cluster_nodes(&self, cluster: Uuid) -> Result<ClusterNodes, UiError>;
    /// Returns what the removal of nodes would do; changes nothing. Of `node` only the servers count.
    async fn review_node_removal(
        &self,
        cluster: Uuid,
        node: NodeRemoval,
    ) -> Result<NodeGroupReview, UiError>;
    /// Removes a node, alone or with others. `reason` is for the journal; it may be empty.
    async fn remove_node(
        &self,
        cluster: Uuid,
        node: NodeRemoval,
        reason: String,
    ) -> Result<ChangeOutcome, UiError>;
    /// Begins the drain of a node, or another time: cordons it, and evicts the first pods. `reason` is for
    /// the journal; it may be empty.
    async fn begin_node_drain(
        &self,
        cluster: Uuid,
        server: String,
        options: DrainOptions,
        reason: String,
    ) -> Result<(), UiError>;
    /// Evicts some more pods of the node on a server, if its drain is the one that was begun. Repeated until
    /// the drain is done.
    async fn continue_node_drain(
        &self,
        cluster: Uuid,
        server: String,
        options: DrainOptions,
    ) -> Result<NodeDrain, UiError>;
    /// Stops a drain that was begun; the node stays cordoned, unless it is to take pods again.
    /// That of another node stays.
    async fn stop_node_drain(
        &self,
        cluster: Uuid,
        server: String,
        uncordon: bool,
    ) -> Result<(), UiError>;
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
    /// Begins the replacement of a node in place: removes it, as [`Self::remove_node`] does. `reason` is for the
    /// journal; it may be empty.
    async fn replace_node_in_place(
        &self,
        cluster: Uuid,
        node: NodeRemoval,
        reason: String,
    ) -> Result<ChangeOutcome, UiError>;
    /// Adds the new node of a replacement in place whose old node has left. `reason` is for the journal; it may be
    /// empty.
    async fn add_replacing_node(
        &self,
        cluster: Uuid,
        reason: String,
    ) -> Result<ChangeOutcome, UiError>;
    /// Stops a replacement that was begun; the nodes stay as they are.
    async fn stop_node_replacement(&self, cluster: Uuid) -> Result<(), UiError>;
}
