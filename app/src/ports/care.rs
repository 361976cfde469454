//! Health, delete protection and quotas of clusters that Magnum makes.
use crate::error::UiError;
use async_trait::async_trait;
use portico_domain::panel::lifecycle::{ClusterHealth, DeleteProtection, ProjectUsage};
use uuid::Uuid;

/// What is known of clusters besides their state. As for [`super::Lifecycle`], all calls use the viewer's
/// own token in the project of the URL; a cluster of another project is `NotFound`.
#[async_trait]
pub trait ClusterCare {
    /// Returns Magnum's report of a cluster's health, and what a request to its API server showed.
    async fn cluster_health(&self, cluster: Uuid) -> Result<ClusterHealth, UiError>;
    /// Returns whether Portico refuses to delete a cluster.
    async fn delete_protection(&self, cluster: Uuid) -> Result<DeleteProtection, UiError>;
    /// Protects a cluster from deletion through Portico, or removes the protection; `typed` is then the
    /// cluster's name. `reason` is for the journal; it may be empty.
    ///
    /// # Errors
    /// `NotPermitted` for users who may not delete the cluster, `Invalid` for another typed name.
    async fn set_delete_protection(
        &self,
        cluster: Uuid,
        is_on: bool,
        typed: String,
        reason: String,
    ) -> Result<DeleteProtection, UiError>;
    /// Returns what the project uses of its quotas, and Magnum's own count of its clusters.
    async fn project_usage(&self) -> Result<ProjectUsage, UiError>;
}
