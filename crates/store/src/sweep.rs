//! Clearing away what has run out.
use crate::error::StoreError;
use crate::sessions::EndedSession;
use crate::store::Store;
use jiff::{SignedDuration, Timestamp};

/// Ended sessions are kept this long, so that a late request learns why it was refused.
const KEEP_ENDED: SignedDuration = SignedDuration::from_hours(24 * 7);
/// A replica that has not looked for so long reads every session anew.
const KEEP_CHANGES: SignedDuration = SignedDuration::from_mins(10);
/// Expired credentials stay listed at Keystone until they are deleted there.
pub(crate) const KEEP_CREDENTIALS: SignedDuration = SignedDuration::from_hours(24 * 30);
pub(crate) const KEEP_THROTTLE: SignedDuration = SignedDuration::from_hours(24);

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Sessions that have expired just now: close their streams.
    pub ended: Vec<EndedSession>,
    /// Rows that were deleted.
    pub deleted: u64,
}

impl Store {
    /// Ends expired sessions and deletes what nobody can use any more. Call it every minute or
    /// so; several replicas may.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn sweep(&self, now: Timestamp) -> Result<Swept, StoreError> {
        let ended = self.sessions().end_expired(now).await?;
        if let Some(redis) = self.redis() {
            let deleted = redis.delete_old(now, now - KEEP_ENDED).await?
                + redis.forget_changes_before(now - KEEP_CHANGES).await?;
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
                now - KEEP_THROTTLE,
            ),
            (
                "DELETE FROM session_changes WHERE created_at <= $1",
                now - KEEP_CHANGES,
            ),
            (
                "DELETE FROM session_credentials WHERE expires_at <= $1",
                now - KEEP_CREDENTIALS,
            ),
            (
                "DELETE FROM sessions WHERE ended_at <= $1",
                now - KEEP_ENDED,
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
