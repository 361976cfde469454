//! Sessions.
mod life;
mod row;

use super::SqlStore;
use crate::changes::{ChangeKind, Changes as _};
use crate::error::StoreError;
use crate::row::{Columns, to_json};
use crate::sessions::{
    EndReason, EndedSession, HASH_PURPOSE, MAX_USERS, ProviderProfile, Renewal, Session,
    SessionKind, Sessions, TABLE,
};
use async_trait::async_trait;
use jiff::Timestamp;
use portico_domain::identity::{Named, Project, User};
use row::{COLUMNS, from_row};
use secrecy::SecretString;
use uuid::Uuid;

#[async_trait]
impl Sessions for SqlStore {
    async fn insert(
        &self,
        session: &Session,
        secret: Option<&SecretString>,
    ) -> Result<(), StoreError> {
        row::insert(self, session, secret).await
    }

    async fn find_even_ended(&self, secret: &str) -> Result<Option<Session>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS}
             FROM sessions
             WHERE secret_hash = $1"
        );
        for hash in self.shared.keys.hashes(HASH_PURPOSE, secret) {
            let row = sqlx::query(&query)
                .bind(hash)
                .fetch_optional(&self.pool)
                .await
                .map_err(StoreError::database("find a session"))?;
            if let Some(row) = row {
                return from_row(&self.shared.keys, &row).map(Some);
            }
        }
        Ok(None)
    }

    async fn get(&self, id: Uuid) -> Result<Option<Session>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS}
             FROM sessions
             WHERE id = $1"
        );
        sqlx::query(&query)
            .bind(id.to_string())
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("read a session"))?
            .map(|row| from_row(&self.shared.keys, &row))
            .transpose()
    }

    async fn list_of_user(
        &self,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Vec<Session>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS}
             FROM sessions
             WHERE user_id = $1 AND ended_at IS NULL
             ORDER BY last_seen_at DESC, id"
        );
        let rows = sqlx::query(&query)
            .bind(user_id)
            .fetch_all(&self.pool)
            .await
            .map_err(StoreError::database("list sessions"))?;
        let mut sessions = Vec::with_capacity(rows.len());
        for row in &rows {
            let session = from_row(&self.shared.keys, row)?;
            if session.is_live(now) {
                sessions.push(session);
            }
        }
        Ok(sessions)
    }

    async fn list_of_provider(
        &self,
        provider: &str,
        subject: Option<&str>,
        sid: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<Session>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS}
             FROM sessions
             WHERE provider = $1 AND parent IS NULL AND ended_at IS NULL
                 AND (provider_sid = $2 OR provider_subject = $3)"
        );
        let rows = sqlx::query(&query)
            .bind(provider)
            .bind(sid)
            .bind(subject)
            .fetch_all(&self.pool)
            .await
            .map_err(StoreError::database("list the sessions of a provider"))?;
        let mut sessions = Vec::new();
        for row in &rows {
            let session = from_row(&self.shared.keys, row)?;
            if session.is_live(now) && session.is_meant(subject, sid) {
                sessions.push(session);
            }
        }
        Ok(sessions)
    }

    async fn users_matching(&self, text: &str, now: Timestamp) -> Result<Vec<User>, StoreError> {
        let (name, domain) = text.rsplit_once('@').unwrap_or((text, ""));
        let rows = sqlx::query(
            "SELECT DISTINCT user_id, user_name, domain_id, domain_name
             FROM sessions
             WHERE ended_at IS NULL AND idle_expires_at > $1 AND absolute_expires_at > $1
                 AND keystone_expires_at > $1
                 AND (
                     user_id = $2 OR LOWER(user_name) = LOWER($2)
                     OR (LOWER(user_name) = LOWER($3)
                         AND (LOWER(domain_name) = LOWER($4) OR domain_id = $4))
                 )
             ORDER BY user_name, domain_name, user_id
             LIMIT $5",
        )
        .bind(now.as_second())
        .bind(text)
        .bind(name)
        .bind(domain)
        .bind(MAX_USERS)
        .fetch_all(&self.pool)
        .await
        .map_err(StoreError::database("find users"))?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new(TABLE, row);
                Ok(User {
                    id: columns.text("user_id")?,
                    name: columns.text("user_name")?,
                    domain: Named {
                        id: columns.text("domain_id")?,
                        name: columns.text("domain_name")?,
                    },
                })
            })
            .collect()
    }

    async fn count(&self, now: Timestamp) -> Result<i64, StoreError> {
        sqlx::query_scalar(
            "SELECT COUNT(*)
             FROM sessions
             WHERE ended_at IS NULL AND kind = 'browser' AND idle_expires_at > $1",
        )
        .bind(now.as_second())
        .fetch_one(&self.pool)
        .await
        .map_err(StoreError::database("count sessions"))
    }

    async fn count_by_kind(&self, now: Timestamp) -> Result<Vec<(SessionKind, i64)>, StoreError> {
        let rows = sqlx::query(
            "SELECT kind, COUNT(*) AS sessions
             FROM sessions
             WHERE ended_at IS NULL AND idle_expires_at > $1 AND keystone_expires_at > $1
             GROUP BY kind",
        )
        .bind(now.as_second())
        .fetch_all(&self.pool)
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

    async fn set_projects(
        &self,
        root: Uuid,
        projects: &[Project],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let failed = || StoreError::database("remember projects");
        let mut transaction = self.pool.begin().await.map_err(failed())?;
        sqlx::query(
            "UPDATE sessions
             SET projects = $1
             WHERE id = $2 OR parent = $2",
        )
        .bind(to_json(TABLE, "projects", projects)?)
        .bind(root.to_string())
        .execute(&mut *transaction)
        .await
        .map_err(failed())?;
        self.announce_in(&mut transaction, root, ChangeKind::Changed, now)
            .await?;
        transaction.commit().await.map_err(failed())
    }

    async fn set_last_project(
        &self,
        session: &Session,
        project_id: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let failed = || StoreError::database("remember the project");
        let mut transaction = self.pool.begin().await.map_err(failed())?;
        sqlx::query(
            "UPDATE sessions
             SET last_project = $1
             WHERE id = $2 OR parent = $2",
        )
        .bind(project_id)
        .bind(session.root().to_string())
        .execute(&mut *transaction)
        .await
        .map_err(failed())?;
        sqlx::query(
            "INSERT INTO user_last_projects (user_id, project_id, updated_at)
             VALUES ($1, $2, $3)
             ON CONFLICT (user_id) DO UPDATE
             SET project_id = excluded.project_id, updated_at = excluded.updated_at",
        )
        .bind(session.user.id.as_str())
        .bind(project_id)
        .bind(now.as_second())
        .execute(&mut *transaction)
        .await
        .map_err(failed())?;
        self.announce_in(&mut transaction, session.root(), ChangeKind::Changed, now)
            .await?;
        transaction.commit().await.map_err(failed())
    }

    async fn last_project_of_user(&self, user_id: &str) -> Result<Option<String>, StoreError> {
        sqlx::query_scalar(
            "SELECT project_id
             FROM user_last_projects
             WHERE user_id = $1",
        )
        .bind(user_id)
        .fetch_optional(&self.pool)
        .await
        .map_err(StoreError::database("read the last project"))
    }

    async fn set_provider(
        &self,
        root: Uuid,
        profile: &ProviderProfile,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let updated = sqlx::query(
            "UPDATE sessions
             SET provider_profile = $1, provider_expires_at = $2
             WHERE (id = $3 OR parent = $3) AND ended_at IS NULL",
        )
        .bind(to_json(TABLE, "provider_profile", profile)?)
        .bind(expires_at.map(Timestamp::as_second))
        .bind(root.to_string())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("take over a provider's word"))?;
        self.announce(root, ChangeKind::Changed, now).await?;
        Ok(updated.rows_affected() > 0)
    }

    async fn record_use(
        &self,
        id: Uuid,
        family: Uuid,
        idle_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let touched = sqlx::query(
            "UPDATE sessions
             SET last_seen_at = CASE WHEN id = $1 THEN $2 ELSE last_seen_at END,
                 idle_expires_at = CASE
                     WHEN absolute_expires_at < $3 THEN absolute_expires_at
                     ELSE $3
                 END
             WHERE (id = $4 OR (parent = $4 AND kind <> 'cli')) AND ended_at IS NULL",
        )
        .bind(id.to_string())
        .bind(now.as_second())
        .bind(idle_expires_at.as_second())
        .bind(family.to_string())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("touch a session"))?;
        Ok(touched.rows_affected() > 0)
    }

    async fn renew(
        &self,
        root: Uuid,
        renewal: &Renewal,
        now: Timestamp,
    ) -> Result<Option<SecretString>, StoreError> {
        life::renew(self, root, renewal, now).await
    }

    async fn set_keystone_checked(&self, root: Uuid, at: Timestamp) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE sessions
             SET keystone_checked_at = $1
             WHERE id = $2 OR parent = $2",
        )
        .bind(at.as_second())
        .bind(root.to_string())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("note a check by Keystone"))?;
        Ok(())
    }

    async fn set_keystone_expires(
        &self,
        root: Uuid,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let failed = || StoreError::database("take over the end of new tokens");
        let mut transaction = self.pool.begin().await.map_err(failed())?;
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
        self.announce_in(&mut transaction, root, ChangeKind::Renewed, now)
            .await?;
        transaction.commit().await.map_err(failed())?;
        Ok(updated.rows_affected() > 0)
    }

    async fn end_family(
        &self,
        id: Uuid,
        reason: EndReason,
        only_expired: bool,
        now: Timestamp,
    ) -> Result<Vec<EndedSession>, StoreError> {
        life::end_family(self, id, reason, only_expired, now).await
    }

    async fn expired(&self, now: Timestamp) -> Result<Vec<String>, StoreError> {
        sqlx::query_scalar(
            "SELECT id
             FROM sessions
             WHERE ended_at IS NULL
                 AND (idle_expires_at <= $1 OR absolute_expires_at <= $1
                     OR keystone_expires_at <= $1)
             ORDER BY parent IS NOT NULL, id",
        )
        .bind(now.as_second())
        .fetch_all(&self.pool)
        .await
        .map_err(StoreError::database("find expired sessions"))
    }
}
