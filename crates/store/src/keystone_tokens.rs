//! The Keystone tokens of a session, sealed. Their revocation is in `pending_revocations`.
use crate::error::StoreError;
use crate::row::{Columns, to_json};
use crate::sealing::Place;
use crate::store::Store;
use jiff::Timestamp;
use portico_domain::identity::{Named, Project};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::any::AnyRow;
use uuid::Uuid;

pub(crate) const TABLE: &str = "keystone_tokens";
pub(crate) const COLUMNS: &str = "id, session_id, project, roles, token_sealed, audit_id, expires_at, \
     revoke_at, revoke_attempts";

/// The Keystone tokens; see [`Store::keystone_tokens`].
#[derive(Clone, Copy)]
pub struct KeystoneTokens<'s>(pub(crate) &'s Store);

/// A token that Keystone has just issued.
#[derive(Clone, Debug)]
pub struct NewKeystoneToken {
    /// The root of the session: [`crate::Session::root`].
    pub session: Uuid,
    /// `None` for an unscoped token.
    pub project: Option<Project>,
    pub roles: Vec<Named>,
    pub token: SecretString,
    pub audit_id: String,
    pub expires_at: Timestamp,
}

/// A stored token of a session.
#[derive(Clone, Debug)]
pub struct KeystoneToken {
    pub id: Uuid,
    pub session: Uuid,
    pub project: Option<Project>,
    /// The roles that Keystone returned last.
    pub roles: Vec<Named>,
    pub token: SecretString,
    pub audit_id: String,
    pub expires_at: Timestamp,
}

/// The result of storing a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// The token may be used.
    Usable(Uuid),
    /// The session has ended meanwhile: do not use the token. It is due for revocation.
    SessionEnded(Uuid),
}

impl KeystoneTokens<'_> {
    /// Stores a token before its first use. Two replicas may each store one for the same project;
    /// both remain until they are revoked.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read: the token must be revoked and
    /// not used.
    pub async fn store(self, new: &NewKeystoneToken, now: Timestamp) -> Result<Stored, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.store_token(&self.0.keys, new, now).await;
        }
        let failed = || StoreError::database("store a Keystone token");
        let id = Uuid::new_v4();
        let row = id.to_string();
        let sealed = self.0.keys.seal(place(&row), new.token.expose_secret())?;
        let project = new
            .project
            .as_ref()
            .map(|project| to_json(TABLE, "project", project))
            .transpose()?;
        let mut transaction = self.0.pool.begin().await.map_err(failed())?;
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

    /// Returns the session's token for a project (`None`: the unscoped one) that expires last.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn find(
        self,
        session: Uuid,
        project_id: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<KeystoneToken>, StoreError> {
        if let Some(redis) = self.0.redis() {
            let project_id = project_id.unwrap_or_default();
            let found = redis.find_token(&self.0.keys, session, project_id, now);
            return found.await;
        }
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
            .fetch_optional(&self.0.pool)
            .await
            .map_err(StoreError::database("find a Keystone token"))?
            .map(|row| self.token(&row))
            .transpose()
    }

    /// Returns the session's usable tokens, at least one per project.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn usable(
        self,
        session: Uuid,
        now: Timestamp,
    ) -> Result<Vec<KeystoneToken>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.usable_tokens(&self.0.keys, session, now).await;
        }
        let query = format!(
            "SELECT {COLUMNS}
             FROM keystone_tokens
             WHERE session_id = $1 AND revoke_at IS NULL AND expires_at > $2
             ORDER BY created_at, id"
        );
        let rows = sqlx::query(&query)
            .bind(session.to_string())
            .bind(now.as_second())
            .fetch_all(&self.0.pool)
            .await
            .map_err(StoreError::database("list Keystone tokens"))?;
        rows.iter().map(|row| self.token(row)).collect()
    }

    /// Returns every token of the session that has not been revoked.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn list(self, session: Uuid) -> Result<Vec<KeystoneToken>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.list_tokens(&self.0.keys, session).await;
        }
        let query = format!(
            "SELECT {COLUMNS}
             FROM keystone_tokens
             WHERE session_id = $1
             ORDER BY created_at, id"
        );
        let rows = sqlx::query(&query)
            .bind(session.to_string())
            .fetch_all(&self.0.pool)
            .await
            .map_err(StoreError::database("list Keystone tokens"))?;
        rows.iter().map(|row| self.token(row)).collect()
    }

    /// Stores the roles that Keystone returns for the token now.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn set_roles(self, id: Uuid, roles: &[Named]) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.set_token_roles(id, roles).await;
        }
        sqlx::query(
            "UPDATE keystone_tokens
             SET roles = $1
             WHERE id = $2",
        )
        .bind(to_json(TABLE, "roles", roles)?)
        .bind(id.to_string())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("store roles"))?;
        Ok(())
    }

    /// Deletes a token that is no longer valid: revoked, or unknown to Keystone.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn forget(self, id: Uuid) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.forget_token(id).await;
        }
        sqlx::query(
            "DELETE FROM keystone_tokens
             WHERE id = $1",
        )
        .bind(id.to_string())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("forget a Keystone token"))?;
        Ok(())
    }

    pub(crate) fn token(self, row: &AnyRow) -> Result<KeystoneToken, StoreError> {
        let columns = Columns::new(TABLE, row);
        let id = columns.text("id")?;
        Ok(KeystoneToken {
            id: columns.uuid("id")?,
            session: columns.uuid("session_id")?,
            project: columns.optional_json("project")?,
            roles: columns.json("roles")?,
            token: self
                .0
                .keys
                .open(place(&id), &columns.bytes("token_sealed")?)?,
            audit_id: columns.text("audit_id")?,
            expires_at: columns.time("expires_at")?,
        })
    }
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
