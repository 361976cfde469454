//! How often a sign-in failed, per account and per address.
use crate::error::StoreError;
use crate::row::Columns;
use crate::store::Store;
use jiff::{SignedDuration, Timestamp};

const PURPOSE: &str = "throttle";

/// The counters of failed sign-ins; see [`Store::throttle`].
#[derive(Clone, Copy)]
pub struct Throttle<'s>(pub(crate) &'s Store);

/// How many failures are borne in which time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThrottleLimit {
    pub failures: i64,
    pub window: SignedDuration,
}

impl Throttle<'_> {
    /// Until when the subject (an account, an address) is refused; `None` when it may try.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn refused_until(
        self,
        subject: &str,
        limit: ThrottleLimit,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        if let Some(redis) = self.0.redis() {
            let hash = self.0.keys.hash(PURPOSE, subject);
            return redis.refused_until(&hash, limit, now).await;
        }
        let row = sqlx::query(
            "SELECT failures, window_started_at
             FROM sign_in_throttles
             WHERE subject_hash = $1",
        )
        .bind(self.0.keys.hash(PURPOSE, subject))
        .fetch_optional(&self.0.pool)
        .await
        .map_err(StoreError::database("read a limit"))?;
        let Some(row) = row else { return Ok(None) };
        let columns = Columns::new("sign_in_throttles", &row);
        let until = columns.time("window_started_at")? + limit.window;
        let refused = columns.integer("failures")? >= limit.failures && now < until;
        Ok(refused.then_some(until))
    }

    /// Counts a failure; answers with how many there were in the running window.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn failed(
        self,
        subject: &str,
        limit: ThrottleLimit,
        now: Timestamp,
    ) -> Result<i64, StoreError> {
        if let Some(redis) = self.0.redis() {
            let hash = self.0.keys.hash(PURPOSE, subject);
            return redis.count_failure(&hash, limit, now).await;
        }
        sqlx::query_scalar(
            "INSERT INTO sign_in_throttles (subject_hash, failures, window_started_at)
             VALUES ($1, 1, $2)
             ON CONFLICT (subject_hash) DO UPDATE
             SET failures = CASE
                     WHEN sign_in_throttles.window_started_at <= $3 THEN 1
                     ELSE sign_in_throttles.failures + 1
                 END,
                 window_started_at = CASE
                     WHEN sign_in_throttles.window_started_at <= $3
                         THEN excluded.window_started_at
                     ELSE sign_in_throttles.window_started_at
                 END
             RETURNING failures",
        )
        .bind(self.0.keys.hash(PURPOSE, subject))
        .bind(now.as_second())
        .bind((now - limit.window).as_second())
        .fetch_one(&self.0.pool)
        .await
        .map_err(StoreError::database("count a failure"))
    }

    /// Takes back one failure that was counted ahead of an attempt whose outcome nobody knows.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn undecided(self, subject: &str) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            let hash = self.0.keys.hash(PURPOSE, subject);
            return redis.take_back_failure(&hash).await;
        }
        sqlx::query(
            "UPDATE sign_in_throttles
             SET failures = failures - 1
             WHERE subject_hash = $1 AND failures > 0",
        )
        .bind(self.0.keys.hash(PURPOSE, subject))
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("take back a failure"))?;
        Ok(())
    }

    /// Forgets the subject's failures after a success.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn succeeded(self, subject: &str) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            let hash = self.0.keys.hash(PURPOSE, subject);
            return redis.forget_failures(&hash).await;
        }
        sqlx::query(
            "DELETE FROM sign_in_throttles
             WHERE subject_hash = $1",
        )
        .bind(self.0.keys.hash(PURPOSE, subject))
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("forget failures"))?;
        Ok(())
    }
}
