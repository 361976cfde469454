//! Sessions.
use super::binding;
use super::entry::{Fields, Found, or_empty};
use super::scripts::SESSIONS;
use super::session_entry::{SECRETS, fields, live, pointer, session};
use super::{Redis, RedisStore};
use crate::error::StoreError;
use crate::random::random_secret;
use crate::row::to_json;
use crate::sessions::{
    EndReason, EndedSession, HASH_PURPOSE, MAX_USERS, ProviderProfile, Renewal, Session,
    SessionKind, Sessions, TABLE,
};
use async_trait::async_trait;
use jiff::Timestamp;
use portico_domain::identity::{Project, User};
use secrecy::{ExposeSecret as _, SecretString};
use std::cmp::Reverse;
use uuid::Uuid;

#[async_trait]
impl Sessions for RedisStore {
    async fn insert(
        &self,
        session: &Session,
        secret: Option<&SecretString>,
    ) -> Result<(), StoreError> {
        let keys = &self.shared.keys;
        let id = session.id.to_string();
        let hash = secret.map(|secret| keys.hash(HASH_PURPOSE, secret.expose_secret()));
        let pointer = hash.as_ref().map(|hash| pointer(keys, hash, &id));
        let lower_name = session.user.name.to_ascii_lowercase();
        let fields = fields(keys, session, hash.as_deref())?;
        let mut call = self.redis.call(&SESSIONS, "insert");
        call.arg(&id)
            .arg(or_empty(session.parent))
            .arg(&session.user.id)
            .arg(&lower_name)
            .arg(hash.unwrap_or_default())
            .arg(pointer.unwrap_or_default());
        fields.append_to(&mut call);
        let _stored: i64 = self.redis.script("store a session", &call).await?;
        Ok(())
    }

