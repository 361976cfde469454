//! Keystone tokens and their revocation.
use super::entry::{Entry, Fields, Found};
use super::scripts::KEYSTONE_TOKENS;
use super::{Redis, RedisStore};
use crate::error::StoreError;
use crate::keystone_tokens::{KeystoneToken, KeystoneTokens, NewKeystoneToken, Stored, TABLE};
use crate::pending_revocations::{PendingRevocation, UnfinishedRevocations};
use crate::row::to_json;
use crate::sealing::{KeyRing, Place};
use async_trait::async_trait;
use jiff::Timestamp;
use portico_domain::identity::{Named, Project};
use secrecy::ExposeSecret as _;
use std::cmp::Reverse;
use uuid::Uuid;

#[async_trait]
impl KeystoneTokens for RedisStore {
    async fn store(&self, new: &NewKeystoneToken, now: Timestamp) -> Result<Stored, StoreError> {
        let keys = &self.shared.keys;
        let id = Uuid::new_v4();
        let (row, session) = (id.to_string(), new.session.to_string());
        let project_id = new.project.as_ref().map_or("", |project| &project.id);
        let bound = place(&row, &session, project_id);
        let sealed = keys.seal(token_place(&bound), new.token.expose_secret())?;
        let project = new
            .project
            .as_ref()
            .map(|project| to_json(TABLE, "project", project))
            .transpose()?;
        let fields = Fields::default()
            .with("id", &row)
            .with("session_id", &session)
            .with("project_id", project_id)
            .optional("project", project)
            .with("roles", to_json(TABLE, "roles", &new.roles)?)
            .sealed("token_sealed", &sealed)
            .with("audit_id", &new.audit_id)
            .time("created_at", now)
            .time("expires_at", new.expires_at)
            .with("revoke_attempts", 0);
        let mut call = self.redis.call(&KEYSTONE_TOKENS, "store");
        call.arg(&row)
            .arg(&session)
            .arg(new.expires_at.as_second())
            .arg(now.as_second());
        fields.append_to(&mut call);
        let live: bool = self.redis.script("store a Keystone token", &call).await?;
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
        let project_id = project_id.unwrap_or_default();
        let keys = &self.shared.keys;
        let mut good = Vec::new();
        for entry in self
            .redis
            .tokens("find a Keystone token", "of_session", &session.to_string())
            .await?
        {
            if entry.text("project_id")? == project_id
                && entry.optional_text("revoke_at").is_none()
                && entry.time("expires_at")? > now
            {
                let order = (
                    Reverse(entry.integer("expires_at")?),
                    Reverse(entry.integer("created_at")?),
                    entry.uuid("id")?,
                );
                good.push((order, entry));
            }
        }
        let longest = good.into_iter().min_by_key(|(order, _)| *order);
        let Some((_, entry)) = longest else {
            return Ok(None);
        };
        let token = token(keys, &entry)?;
        // the set of another session must not lend its tokens
        if token.session != session {
            return Err(StoreError::Moved { table: TABLE });
        }
        Ok(Some(token))
    }

    async fn usable(
        &self,
        session: Uuid,
        now: Timestamp,
    ) -> Result<Vec<KeystoneToken>, StoreError> {
        let keys = &self.shared.keys;
        let mut entries = self
            .redis
            .tokens("list Keystone tokens", "of_session", &session.to_string())
            .await?;
        entries.retain(|entry| entry.optional_text("revoke_at").is_none());
        sort(&mut entries, "created_at")?;
        let mut usable = Vec::with_capacity(entries.len());
        for entry in &entries {
            let token = token(keys, entry)?;
            // the set of another session must not lend its tokens
            if token.session != session {
                return Err(StoreError::Moved { table: TABLE });
            }
            if token.expires_at > now {
                usable.push(token);
            }
        }
        Ok(usable)
    }

    async fn list(&self, session: Uuid) -> Result<Vec<KeystoneToken>, StoreError> {
        let keys = &self.shared.keys;
        let mut entries = self
            .redis
            .tokens("list Keystone tokens", "of_session", &session.to_string())
            .await?;
        sort(&mut entries, "created_at")?;
        entries.iter().map(|entry| token(keys, entry)).collect()
    }

    async fn set_roles(&self, id: Uuid, roles: &[Named]) -> Result<(), StoreError> {
        let mut call = self.redis.call(&KEYSTONE_TOKENS, "set_roles");
        call.arg(id.to_string())
            .arg(to_json(TABLE, "roles", roles)?);
        let _done: i64 = self.redis.script("store roles", &call).await?;
        Ok(())
    }

    async fn forget(&self, id: Uuid) -> Result<(), StoreError> {
        let mut call = self.redis.call(&KEYSTONE_TOKENS, "forget");
        call.arg(id.to_string());
        let _gone: i64 = self.redis.script("forget a Keystone token", &call).await?;
        Ok(())
    }

    async fn revoke_later(&self, id: Uuid, at: Timestamp) -> Result<(), StoreError> {
        self.redis.revoke_token_at(id, at, 0).await
    }

    async fn due_revocations(
        &self,
        limit: i64,
        now: Timestamp,
    ) -> Result<Vec<PendingRevocation>, StoreError> {
        let keys = &self.shared.keys;
        let mut call = self.redis.call(&KEYSTONE_TOKENS, "due");
        call.arg(limit).arg(now.as_second());
        let found: Vec<Found> = self.redis.script("list revocations", &call).await?;
        entries(found)
            .iter()
            .map(|entry| revocation(keys, entry))
            .collect()
    }

