//! Deletion of expired entries.
use super::scripts::{SESSIONS, SWEEP};
use super::{Redis, RedisStore};
use crate::error::StoreError;
use crate::sweep::{CHANGE_RETENTION, ENDED_RETENTION, Sweep};
use async_trait::async_trait;
use jiff::Timestamp;

/// Maximum number of entries that one script deletes: a script blocks all other commands.
const MAX_ENTRIES: u64 = 200;
const OPERATION: &str = "clear away old entries";

#[async_trait]
impl Sweep for RedisStore {
    async fn delete_old(&self, now: Timestamp) -> Result<u64, StoreError> {
        let entries = self
            .redis
            .delete_entries(now, now - ENDED_RETENTION)
            .await?;
        let changes = self
            .redis
            .forget_changes_before(now - CHANGE_RETENTION)
            .await?;
        Ok(entries + changes)
    }
}

impl Redis {
    /// Deletes what ended before `now`, and sessions that ended before `ended_before`; returns the
    /// number of entries.
    async fn delete_entries(
        &self,
        now: Timestamp,
        ended_before: Timestamp,
    ) -> Result<u64, StoreError> {
        let mut all = 0;
        loop {
            let mut call = self.call(&SWEEP, "expired");
            call.arg(now.as_second()).arg(MAX_ENTRIES);
            let (seen, deleted): (u64, u64) = self.script(OPERATION, &call).await?;
            all += deleted;
            if seen < MAX_ENTRIES {
                break;
            }
        }
        loop {
            let mut call = self.call(&SESSIONS, "delete_ended");
            call.arg(ended_before.as_second()).arg(MAX_ENTRIES);
            let deleted: u64 = self.script(OPERATION, &call).await?;
            all += deleted;
            if deleted == 0 {
                return Ok(all);
            }
        }
    }
}
