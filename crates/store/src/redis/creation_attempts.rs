//! Requests for new clusters: not on Redis. A lost record could make a second cluster, which costs.
use super::RedisStore;
use crate::creation_attempts::{
    AttemptKey, AttemptLease, AttemptState, BegunAttempt, CreationAttempt, CreationAttempts,
    NewCreationAttempt,
};
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

const NEEDS_SQL: StoreError = StoreError::NeedsSql {
    what: "creations of clusters",
};

#[async_trait]
impl CreationAttempts for RedisStore {
    async fn begin(
        &self,
        _: &NewCreationAttempt,
        _: AttemptLease,
        _: Timestamp,
    ) -> Result<BegunAttempt, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn advance(
        &self,
        _: &AttemptKey,
        _: AttemptLease,
        _: AttemptState,
        _: Option<Timestamp>,
        _: Timestamp,
    ) -> Result<bool, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn prolong(
        &self,
        _: &AttemptKey,
        _: AttemptLease,
        _: Timestamp,
    ) -> Result<bool, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn release(&self, _: &AttemptKey, _: Uuid) -> Result<(), StoreError> {
        Err(NEEDS_SQL)
    }

    async fn forget(&self, _: &AttemptKey, _: Uuid) -> Result<bool, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn dismiss(
        &self,
        _: &AttemptKey,
        _: Timestamp,
        _: Timestamp,
    ) -> Result<bool, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn of_user(
        &self,
        _: &str,
        _: &str,
        _: Timestamp,
    ) -> Result<Vec<CreationAttempt>, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn of_cluster(
        &self,
        _: &str,
        _: Uuid,
        _: Timestamp,
    ) -> Result<Option<CreationAttempt>, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn of_project(
        &self,
        _: &str,
        _: Timestamp,
    ) -> Result<Vec<(Uuid, Option<Uuid>)>, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn complete(&self, _: &str, _: Uuid) -> Result<bool, StoreError> {
        Err(NEEDS_SQL)
    }
}