    async fn find_even_ended(&self, secret: &str) -> Result<Option<Session>, StoreError> {
        let keys = &self.shared.keys;
        for hash in keys.hashes(HASH_PURPOSE, secret) {
            let mut call = self.redis.call(&SESSIONS, "find");
            call.arg(&hash);
            let found: Option<(String, Found)> = self.redis.script("find a session", &call).await?;
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

    async fn get(&self, id: Uuid) -> Result<Option<Session>, StoreError> {
        let keys = &self.shared.keys;
        let mut call = self.redis.call(&SESSIONS, "get");
        call.arg(id.to_string());
        let found: Found = self.redis.script("read a session", &call).await?;
        let session = session(keys, found)?;
        if session.as_ref().is_some_and(|found| found.id != id) {
            return Err(StoreError::Moved { table: TABLE });
        }
        Ok(session)
    }

    async fn list_of_user(
        &self,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Vec<Session>, StoreError> {
        let keys = &self.shared.keys;
        let mut call = self.redis.call(&SESSIONS, "live_of_user");
        call.arg(user_id);
        let found = self.redis.script("list sessions", &call).await?;
        let mut sessions = live(keys, found, now)?;
        sessions.retain(|session| session.user.id == user_id);
        sessions.sort_by_key(|session| (Reverse(session.last_seen_at), session.id));
        Ok(sessions)
    }

    async fn list_of_provider(
        &self,
        provider: &str,
        subject: Option<&str>,
        sid: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<Session>, StoreError> {
        let keys = &self.shared.keys;
        let mut call = self.redis.call(&SESSIONS, "of_provider");
        call.arg(provider).arg(or_empty(subject)).arg(or_empty(sid));
        let found = self.redis.script("list sessions", &call).await?;
        let mut sessions = live(keys, found, now)?;
        sessions.retain(|session| {
            let of = session.provider.as_ref();
            of.is_some_and(|of| of.id == provider)
                && session.parent.is_none()
                && session.is_meant(subject, sid)
        });
        Ok(sessions)
    }

    async fn users_matching(&self, text: &str, now: Timestamp) -> Result<Vec<User>, StoreError> {
        let keys = &self.shared.keys;
        let (name, domain) = text.rsplit_once('@').unwrap_or((text, ""));
        let mut call = self.redis.call(&SESSIONS, "named");
        call.arg(text)
            .arg(text.to_ascii_lowercase())
            .arg(name.to_ascii_lowercase());
        let found = self.redis.script("find users", &call).await?;
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
        users.truncate(usize::try_from(MAX_USERS).unwrap_or_default());
        Ok(users)
    }

    async fn count(&self, now: Timestamp) -> Result<i64, StoreError> {
        let mut count = ::redis::cmd("ZCOUNT");
        count
            .arg(format!("{}browsers", self.redis.prefix))
            .arg(format!("({}", now.as_second()))
            .arg("+inf");
        self.redis.command("count sessions", &count).await
    }

    async fn count_by_kind(&self, now: Timestamp) -> Result<Vec<(SessionKind, i64)>, StoreError> {
        let mut call = self.redis.call(&SESSIONS, "count_by_kind");
        for kind in SessionKind::ALL {
            call.arg(kind.as_str());
        }
        call.arg(now.as_second());
        let counts: Vec<i64> = self.redis.script("count sessions", &call).await?;
        Ok(SessionKind::ALL.into_iter().zip(counts).collect())
    }

    async fn set_projects(
        &self,
        root: Uuid,
        projects: &[Project],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let fields = [("projects", to_json(TABLE, "projects", projects)?)];
        self.redis
            .change_family("remember projects", root, &fields, now)
            .await
    }

    async fn set_last_project(
        &self,
        session: &Session,
        project_id: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let operation = "remember the project";
        let fields = [("last_project", project_id.to_owned())];
        self.redis
            .change_family(operation, session.root(), &fields, now)
            .await?;
        let mut set = ::redis::cmd("SET");
        set.arg(self.redis.key("last_project", &session.user.id))
            .arg(project_id);
        let _done: String = self.redis.command(operation, &set).await?;
        Ok(())
    }

    async fn last_project_of_user(&self, user_id: &str) -> Result<Option<String>, StoreError> {
        let mut get = ::redis::cmd("GET");
        get.arg(self.redis.key("last_project", user_id));
        self.redis.command("read the last project", &get).await
    }

    async fn set_provider(
        &self,
        root: Uuid,
        profile: &ProviderProfile,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut call = self.redis.call(&SESSIONS, "set_provider");
        call.arg(root.to_string())
            .arg(to_json(TABLE, "provider_profile", profile)?)
            .arg(or_empty(expires_at.map(Timestamp::as_second)))
            .arg(now.as_second());
        let live: i64 = self
            .redis
            .script("take over a provider's word", &call)
            .await?;
        Ok(live > 0)
    }

    async fn record_use(
        &self,
        id: Uuid,
        family: Uuid,
        idle_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut call = self.redis.call(&SESSIONS, "touch");
        call.arg(id.to_string())
            .arg(family.to_string())
            .arg(idle_expires_at.as_second())
            .arg(now.as_second());
        let touched: i64 = self.redis.script("touch a session", &call).await?;
        Ok(touched > 0)
    }

    async fn renew(
        &self,
        root: Uuid,
        renewal: &Renewal,
        now: Timestamp,
    ) -> Result<Option<SecretString>, StoreError> {
        let secret = random_secret()?;
        let keys = &self.shared.keys;
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
        let mut call = self.redis.call(&SESSIONS, "renew");
        call.arg(&id)
            .arg(&hash)
            .arg(pointer(keys, &hash, &id))
            .arg(now.as_second());
        fields.append_to(&mut call);
        let renewed: i64 = self.redis.script("renew a session", &call).await?;
        Ok((renewed > 0).then_some(secret))
    }

    async fn set_keystone_checked(&self, root: Uuid, at: Timestamp) -> Result<(), StoreError> {
        let mut call = self.redis.call(&SESSIONS, "set_family");
        call.arg(root.to_string())
            .arg("keystone_checked_at")
            .arg(at.as_second().to_string());
        let operation = "note a check by Keystone";
        let _done: i64 = self.redis.script(operation, &call).await?;
        Ok(())
    }

    async fn set_keystone_expires(
        &self,
        root: Uuid,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let fields = Fields::default()
            .time("keystone_expires_at", expires_at)
            .time("keystone_checked_at", now);
        let mut call = self.redis.call(&SESSIONS, "renew_tokens");
        call.arg(root.to_string()).arg(now.as_second());
        fields.append_to(&mut call);
        let live: i64 = self
            .redis
            .script("take over the end of new tokens", &call)
            .await?;
        Ok(live > 0)
    }

    async fn end_family(
        &self,
        id: Uuid,
        reason: EndReason,
        only_expired: bool,
        now: Timestamp,
    ) -> Result<Vec<EndedSession>, StoreError> {
        let mut call = self.redis.call(&SESSIONS, "end");
        call.arg(id.to_string())
            .arg(reason.as_str())
            .arg(EndReason::ParentEnded.as_str())
            .arg(now.as_second())
            .arg(i32::from(only_expired));
        let ended: Vec<(String, String, String)> =
            self.redis.script("end a session", &call).await?;
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

    async fn expired(&self, now: Timestamp) -> Result<Vec<String>, StoreError> {
        let mut call = self.redis.call(&SESSIONS, "expired");
        call.arg(now.as_second());
        self.redis.script("find expired sessions", &call).await
    }
}

impl Redis {
    /// Sets fields of a session and its children, and announces the change to every replica.
    async fn change_family(
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
