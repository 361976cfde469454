//! The database as a whole.
use super::SqlStore;
use crate::advice::Advice;
use crate::audit::log::adopt_after_migration;
use crate::audit::writer;
use crate::database::Database;
use crate::error::StoreError;
use crate::file_identity::FileIdentity;
use crate::sealing::key_id_of;
use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::migrate::Migrate as _;
use sqlx::{Connection as _, Row as _};
use std::collections::BTreeSet;

/// Number of the newest sessions that are compared with the keys.
const SAMPLED_SESSIONS: i64 = 20;

#[async_trait]
impl Database for SqlStore {
    async fn migrate(&self, now: Timestamp) -> Result<(), StoreError> {
        self.migrator.run(self.pool.raw()).await?;
        adopt_after_migration(self, now).await
    }

    async fn revert_all(&self) -> Result<(), StoreError> {
        Ok(self.migrator.undo(self.pool.raw(), 0).await?)
    }

    async fn ensure_migrated(&self) -> Result<(), StoreError> {
        let acquire = self.pool.acquire().await;
        let mut connection = acquire.map_err(StoreError::database("read the migrations"))?;
        connection.ensure_migrations_table().await?;
        let applied = connection.list_applied_migrations().await?;
        let missing = self
            .migrator
            .iter()
            .filter(|migration| migration.migration_type.is_up_migration())
            .filter(|known| !applied.iter().any(|done| done.version == known.version))
            .count();
        if missing == 0 {
            Ok(())
        } else {
            Err(StoreError::NotMigrated { missing })
        }
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.file.as_ref().map_or(Ok(()), FileIdentity::check)?;
        let acquire = self.pool.acquire().await;
        let mut connection = acquire.map_err(StoreError::database("reach the database"))?;
        connection
            .ping()
            .await
            .map_err(StoreError::database("reach the database"))
    }

    async fn ensure_own_keys(&self) -> Result<(), StoreError> {
        let rows =
            sqlx::query("SELECT csrf_sealed FROM sessions ORDER BY created_at DESC LIMIT $1")
                .bind(SAMPLED_SESSIONS)
                .fetch_all(&self.pool)
                .await
                .map_err(StoreError::database("read the newest sessions"))?;
        let mut found = BTreeSet::new();
        for row in rows {
            let sealed: Vec<u8> = row
                .try_get("csrf_sealed")
                .map_err(StoreError::database("read the newest sessions"))?;
            found.insert(key_id_of(&sealed));
        }
        let own = self.shared.keys.key_ids();
        if found.is_empty() || own.iter().any(|id| found.contains(id)) {
            return Ok(());
        }
        Err(StoreError::OtherKeys {
            found: found.into_iter().collect(),
        })
    }

    async fn advice(&self) -> Result<Vec<Advice>, StoreError> {
        Ok(Vec::new())
    }

    async fn close(&self) {
        writer::flush(self).await;
        self.pool.raw().close().await;
    }
}
