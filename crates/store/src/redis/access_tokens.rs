//! Access and refresh tokens of the command line, and codes in general; see
//! [`crate::AccessTokens`].
use super::Redis;
use super::binding::{self, FIELD};
use super::entry::{Entry, Fields, Found};
use super::scripts::CODES;
use crate::access_tokens::{ACCESS, REFRESH, RefreshGrant, Rotation};
use crate::error::StoreError;
use crate::sealing::KeyRing;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

const ACCESS_TOKENS: &str = "access_tokens";
const REFRESH_TOKENS: &str = "refresh_tokens";

impl Redis {
    /// Stores a code or token of a session under its hash.
    pub(super) async fn put_code(
        &self,
        operation: &'static str,
        (kind, hash): (&str, &str),
        session: &str,
        expires_at: Timestamp,
        fields: &Fields,
    ) -> Result<(), StoreError> {
        let mut call = self.call(&CODES, "put");
        call.arg(kind)
            .arg(hash)
            .arg(expires_at.as_second())
            .arg(session);
        fields.append_to(&mut call);
        let _done: i64 = self.script(operation, &call).await?;
        Ok(())
    }

    /// Redeems a code and deletes it.
    pub(super) async fn take_code(
        &self,
        operation: &'static str,
        kind: &str,
        hash: &str,
    ) -> Result<Found, StoreError> {
        let mut call = self.call(&CODES, "take");
        call.arg(kind).arg(hash);
        self.script(operation, &call).await
    }

    /// Stores an access token.
    pub async fn issue_access(
        &self,
        keys: &KeyRing,
        token: &SecretString,
        session: Uuid,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let hash = keys.hash(ACCESS, token.expose_secret());
        let session = session.to_string();
        let fields = Fields::default()
            .with("session_id", &session)
            .time("expires_at", expires_at)
            .with(FIELD, binding::of(keys, ACCESS_TOKENS, &[&hash, &session]));
        self.put_code(
            "store an access token",
            ("access", &hash),
            &session,
            expires_at,
            &fields,
        )
        .await
    }

    /// Returns the session of an unexpired access token.
    pub async fn session_of_access(
        &self,
        keys: &KeyRing,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<Uuid>, StoreError> {
        for hash in keys.hashes(ACCESS, token) {
            let found = self.token_entry(keys, ("access", ACCESS_TOKENS), &hash);
            if let Some(entry) = found.await?
                && now < entry.time("expires_at")?
            {
                return entry.uuid("session_id").map(Some);
            }
        }
        Ok(None)
    }

    /// Stores a first refresh token.
    pub async fn insert_refresh(
        &self,
        keys: &KeyRing,
        token: &SecretString,
        session: Uuid,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let hash = keys.hash(REFRESH, token.expose_secret());
        let session = session.to_string();
        let fields = refresh_fields(keys, &hash, &session, expires_at, now);
        self.put_code(
            "store a refresh token",
            ("refresh", &hash),
            &session,
            expires_at,
            &fields,
        )
        .await
    }

    /// Exchanges a refresh token for `successor`.
    pub async fn rotate_refresh(
        &self,
        keys: &KeyRing,
        token: &str,
        successor: SecretString,
        grace: SignedDuration,
        now: Timestamp,
    ) -> Result<Rotation, StoreError> {
        for hash in keys.hashes(REFRESH, token) {
            let found = self.token_entry(keys, ("refresh", REFRESH_TOKENS), &hash);
            let Some(entry) = found.await? else { continue };
            let session = entry.uuid("session_id")?;
            let next = keys.hash(REFRESH, successor.expose_secret());
            let expires_at = entry.time("expires_at")?;
            let mut call = self.call(&CODES, "rotate");
            call.arg(&hash)
                .arg(now.as_second())
                .arg(grace.as_secs())
                .arg(&next);
            refresh_fields(keys, &next, &session.to_string(), expires_at, now).append_to(&mut call);
            let outcome: String = self.script("rotate a refresh token", &call).await?;
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

    /// Returns the session of an access or refresh token, expired ones included.
    pub async fn session_of_any_token(
        &self,
        keys: &KeyRing,
        token: &str,
    ) -> Result<Option<Uuid>, StoreError> {
        for (purpose, kind) in [
            (ACCESS, ("access", ACCESS_TOKENS)),
            (REFRESH, ("refresh", REFRESH_TOKENS)),
        ] {
            for hash in keys.hashes(purpose, token) {
                if let Some(entry) = self.token_entry(keys, kind, &hash).await? {
                    return entry.uuid("session_id").map(Some);
                }
            }
        }
        Ok(None)
    }

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
