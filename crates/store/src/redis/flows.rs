//! Sign-ins in progress; see [`crate::SignInFlows`].
use super::Redis;
use super::entry::{Entry, Fields, Found};
use super::scripts::SIGN_IN;
use crate::error::StoreError;
use crate::sealing::{KeyRing, Place};
use crate::sign_in_flows::{PURPOSE, SignInFlow};
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

const TABLE: &str = "sign_in_flows";

impl Redis {
    /// Stores a new flow.
    pub async fn start_flow(
        &self,
        keys: &KeyRing,
        secret: &SecretString,
        flow: &SignInFlow,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let hash = keys.hash(PURPOSE, secret.expose_secret());
        let id = flow.id.to_string();
        let fields = Fields::default()
            .with("id", &id)
            .with("secret_hash", &hash)
            .with("return_path", &flow.return_path)
            .with("attempts", flow.attempts)
            .time("created_at", now)
            .time("expires_at", flow.expires_at);
        let mut call = self.call(&SIGN_IN, "start_flow");
        call.arg(&id).arg(&hash).arg(flow.expires_at.as_second());
        fields.append_to(&mut call);
        let _done: i64 = self.script("start a sign-in", &call).await?;
        Ok(())
    }

    /// Returns the flow of a pre-session cookie.
    pub async fn find_flow(
        &self,
        keys: &KeyRing,
        secret: &str,
        now: Timestamp,
    ) -> Result<Option<SignInFlow>, StoreError> {
        for hash in keys.hashes(PURPOSE, secret) {
            let mut call = self.call(&SIGN_IN, "of_secret");
            call.arg("flow").arg(&hash);
            let found: Found = self.script("find a sign-in", &call).await?;
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

    /// Stores Keystone's receipt, for the browser of this flow only.
    pub async fn set_receipt(
        &self,
        keys: &KeyRing,
        id: Uuid,
        user_name: &str,
        domain: &str,
        receipt: &SecretString,
    ) -> Result<(), StoreError> {
        let operation = "store a receipt";
        let id = id.to_string();
        let mut read = ::redis::cmd("HGET");
        read.arg(self.key("flow", &id)).arg("secret_hash");
        let Some(hash): Option<String> = self.command(operation, &read).await? else {
            return Ok(());
        };
        let bound = bound(&id, &hash);
        let sealed = keys.seal(receipt_place(&bound), receipt.expose_secret())?;
        let fields = Fields::default()
            .with("user_name", user_name)
            .with("domain", domain)
            .sealed("receipt_sealed", &sealed);
        let mut call = self.call(&SIGN_IN, "set_receipt");
        call.arg(&id);
        fields.append_to(&mut call);
        let _done: i64 = self.script(operation, &call).await?;
        Ok(())
    }

    /// Counts a tried code; returns `None` if the flow does not exist any more.
    pub async fn count_attempt(&self, id: Uuid) -> Result<Option<i64>, StoreError> {
        let mut call = self.call(&SIGN_IN, "count_attempt");
        call.arg(id.to_string());
        self.script("count an attempt", &call).await
    }

    /// Ends a flow; returns whether it existed.
    pub async fn finish_flow(&self, id: Uuid) -> Result<bool, StoreError> {
        let mut call = self.call(&SIGN_IN, "finish_flow");
        call.arg(id.to_string());
        self.script("finish a sign-in", &call).await
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
