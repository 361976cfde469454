//! The database as a whole.
use super::RedisStore;
use crate::advice::Advice;
use crate::audit::log::adopt_after_migration;
use crate::audit::writer;
use crate::database::Database;
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::Timestamp;

#[async_trait]
impl Database for RedisStore {
    async fn migrate(&self, now: Timestamp) -> Result<(), StoreError> {
        self.redis.migrate().await?;
        self.redis.claim(&self.shared.keys.key_ids()).await?;
        adopt_after_migration(self, now).await
    }

    async fn revert_all(&self) -> Result<(), StoreError> {
        self.redis.delete_everything().await
    }

    async fn ensure_migrated(&self) -> Result<(), StoreError> {
        self.redis.ensure_migrated().await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.redis.ensure_initialised().await?;
        self.redis.claim(&self.shared.keys.key_ids()).await
    }

    async fn ensure_own_keys(&self) -> Result<(), StoreError> {
        let key_ids = self.shared.keys.key_ids();
        self.redis.check_owner(&key_ids).await.map(drop)
    }

    async fn advice(&self) -> Result<Vec<Advice>, StoreError> {
        self.redis.advice().await
    }

    async fn close(&self) {
        writer::flush(self).await;
        self.redis.close();
    }
}
