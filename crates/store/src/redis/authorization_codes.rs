//! Authorization codes of the command line.
use super::RedisStore;
use super::binding::{self, FIELD};
use super::entry::{Entry, Fields};
use crate::authorization_codes::{
    AuthorizationCode, AuthorizationCodes, CODE_TTL, NewAuthorizationCode, PURPOSE,
};
use crate::error::StoreError;
use crate::random::random_secret;
use async_trait::async_trait;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};

const TABLE: &str = "authorization_codes";
const KIND: &str = "authorization_code";

#[async_trait]
impl AuthorizationCodes for RedisStore {
    async fn create(
        &self,
        new: &NewAuthorizationCode,
        now: Timestamp,
    ) -> Result<SecretString, StoreError> {
        let code = random_secret()?;
        let expires_at = now + CODE_TTL;
        let keys = &self.shared.keys;
        let hash = keys.hash(PURPOSE, code.expose_secret());
        let session = new.session.to_string();
        let parts = [&hash, &session, &new.redirect_uri, &new.code_challenge];
        let bound = binding::of(keys, TABLE, &parts.map(String::as_str));
        let fields = Fields::default()
            .with("session_id", &session)
            .with("client", &new.client)
            .with("redirect_uri", &new.redirect_uri)
            .with("code_challenge", &new.code_challenge)
            .optional("project", new.project.as_ref())
            .time("expires_at", expires_at)
            .with(FIELD, bound);
        self.redis
            .put_code(
                "store an authorization code",
                (KIND, &hash),
                &session,
                expires_at,
                &fields,
            )
            .await?;
        Ok(code)
    }

    async fn redeem(
        &self,
        code: &str,
        now: Timestamp,
    ) -> Result<Option<AuthorizationCode>, StoreError> {
        let keys = &self.shared.keys;
        for hash in keys.hashes(PURPOSE, code) {
            let found = self
                .redis
                .take_code("redeem an authorization code", KIND, &hash)
                .await?;
            let Some(entry) = Entry::of(TABLE, found) else {
                continue;
            };
            let parts = [
                &hash,
                entry.text("session_id")?,
                entry.text("redirect_uri")?,
                entry.text("code_challenge")?,
            ];
            binding::check_entry(keys, TABLE, &parts, &entry)?;
            if now >= entry.time("expires_at")? {
                return Ok(None);
            }
            return Ok(Some(AuthorizationCode {
                session: entry.uuid("session_id")?,
                client: entry.owned("client")?,
                redirect_uri: entry.owned("redirect_uri")?,
                code_challenge: entry.owned("code_challenge")?,
                project: entry.optional_owned("project"),
            }));
        }
        Ok(None)
    }
}
