//! The ways out of failed, orphaned and interrupted states of clusters that Magnum makes.
use crate::error::UiError;
use async_trait::async_trait;
use portico_domain::panel::lifecycle::{
    ChangeOutcome, ChangeQueue, NodeGroupChange, Ownership, SettledSize, Settlement,
};
use uuid::Uuid;

/// What brings a cluster back into a state in which it can be changed. As for [`super::Lifecycle`], all
/// calls use the viewer's own token in the project of the URL; a cluster of another project is `NotFound`.
#[async_trait]
pub trait ClusterRepairs {
    /// Returns what would settle a cluster whose last change has failed; changes nothing.
    async fn settlement(&self, cluster: Uuid) -> Result<Settlement, UiError>;
    /// Requests the present size of a node group, if the last change of the cluster has failed, and group and
    /// size are still those that the viewer has reviewed. `reason` is for the journal; it may be empty.
    async fn settle_cluster(
        &self,
        cluster: Uuid,
        reviewed: SettledSize,
        reason: String,
    ) -> Result<ChangeOutcome, UiError>;
    /// Returns who owns a cluster, what depends on that, and whether the viewer may rotate the credential.
    async fn ownership(&self, cluster: Uuid) -> Result<Ownership, UiError>;
    /// Gives a cluster a new credential for the cloud, of the viewer; `typed` is the cluster's name. `reason`
    /// is for the journal; it may be empty.
    async fn rotate_credential(
        &self,
        cluster: Uuid,
        typed: String,
        reason: String,
    ) -> Result<ChangeOutcome, UiError>;
    /// Returns the change that Magnum carries out, and the change of a node group that waits.
    async fn change_queue(&self, cluster: Uuid) -> Result<ChangeQueue, UiError>;
    /// Queues a change of a node group behind the change that is running. `reason` is for the journal; it may
    /// be empty.
    async fn queue_change(
        &self,
        cluster: Uuid,
        change: NodeGroupChange,
        reason: String,
    ) -> Result<ChangeOutcome, UiError>;
    /// Sends the next request of the change that waits, if it is the one with this ID.
    async fn continue_change(&self, cluster: Uuid, id: String) -> Result<ChangeOutcome, UiError>;
    /// Does not continue the change that waits, if it is the one with this ID; nothing is sent.
    async fn discard_change(&self, cluster: Uuid, id: String) -> Result<(), UiError>;
}
