//! Counters of failed sign-ins; see [`crate::Throttle`] and [`crate::SignInAccounts`].
use super::Redis;
use super::entry::{Entry, Fields, Found};
use super::scripts::SIGN_IN;
use crate::error::StoreError;
use crate::sign_in_accounts::FailedSignIns;
use crate::sweep::THROTTLE_RETENTION;
use crate::throttle::{Bounds, Reservation};
use jiff::Timestamp;

impl Redis {
    /// Counts an attempt if the limit allows it; returns whether it did, and the count.
    pub async fn reserve_place(
        &self,
        hash: &str,
        bounds: &Bounds,
        now: Timestamp,
    ) -> Result<(bool, i64, Timestamp), StoreError> {
        let mut call = self.call(&SIGN_IN, "reserve");
        call.arg(hash)
            .arg(bounds.now)
            .arg(bounds.forgotten)
            .arg(i64::from(bounds.moves))
            .arg(bounds.free)
            .arg((now + THROTTLE_RETENTION).as_second());
        for before in bounds.before {
            call.arg(before);
        }
        let (given, failures, at): (bool, i64, i64) = self.script("count a failure", &call).await?;
        let at = Timestamp::from_second(at).map_err(|error| StoreError::Corrupt {
            table: "sign_in_throttles",
            column: "window_started_at",
            reason: error.to_string(),
        })?;
        Ok((given, failures, at))
    }

    /// Takes back the failure that a reservation was counted as.
    pub async fn give_back_place(&self, reservation: &Reservation) -> Result<(), StoreError> {
        let mut call = self.call(&SIGN_IN, "give_back");
        call.arg(&reservation.hash)
            .arg(reservation.failures)
            .arg(reservation.at.as_second())
            .arg(reservation.reopened().as_second())
            .arg(reservation.latest());
        let _done: i64 = self.script("take back a failure", &call).await?;
        Ok(())
    }

    /// Deletes the failures of a subject.
    pub async fn forget_failures(&self, hash: &str) -> Result<(), StoreError> {
        let mut call = self.call(&SIGN_IN, "succeeded");
        call.arg(hash);
        let _gone: i64 = self.script("forget failures", &call).await?;
        Ok(())
    }

    /// Counts a failure of an account that has signed in before.
    pub async fn count_account_failure(
        &self,
        hash: &str,
        known_browser: bool,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut call = self.call(&SIGN_IN, "account_failed");
        call.arg(hash)
            .arg(i64::from(known_browser))
            .arg(now.as_second());
        let _done: i64 = self.script("count an account's failure", &call).await?;
        Ok(())
    }

    /// Records a sign-in; returns the failures since the previous one.
    pub async fn account_signed_in(
        &self,
        hash: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<Option<FailedSignIns>, StoreError> {
        let fields = Fields::default()
            .time("signed_in_at", now)
            .with("failures", 0)
            .with("known_failures", 0)
            .time("last_failed_at", now);
        let mut call = self.call(&SIGN_IN, "account_signed_in");
        call.arg(hash).arg(expires_at.as_second());
        fields.append_to(&mut call);
        let found: Found = self.script("note an account's sign-in", &call).await?;
        let Some(entry) = Entry::of("sign_in_accounts", found) else {
            return Ok(None);
        };
        Ok(Some(FailedSignIns {
            failures: entry.integer("failures")?,
            from_known_browsers: entry.integer("known_failures")?,
            since: entry.time("signed_in_at")?,
            last: entry.time("last_failed_at")?,
        }))
    }
}
