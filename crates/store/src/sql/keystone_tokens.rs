//! Keystone tokens and their revocation.
use super::SqlStore;
use crate::error::StoreError;
use crate::keystone_tokens::{KeystoneToken, KeystoneTokens, NewKeystoneToken, Stored, TABLE};
use crate::pending_revocations::{PendingRevocation, UnfinishedRevocations};
use crate::row::{Columns, to_json};
use crate::sealing::{KeyRing, Place};
use async_trait::async_trait;
use jiff::Timestamp;
use portico_domain::identity::{Named, Project};
use secrecy::ExposeSecret as _;
use sqlx::any::AnyRow;
use uuid::Uuid;

const COLUMNS: &str = "id, session_id, project, roles, token_sealed, audit_id, expires_at, \
     revoke_at, revoke_attempts";

#[async_trait]
impl KeystoneTokens for SqlStore {
    async fn store(&self, new: &NewKeystoneToken, now: Timestamp) -> Result<Stored, StoreError> {
        let failed = || StoreError::database("store a Keystone token");
        let id = Uuid::new_v4();
        let row = id.to_string();
        let sealed = self
            .shared
            .keys
            .seal(place(&row), new.token.expose_secret())?;
        let project = new
            .project
            .as_ref()
            .map(|project| to_json(TABLE, "project", project))
            .transpose()?;
        let mut transaction = self.pool.begin().await.map_err(failed())?;
        // the write locks the row: an ending session waits for us, or we see that it has ended
        let live = sqlx::query(
            "UPDATE sessions
             SET keystone_checked_at = keystone_checked_at
             WHERE id = $1 AND ended_at IS NULL",
        )
        .bind(new.session.to_string())
        .execute(&mut *transaction)
        .await
        .map_err(failed())?
        .rows_affected()
            > 0;
        sqlx::query(
            "INSERT INTO keystone_tokens (
                 id, session_id, project_id, project, roles, token_sealed, audit_id, created_at,
                 expires_at, revoke_at, revoke_attempts
             )
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0)",
        )
        .bind(row.as_str())
        .bind(new.session.to_string())
        .bind(project_key(new.project.as_ref()))
        .bind(project)
        .bind(to_json(TABLE, "roles", &new.roles)?)
        .bind(sealed)
        .bind(new.audit_id.as_str())
        .bind(now.as_second())
        .bind(new.expires_at.as_second())
        .bind((!live).then(|| now.as_second()))
        .execute(&mut *transaction)
        .await
        .map_err(failed())?;
        transaction.commit().await.map_err(failed())?;
        Ok(if live {
            Stored::Usable(id)
        } else {
            Stored::SessionEnded(id)
        })
    }

    async fn find(
        &self,
        session: Uuid,
        project_id: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<KeystoneToken>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS}
             FROM keystone_tokens
             WHERE session_id = $1 AND project_id = $2 AND revoke_at IS NULL AND expires_at > $3
             ORDER BY expires_at DESC, created_at DESC, id
             LIMIT 1"
        );
        sqlx::query(&query)
            .bind(session.to_string())
            .bind(project_id.unwrap_or_default())
            .bind(now.as_second())
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("find a Keystone token"))?
            .map(|row| token(&self.shared.keys, &row))
            .transpose()
    }

    async fn usable(
        &self,
        session: Uuid,
        now: Timestamp,
    ) -> Result<Vec<KeystoneToken>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS}
             FROM keystone_tokens
             WHERE session_id = $1 AND revoke_at IS NULL AND expires_at > $2
             ORDER BY created_at, id"
        );
        let rows = sqlx::query(&query)
            .bind(session.to_string())
            .bind(now.as_second())
            .fetch_all(&self.pool)
            .await
            .map_err(StoreError::database("list Keystone tokens"))?;
        rows.iter()
            .map(|row| token(&self.shared.keys, row))
            .collect()
    }

    async fn list(&self, session: Uuid) -> Result<Vec<KeystoneToken>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS}
             FROM keystone_tokens
             WHERE session_id = $1
             ORDER BY created_at, id"
        );
        let rows = sqlx::query(&query)
            .bind(session.to_string())
            .fetch_all(&self.pool)
            .await
            .map_err(StoreError::database("list Keystone tokens"))?;
        rows.iter()
            .map(|row| token(&self.shared.keys, row))
            .collect()
    }

    async fn set_roles(&self, id: Uuid, roles: &[Named]) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE keystone_tokens
             SET roles = $1
             WHERE id = $2",
        )
        .bind(to_json(TABLE, "roles", roles)?)
        .bind(id.to_string())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("store roles"))?;
        Ok(())
    }

    async fn forget(&self, id: Uuid) -> Result<(), StoreError> {
        sqlx::query(
            "DELETE FROM keystone_tokens
             WHERE id = $1",
        )
        .bind(id.to_string())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("forget a Keystone token"))?;
        Ok(())
    }

    async fn revoke_later(&self, id: Uuid, at: Timestamp) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE keystone_tokens
             SET revoke_at = $1
             WHERE id = $2",
        )
        .bind(at.as_second())
        .bind(id.to_string())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("queue a revocation"))?;
        Ok(())
    }

    async fn due_revocations(
        &self,
        limit: i64,
        now: Timestamp,
    ) -> Result<Vec<PendingRevocation>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS}
             FROM keystone_tokens
             WHERE revoke_at <= $1 AND expires_at > $1
             ORDER BY revoke_at, id
             LIMIT $2"
        );
        self.revocations(sqlx::query(&query).bind(now.as_second()).bind(limit))
            .await
    }

    async fn pending_revocations(
        &self,
        session: Uuid,
    ) -> Result<Vec<PendingRevocation>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS}
             FROM keystone_tokens
             WHERE revoke_at IS NOT NULL
                 AND session_id IN (SELECT id FROM sessions WHERE id = $1 OR parent = $1)
             ORDER BY revoke_at, id"
        );
        self.revocations(sqlx::query(&query).bind(session.to_string()))
            .await
    }

    async fn claim_revocation(
        &self,
        pending: &PendingRevocation,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let claimed = sqlx::query(
            "UPDATE keystone_tokens
             SET revoke_at = $1
             WHERE id = $2 AND revoke_attempts = $3 AND revoke_at <= $4",
        )
        .bind(until.as_second())
        .bind(pending.id.to_string())
        .bind(pending.attempts)
        .bind(now.as_second())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("claim a revocation"))?;
        Ok(claimed.rows_affected() > 0)
    }

    async fn revocation_failed(&self, id: Uuid, next: Timestamp) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE keystone_tokens
             SET revoke_at = $1, revoke_attempts = revoke_attempts + 1
             WHERE id = $2",
        )
        .bind(next.as_second())
        .bind(id.to_string())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("queue a revocation"))?;
        Ok(())
    }

    async fn count_unfinished(&self, now: Timestamp) -> Result<i64, StoreError> {
        sqlx::query_scalar(
            "SELECT COUNT(*)
             FROM keystone_tokens
             WHERE expires_at > $1
                 AND (revoke_at <= $1 OR (revoke_at IS NOT NULL AND revoke_attempts > 0))",
        )
        .bind(now.as_second())
        .fetch_one(&self.pool)
        .await
        .map_err(StoreError::database("count pending revocations"))
    }

    async fn unfinished_of_user(
        &self,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Option<UnfinishedRevocations>, StoreError> {
        let row = sqlx::query(
            "SELECT COUNT(*) AS tokens, COALESCE(MAX(keystone_tokens.expires_at), 0) AS until
             FROM keystone_tokens
             JOIN sessions ON sessions.id = keystone_tokens.session_id
             WHERE sessions.user_id = $1 AND keystone_tokens.expires_at > $2
                 AND (keystone_tokens.revoke_at <= $2
                     OR (keystone_tokens.revoke_at IS NOT NULL
                         AND (keystone_tokens.revoke_attempts > 0
                             OR sessions.ended_at IS NOT NULL)))",
        )
        .bind(user_id)
        .bind(now.as_second())
        .fetch_one(&self.pool)
        .await
        .map_err(StoreError::database("count pending revocations"))?;
        let columns = Columns::new("keystone_tokens", &row);
        let tokens = columns.integer("tokens")?;
        if tokens == 0 {
            return Ok(None);
        }
        Ok(Some(UnfinishedRevocations {
            tokens,
            until: columns.time("until")?,
        }))
    }
}

