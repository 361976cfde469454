//! Credentials of sessions that stay signed in.
use super::binding::{self, FIELD};
use super::entry::{Entry, Fields, Found};
use super::scripts::CREDENTIALS;
use super::{Redis, RedisStore};
use crate::error::StoreError;
use crate::row::to_json;
use crate::sealing::KeyRing;
use crate::session_credentials::{
    NewSessionCredential, SessionCredential, SessionCredentials, TABLE, place,
};
use crate::sweep::CREDENTIAL_RETENTION;
use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use uuid::Uuid;

const READ: &str = "read sessions' credentials";
const MAX_DUE: i64 = 50;

#[async_trait]
impl SessionCredentials for RedisStore {
    async fn store(&self, new: &NewSessionCredential, now: Timestamp) -> Result<bool, StoreError> {
        let keys = &self.shared.keys;
        let (id, session) = (Uuid::new_v4().to_string(), new.session.to_string());
        let sealed = keys.seal(place(&id), new.secret.expose_secret())?;
        let projects = to_json("sessions", "projects", std::slice::from_ref(&new.project))?;
        let bound = [
            &*id,
            &session,
            &new.user_id,
            &new.project.id,
            &new.credential_id,
        ];
        let fields = Fields::default()
            .with("id", &id)
            .with("session_id", &session)
            .with("user_id", &new.user_id)
            .with("project_id", &new.project.id)
            .with("project_name", &new.project.name)
            .with("credential_id", &new.credential_id)
            .with("name", &new.name)
            .time("created_at", now)
            .time("expires_at", new.expires_at)
            .with(FIELD, binding::of(keys, TABLE, &bound));
        let mut call = self.redis.call(&CREDENTIALS, "store");
        call.arg(&id)
            .arg(&session)
            .arg(&new.user_id)
            .arg(new.expires_at.as_second())
            .arg((new.expires_at + CREDENTIAL_RETENTION).as_second())
            .arg(now.as_second())
            .arg(projects)
            .arg(&new.project.id)
            .arg(STANDARD.encode(sealed));
        fields.append_to(&mut call);
        self.redis
            .script("store a session's credential", &call)
            .await
    }

    async fn of_session(
        &self,
        root: Uuid,
        now: Timestamp,
    ) -> Result<Option<SessionCredential>, StoreError> {
        let keys = &self.shared.keys;
        let mut entries = self
            .redis
            .credentials("of_session", &root.to_string())
            .await?;
        entries.retain(|entry| entry.optional_text("ended_at").is_none());
        let mut newest: Option<(i64, SessionCredential)> = None;
        for entry in &entries {
            let (created, found) = (entry.integer("created_at")?, credential(keys, entry)?);
            if found.session != root {
                return Err(StoreError::Moved { table: TABLE });
            }
            let newer = newest.as_ref().is_none_or(|(at, _)| created > *at);
            if found.expires_at > now && newer {
                newest = Some((created, found));
            }
        }
        Ok(newest.map(|(_, found)| found))
    }

    async fn left_of_session(&self, root: Uuid) -> Result<Vec<SessionCredential>, StoreError> {
        let keys = &self.shared.keys;
        let mut left = self
            .redis
            .left(keys, "of_session", &root.to_string())
            .await?;
        left.retain(|one| one.session == root);
        Ok(left)
    }

    async fn left_of_user(&self, user_id: &str) -> Result<Vec<SessionCredential>, StoreError> {
        let keys = &self.shared.keys;
        let mut left = self.redis.left(keys, "of_user", user_id).await?;
        left.retain(|one| one.user_id == user_id);
        Ok(left)
    }

    async fn due(
        &self,
        before: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<SessionCredential>, StoreError> {
        let keys = &self.shared.keys;
        let mut call = self.redis.call(&CREDENTIALS, "due");
        call.arg(before.as_second())
            .arg(now.as_second())
            .arg(MAX_DUE);
        let found: Vec<Found> = self.redis.script(READ, &call).await?;
        entries(found)
            .iter()
            .map(|entry| credential(keys, entry))
            .collect()
    }

    async fn claim(&self, id: Uuid, until: Timestamp, now: Timestamp) -> Result<bool, StoreError> {
        let mut call = self.redis.call(&CREDENTIALS, "claim");
        call.arg(id.to_string())
            .arg(until.as_second())
            .arg(now.as_second());
        self.redis
            .script("claim a session's credential", &call)
            .await
    }

    async fn fetched(
        &self,
        credential: &SessionCredential,
        methods: &[String],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut call = self.redis.call(&CREDENTIALS, "fetched");
        call.arg(credential.id.to_string())
            .arg(credential.session.to_string())
            .arg(to_json("sessions", "auth_methods", methods)?)
            .arg(now.as_second());
        let _done: i64 = self
            .redis
            .script("release a session's credential", &call)
            .await?;
        Ok(())
    }

    async fn forget(&self, id: Uuid) -> Result<(), StoreError> {
        let mut call = self.redis.call(&CREDENTIALS, "forget");
        call.arg(id.to_string());
        let _gone: i64 = self
            .redis
            .script("forget a session's credential", &call)
            .await?;
        Ok(())
    }
}

impl Redis {
    /// Returns the credentials of ended sessions, the earliest end first.
    async fn left(
        &self,
        keys: &KeyRing,
        action: &str,
        of: &str,
    ) -> Result<Vec<SessionCredential>, StoreError> {
        let mut left = Vec::new();
        for entry in self.credentials(action, of).await? {
            if let Some(ended_at) = entry.optional::<i64>("ended_at")? {
                left.push((ended_at, credential(keys, &entry)?));
            }
        }
        left.sort_by_key(|(ended_at, one)| (*ended_at, one.id));
        Ok(left.into_iter().map(|(_, one)| one).collect())
    }

    async fn credentials(&self, action: &str, of: &str) -> Result<Vec<Entry>, StoreError> {
        let mut call = self.call(&CREDENTIALS, action);
        call.arg(of);
        Ok(entries(self.script(READ, &call).await?))
    }
}

fn entries(found: Vec<Found>) -> Vec<Entry> {
    found
        .into_iter()
        .filter_map(|fields| Entry::of(TABLE, fields))
        .collect()
}

fn credential(keys: &KeyRing, entry: &Entry) -> Result<SessionCredential, StoreError> {
    let (id, session) = (entry.text("id")?, entry.text("session_id")?);
    let bound = [
        id,
        session,
        entry.text("user_id")?,
        entry.text("project_id")?,
        entry.text("credential_id")?,
    ];
    binding::check_entry(keys, TABLE, &bound, entry)?;
    Ok(SessionCredential {
        id: entry.uuid("id")?,
        session: entry.uuid("session_id")?,
        user_id: entry.owned("user_id")?,
        project_id: entry.owned("project_id")?,
        project_name: entry.owned("project_name")?,
        credential_id: entry.owned("credential_id")?,
        name: entry.owned("name")?,
        secret: entry
            .optional_text("secret_sealed")
            .map(|_| keys.open(place(id), &entry.sealed("secret_sealed")?))
            .transpose()?,
        expires_at: entry.time("expires_at")?,
    })
}
