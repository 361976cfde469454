//! Sessions; see [`crate::Sessions`].
use super::Redis;
use super::binding::{self, FIELD};
use super::entry::{Fields, Found, or_empty};
use super::scripts::SESSIONS;
use super::session_entry::{SECRETS, TABLE, csrf_place, identity, live, pointer, session};
use crate::error::StoreError;
use crate::row::to_json;
use crate::sealing::KeyRing;
use crate::sessions::{
    EndReason, EndedSession, HASH_PURPOSE, ProviderProfile, Renewal, Session, SessionKind,
};
use jiff::Timestamp;
use portico_domain::identity::User;
use secrecy::{ExposeSecret as _, SecretString};
use std::cmp::Reverse;
use uuid::Uuid;

impl Redis {
    /// Stores a session; a child of an ended session is not stored.
    pub async fn insert_session(
        &self,
        keys: &KeyRing,
        session: &Session,
        secret: Option<&SecretString>,
    ) -> Result<(), StoreError> {
        let id = session.id.to_string();
        let csrf = keys.seal(csrf_place(&id), session.csrf.expose_secret())?;
        let hash = secret.map(|secret| keys.hash(HASH_PURPOSE, secret.expose_secret()));
        let pointer = hash.as_ref().map(|hash| pointer(keys, hash, &id));
        let lower_name = session.user.name.to_ascii_lowercase();
        let of_provider = session.provider.as_ref();
        let profile = of_provider
            .map(|one| to_json(TABLE, "provider_profile", &one.profile))
            .transpose()?;
        let fields = Fields::default()
            .with("id", &id)
            .optional("secret_hash", hash.as_ref())
            .optional("parent", session.parent)
            .with("kind", session.kind.as_str())
            .optional("app", session.app.as_ref())
            .optional("client", session.client.as_ref())
            .with("user_id", &session.user.id)
            .with("user_name", &session.user.name)
            .with("lower_name", &lower_name)
            .with("domain_id", &session.user.domain.id)
            .with("domain_name", &session.user.domain.name)
            .with("projects", to_json(TABLE, "projects", &session.projects)?)
            .optional("last_project", session.last_project.as_ref())
            .with(
                "auth_methods",
                to_json(TABLE, "auth_methods", &session.auth_methods)?,
            )
            .sealed("csrf_sealed", &csrf)
            .with("user_agent", &session.user_agent)
            .with("address", &session.address)
            .time("created_at", session.created_at)
            .time("last_seen_at", session.last_seen_at)
            .time("idle_expires_at", session.idle_expires_at)
            .time("absolute_expires_at", session.absolute_expires_at)
            .time("keystone_expires_at", session.keystone_expires_at)
            .time("keystone_checked_at", session.keystone_checked_at)
            .optional("provider", of_provider.map(|one| &one.id))
            .optional("provider_subject", of_provider.map(|one| &one.subject))
            .optional("provider_sid", of_provider.and_then(|one| one.sid.as_ref()))
            .optional("provider_profile", profile)
            .optional(
                "provider_expires_at",
                of_provider.and_then(|one| one.expires_at.map(Timestamp::as_second)),
            )
            .optional(
                "authenticated_at",
                session.authenticated_at.map(Timestamp::as_second),
            )
            .with(FIELD, identity(keys, session));
        let mut call = self.call(&SESSIONS, "insert");
        call.arg(&id)
            .arg(or_empty(session.parent))
            .arg(&session.user.id)
            .arg(&lower_name)
            .arg(hash.unwrap_or_default())
            .arg(pointer.unwrap_or_default());
        fields.append_to(&mut call);
        let _stored: i64 = self.script("store a session", &call).await?;
        Ok(())
    }

    /// Returns the session of a cookie's secret, live or ended.
    pub async fn find_session(
        &self,
        keys: &KeyRing,
        secret: &str,
    ) -> Result<Option<Session>, StoreError> {
        for hash in keys.hashes(HASH_PURPOSE, secret) {
            let mut call = self.call(&SESSIONS, "find");
            call.arg(&hash);
            let found: Option<(String, Found)> = self.script("find a session", &call).await?;
            let Some((pointer, fields)) = found else {
                continue;
            };
            let (id, bound) = pointer.split_once('.').unwrap_or_default();
            binding::check(keys, SECRETS, &[&hash, id], Some(bound))?;
            let session = session(keys, fields)?;
            // a session that was copied to another's place names its owner
            if session
                .as_ref()
                .is_some_and(|found| found.id.to_string() != id)
            {
                return Err(StoreError::Moved { table: TABLE });
            }
            return Ok(session);
        }
        Ok(None)
    }

