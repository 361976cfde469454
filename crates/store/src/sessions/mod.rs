//! Sessions: one per signed-in browser, with children on app hosts and command lines.
//!
//! A child lives as long as its parent: same end, same expiry, and the parent's Keystone tokens.
//! Every change to a session applies to its *root*, the browser session.
mod figures;
mod life;
mod lookup;
mod model;
mod provider;

pub use model::{
    ChildKind, EndReason, EndedSession, NewChild, NewSession, Renewal, Session, SessionKind,
};
pub use provider::{ProviderProfile, SessionProvider};

use crate::changes::ChangeKind;
use crate::error::StoreError;
use crate::random::random_secret;
use crate::row::to_json;
use crate::sealing::Place;
use crate::store::Store;
use jiff::Timestamp;
use model::{COLUMNS, TABLE, from_row};
use portico_domain::identity::Project;
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

pub(crate) const HASH_PURPOSE: &str = "session";

/// The sessions; see [`Store::sessions`].
#[derive(Clone, Copy)]
pub struct Sessions<'s>(pub(crate) &'s Store);

impl Sessions<'_> {
    /// Stores a browser session; returns the secret for its cookie, which is not stored.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn create(
        self,
        new: &NewSession,
        now: Timestamp,
    ) -> Result<(SecretString, Session), StoreError> {
        self.create_with(new, None, now).await
    }

    async fn create_with(
        self,
        new: &NewSession,
        provider: Option<SessionProvider>,
        now: Timestamp,
    ) -> Result<(SecretString, Session), StoreError> {
        let secret = random_secret()?;
        let session = Session {
            id: Uuid::new_v4(),
            parent: None,
            kind: SessionKind::Browser,
            app: None,
            client: None,
            user: new.user.clone(),
            projects: new.projects.clone(),
            last_project: new.last_project.clone(),
            auth_methods: new.auth_methods.clone(),
            csrf: random_secret()?,
            user_agent: new.user_agent.clone(),
            address: new.address.clone(),
            created_at: now,
            last_seen_at: now,
            idle_expires_at: new.idle_expires_at.min(new.absolute_expires_at),
            absolute_expires_at: new.absolute_expires_at,
            keystone_expires_at: new.keystone_expires_at,
            keystone_checked_at: now,
            ended_at: None,
            end_reason: None,
            provider,
            authenticated_at: new.authenticated_at,
        };
        self.insert(&session, Some(&secret)).await?;
        Ok((secret, session))
    }

    /// Stores a child of a live session; returns `None` if the parent has ended meanwhile. A child
    /// on an app's host gets a cookie secret; a command line gets its tokens from
    /// [`crate::AccessTokens`].
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn create_child(
        self,
        new: &NewChild,
        now: Timestamp,
    ) -> Result<Option<(SecretString, Session)>, StoreError> {
        let Some(parent) = self.get(new.parent).await? else {
            return Ok(None);
        };
        if !parent.is_live(now) {
            return Ok(None);
        }
        let secret = random_secret()?;
        let (kind, app, client) = match &new.kind {
            ChildKind::App(app) => (SessionKind::App, Some(app.clone()), None),
            ChildKind::CommandLine(client) => {
                (SessionKind::CommandLine, None, Some(client.clone()))
            }
        };
        let child = Session {
            id: Uuid::new_v4(),
            parent: Some(parent.root()),
            kind,
            app,
            client,
            csrf: random_secret()?,
            user_agent: new.user_agent.clone(),
            address: new.address.clone(),
            created_at: now,
            last_seen_at: now,
            ..parent
        };
        let cookie = (kind == SessionKind::App).then_some(&secret);
        self.insert(&child, cookie).await?;
        // the parent may have ended between the lookup and the insert
        if self.is_live_row(child.root(), now).await? {
            Ok(Some((secret, child)))
        } else {
            self.end(child.id, EndReason::ParentEnded, now).await?;
            Ok(None)
        }
    }

    /// Returns the live session of a cookie's secret.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn find(self, secret: &str, now: Timestamp) -> Result<Option<Session>, StoreError> {
        let session = self.find_even_ended(secret).await?;
        Ok(session.filter(|session| session.is_live(now)))
    }

    /// Returns a session by its public ID, live or ended.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn get(self, id: Uuid) -> Result<Option<Session>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.get_session(&self.0.keys, id).await;
        }
        let query = format!(
            "SELECT {COLUMNS}
             FROM sessions
             WHERE id = $1"
        );
        sqlx::query(&query)
            .bind(id.to_string())
            .fetch_optional(&self.0.pool)
            .await
            .map_err(StoreError::database("read a session"))?
            .map(|row| from_row(&self.0.keys, &row))
            .transpose()
    }

    /// Returns the user's live sessions, the most recently used first.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn list_of_user(
        self,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Vec<Session>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.sessions_of_user(&self.0.keys, user_id, now).await;
        }
        let query = format!(
            "SELECT {COLUMNS}
             FROM sessions
             WHERE user_id = $1 AND ended_at IS NULL
             ORDER BY last_seen_at DESC, id"
        );
        let rows = sqlx::query(&query)
            .bind(user_id)
            .fetch_all(&self.0.pool)
            .await
            .map_err(StoreError::database("list sessions"))?;
        let mut sessions = Vec::with_capacity(rows.len());
        for row in &rows {
            let session = from_row(&self.0.keys, row)?;
            if session.is_live(now) {
                sessions.push(session);
            }
        }
        Ok(sessions)
    }

    /// Returns the number of live browser sessions, for a metric.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn count(self, now: Timestamp) -> Result<i64, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.count_sessions(now).await;
        }
        sqlx::query_scalar(
            "SELECT COUNT(*)
             FROM sessions
             WHERE ended_at IS NULL AND kind = 'browser' AND idle_expires_at > $1",
        )
        .bind(now.as_second())
        .fetch_one(&self.0.pool)
        .await
        .map_err(StoreError::database("count sessions"))
    }

    /// Stores the projects that the user may choose from.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn set_projects(self, root: Uuid, projects: &[Project]) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            let fields = [("projects", to_json(TABLE, "projects", projects)?)];
            return redis
                .change_family("remember projects", root, &fields, Timestamp::now())
                .await;
        }
        let failed = || StoreError::database("remember projects");
        let mut transaction = self.0.pool.begin().await.map_err(failed())?;
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
        let changes = self.0.changes();
        changes
            .announce_in(
                &mut transaction,
                root,
                ChangeKind::Changed,
                Timestamp::now(),
            )
            .await?;
        transaction.commit().await.map_err(failed())
    }

    /// Stores the project used last, for the session and for the user's next one.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn set_last_project(
        self,
        session: &Session,
        project_id: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            let fields = [("last_project", project_id.to_owned())];
            redis
                .change_family("remember the project", session.root(), &fields, now)
                .await?;
            return redis
                .set_last_project_of_user(&session.user.id, project_id)
                .await;
        }
        let failed = || StoreError::database("remember the project");
        let mut transaction = self.0.pool.begin().await.map_err(failed())?;
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
        let changes = self.0.changes();
        changes
            .announce_in(&mut transaction, session.root(), ChangeKind::Changed, now)
            .await?;
        transaction.commit().await.map_err(failed())
    }

    /// Returns the project that the user used last, in any session.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn last_project_of_user(self, user_id: &str) -> Result<Option<String>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.last_project_of_user(user_id).await;
        }
        sqlx::query_scalar(
            "SELECT project_id
             FROM user_last_projects
             WHERE user_id = $1",
        )
        .bind(user_id)
        .fetch_optional(&self.0.pool)
        .await
        .map_err(StoreError::database("read the last project"))
    }

    async fn insert(
        self,
        session: &Session,
        secret: Option<&SecretString>,
    ) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.insert_session(&self.0.keys, session, secret).await;
        }
        let id = session.id.to_string();
        let csrf = self
            .0
            .keys
            .seal(csrf_place(&id), session.csrf.expose_secret())?;
        let of_provider = session.provider.as_ref();
        let hash = secret.map(|secret| self.0.keys.hash(HASH_PURPOSE, secret.expose_secret()));
        sqlx::query(
            "INSERT INTO sessions (
                 id, secret_hash, parent, kind, app, client, user_id, user_name, domain_id,
                 domain_name, projects, last_project, auth_methods, csrf_sealed, user_agent,
                 address, created_at, last_seen_at, idle_expires_at, absolute_expires_at,
                 keystone_expires_at, keystone_checked_at, provider, provider_subject,
                 provider_sid, provider_profile, provider_expires_at, authenticated_at
             )
             VALUES (
                 $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                 $19, $20, $21, $22, $23, $24, $25, $26, $27, $28
             )",
        )
        .bind(id.as_str())
        .bind(hash)
        .bind(session.parent.map(|parent| parent.to_string()))
        .bind(session.kind.as_str())
        .bind(session.app.as_deref())
        .bind(session.client.as_deref())
        .bind(session.user.id.as_str())
        .bind(session.user.name.as_str())
        .bind(session.user.domain.id.as_str())
        .bind(session.user.domain.name.as_str())
        .bind(to_json(TABLE, "projects", &session.projects)?)
        .bind(session.last_project.as_deref())
        .bind(to_json(TABLE, "auth_methods", &session.auth_methods)?)
        .bind(csrf)
        .bind(session.user_agent.as_str())
        .bind(session.address.as_str())
        .bind(session.created_at.as_second())
        .bind(session.last_seen_at.as_second())
        .bind(session.idle_expires_at.as_second())
        .bind(session.absolute_expires_at.as_second())
        .bind(session.keystone_expires_at.as_second())
        .bind(session.keystone_checked_at.as_second())
        .bind(of_provider.map(|provider| provider.id.as_str()))
        .bind(of_provider.map(|provider| provider.subject.as_str()))
        .bind(of_provider.and_then(|provider| provider.sid.as_deref()))
        .bind(provider::profile_text(session)?)
        .bind(of_provider.and_then(|provider| provider.expires_at.map(Timestamp::as_second)))
        .bind(session.authenticated_at.map(Timestamp::as_second))
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("store a session"))?;
        Ok(())
    }
}

pub(crate) fn csrf_place(id: &str) -> Place<'_> {
    Place {
        table: TABLE,
        row: id,
        column: "csrf_sealed",
    }
}
