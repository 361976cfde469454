//! Protections of managed clusters from deletion; on a SQL database only.
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

pub(crate) const TABLE: &str = "cluster_protections";

/// The clusters that Portico does not delete; see [`crate::Store::cluster_protections`]. The protection is
/// Portico's own: other clients of the cloud know nothing of it.
///
/// On Redis every method fails with [`StoreError::NeedsSql`].
#[async_trait]
pub trait ClusterProtections: Send + Sync {
    /// Protects a cluster; returns whether it was not protected before. The protection of a cluster that
    /// is protected already stays as it is.
    ///
    /// # Errors
    /// If the store cannot be reached.
    async fn protect(
        &self,
        cluster: &ProtectedCluster,
        user_id: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Removes the protection of a cluster; returns whether there was one.
    ///
    /// # Errors
    /// If the store cannot be reached.
    async fn remove(&self, cluster: &ProtectedCluster) -> Result<bool, StoreError>;

    /// Returns the protection of a cluster; `None`: it is not protected.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn get(
        &self,
        cluster: &ProtectedCluster,
    ) -> Result<Option<ClusterProtection>, StoreError>;
}

/// What identifies a cluster that can be protected.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProtectedCluster {
    pub project_id: String,
    /// Magnum's UUID.
    pub cluster: Uuid,
}

/// A protection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterProtection {
    /// The ID of the user who has set it.
    pub user_id: String,
    pub protected_at: Timestamp,
}
