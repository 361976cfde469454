//! Protections of managed clusters from deletion: not on Redis. They must outlive an eviction or a lost
//! server.
use super::RedisStore;
use crate::cluster_protections::{ClusterProtection, ClusterProtections, ProtectedCluster};
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::Timestamp;

const NEEDS_SQL: StoreError = StoreError::NeedsSql {
    what: "protections of clusters",
};

#[async_trait]
impl ClusterProtections for RedisStore {
    async fn protect(
        &self,
        _: &ProtectedCluster,
        _: &str,
        _: Timestamp,
    ) -> Result<bool, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn remove(&self, _: &ProtectedCluster) -> Result<bool, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn get(&self, _: &ProtectedCluster) -> Result<Option<ClusterProtection>, StoreError> {
        Err(NEEDS_SQL)
    }
}
