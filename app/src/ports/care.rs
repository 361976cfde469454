//! Health, delete protection and quotas of clusters that Magnum makes.
use crate::error::UiError;
use async_trait::async_trait;
use portico_domain::panel::lifecycle::ClusterHealth;
use uuid::Uuid;

/// What is known of clusters besides their state. As for [`super::Lifecycle`], all calls use the viewer's
/// own token in the project of the URL; a cluster of another project is `NotFound`.
#[async_trait]
pub trait ClusterCare {
    /// Returns Magnum's report of a cluster's health, and what a request to its API server showed.
    async fn cluster_health(&self, cluster: Uuid) -> Result<ClusterHealth, UiError>;
}
