//! Deletion of expired entries; see [`crate::Store::sweep`].
use super::Redis;
use super::scripts::{SESSIONS, SWEEP};
use crate::error::StoreError;
use jiff::Timestamp;

/// Maximum number of entries that one script deletes: a script blocks all other commands.
const MAX_ENTRIES: u64 = 200;
const OPERATION: &str = "clear away old entries";

impl Redis {
    /// Deletes what ended before `now`, and sessions that ended before `ended_before`; returns the
    /// number of entries.
    pub async fn delete_old(
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
