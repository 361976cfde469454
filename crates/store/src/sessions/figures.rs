//! The numbers of sessions, for metrics.
use super::{SessionKind, Sessions};
use crate::error::StoreError;
use crate::row::Columns;
use jiff::Timestamp;

impl Sessions<'_> {
    /// Returns the number of live sessions of each kind, kinds with zero included.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn count_by_kind(
        self,
        now: Timestamp,
    ) -> Result<Vec<(SessionKind, i64)>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.count_sessions_by_kind(now).await;
        }
        let rows = sqlx::query(
            "SELECT kind, COUNT(*) AS sessions
             FROM sessions
             WHERE ended_at IS NULL AND idle_expires_at > $1 AND keystone_expires_at > $1
             GROUP BY kind",
        )
        .bind(now.as_second())
        .fetch_all(&self.0.pool)
        .await
        .map_err(StoreError::database("count sessions"))?;
        let mut counts = SessionKind::ALL.map(|kind| (kind, 0));
        for row in &rows {
            let columns = Columns::new("sessions", row);
            let found: SessionKind = columns.parsed("kind")?;
            let live = columns.integer("sessions")?;
            for (kind, count) in &mut counts {
                if *kind == found {
                    *count = live;
                }
            }
        }
        Ok(counts.to_vec())
    }
}
