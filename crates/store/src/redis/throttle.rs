//! Counters of failed sign-ins; see [`crate::Throttle`].
use super::Redis;
use super::entry::{Entry, Found};
use super::scripts::SIGN_IN;
use crate::error::StoreError;
use crate::sweep::KEEP_THROTTLE;
use crate::throttle::ThrottleLimit;
use jiff::Timestamp;

impl Redis {
    /// Until when the subject of this hash is refused.
    pub async fn refused_until(
        &self,
        hash: &str,
        limit: ThrottleLimit,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let mut read = ::redis::cmd("HGETALL");
        read.arg(self.key("throttle", hash));
        let found: Found = self.command("read a limit", &read).await?;
        let Some(entry) = Entry::of("sign_in_throttles", found) else {
            return Ok(None);
        };
        let until = entry.time("window_started_at")? + limit.window;
        let refused = entry.integer("failures")? >= limit.failures && now < until;
        Ok(refused.then_some(until))
    }

    /// Counts a failure; answers with how many there were in the running window.
    pub async fn count_failure(
        &self,
        hash: &str,
        limit: ThrottleLimit,
        now: Timestamp,
    ) -> Result<i64, StoreError> {
        let mut call = self.call(&SIGN_IN, "failed");
        call.arg(hash)
            .arg(now.as_second())
            .arg((now - limit.window).as_second())
            .arg((now + KEEP_THROTTLE).as_second());
        self.script("count a failure", &call).await
    }

    /// Takes back one failure.
    pub async fn take_back_failure(&self, hash: &str) -> Result<(), StoreError> {
        let mut call = self.call(&SIGN_IN, "undecided");
        call.arg(hash);
        let _done: i64 = self.script("take back a failure", &call).await?;
        Ok(())
    }

    /// Forgets the failures of a subject.
    pub async fn forget_failures(&self, hash: &str) -> Result<(), StoreError> {
        let mut call = self.call(&SIGN_IN, "succeeded");
        call.arg(hash);
        let _gone: i64 = self.script("forget failures", &call).await?;
        Ok(())
    }
}
