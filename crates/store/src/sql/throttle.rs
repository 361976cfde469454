//! Counters of failed sign-ins.
use super::SqlStore;
use crate::error::StoreError;
use crate::row::Columns;
use crate::throttle::{Bounds, Reservation, Reserved, Throttle, ThrottleLimit, hash};
use async_trait::async_trait;
use jiff::Timestamp;

#[async_trait]
impl Throttle for SqlStore {
    async fn reserve(
        &self,
        subject: &str,
        limit: ThrottleLimit,
        now: Timestamp,
    ) -> Result<Reserved, StoreError> {
        let hash = hash(&self.shared.keys, subject);
        let counted = self.count_attempt_of(&hash, &limit.bounds(now)).await?;
        Ok(limit.result(hash, counted, now))
    }

    async fn return_reservation(&self, reservation: &Reservation) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE sign_in_throttles
             SET failures = failures - 1,
                 window_started_at = CASE
                     WHEN failures = $2 AND window_started_at = $3 THEN $4
                     ELSE window_started_at
                 END
             WHERE subject_hash = $1
               AND failures > 0
               AND window_started_at >= $3
               AND window_started_at <= $5",
        )
        .bind(&reservation.hash)
        .bind(reservation.failures)
        .bind(reservation.at.as_second())
        .bind(reservation.reopened().as_second())
        .bind(reservation.latest())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("take back a failure"))?;
        Ok(())
    }

    async fn forget(&self, reservation: &Reservation) -> Result<(), StoreError> {
        sqlx::query(
            "DELETE FROM sign_in_throttles
             WHERE subject_hash = $1",
        )
        .bind(&reservation.hash)
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("forget failures"))?;
        Ok(())
    }
}

impl SqlStore {
    /// Counts an attempt if the limit allows it; returns whether it did, and the count.
    async fn count_attempt_of(
        &self,
        hash: &str,
        bounds: &Bounds,
    ) -> Result<(bool, i64, Timestamp), StoreError> {
        let row = sqlx::query(
            "INSERT INTO sign_in_throttles (subject_hash, failures, window_started_at)
             VALUES ($1, 1, $2)
             ON CONFLICT (subject_hash) DO UPDATE
             SET failures = CASE
                     WHEN sign_in_throttles.window_started_at <= $3 THEN 1
                     ELSE sign_in_throttles.failures + 1
                 END,
                 window_started_at = CASE
                     WHEN sign_in_throttles.window_started_at <= $3 OR $4 = 1
                         THEN excluded.window_started_at
                     ELSE sign_in_throttles.window_started_at
                 END
             WHERE sign_in_throttles.window_started_at <= $3
                OR sign_in_throttles.failures < $5
                OR (sign_in_throttles.failures = $5
                    AND sign_in_throttles.window_started_at <= $6)
                OR (sign_in_throttles.failures = $5 + 1
                    AND sign_in_throttles.window_started_at <= $7)
                OR (sign_in_throttles.failures = $5 + 2
                    AND sign_in_throttles.window_started_at <= $8)
                OR (sign_in_throttles.failures > $5 + 2
                    AND sign_in_throttles.window_started_at <= $9)
             RETURNING failures, window_started_at",
        );
        let [first, second, third, last] = bounds.before;
        let row = row
            .bind(hash)
            .bind(bounds.now)
            .bind(bounds.forgotten)
            .bind(i64::from(bounds.moves))
            .bind(bounds.free)
            .bind(first)
            .bind(second)
            .bind(third)
            .bind(last)
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("count a failure"))?;
        let given = row.is_some();
        let row = match row {
            Some(row) => Some(row),
            None => sqlx::query(
                "SELECT failures, window_started_at
                 FROM sign_in_throttles
                 WHERE subject_hash = $1",
            )
            .bind(hash)
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("read a limit"))?,
        };
        let Some(row) = row else {
            // deleted between the two statements: the next attempt gets a place
            let now = Timestamp::from_second(bounds.now).unwrap_or_default();
            return Ok((false, 0, now));
        };
        let columns = Columns::new("sign_in_throttles", &row);
        Ok((
            given,
            columns.integer("failures")?,
            columns.time("window_started_at")?,
        ))
    }
}
