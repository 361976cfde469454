//! Renewal and end of sessions, each in one transaction.
use super::SqlStore;
use crate::changes::ChangeKind;
use crate::error::StoreError;
use crate::random::random_secret;
use crate::row::{Columns, to_json};
use crate::sessions::{EndReason, EndedSession, HASH_PURPOSE, Renewal};
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::any::AnyRow;
use uuid::Uuid;

/// Renews a session; see [`crate::Sessions::renew`].
pub(super) async fn renew(
    sql: &SqlStore,
    root: Uuid,
    renewal: &Renewal,
    now: Timestamp,
) -> Result<Option<SecretString>, StoreError> {
    let secret = random_secret()?;
    let mut transaction = sql
        .pool
        .begin()
        .await
        .map_err(StoreError::database("renew a session"))?;
    let renewed = sqlx::query(
        "UPDATE sessions
         SET secret_hash = $1
         WHERE id = $2 AND ended_at IS NULL",
    )
    .bind(sql.shared.keys.hash(HASH_PURPOSE, secret.expose_secret()))
    .bind(root.to_string())
    .execute(&mut *transaction)
    .await
    .map_err(StoreError::database("renew a session"))?;
    if renewed.rows_affected() == 0 {
        return Ok(None);
    }
    sqlx::query(
        "UPDATE sessions
         SET auth_methods = $1, idle_expires_at = $2, absolute_expires_at = $3,
             keystone_expires_at = $4, keystone_checked_at = $5,
             authenticated_at = COALESCE($6, authenticated_at)
         WHERE (id = $7 OR parent = $7) AND ended_at IS NULL",
    )
    .bind(to_json("sessions", "auth_methods", &renewal.auth_methods)?)
    .bind(
        renewal
            .idle_expires_at
            .min(renewal.absolute_expires_at)
            .as_second(),
    )
    .bind(renewal.absolute_expires_at.as_second())
    .bind(renewal.keystone_expires_at.as_second())
    .bind(now.as_second())
    .bind(renewal.authenticated_at.map(Timestamp::as_second))
    .bind(root.to_string())
    .execute(&mut *transaction)
    .await
    .map_err(StoreError::database("renew a session"))?;
    sql.announce_in(&mut transaction, root, ChangeKind::Renewed, now)
        .await?;
    transaction
        .commit()
        .await
        .map_err(StoreError::database("renew a session"))?;
    Ok(Some(secret))
}

/// Ends a session and its children; see [`crate::Sessions::end`].
pub(super) async fn end_family(
    sql: &SqlStore,
    id: Uuid,
    reason: EndReason,
    only_expired: bool,
    now: Timestamp,
) -> Result<Vec<EndedSession>, StoreError> {
    let failed = || StoreError::database("end a session");
    let mut transaction = sql.pool.begin().await.map_err(failed())?;
    let mut rows = Vec::new();
    if only_expired {
        let own = sqlx::query(
            "UPDATE sessions
             SET ended_at = $1, end_reason = $2
             WHERE id = $3 AND ended_at IS NULL
                 AND (idle_expires_at <= $1 OR absolute_expires_at <= $1
                     OR keystone_expires_at <= $1)
             RETURNING id, kind, user_id",
        )
        .bind(now.as_second())
        .bind(reason.as_str())
        .bind(id.to_string())
        .fetch_optional(&mut *transaction)
        .await
        .map_err(failed())?;
        let Some(own) = own else {
            return Ok(Vec::new());
        };
        rows.push(own);
    }
    let ended_now = sqlx::query(
        "UPDATE sessions
         SET ended_at = $1,
             end_reason = CASE WHEN id = $2 THEN $3 ELSE $4 END
         WHERE (id = $2 OR parent = $2) AND ended_at IS NULL
         RETURNING id, kind, user_id",
    )
    .bind(now.as_second())
    .bind(id.to_string())
    .bind(reason.as_str())
    .bind(EndReason::ParentEnded.as_str())
    .fetch_all(&mut *transaction)
    .await
    .map_err(failed())?;
    rows.extend(ended_now);
    sqlx::query(
        "UPDATE keystone_tokens
         SET revoke_at = $1
         WHERE (revoke_at IS NULL OR revoke_at > $1)
             AND session_id IN (SELECT id FROM sessions WHERE id = $2 OR parent = $2)",
    )
    .bind(now.as_second())
    .bind(id.to_string())
    .execute(&mut *transaction)
    .await
    .map_err(failed())?;
    sqlx::query(
        "UPDATE session_credentials
         SET secret_sealed = NULL, ended_at = $1
         WHERE session_id = $2 AND ended_at IS NULL",
    )
    .bind(now.as_second())
    .bind(id.to_string())
    .execute(&mut *transaction)
    .await
    .map_err(failed())?;
    if !rows.is_empty() {
        sql.announce_in(&mut transaction, id, ChangeKind::Ended(reason), now)
            .await?;
    }
    transaction.commit().await.map_err(failed())?;
    rows.iter().map(ended).collect()
}

fn ended(row: &AnyRow) -> Result<EndedSession, StoreError> {
    let columns = Columns::new("sessions", row);
    Ok(EndedSession {
        id: columns.uuid("id")?,
        kind: columns.parsed("kind")?,
        user_id: columns.text("user_id")?,
    })
}
