//! Sign-ins in progress.
use super::RedisStore;
use super::entry::{Entry, Fields, Found};
use super::scripts::SIGN_IN;
use crate::error::StoreError;
use crate::sealing::Place;
use crate::sign_in_flows::{PURPOSE, SignInFlow, SignInFlows, Started, TABLE};
use async_trait::async_trait;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

#[async_trait]
impl SignInFlows for RedisStore {
    async fn start(
        &self,
        return_path: &str,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Started, StoreError> {
        let started = Started::new(return_path, expires_at)?;
        let (secret, flow) = (&started.secret, &started.flow);
        let keys = &self.shared.keys;
        let hash = keys.hash(PURPOSE, secret.expose_secret());
        let id = flow.id.to_string();
        let fields = Fields::default()
            .with("id", &id)
            .with("secret_hash", &hash)
            .with("return_path", &flow.return_path)
            .with("attempts", flow.attempts)
            .time("created_at", now)
            .time("expires_at", flow.expires_at);
        let mut call = self.redis.call(&SIGN_IN, "start_flow");
        call.arg(&id).arg(&hash).arg(flow.expires_at.as_second());
        fields.append_to(&mut call);
        let _done: i64 = self.redis.script("start a sign-in", &call).await?;
        Ok(started)
    }

    async fn find(&self, secret: &str, now: Timestamp) -> Result<Option<SignInFlow>, StoreError> {
        let keys = &self.shared.keys;
        for hash in keys.hashes(PURPOSE, secret) {
            let mut call = self.redis.call(&SIGN_IN, "of_secret");
            call.arg("flow").arg(&hash);
            let found: Found = self.redis.script("find a sign-in", &call).await?;
            let Some(entry) = Entry::of(TABLE, found) else {
                continue;
            };
            let expires_at = entry.time("expires_at")?;
            if now >= expires_at {
                continue;
            }
            let bound = bound(entry.text("id")?, &hash);
            let receipt = entry
                .optional_text("receipt_sealed")
                .map(|_| keys.open(receipt_place(&bound), &entry.sealed("receipt_sealed")?))
                .transpose()?;
            return Ok(Some(SignInFlow {
                id: entry.uuid("id")?,
                return_path: entry.owned("return_path")?,
                user_name: entry.optional_owned("user_name"),
                domain: entry.optional_owned("domain"),
                receipt,
                attempts: entry.integer("attempts")?,
                expires_at,
            }));
        }
        Ok(None)
    }

    async fn set_receipt(
        &self,
        id: Uuid,
        user_name: &str,
        domain: &str,
        receipt: &SecretString,
    ) -> Result<(), StoreError> {
        let keys = &self.shared.keys;
        let operation = "store a receipt";
        let id = id.to_string();
        let mut read = ::redis::cmd("HGET");
        read.arg(self.redis.key("flow", &id)).arg("secret_hash");
        let Some(hash): Option<String> = self.redis.command(operation, &read).await? else {
            return Ok(());
        };
        let bound = bound(&id, &hash);
        let sealed = keys.seal(receipt_place(&bound), receipt.expose_secret())?;
        let fields = Fields::default()
            .with("user_name", user_name)
            .with("domain", domain)
            .sealed("receipt_sealed", &sealed);
        let mut call = self.redis.call(&SIGN_IN, "set_receipt");
        call.arg(&id);
        fields.append_to(&mut call);
        let _done: i64 = self.redis.script(operation, &call).await?;
        Ok(())
    }

    async fn count_attempt(&self, id: Uuid) -> Result<Option<i64>, StoreError> {
        let mut call = self.redis.call(&SIGN_IN, "count_attempt");
        call.arg(id.to_string());
        self.redis.script("count an attempt", &call).await
    }

    async fn finish(&self, id: Uuid) -> Result<bool, StoreError> {
        let mut call = self.redis.call(&SIGN_IN, "finish_flow");
        call.arg(id.to_string());
        self.redis.script("finish a sign-in", &call).await
    }
}

fn bound(id: &str, hash: &str) -> String {
    format!("{id}|{hash}")
}

fn receipt_place(bound: &str) -> Place<'_> {
    Place {
        table: TABLE,
        row: bound,
        column: "receipt_sealed",
    }
}