impl SqlStore {
    async fn revocations<'q>(
        &self,
        query: sqlx::query::Query<'q, sqlx::Any, sqlx::any::AnyArguments<'q>>,
    ) -> Result<Vec<PendingRevocation>, StoreError> {
        let rows = query
            .fetch_all(&self.pool)
            .await
            .map_err(StoreError::database("list revocations"))?;
        rows.iter()
            .map(|row| {
                let token = token(&self.shared.keys, row)?;
                Ok(PendingRevocation {
                    id: token.id,
                    session: token.session,
                    unscoped: token.project.is_none(),
                    token: token.token,
                    attempts: Columns::new(TABLE, row).integer("revoke_attempts")?,
                    expires_at: token.expires_at,
                })
            })
            .collect()
    }
}

fn token(keys: &KeyRing, row: &AnyRow) -> Result<KeystoneToken, StoreError> {
    let columns = Columns::new(TABLE, row);
    let id = columns.text("id")?;
    Ok(KeystoneToken {
        id: columns.uuid("id")?,
        session: columns.uuid("session_id")?,
        project: columns.optional_json("project")?,
        roles: columns.json("roles")?,
        token: keys.open(place(&id), &columns.bytes("token_sealed")?)?,
        audit_id: columns.text("audit_id")?,
        expires_at: columns.time("expires_at")?,
    })
}

fn project_key(project: Option<&Project>) -> &str {
    project.map_or("", |project| project.id.as_str())
}

fn place(id: &str) -> Place<'_> {
    Place {
        table: TABLE,
        row: id,
        column: "token_sealed",
    }
}
