//! Credentials of sessions that stay signed in.
use super::SqlStore;
use crate::changes::ChangeKind;
use crate::error::StoreError;
use crate::row::{Columns, to_json};
use crate::sealing::KeyRing;
use crate::session_credentials::{
    NewSessionCredential, SessionCredential, SessionCredentials, TABLE, place,
};
use async_trait::async_trait;
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use sqlx::any::AnyRow;
use uuid::Uuid;

const COLUMNS: &str = "session_credentials.id AS id, session_credentials.session_id AS session_id, \
     session_credentials.user_id AS user_id, session_credentials.project_id AS project_id, \
     session_credentials.project_name AS project_name, \
     session_credentials.credential_id AS credential_id, session_credentials.name AS name, \
     session_credentials.secret_sealed AS secret_sealed, \
     session_credentials.expires_at AS expires_at";

#[async_trait]
impl SessionCredentials for SqlStore {
    async fn store(&self, new: &NewSessionCredential, now: Timestamp) -> Result<bool, StoreError> {
        let failed = || StoreError::database("store a session's credential");
        let row = Uuid::new_v4().to_string();
        let mut transaction = self.pool.begin().await.map_err(failed())?;
        let projects = to_json("sessions", "projects", std::slice::from_ref(&new.project))?;
        // the write locks the row: an ending session waits for us, or we see that it has ended
        let live = sqlx::query(
            "UPDATE sessions
             SET keystone_expires_at = $1, projects = $2, last_project = $3
             WHERE (id = $4 OR parent = $4) AND ended_at IS NULL",
        )
        .bind(new.expires_at.as_second())
        .bind(projects)
        .bind(new.project.id.as_str())
        .bind(new.session.to_string())
        .execute(&mut *transaction)
        .await
        .map_err(failed())?
        .rows_affected()
            > 0;
        let sealed = if live {
            Some(
                self.shared
                    .keys
                    .seal(place(&row), new.secret.expose_secret())?,
            )
        } else {
            None
        };
        sqlx::query(
            "INSERT INTO session_credentials (
                 id, session_id, user_id, project_id, project_name, credential_id, name,
                 secret_sealed, created_at, expires_at, ended_at
             )
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        )
        .bind(row.as_str())
        .bind(new.session.to_string())
        .bind(new.user_id.as_str())
        .bind(new.project.id.as_str())
        .bind(new.project.name.as_str())
        .bind(new.credential_id.as_str())
        .bind(new.name.as_str())
        .bind(sealed)
        .bind(now.as_second())
        .bind(new.expires_at.as_second())
        .bind((!live).then(|| now.as_second()))
        .execute(&mut *transaction)
        .await
        .map_err(failed())?;
        if live {
            self.announce_in(&mut transaction, new.session, ChangeKind::Changed, now)
                .await?;
        }
        transaction.commit().await.map_err(failed())?;
        Ok(live)
    }

    async fn of_session(
        &self,
        root: Uuid,
        now: Timestamp,
    ) -> Result<Option<SessionCredential>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS}
             FROM session_credentials
             WHERE session_id = $1 AND ended_at IS NULL AND expires_at > $2
             ORDER BY created_at DESC
             LIMIT 1"
        );
        let query = sqlx::query(&query)
            .bind(root.to_string())
            .bind(now.as_second());
        Ok(self.read_credentials(query).await?.pop())
    }

    async fn left_of_session(&self, root: Uuid) -> Result<Vec<SessionCredential>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS}
             FROM session_credentials
             WHERE session_id = $1 AND ended_at IS NOT NULL"
        );
        self.read_credentials(sqlx::query(&query).bind(root.to_string()))
            .await
    }

    async fn left_of_user(&self, user_id: &str) -> Result<Vec<SessionCredential>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS}
             FROM session_credentials
             WHERE user_id = $1 AND ended_at IS NOT NULL
             ORDER BY ended_at, id"
        );
        self.read_credentials(sqlx::query(&query).bind(user_id))
            .await
    }

    async fn due(
        &self,
        before: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<SessionCredential>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS}
             FROM session_credentials
             JOIN sessions ON sessions.id = session_credentials.session_id
             WHERE session_credentials.ended_at IS NULL AND session_credentials.expires_at > $1
                 AND (claimed_until IS NULL OR claimed_until <= $2)
                 AND sessions.ended_at IS NULL AND sessions.idle_expires_at > $2
                 AND NOT EXISTS (
                     SELECT 1
                     FROM keystone_tokens
                     WHERE keystone_tokens.session_id = session_credentials.session_id
                         AND keystone_tokens.project_id = session_credentials.project_id
                         AND keystone_tokens.revoke_at IS NULL
                         AND keystone_tokens.expires_at > $1
                 )
             LIMIT 50"
        );
        let query = sqlx::query(&query)
            .bind(before.as_second())
            .bind(now.as_second());
        self.read_credentials(query).await
    }

    async fn claim(&self, id: Uuid, until: Timestamp, now: Timestamp) -> Result<bool, StoreError> {
        let claimed = sqlx::query(
            "UPDATE session_credentials
             SET claimed_until = $1
             WHERE id = $2 AND ended_at IS NULL
                 AND (claimed_until IS NULL OR claimed_until <= $3)",
        )
        .bind(until.as_second())
        .bind(id.to_string())
        .bind(now.as_second())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("claim a session's credential"))?;
        Ok(claimed.rows_affected() > 0)
    }

    async fn fetched(
        &self,
        credential: &SessionCredential,
        methods: &[String],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let failed = || StoreError::database("release a session's credential");
        let mut transaction = self.pool.begin().await.map_err(failed())?;
        sqlx::query("UPDATE session_credentials SET claimed_until = NULL WHERE id = $1")
            .bind(credential.id.to_string())
            .execute(&mut *transaction)
            .await
            .map_err(failed())?;
        sqlx::query(
            "UPDATE sessions
             SET auth_methods = $1
             WHERE (id = $2 OR parent = $2) AND ended_at IS NULL",
        )
        .bind(to_json("sessions", "auth_methods", methods)?)
        .bind(credential.session.to_string())
        .execute(&mut *transaction)
        .await
        .map_err(failed())?;
        self.announce_in(
            &mut transaction,
            credential.session,
            ChangeKind::Changed,
            now,
        )
        .await?;
        transaction.commit().await.map_err(failed())
    }

    async fn forget(&self, id: Uuid) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM session_credentials WHERE id = $1")
            .bind(id.to_string())
            .execute(&self.pool)
            .await
            .map_err(StoreError::database("forget a session's credential"))?;
        Ok(())
    }
}

impl SqlStore {
    async fn read_credentials<'q>(
        &self,
        query: sqlx::query::Query<'q, sqlx::Any, sqlx::any::AnyArguments<'q>>,
    ) -> Result<Vec<SessionCredential>, StoreError> {
        let rows = query
            .fetch_all(&self.pool)
            .await
            .map_err(StoreError::database("read sessions' credentials"))?;
        rows.iter()
            .map(|row| credential(&self.shared.keys, row))
            .collect()
    }
}

fn credential(keys: &KeyRing, row: &AnyRow) -> Result<SessionCredential, StoreError> {
    let columns = Columns::new(TABLE, row);
    let id = columns.text("id")?;
    let sealed = columns.optional_bytes("secret_sealed")?;
    Ok(SessionCredential {
        secret: sealed
            .map(|sealed| keys.open(place(&id), &sealed))
            .transpose()?,
        id: columns.uuid("id")?,
        session: columns.uuid("session_id")?,
        user_id: columns.text("user_id")?,
        project_id: columns.text("project_id")?,
        project_name: columns.text("project_name")?,
        credential_id: columns.text("credential_id")?,
        name: columns.text("name")?,
        expires_at: columns.time("expires_at")?,
    })
}
