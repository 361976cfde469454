//! Deletion of expired entries.
use super::SqlStore;
use crate::error::StoreError;
use crate::sweep::{
    CHANGE_RETENTION, CREDENTIAL_RETENTION, ENDED_RETENTION, Sweep, THROTTLE_RETENTION,
};
use async_trait::async_trait;
use jiff::Timestamp;

#[async_trait]
impl Sweep for SqlStore {
    async fn delete_old(&self, now: Timestamp) -> Result<u64, StoreError> {
        let statements = [
            ("DELETE FROM keystone_tokens WHERE expires_at <= $1", now),
            ("DELETE FROM handover_codes WHERE expires_at <= $1", now),
            ("DELETE FROM sign_in_flows WHERE expires_at <= $1", now),
            ("DELETE FROM sign_in_accounts WHERE expires_at <= $1", now),
            ("DELETE FROM totp_marks WHERE expires_at <= $1", now),
            ("DELETE FROM provider_flows WHERE expires_at <= $1", now),
            ("DELETE FROM logout_marks WHERE expires_at <= $1", now),
            (
                "DELETE FROM namespace_candidates WHERE expires_at <= $1",
                now,
            ),
            (
                "DELETE FROM cluster_creation_attempts WHERE expires_at <= $1",
                now,
            ),
            (
                "DELETE FROM cluster_journal_entries WHERE EXISTS (
                     SELECT 1 FROM cluster_journal_heads AS heads
                     WHERE heads.project_id = cluster_journal_entries.project_id
                         AND heads.cluster_id = cluster_journal_entries.cluster_id
                         AND heads.expires_at <= $1
                 )",
                now,
            ),
            (
                "DELETE FROM cluster_journal_heads WHERE expires_at <= $1",
                now,
            ),
            ("DELETE FROM browser_sessions WHERE expires_at <= $1", now),
            ("DELETE FROM saved_forms WHERE expires_at <= $1", now),
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
        Ok(deleted)
    }
}
