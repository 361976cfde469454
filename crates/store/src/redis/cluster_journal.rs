//! The journals of managed clusters: not on Redis. They must outlive an eviction or a lost server.
use super::RedisStore;
use crate::cluster_journal::{
    ClusterJournal, JournalEntry, JournalHead, JournalKey, JournalSource, LastObservation,
    NewJournalEntry, NewJournalEvent,
};
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::Timestamp;

const NEEDS_SQL: StoreError = StoreError::NeedsSql {
    what: "journals of clusters",
};

#[async_trait]
impl ClusterJournal for RedisStore {
    async fn append(
        &self,
        _: &JournalKey,
        _: &NewJournalEntry,
        _: Timestamp,
    ) -> Result<JournalHead, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn head(&self, _: &JournalKey) -> Result<Option<JournalHead>, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn journals(
        &self,
        _: Option<&JournalKey>,
        _: u32,
    ) -> Result<Vec<JournalKey>, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn last_observation(
        &self,
        _: &JournalKey,
    ) -> Result<Option<LastObservation>, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn observe(
        &self,
        _: &JournalKey,
        _: i64,
        _: &str,
        _: Option<&NewJournalEntry>,
        _: Timestamp,
    ) -> Result<bool, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn append_events(
        &self,
        _: &JournalKey,
        _: &[NewJournalEvent],
        _: Timestamp,
    ) -> Result<u32, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn last_events(
        &self,
        _: &JournalKey,
        _: JournalSource,
        _: u32,
    ) -> Result<Vec<String>, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn count_events(
        &self,
        _: &JournalKey,
        _: JournalSource,
        _: Timestamp,
    ) -> Result<u32, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn last_nodes(&self, _: &JournalKey) -> Result<Option<LastObservation>, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn observe_nodes(
        &self,
        _: &JournalKey,
        _: i64,
        _: &str,
        _: &[NewJournalEvent],
        _: Timestamp,
    ) -> Result<bool, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn list_events(
        &self,
        _: &JournalKey,
        _: JournalSource,
        _: Option<i64>,
        _: u32,
    ) -> Result<Vec<JournalEntry>, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn list(
        &self,
        _: &JournalKey,
        _: Option<i64>,
        _: u32,
    ) -> Result<Vec<JournalEntry>, StoreError> {
        Err(NEEDS_SQL)
    }

    async fn list_without_events(
        &self,
        _: &JournalKey,
        _: Option<i64>,
        _: u32,
    ) -> Result<Vec<JournalEntry>, StoreError> {
        Err(NEEDS_SQL)
    }
}
