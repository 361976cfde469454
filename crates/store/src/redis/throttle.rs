//! Counters of failed sign-ins.
use super::RedisStore;
use super::scripts::SIGN_IN;
use crate::error::StoreError;
use crate::sweep::THROTTLE_RETENTION;
use crate::throttle::{Reservation, Reserved, Throttle, ThrottleLimit, hash};
use async_trait::async_trait;
use jiff::Timestamp;

#[async_trait]
impl Throttle for RedisStore {
    async fn reserve(
        &self,
        subject: &str,
        limit: ThrottleLimit,
        now: Timestamp,
    ) -> Result<Reserved, StoreError> {
        let hash = hash(&self.shared.keys, subject);
        let bounds = limit.bounds(now);
        let mut call = self.redis.call(&SIGN_IN, "reserve");
        call.arg(&hash)
            .arg(bounds.now)
            .arg(bounds.forgotten)
            .arg(i64::from(bounds.moves))
            .arg(bounds.free)
            .arg((now + THROTTLE_RETENTION).as_second());
        for before in bounds.before {
            call.arg(before);
        }
        let (given, failures, at): (bool, i64, i64) =
            self.redis.script("count a failure", &call).await?;
        let at = Timestamp::from_second(at).map_err(|error| StoreError::Corrupt {
            table: "sign_in_throttles",
            column: "window_started_at",
            reason: error.to_string(),
        })?;
        Ok(limit.result(hash, (given, failures, at), now))
    }

    async fn return_reservation(&self, reservation: &Reservation) -> Result<(), StoreError> {
        let mut call = self.redis.call(&SIGN_IN, "give_back");
        call.arg(&reservation.hash)
            .arg(reservation.failures)
            .arg(reservation.at.as_second())
            .arg(reservation.reopened().as_second())
            .arg(reservation.latest());
        let _done: i64 = self.redis.script("take back a failure", &call).await?;
        Ok(())
    }

    async fn forget(&self, reservation: &Reservation) -> Result<(), StoreError> {
        let mut call = self.redis.call(&SIGN_IN, "succeeded");
        call.arg(&reservation.hash);
        let _gone: i64 = self.redis.script("forget failures", &call).await?;
        Ok(())
    }
}
