//! The ways out of failed, orphaned and interrupted states of clusters that Magnum makes.
use crate::error::UiError;
use async_trait::async_trait;
use portico_domain::panel::lifecycle::{ChangeOutcome, Ownership, Settlement};
use uuid::Uuid;

/// What brings a cluster back into a state in which it can be changed. As for [`super::Lifecycle`], all
/// calls use the viewer's own token in the project of the URL; a cluster of another project is `NotFound`.
#[async_trait]
pub trait ClusterRepairs {
    /// Returns what would settle a cluster whose last change has failed; changes nothing.
    async fn settlement(&self, cluster: Uuid) -> Result<Settlement, UiError>;
    /// Requests the present size of a node group, if the last change of the cluster has failed. `reason` is
    /// for the journal; it may be empty.
    async fn settle_cluster(&self, cluster: Uuid, reason: String)
    -> Result<ChangeOutcome, UiError>;
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
}
