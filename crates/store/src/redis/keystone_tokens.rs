//! Keystone tokens and their revocation; see [`crate::KeystoneTokens`].
use super::Redis;
use super::entry::{Entry, Fields, Found};
use super::scripts::KEYSTONE_TOKENS;
use crate::error::StoreError;
use crate::keystone_tokens::{KeystoneToken, NewKeystoneToken, Stored};
use crate::pending_revocations::PendingRevocation;
use crate::pending_revocations::UnfinishedRevocations;
use crate::row::to_json;
use crate::sealing::{KeyRing, Place};
use jiff::Timestamp;
use portico_domain::identity::{Named, Project};
use secrecy::ExposeSecret as _;
use std::cmp::Reverse;
use uuid::Uuid;

const TABLE: &str = "keystone_tokens";

impl Redis {
    /// Stores a token; a token of an ended session is due for revocation at once.
    pub async fn store_token(
        &self,
        keys: &KeyRing,
        new: &NewKeystoneToken,
        now: Timestamp,
    ) -> Result<Stored, StoreError> {
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
        let mut call = self.call(&KEYSTONE_TOKENS, "store");
        call.arg(&row)
            .arg(&session)
            .arg(new.expires_at.as_second())
            .arg(now.as_second());
        fields.append_to(&mut call);
        let live: bool = self.script("store a Keystone token", &call).await?;
        Ok(if live {
            Stored::Usable(id)
        } else {
            Stored::SessionEnded(id)
        })
    }

    /// Returns the session's token for a project that expires last.
    pub async fn find_token(
        &self,
        keys: &KeyRing,
        session: Uuid,
        project_id: &str,
        now: Timestamp,
    ) -> Result<Option<KeystoneToken>, StoreError> {
        let mut good = Vec::new();
        for entry in self
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

    /// Returns every token of the session that has not been revoked.
    pub async fn list_tokens(
        &self,
        keys: &KeyRing,
        session: Uuid,
    ) -> Result<Vec<KeystoneToken>, StoreError> {
        let mut entries = self
            .tokens("list Keystone tokens", "of_session", &session.to_string())
            .await?;
        sort(&mut entries, "created_at")?;
        entries.iter().map(|entry| token(keys, entry)).collect()
    }

    /// Returns the session's tokens that may be used, the oldest first.
    pub async fn usable_tokens(
        &self,
        keys: &KeyRing,
        session: Uuid,
        now: Timestamp,
    ) -> Result<Vec<KeystoneToken>, StoreError> {
        let mut entries = self
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

    /// Stores a token's roles.
    pub async fn set_token_roles(&self, id: Uuid, roles: &[Named]) -> Result<(), StoreError> {
        let mut call = self.call(&KEYSTONE_TOKENS, "set_roles");
        call.arg(id.to_string())
            .arg(to_json(TABLE, "roles", roles)?);
        let _done: i64 = self.script("store roles", &call).await?;
        Ok(())
    }

    /// Forgets a token.
    pub async fn forget_token(&self, id: Uuid) -> Result<(), StoreError> {
        let mut call = self.call(&KEYSTONE_TOKENS, "forget");
        call.arg(id.to_string());
        let _gone: i64 = self.script("forget a Keystone token", &call).await?;
        Ok(())
    }

    /// Makes a token due at a time; `failures` is the number of attempts that have failed just now.
    pub async fn revoke_token_at(
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

    /// Claims a revocation until `until`, unless another replica has tried since `attempts`.
    pub async fn claim_revocation(
        &self,
        id: Uuid,
        attempts: i64,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut call = self.call(&KEYSTONE_TOKENS, "claim");
        call.arg(id.to_string())
            .arg(attempts)
            .arg(until.as_second())
            .arg(now.as_second());
        self.script("claim a revocation", &call).await
    }

    /// Returns the tokens that are due now, oldest first.
    pub async fn due_revocations(
        &self,
        keys: &KeyRing,
        limit: i64,
        now: Timestamp,
    ) -> Result<Vec<PendingRevocation>, StoreError> {
        let mut call = self.call(&KEYSTONE_TOKENS, "due");
        call.arg(limit).arg(now.as_second());
        let found: Vec<Found> = self.script("list revocations", &call).await?;
        entries(found)
            .iter()
            .map(|entry| revocation(keys, entry))
            .collect()
    }

    /// Returns the tokens of a session and its children that wait for revocation.
    pub async fn pending_revocations(
        &self,
        keys: &KeyRing,
        session: Uuid,
    ) -> Result<Vec<PendingRevocation>, StoreError> {
        let mut waiting = self
            .tokens("list revocations", "of_family", &session.to_string())
            .await?;
        waiting.retain(|entry| entry.optional_text("revoke_at").is_some());
        sort(&mut waiting, "revoke_at")?;
        waiting
            .iter()
            .map(|entry| revocation(keys, entry))
            .collect()
    }

    /// Returns the number of the user's tokens that are still valid at Keystone and should not be.
    pub async fn unfinished_revocations(
        &self,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Option<UnfinishedRevocations>, StoreError> {
        let mut unfinished: Option<UnfinishedRevocations> = None;
        for entry in self
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

    /// Returns the number of tokens, of all users, whose revocation is due or has failed.
    pub async fn count_unfinished_revocations(&self, now: Timestamp) -> Result<i64, StoreError> {
        let mut call = self.call(&KEYSTONE_TOKENS, "count_unfinished");
        call.arg(now.as_second());
        self.script("count pending revocations", &call).await
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
