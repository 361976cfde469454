//! The tokens of OIDC providers and their lease.
use super::RedisStore;
use super::entry::{Entry, Fields, Found, or_empty};
use super::scripts::PROVIDER_TOKENS;
use crate::error::StoreError;
use crate::provider_tokens::{
    EndedTokens, HeldTokens, Lease, NewProviderTokens, ProviderTokens, RefreshedTokens, TABLE,
};
use crate::row::to_json;
use crate::sealing::{KeyRing, Place};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

#[async_trait]
impl ProviderTokens for RedisStore {
    async fn store(&self, new: &NewProviderTokens, now: Timestamp) -> Result<(), StoreError> {
        let keys = &self.shared.keys;
        let session = new.session.to_string();
        let fields = Fields::default()
            .with("session_id", &session)
            .with("provider", &new.provider)
            .with("version", 1)
            .time("refreshed_at", now)
            .time("revoke_at", now)
            .with("revoke_attempts", 0);
        let tokens = (&new.refresh_token, &new.access_token, &new.id_token);
        let fields = with_tokens(keys, fields, &bound(&session, &new.provider), tokens)?;
        let mut call = self.redis.call(&PROVIDER_TOKENS, "store");
        call.arg(&session).arg(now.as_second());
        fields.append_to(&mut call);
        let _done: i64 = self
            .redis
            .script("store a provider's tokens", &call)
            .await?;
        Ok(())
    }

    async fn find(&self, session: Uuid) -> Result<Option<HeldTokens>, StoreError> {
        let keys = &self.shared.keys;
        let mut read = ::redis::cmd("HGETALL");
        read.arg(self.redis.key("provider_token", &session.to_string()));
        let found: Found = self
            .redis
            .command("find a provider's tokens", &read)
            .await?;
        let held = Entry::of(TABLE, found).map(|entry| tokens(keys, &entry));
        let held = held.transpose()?;
        if held.as_ref().is_some_and(|held| held.session != session) {
            return Err(StoreError::Moved { table: TABLE });
        }
        Ok(held)
    }

    async fn lease(
        &self,
        session: Uuid,
        holder: Uuid,
        life: SignedDuration,
        now: Timestamp,
    ) -> Result<Lease, StoreError> {
        let keys = &self.shared.keys;
        let mut call = self.redis.call(&PROVIDER_TOKENS, "lease");
        call.arg(session.to_string())
            .arg(holder.to_string())
            .arg((now + life).as_millisecond())
            .arg(now.as_millisecond());
        let (yours, found): (bool, Found) = self
            .redis
            .script("lease a provider's tokens", &call)
            .await?;
        let Some(entry) = Entry::of(TABLE, found) else {
            return Ok(Lease::Gone);
        };
        let held = tokens(keys, &entry)?;
        if held.session != session {
            return Err(StoreError::Moved { table: TABLE });
        }
        if yours {
            return Ok(Lease::Yours(Box::new(held)));
        }
        Ok(match held.leased_until {
            Some(until) => Lease::Taken {
                version: held.version,
                until,
            },
            None => Lease::Gone,
        })
    }

    async fn replace(
        &self,
        session: Uuid,
        version: i64,
        new: &RefreshedTokens,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let keys = &self.shared.keys;
        // the provider of a session never changes
        let Some(held) = self.find(session).await? else {
            return Ok(false);
        };
        let session = session.to_string();
        let profile = new
            .profile
            .as_ref()
            .map(|profile| to_json("sessions", "provider_profile", profile))
            .transpose()?;
        let fields = Fields::default().time("refreshed_at", now);
        let tokens = (&new.refresh_token, &new.access_token, &new.id_token);
        let fields = with_tokens(keys, fields, &bound(&session, &held.provider), tokens)?;
        let mut call = self.redis.call(&PROVIDER_TOKENS, "replace");
        call.arg(&session)
            .arg(version)
            .arg(or_empty(profile))
            .arg(new.expires_at.as_second())
            .arg(now.as_second());
        fields.append_to(&mut call);
        self.redis
            .script("replace a provider's tokens", &call)
            .await
    }

