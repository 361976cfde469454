//! Access and refresh tokens of the command line.
use super::binding::{self, FIELD};
use super::entry::{Entry, Fields, Found};
use super::scripts::CODES;
use super::{Redis, RedisStore};
use crate::access_tokens::{ACCESS, AccessTokens, REFRESH, RefreshGrant, Rotation};
use crate::error::StoreError;
use crate::random::random_secret;
use crate::sealing::KeyRing;
use crate::sessions::{Session, Sessions};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

const ACCESS_TOKENS: &str = "access_tokens";
const REFRESH_TOKENS: &str = "refresh_tokens";

#[async_trait]
impl AccessTokens for RedisStore {
    async fn issue(
        &self,
        session: Uuid,
        expires_at: Timestamp,
    ) -> Result<SecretString, StoreError> {
        let token = random_secret()?;
        let keys = &self.shared.keys;
        let hash = keys.hash(ACCESS, token.expose_secret());
        let session = session.to_string();
        let fields = Fields::default()
            .with("session_id", &session)
            .time("expires_at", expires_at)
            .with(FIELD, binding::of(keys, ACCESS_TOKENS, &[&hash, &session]));
        self.redis
            .put_code(
                "store an access token",
                ("access", &hash),
                &session,
                expires_at,
                &fields,
            )
            .await?;
        Ok(token)
    }

    async fn find_session(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<Session>, StoreError> {
        let keys = &self.shared.keys;
        for hash in keys.hashes(ACCESS, token) {
            let kind = ("access", ACCESS_TOKENS);
            let found = self.redis.token_entry(keys, kind, &hash).await?;
            if let Some(entry) = found
                && now < entry.time("expires_at")?
            {
                let session = Sessions::get(self, entry.uuid("session_id")?).await?;
                return Ok(session.filter(|session| session.is_live(now)));
            }
        }
        Ok(None)
    }

    async fn issue_refresh(
        &self,
        session: Uuid,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<SecretString, StoreError> {
        let token = random_secret()?;
        let keys = &self.shared.keys;
        let hash = keys.hash(REFRESH, token.expose_secret());
        let session = session.to_string();
        let fields = refresh_fields(keys, &hash, &session, expires_at, now);
        self.redis
            .put_code(
                "store a refresh token",
                ("refresh", &hash),
                &session,
                expires_at,
                &fields,
            )
            .await?;
        Ok(token)
    }

    async fn rotate(
        &self,
        token: &str,
        grace: SignedDuration,
        now: Timestamp,
    ) -> Result<Rotation, StoreError> {
        let successor = random_secret()?;
        let keys = &self.shared.keys;
        for hash in keys.hashes(REFRESH, token) {
            let found = self
                .redis
                .token_entry(keys, ("refresh", REFRESH_TOKENS), &hash);
            let Some(entry) = found.await? else { continue };
            let session = entry.uuid("session_id")?;
            let next = keys.hash(REFRESH, successor.expose_secret());
            let expires_at = entry.time("expires_at")?;
            let mut call = self.redis.call(&CODES, "rotate");
            call.arg(&hash)
                .arg(now.as_second())
                .arg(grace.as_secs())
                .arg(&next);
            refresh_fields(keys, &next, &session.to_string(), expires_at, now).append_to(&mut call);
            let outcome: String = self.redis.script("rotate a refresh token", &call).await?;
            return Ok(match outcome.as_str() {
                "rotated" => Rotation::Rotated(RefreshGrant {
                    session,
                    refresh_token: successor,
                }),
                "reused" => Rotation::Reused { session },
                _ => Rotation::Unknown,
            });
        }
        Ok(Rotation::Unknown)
    }

    async fn session_of_any(&self, token: &str) -> Result<Option<Uuid>, StoreError> {
        let keys = &self.shared.keys;
        for (purpose, kind) in [
            (ACCESS, ("access", ACCESS_TOKENS)),
            (REFRESH, ("refresh", REFRESH_TOKENS)),
        ] {
            for hash in keys.hashes(purpose, token) {
                if let Some(entry) = self.redis.token_entry(keys, kind, &hash).await? {
                    return entry.uuid("session_id").map(Some);
                }
            }
        }
        Ok(None)
    }
}

impl Redis {
    async fn token_entry(
        &self,
        keys: &KeyRing,
        (kind, table): (&str, &'static str),
        hash: &str,
    ) -> Result<Option<Entry>, StoreError> {
        let mut read = ::redis::cmd("HGETALL");
        read.arg(self.key(kind, hash));
        let found: Found = self.command("find a token", &read).await?;
        let Some(entry) = Entry::of(table, found) else {
            return Ok(None);
        };
        let parts = [hash, entry.text("session_id")?];
        binding::check_entry(keys, table, &parts, &entry)?;
        Ok(Some(entry))
    }
}

fn refresh_fields(
    keys: &KeyRing,
    hash: &str,
    session: &str,
    expires_at: Timestamp,
    now: Timestamp,
) -> Fields {
    Fields::default()
        .with("session_id", session)
        .time("created_at", now)
        .time("expires_at", expires_at)
        .with(FIELD, binding::of(keys, REFRESH_TOKENS, &[hash, session]))
}
