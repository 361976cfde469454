//! Use, renewal and end of sessions.
use super::{EndReason, EndedSession, HASH_PURPOSE, Renewal, Session, SessionKind, Sessions};
use crate::changes::ChangeKind;
use crate::error::StoreError;
use crate::random::random_secret;
use crate::row::{Columns, to_json};
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::any::AnyRow;
use uuid::Uuid;

/// Minimum time between two writes of a session's last use.
const TOUCH_INTERVAL: SignedDuration = SignedDuration::from_secs(30);

impl Sessions<'_> {
    /// Records that the session is in use and extends its idle expiry to `idle_expires_at`; returns
    /// whether it wrote. Use of an app keeps the whole family alive, use of a command line only its
    /// own session.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn touch(
        self,
        session: &Session,
        idle_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        if now.duration_since(session.last_seen_at) < TOUCH_INTERVAL {
            return Ok(false);
        }
        let family = match session.kind {
            SessionKind::CommandLine => session.id,
            SessionKind::Browser | SessionKind::App => session.root(),
        };
        if let Some(redis) = self.0.redis() {
            let touched = redis.touch_session(session.id, family, idle_expires_at, now);
            return touched.await;
        }
        let touched = sqlx::query(
            "UPDATE sessions
             SET last_seen_at = CASE WHEN id = $1 THEN $2 ELSE last_seen_at END,
                 idle_expires_at = CASE
                     WHEN absolute_expires_at < $3 THEN absolute_expires_at
                     ELSE $3
                 END
             WHERE (id = $4 OR (parent = $4 AND kind <> 'cli')) AND ended_at IS NULL",
        )
        .bind(session.id.to_string())
        .bind(now.as_second())
        .bind(idle_expires_at.as_second())
        .bind(family.to_string())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("touch a session"))?;
        Ok(touched.rows_affected() > 0)
    }

    /// Sets new times for the whole family after the same user has signed in again, and the session
    /// a new cookie secret. Returns `None` if it has ended meanwhile.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn renew(
        self,
        root: Uuid,
        renewal: &Renewal,
        now: Timestamp,
    ) -> Result<Option<SecretString>, StoreError> {
        let secret = random_secret()?;
        if let Some(redis) = self.0.redis() {
            let renewed = redis.renew_session(&self.0.keys, root, &secret, renewal, now);
            return Ok(renewed.await?.then_some(secret));
        }
        let mut transaction = self
            .0
            .pool
            .begin()
            .await
            .map_err(StoreError::database("renew a session"))?;
        let renewed = sqlx::query(
            "UPDATE sessions
             SET secret_hash = $1
             WHERE id = $2 AND ended_at IS NULL",
        )
        .bind(self.0.keys.hash(HASH_PURPOSE, secret.expose_secret()))
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
        let changes = self.0.changes();
        changes
            .announce_in(&mut transaction, root, ChangeKind::Renewed, now)
            .await?;
        transaction
            .commit()
            .await
            .map_err(StoreError::database("renew a session"))?;
        Ok(Some(secret))
    }

    /// Records that Keystone has confirmed the family's tokens.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn set_keystone_checked(self, root: Uuid, at: Timestamp) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            let operation = "note a check by Keystone";
            return redis
                .set_of_family(operation, root, "keystone_checked_at", at.as_second())
                .await;
        }
        sqlx::query(
            "UPDATE sessions
             SET keystone_checked_at = $1
             WHERE id = $2 OR parent = $2",
        )
        .bind(at.as_second())
        .bind(root.to_string())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("note a check by Keystone"))?;
        Ok(())
    }

    /// Ends a session and its children; returns those that were live. In the same transaction its
    /// Keystone tokens become due for revocation, the secret of its application credential is
    /// destroyed, and the change is announced to every replica, so that none of this can be missed.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read; no session has ended then.
    pub async fn end(
        self,
        id: Uuid,
        reason: EndReason,
        now: Timestamp,
    ) -> Result<Vec<EndedSession>, StoreError> {
        self.end_where(id, reason, false, now).await
    }

    /// Ends a session that has expired, with everything that [`Self::end`] does; does nothing if it
    /// was used meanwhile, on another replica for example.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read; no session has ended then.
    pub async fn expire(self, id: Uuid, now: Timestamp) -> Result<Vec<EndedSession>, StoreError> {
        self.end_where(id, EndReason::Expired, true, now).await
    }

    async fn end_where(
        self,
        id: Uuid,
        reason: EndReason,
        only_expired: bool,
        now: Timestamp,
    ) -> Result<Vec<EndedSession>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.end_session(id, reason, only_expired, now).await;
        }
        let failed = || StoreError::database("end a session");
        let mut transaction = self.0.pool.begin().await.map_err(failed())?;
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
            let changes = self.0.changes();
            changes
                .announce_in(&mut transaction, id, ChangeKind::Ended(reason), now)
                .await?;
        }
        transaction.commit().await.map_err(failed())?;
        rows.iter().map(ended).collect()
    }

    /// Stores the expiry of new Keystone tokens for the whole family, which uses them from then on.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn set_keystone_expires(
        self,
        root: Uuid,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis
                .set_keystone_expires_of_session(root, expires_at, now)
                .await;
        }
        let failed = || StoreError::database("take over the end of new tokens");
        let mut transaction = self.0.pool.begin().await.map_err(failed())?;
        let updated = sqlx::query(
            "UPDATE sessions
             SET keystone_expires_at = $1, keystone_checked_at = $2
             WHERE (id = $3 OR parent = $3) AND ended_at IS NULL",
        )
        .bind(expires_at.as_second())
        .bind(now.as_second())
        .bind(root.to_string())
        .execute(&mut *transaction)
        .await
        .map_err(failed())?;
        let changes = self.0.changes();
        changes
            .announce_in(&mut transaction, root, ChangeKind::Renewed, now)
            .await?;
        transaction.commit().await.map_err(failed())?;
        Ok(updated.rows_affected() > 0)
    }

    /// Ends every session of a user except the family of `except`.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn end_all_of_user(
        self,
        user_id: &str,
        except: Option<Uuid>,
        reason: EndReason,
        now: Timestamp,
    ) -> Result<Vec<EndedSession>, StoreError> {
        let mut all = Vec::new();
        for session in self.list_of_user(user_id, now).await? {
            if session.parent.is_none() && Some(session.id) != except {
                all.extend(self.end(session.id, reason, now).await?);
            }
        }
        Ok(all)
    }

    /// Ends every session that has expired.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn end_expired(self, now: Timestamp) -> Result<Vec<EndedSession>, StoreError> {
        let rows: Vec<String> = match self.0.redis() {
            Some(redis) => redis.expired_sessions(now).await?,
            None => sqlx::query_scalar(
                "SELECT id
                 FROM sessions
                 WHERE ended_at IS NULL
                     AND (idle_expires_at <= $1 OR absolute_expires_at <= $1
                         OR keystone_expires_at <= $1)
                 ORDER BY parent IS NOT NULL, id",
            )
            .bind(now.as_second())
            .fetch_all(&self.0.pool)
            .await
            .map_err(StoreError::database("find expired sessions"))?,
        };
        let mut all = Vec::new();
        for id in rows {
            let id = Uuid::parse_str(&id).map_err(|error| StoreError::Corrupt {
                table: "sessions",
                column: "id",
                reason: error.to_string(),
            })?;
            all.extend(self.expire(id, now).await?);
        }
        Ok(all)
    }

    pub(super) async fn is_live_row(self, id: Uuid, now: Timestamp) -> Result<bool, StoreError> {
        Ok(self
            .get(id)
            .await?
            .is_some_and(|session| session.is_live(now)))
    }
}

fn ended(row: &AnyRow) -> Result<EndedSession, StoreError> {
    let columns = Columns::new("sessions", row);
    Ok(EndedSession {
        id: columns.uuid("id")?,
        kind: columns.parsed("kind")?,
        user_id: columns.text("user_id")?,
    })
}
