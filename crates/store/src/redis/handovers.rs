//! Hand-over codes.
use super::RedisStore;
use super::binding::{self, FIELD};
use super::entry::{Entry, Fields};
use crate::error::StoreError;
use crate::handover::{CODE, CODE_TTL, Handover, Handovers, NONCE, NewHandover};
use crate::random::random_secret;
use async_trait::async_trait;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};

const TABLE: &str = "handover_codes";

#[async_trait]
impl Handovers for RedisStore {
    async fn create(&self, new: &NewHandover, now: Timestamp) -> Result<SecretString, StoreError> {
        let code = random_secret()?;
        let expires_at = now + CODE_TTL;
        let keys = &self.shared.keys;
        let hash = keys.hash(CODE, code.expose_secret());
        let session = new.session.to_string();
        let nonce_hash = keys.hash(NONCE, new.nonce.expose_secret());
        let bound = binding::of(keys, TABLE, &[&hash, &session, &new.host, &nonce_hash]);
        let fields = Fields::default()
            .with("session_id", &session)
            .with("host", &new.host)
            .with("nonce_hash", nonce_hash)
            .with("return_path", &new.return_path)
            .time("expires_at", expires_at)
            .with(FIELD, bound);
        self.redis
            .put_code(
                "store a hand-over code",
                ("handover", &hash),
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
        host: &str,
        nonce: &str,
        now: Timestamp,
    ) -> Result<Option<Handover>, StoreError> {
        let keys = &self.shared.keys;
        for hash in keys.hashes(CODE, code) {
            let found = self
                .redis
                .take_code("redeem a hand-over code", "handover", &hash)
                .await?;
            let Some(entry) = Entry::of(TABLE, found) else {
                continue;
            };
            let nonce_hash = entry.text("nonce_hash")?;
            let bound_to = entry.text("host")?;
            let parts = [&hash, entry.text("session_id")?, bound_to, nonce_hash];
            binding::check_entry(keys, TABLE, &parts, &entry)?;
            let good = bound_to == host
                && keys.hashes(NONCE, nonce).any(|hash| hash == nonce_hash)
                && now < entry.time("expires_at")?;
            if !good {
                return Ok(None);
            }
            return Ok(Some(Handover {
                session: entry.uuid("session_id")?,
                return_path: entry.owned("return_path")?,
            }));
        }
        Ok(None)
    }
}
