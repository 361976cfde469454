//! Clusters that users enrolled: not on Redis. Their records must outlive an eviction or a lost
//! server, which a session need not.
use super::RedisStore;
use crate::enrolled_clusters::{AllEnrolledClusters, EnrolledClusters};
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::Timestamp;
use portico_domain::enrolled_cluster::EnrolledCluster;
use uuid::Uuid;

const NEEDS_SQL: StoreError = StoreError::NeedsSql {
    what: "enrolled clusters",
};

#[async_trait]
impl EnrolledClusters for RedisStore {
    async fn sequence(&self) -> Result<u64, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn all(&self) -> Result<AllEnrolledClusters, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn get(&self, _: Uuid) -> Result<Option<EnrolledCluster>, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn put(&self, _: &EnrolledCluster, _: Timestamp) -> Result<bool, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn enrol(
        &self,
        _: &EnrolledCluster,
        _: Timestamp,
    ) -> Result<EnrolledCluster, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn remove(&self, _: Uuid) -> Result<bool, StoreError> {
        Err(NEEDS_SQL)
    }
}
