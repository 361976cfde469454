//! Clearing away what has run out; see [`crate::Store::sweep`].
use super::Redis;
use super::scripts::{SESSIONS, SWEEP};
use crate::error::StoreError;
use jiff::Timestamp;

/// A script holds everybody up: so many entries at once.
const AT_ONCE: u64 = 200;
const OPERATION: &str = "clear away old entries";

impl Redis {
    /// Deletes what ended before `now`, and sessions that ended before `ended_before`; answers
    /// with how many entries.
    pub async fn delete_old(
        &self,
        now: Timestamp,
        ended_before: Timestamp,
    ) -> Result<u64, StoreError> {
        let mut all = 0;
        loop {
            let mut call = self.call(&SWEEP, "expired");
            call.arg(now.as_second()).arg(AT_ONCE);
            let (seen, deleted): (u64, u64) = self.script(OPERATION, &call).await?;
            all += deleted;
            if seen < AT_ONCE {
                break;
            }
        }
        loop {
            let mut call = self.call(&SESSIONS, "delete_ended");
            call.arg(ended_before.as_second()).arg(AT_ONCE);
            let deleted: u64 = self.script(OPERATION, &call).await?;
            all += deleted;
            if deleted == 0 {
                return Ok(all);
            }
        }
    }
}