    /// Returns a session by its public ID.
    pub async fn get_session(
        &self,
        keys: &KeyRing,
        id: Uuid,
    ) -> Result<Option<Session>, StoreError> {
        let mut call = self.call(&SESSIONS, "get");
        call.arg(id.to_string());
        let found: Found = self.script("read a session", &call).await?;
        let session = session(keys, found)?;
        if session.as_ref().is_some_and(|found| found.id != id) {
            return Err(StoreError::Moved { table: TABLE });
        }
        Ok(session)
    }

    /// Returns the user's live sessions, the most recently used first.
    pub async fn sessions_of_user(
        &self,
        keys: &KeyRing,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Vec<Session>, StoreError> {
        let mut call = self.call(&SESSIONS, "live_of_user");
        call.arg(user_id);
        let found = self.script("list sessions", &call).await?;
        let mut sessions = live(keys, found, now)?;
        sessions.retain(|session| session.user.id == user_id);
        sessions.sort_by_key(|session| (Reverse(session.last_seen_at), session.id));
        Ok(sessions)
    }

    /// Returns the users with a live session whose ID is `text`, or whose name or name and domain
    /// are.
    pub async fn users_matching(
        &self,
        keys: &KeyRing,
        text: &str,
        most: usize,
        now: Timestamp,
    ) -> Result<Vec<User>, StoreError> {
        let (name, domain) = text.rsplit_once('@').unwrap_or((text, ""));
        let mut call = self.call(&SESSIONS, "named");
        call.arg(text)
            .arg(text.to_ascii_lowercase())
            .arg(name.to_ascii_lowercase());
        let found = self.script("find users", &call).await?;
        let mut users: Vec<User> = live(keys, found, now)?
            .into_iter()
            .map(|session| session.user)
            .filter(|user| {
                user.id == text
                    || user.name.eq_ignore_ascii_case(text)
                    || (user.name.eq_ignore_ascii_case(name)
                        && (user.domain.name.eq_ignore_ascii_case(domain)
                            || user.domain.id == domain))
            })
            .collect();
        users.sort_by(|one, other| order(one).cmp(&order(other)));
        users.dedup();
        users.truncate(most);
        Ok(users)
    }

    /// Returns the number of live browser sessions.
    pub async fn count_sessions(&self, now: Timestamp) -> Result<i64, StoreError> {
        let mut count = ::redis::cmd("ZCOUNT");
        count
            .arg(format!("{}browsers", self.prefix))
            .arg(format!("({}", now.as_second()))
            .arg("+inf");
        self.command("count sessions", &count).await
    }

    /// Returns the number of live sessions of each kind.
    pub async fn count_sessions_by_kind(
        &self,
        now: Timestamp,
    ) -> Result<Vec<(SessionKind, i64)>, StoreError> {
        let mut call = self.call(&SESSIONS, "count_by_kind");
        for kind in SessionKind::ALL {
            call.arg(kind.as_str());
        }
        call.arg(now.as_second());
        let counts: Vec<i64> = self.script("count sessions", &call).await?;
        Ok(SessionKind::ALL.into_iter().zip(counts).collect())
    }

    /// Stores a provider's current claims, for the live sessions of a family; returns whether there
    /// are any.
    pub async fn set_provider_of_session(
        &self,
        root: Uuid,
        profile: &ProviderProfile,
        expires_at: Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        let mut call = self.call(&SESSIONS, "set_provider");
        call.arg(root.to_string())
            .arg(to_json(TABLE, "provider_profile", profile)?)
            .arg(or_empty(expires_at.map(Timestamp::as_second)))
            .arg(Timestamp::now().as_second());
        let live: i64 = self.script("take over a provider's word", &call).await?;
        Ok(live > 0)
    }

    /// Returns the browser sessions of a provider's subject or of its own session that have not
    /// ended.
    pub async fn sessions_of_provider(
        &self,
        keys: &KeyRing,
        provider: &str,
        subject: Option<&str>,
        sid: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<Session>, StoreError> {
        let mut call = self.call(&SESSIONS, "of_provider");
        call.arg(provider).arg(or_empty(subject)).arg(or_empty(sid));
        let found = self.script("list sessions", &call).await?;
        let mut sessions = live(keys, found, now)?;
        sessions.retain(|session| {
            let of = session.provider.as_ref();
            of.is_some_and(|of| of.id == provider) && session.parent.is_none()
        });
        Ok(sessions)
    }

    /// Sets a field of a session and its children.
    pub async fn set_of_family(
        &self,
        operation: &'static str,
        root: Uuid,
        column: &'static str,
        value: impl ToString,
    ) -> Result<(), StoreError> {
        let mut call = self.call(&SESSIONS, "set_family");
        call.arg(root.to_string())
            .arg(column)
            .arg(value.to_string());
        let _done: i64 = self.script(operation, &call).await?;
        Ok(())
    }

    /// Sets fields of a session and its children, and announces the change to every replica.
    pub async fn change_family(
        &self,
        operation: &'static str,
        root: Uuid,
        fields: &[(&'static str, String)],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut call = self.call(&SESSIONS, "change_family");
        call.arg(root.to_string()).arg(now.as_second());
        for (column, value) in fields {
            call.arg(*column).arg(value);
        }
        let _done: i64 = self.script(operation, &call).await?;
        Ok(())
    }

    /// Stores a user's project for the next session.
    pub async fn set_last_project_of_user(
        &self,
        user_id: &str,
        project_id: &str,
    ) -> Result<(), StoreError> {
        let mut set = ::redis::cmd("SET");
        set.arg(self.key("last_project", user_id)).arg(project_id);
        let _done: String = self.command("remember the project", &set).await?;
        Ok(())
    }

    /// Returns the project that the user used last.
    pub async fn last_project_of_user(&self, user_id: &str) -> Result<Option<String>, StoreError> {
        let mut get = ::redis::cmd("GET");
        get.arg(self.key("last_project", user_id));
        self.command("read the last project", &get).await
    }

    /// Extends the idle expiry of the family and records the session's use.
    pub async fn touch_session(
        &self,
        id: Uuid,
        family: Uuid,
        idle_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut call = self.call(&SESSIONS, "touch");
        call.arg(id.to_string())
            .arg(family.to_string())
            .arg(idle_expires_at.as_second())
            .arg(now.as_second());
        let touched: i64 = self.script("touch a session", &call).await?;
        Ok(touched > 0)
    }

    /// Sets new times for the family and a new secret for the session; returns whether it was live.
    pub async fn renew_session(
        &self,
        keys: &KeyRing,
        root: Uuid,
        secret: &SecretString,
        renewal: &Renewal,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let id = root.to_string();
        let hash = keys.hash(HASH_PURPOSE, secret.expose_secret());
        let idle = renewal.idle_expires_at.min(renewal.absolute_expires_at);
        let fields = Fields::default()
            .with(
                "auth_methods",
                to_json(TABLE, "auth_methods", &renewal.auth_methods)?,
            )
            .time("idle_expires_at", idle)
            .time("absolute_expires_at", renewal.absolute_expires_at)
            .time("keystone_expires_at", renewal.keystone_expires_at)
            .time("keystone_checked_at", now)
            .optional(
                "authenticated_at",
                renewal.authenticated_at.map(Timestamp::as_second),
            );
        let mut call = self.call(&SESSIONS, "renew");
        call.arg(&id)
            .arg(&hash)
            .arg(pointer(keys, &hash, &id))
            .arg(now.as_second());
        fields.append_to(&mut call);
        let renewed: i64 = self.script("renew a session", &call).await?;
        Ok(renewed > 0)
    }

    /// Stores the expiry of new Keystone tokens for the live sessions of a family; returns whether
    /// there are any.
    pub async fn set_keystone_expires_of_session(
        &self,
        root: Uuid,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let fields = Fields::default()
            .time("keystone_expires_at", expires_at)
            .time("keystone_checked_at", now);
        let mut call = self.call(&SESSIONS, "renew_tokens");
        call.arg(root.to_string()).arg(now.as_second());
        fields.append_to(&mut call);
        let live: i64 = self
            .script("take over the end of new tokens", &call)
            .await?;
        Ok(live > 0)
    }

    /// Ends a session and its children, unless only an expired one shall end; their tokens become
    /// due for revocation, and the change is announced to every replica.
    pub async fn end_session(
        &self,
        id: Uuid,
        reason: EndReason,
        only_expired: bool,
        now: Timestamp,
    ) -> Result<Vec<EndedSession>, StoreError> {
        let mut call = self.call(&SESSIONS, "end");
        call.arg(id.to_string())
            .arg(reason.as_str())
            .arg(EndReason::ParentEnded.as_str())
            .arg(now.as_second())
            .arg(i32::from(only_expired));
        let ended: Vec<(String, String, String)> = self.script("end a session", &call).await?;
        ended
            .into_iter()
            .map(|(id, kind, user_id)| {
                Ok(EndedSession {
                    id: Uuid::parse_str(&id).map_err(|error| corrupt("id", error))?,
                    kind: kind
                        .parse::<SessionKind>()
                        .map_err(|error| corrupt("kind", error))?,
                    user_id,
                })
            })
            .collect()
    }

    /// Returns the live sessions that have expired, browser sessions first.
    pub async fn expired_sessions(&self, now: Timestamp) -> Result<Vec<String>, StoreError> {
        let mut call = self.call(&SESSIONS, "expired");
        call.arg(now.as_second());
        self.script("find expired sessions", &call).await
    }
}

fn order(user: &User) -> (&str, &str, &str) {
    (&user.name, &user.domain.name, &user.id)
}

fn corrupt(column: &'static str, reason: impl ToString) -> StoreError {
    StoreError::Corrupt {
        table: TABLE,
        column,
        reason: reason.to_string(),
    }
}