    async fn pending_revocations(
        &self,
        session: Uuid,
    ) -> Result<Vec<PendingRevocation>, StoreError> {
        let keys = &self.shared.keys;
        let mut waiting = self
            .redis
            .tokens("list revocations", "of_family", &session.to_string())
            .await?;
        waiting.retain(|entry| entry.optional_text("revoke_at").is_some());
        sort(&mut waiting, "revoke_at")?;
        waiting
            .iter()
            .map(|entry| revocation(keys, entry))
            .collect()
    }

    async fn claim_revocation(
        &self,
        pending: &PendingRevocation,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut call = self.redis.call(&KEYSTONE_TOKENS, "claim");
        call.arg(pending.id.to_string())
            .arg(pending.attempts)
            .arg(until.as_second())
            .arg(now.as_second());
        self.redis.script("claim a revocation", &call).await
    }

    async fn revocation_failed(&self, id: Uuid, next: Timestamp) -> Result<(), StoreError> {
        self.redis.revoke_token_at(id, next, 1).await
    }

    async fn count_unfinished(&self, now: Timestamp) -> Result<i64, StoreError> {
        let mut call = self.redis.call(&KEYSTONE_TOKENS, "count_unfinished");
        call.arg(now.as_second());
        self.redis.script("count pending revocations", &call).await
    }

    async fn unfinished_of_user(
        &self,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Option<UnfinishedRevocations>, StoreError> {
        let mut unfinished: Option<UnfinishedRevocations> = None;
        for entry in self
            .redis
            .tokens("count pending revocations", "of_user", user_id)
            .await?
        {
            let expires_at = entry.time("expires_at")?;
            let tried = entry.integer("revoke_attempts")? > 0;
            let session_ended = entry.optional_text("session_ended").is_some();
            let due = entry
                .optional_time("revoke_at")?
                .is_some_and(|at| at <= now || tried || session_ended);
            if due && expires_at > now {
                let so_far = unfinished.map_or((0, expires_at), |one| (one.tokens, one.until));
                unfinished = Some(UnfinishedRevocations {
                    tokens: so_far.0 + 1,
                    until: so_far.1.max(expires_at),
                });
            }
        }
        Ok(unfinished)
    }
}

impl Redis {
    /// Makes a token due at a time; `failures` is the number of attempts that have failed just now.
    async fn revoke_token_at(
        &self,
        id: Uuid,
        at: Timestamp,
        failures: u8,
    ) -> Result<(), StoreError> {
        let mut call = self.call(&KEYSTONE_TOKENS, "revoke_at");
        call.arg(id.to_string()).arg(at.as_second()).arg(failures);
        let _done: i64 = self.script("queue a revocation", &call).await?;
        Ok(())
    }

    async fn tokens(
        &self,
        operation: &'static str,
        action: &str,
        of: &str,
    ) -> Result<Vec<Entry>, StoreError> {
        let mut call = self.call(&KEYSTONE_TOKENS, action);
        call.arg(of);
        Ok(entries(self.script(operation, &call).await?))
    }
}

fn entries(found: Vec<Found>) -> Vec<Entry> {
    found
        .into_iter()
        .filter_map(|fields| Entry::of(TABLE, fields))
        .collect()
}

fn sort(entries: &mut Vec<Entry>, column: &'static str) -> Result<(), StoreError> {
    let mut ordered = Vec::with_capacity(entries.len());
    for entry in entries.drain(..) {
        ordered.push(((entry.integer(column)?, entry.uuid("id")?), entry));
    }
    ordered.sort_by_key(|(order, _)| *order);
    entries.extend(ordered.into_iter().map(|(_, entry)| entry));
    Ok(())
}

fn revocation(keys: &KeyRing, entry: &Entry) -> Result<PendingRevocation, StoreError> {
    let token = token(keys, entry)?;
    Ok(PendingRevocation {
        id: token.id,
        session: token.session,
        unscoped: token.project.is_none(),
        token: token.token,
        attempts: entry.integer("revoke_attempts")?,
        expires_at: token.expires_at,
    })
}

fn token(keys: &KeyRing, entry: &Entry) -> Result<KeystoneToken, StoreError> {
    let bound = place(
        entry.text("id")?,
        entry.text("session_id")?,
        entry.text("project_id")?,
    );
    let project: Option<Project> = entry.optional_json("project")?;
    let of_project = project.as_ref().map_or("", |project| &project.id);
    if of_project != entry.text("project_id")? {
        return Err(StoreError::Moved { table: TABLE });
    }
    Ok(KeystoneToken {
        id: entry.uuid("id")?,
        session: entry.uuid("session_id")?,
        project,
        roles: entry.json("roles")?,
        token: keys.open(token_place(&bound), &entry.sealed("token_sealed")?)?,
        audit_id: entry.owned("audit_id")?,
        expires_at: entry.time("expires_at")?,
    })
}

/// Returns the place of a token, which binds it to its session and project.
fn place(id: &str, session: &str, project_id: &str) -> String {
    format!("{id}|{session}|{project_id}")
}

fn token_place(bound: &str) -> Place<'_> {
    Place {
        table: TABLE,
        row: bound,
        column: "token_sealed",
    }
}