    async fn release(&self, session: Uuid, holder: Uuid) -> Result<(), StoreError> {
        let mut call = self.redis.call(&PROVIDER_TOKENS, "release");
        call.arg(session.to_string()).arg(holder.to_string());
        let _done: i64 = self
            .redis
            .script("release a provider's tokens", &call)
            .await?;
        Ok(())
    }

    async fn ended(&self, limit: i64, now: Timestamp) -> Result<Vec<EndedTokens>, StoreError> {
        let keys = &self.shared.keys;
        let mut call = self.redis.call(&PROVIDER_TOKENS, "ended");
        call.arg(limit).arg(now.as_second());
        let found: Vec<Found> = self
            .redis
            .script("list a provider's tokens to revoke", &call)
            .await?;
        found
            .into_iter()
            .filter_map(|fields| Entry::of(TABLE, fields))
            .map(|entry| {
                Ok(EndedTokens {
                    tokens: tokens(keys, &entry)?,
                    attempts: entry.integer("revoke_attempts")?,
                })
            })
            .collect()
    }

    async fn revocation_failed(&self, session: Uuid, next: Timestamp) -> Result<(), StoreError> {
        let mut call = self.redis.call(&PROVIDER_TOKENS, "failed");
        call.arg(session.to_string()).arg(next.as_second());
        let _done: i64 = self
            .redis
            .script("put off a provider's tokens", &call)
            .await?;
        Ok(())
    }

    async fn forget(&self, session: Uuid) -> Result<(), StoreError> {
        let mut call = self.redis.call(&PROVIDER_TOKENS, "forget");
        call.arg(session.to_string());
        let _gone: i64 = self
            .redis
            .script("forget a provider's tokens", &call)
            .await?;
        Ok(())
    }
}

type Tokens<'t> = (
    &'t Option<SecretString>,
    &'t SecretString,
    &'t Option<SecretString>,
);

fn with_tokens(
    keys: &KeyRing,
    mut fields: Fields,
    bound: &str,
    (refresh, access, id): Tokens<'_>,
) -> Result<Fields, StoreError> {
    for (column, token) in [
        ("refresh_sealed", refresh.as_ref()),
        ("access_sealed", Some(access)),
        ("id_token_sealed", id.as_ref()),
    ] {
        if let Some(token) = token {
            let sealed = keys.seal(place(bound, column), token.expose_secret())?;
            fields = fields.sealed(column, &sealed);
        }
    }
    Ok(fields)
}

fn tokens(keys: &KeyRing, entry: &Entry) -> Result<HeldTokens, StoreError> {
    let bound = bound(entry.text("session_id")?, entry.text("provider")?);
    let open = |column| {
        entry
            .optional_text(column)
            .map(|_| keys.open(place(&bound, column), &entry.sealed(column)?))
            .transpose()
    };
    let access_token =
        open("access_sealed")?.ok_or_else(|| entry.corrupt("access_sealed", "it is empty"))?;
    let leased_until = entry
        .optional::<i64>("lease_until_millis")?
        .map(Timestamp::from_millisecond)
        .transpose()
        .map_err(|error| entry.corrupt("lease_until_millis", error))?;
    Ok(HeldTokens {
        session: entry.uuid("session_id")?,
        provider: entry.owned("provider")?,
        refresh_token: open("refresh_sealed")?,
        access_token,
        id_token: open("id_token_sealed")?,
        version: entry.integer("version")?,
        refreshed_at: entry.time("refreshed_at")?,
        leased_until,
    })
}

/// Returns the binding of tokens to their session and provider.
fn bound(session: &str, provider: &str) -> String {
    format!("{session}|{provider}")
}

fn place<'a>(bound: &'a str, column: &'static str) -> Place<'a> {
    Place {
        table: TABLE,
        row: bound,
        column,
    }
}
