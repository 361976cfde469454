//! Deletion of expired entries.
use crate::error::StoreError;
use crate::sessions::EndedSession;
use crate::store::Store;
use jiff::{SignedDuration, Timestamp};

/// How long ended sessions are stored, so that a late request gets the reason why it is refused.
const ENDED_RETENTION: SignedDuration = SignedDuration::from_hours(24 * 7);
/// How long changes are stored. A replica that has not read for longer reads every session again.
const CHANGE_RETENTION: SignedDuration = SignedDuration::from_mins(10);
/// How long expired credentials are stored: they remain in Keystone until they are deleted there.
pub(crate) const CREDENTIAL_RETENTION: SignedDuration = SignedDuration::from_hours(24 * 30);
pub(crate) const THROTTLE_RETENTION: SignedDuration = SignedDuration::from_hours(24);

/// The result of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Sessions that have just expired: close their streams.
    pub ended: Vec<EndedSession>,
    /// Rows that were deleted.
    pub deleted: u64,
}

impl Store {
    /// Ends expired sessions and deletes entries that can no longer be used. Call it about once a
    /// minute; several replicas may do so.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn sweep(&self, now: Timestamp) -> Result<Swept, StoreError> {
        let ended = self.sessions().end_expired(now).await?;
        if let Some(redis) = self.redis() {
            let deleted = redis.delete_old(now, now - ENDED_RETENTION).await?
                + redis.forget_changes_before(now - CHANGE_RETENTION).await?;
            return Ok(Swept { ended, deleted });
        }
        let statements = [
            ("DELETE FROM keystone_tokens WHERE expires_at <= $1", now),
            ("DELETE FROM handover_codes WHERE expires_at <= $1", now),
            ("DELETE FROM sign_in_flows WHERE expires_at <= $1", now),
            ("DELETE FROM sign_in_accounts WHERE expires_at <= $1", now),
            ("DELETE FROM totp_marks WHERE expires_at <= $1", now),
            ("DELETE FROM provider_flows WHERE expires_at <= $1", now),
            ("DELETE FROM logout_marks WHERE expires_at <= $1", now),
            ("DELETE FROM kept_forms WHERE expires_at <= $1", now),
            ("DELETE FROM device_codes WHERE expires_at <= $1", now),
            (
                "DELETE FROM authorization_codes WHERE expires_at <= $1",
                now,
            ),
            ("DELETE FROM access_tokens WHERE expires_at <= $1", now),
            ("DELETE FROM refresh_tokens WHERE expires_at <= $1", now),
            (
                "DELETE FROM sign_in_throttles WHERE window_started_at <= $1",
                now - THROTTLE_RETENTION,
            ),
            (
                "DELETE FROM session_changes WHERE created_at <= $1",
                now - CHANGE_RETENTION,
            ),
            (
                "DELETE FROM session_credentials WHERE expires_at <= $1",
                now - CREDENTIAL_RETENTION,
            ),
            (
                "DELETE FROM sessions WHERE ended_at <= $1",
                now - ENDED_RETENTION,
            ),
        ];
        let mut deleted = 0;
        for (statement, before) in statements {
            deleted += sqlx::query(statement)
                .bind(before.as_second())
                .execute(&self.pool)
                .await
                .map_err(StoreError::database("clear away old rows"))?
                .rows_affected();
        }
        Ok(Swept { ended, deleted })
    }
}
