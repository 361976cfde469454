//! Accounts that have signed in, and the number of failed attempts since.
use super::RedisStore;
use super::entry::{Entry, Fields, Found};
use super::scripts::SIGN_IN;
use crate::error::StoreError;
use crate::sign_in_accounts::{FailedSignIns, RETENTION, SignInAccounts, hash};
use async_trait::async_trait;
use jiff::Timestamp;

#[async_trait]
impl SignInAccounts for RedisStore {
    async fn failed(
        &self,
        account: &str,
        known_browser: bool,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let hash = hash(&self.shared.keys, account);
        let mut call = self.redis.call(&SIGN_IN, "account_failed");
        call.arg(hash)
            .arg(i64::from(known_browser))
            .arg(now.as_second());
        let _done: i64 = self
            .redis
            .script("count an account's failure", &call)
            .await?;
        Ok(())
    }

    async fn signed_in(
        &self,
        account: &str,
        now: Timestamp,
    ) -> Result<Option<FailedSignIns>, StoreError> {
        let hash = hash(&self.shared.keys, account);
        let expires_at = now + RETENTION;
        let fields = Fields::default()
            .time("signed_in_at", now)
            .with("failures", 0)
            .with("known_failures", 0)
            .time("last_failed_at", now);
        let mut call = self.redis.call(&SIGN_IN, "account_signed_in");
        call.arg(hash).arg(expires_at.as_second());
        fields.append_to(&mut call);
        let found: Found = self
            .redis
            .script("note an account's sign-in", &call)
            .await?;
        let Some(entry) = Entry::of("sign_in_accounts", found) else {
            return Ok(None);
        };
        let before = FailedSignIns {
            failures: entry.integer("failures")?,
            from_known_browsers: entry.integer("known_failures")?,
            since: entry.time("signed_in_at")?,
            last: entry.time("last_failed_at")?,
        };
        Ok((before.failures > 0).then_some(before))
    }
}
