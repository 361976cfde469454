//! The database as a whole: its structure, its owner and its server.
use crate::advice::Advice;
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::Timestamp;

/// The operations of [`crate::Store`] that differ between databases.
#[async_trait]
pub(crate) trait Database: Send + Sync {
    /// Applies the pending migrations; see [`crate::Store::migrate`].
    async fn migrate(&self, now: Timestamp) -> Result<(), StoreError>;

    /// Reverts every migration; see [`crate::Store::revert_all`].
    async fn revert_all(&self) -> Result<(), StoreError>;

    /// Verifies that no migration is missing; see [`crate::Store::ensure_migrated`].
    async fn ensure_migrated(&self) -> Result<(), StoreError>;

    /// Verifies that the database responds and is the one that was opened; see
    /// [`crate::Store::ping`].
    async fn ping(&self) -> Result<(), StoreError>;

    /// Verifies that the store was written with one of the keys; see
    /// [`crate::Store::ensure_own_keys`].
    async fn ensure_own_keys(&self) -> Result<(), StoreError>;

    /// Returns settings of the server that an operator should change; see [`crate::Store::advice`].
    async fn advice(&self) -> Result<Vec<Advice>, StoreError>;

    /// Closes every connection after the waiting audit entries have been written.
    async fn close(&self);
}
