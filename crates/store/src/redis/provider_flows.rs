//! Sign-ins at OIDC providers.
use super::RedisStore;
use super::entry::{Entry, Fields, Found};
use super::scripts::CODES;
use crate::error::StoreError;
use crate::provider_flows::{
    BROWSER, FLOW_TTL, NewProviderFlow, ProviderFlow, ProviderFlows, STATE, TABLE,
};
use crate::sealing::Place;
use async_trait::async_trait;
use jiff::Timestamp;
use secrecy::ExposeSecret as _;

const KIND: &str = "provider_flow";

#[async_trait]
impl ProviderFlows for RedisStore {
    async fn begin(&self, new: &NewProviderFlow, now: Timestamp) -> Result<(), StoreError> {
        let expires_at = now + FLOW_TTL;
        let keys = &self.shared.keys;
        let hash = keys.hash(STATE, new.state.expose_secret());
        let bound = bound(&hash, &new.provider);
        let nonce = keys.seal(place(&bound, "nonce_sealed"), new.nonce.expose_secret())?;
        let verifier = place(&bound, "verifier_sealed");
        let verifier = keys.seal(verifier, new.verifier.expose_secret())?;
        let fields = Fields::default()
            .with("provider", &new.provider)
            .with(
                "browser_hash",
                keys.hash(BROWSER, new.browser.expose_secret()),
            )
            .sealed("nonce_sealed", &nonce)
            .sealed("verifier_sealed", &verifier)
            .with("return_path", &new.return_path)
            .time("expires_at", expires_at);
        let mut call = self.redis.call(&CODES, "put_free");
        call.arg(KIND).arg(&hash).arg(expires_at.as_second());
        fields.append_to(&mut call);
        let _done: i64 = self
            .redis
            .script("begin a sign-in at a provider", &call)
            .await?;
        Ok(())
    }

    async fn take(
        &self,
        provider: &str,
        state: &str,
        browser: &str,
        now: Timestamp,
    ) -> Result<Option<ProviderFlow>, StoreError> {
        let keys = &self.shared.keys;
        for hash in keys.hashes(STATE, state) {
            let mut read = ::redis::cmd("HGETALL");
            read.arg(self.redis.key(KIND, &hash));
            let found: Found = self
                .redis
                .command("find a sign-in at a provider", &read)
                .await?;
            let Some(entry) = Entry::of(TABLE, found) else {
                continue;
            };
            if entry.text("provider")? != provider || now >= entry.time("expires_at")? {
                continue;
            }
            let browser_hash = entry.text("browser_hash")?;
            if !keys.hashes(BROWSER, browser).any(|own| own == browser_hash) {
                return Ok(None);
            }
            let bound = bound(&hash, provider);
            let open = |column| keys.open(place(&bound, column), &entry.sealed(column)?);
            let flow = ProviderFlow {
                nonce: open("nonce_sealed")?,
                verifier: open("verifier_sealed")?,
                return_path: entry.owned("return_path")?,
            };
            let mut call = self.redis.call(&CODES, "drop");
            call.arg(KIND).arg(&hash);
            let taken: bool = self
                .redis
                .script("take a sign-in at a provider", &call)
                .await?;
            return Ok(taken.then_some(flow));
        }
        Ok(None)
    }
}

fn bound(hash: &str, provider: &str) -> String {
    format!("{hash}|{provider}")
}

fn place<'a>(bound: &'a str, column: &'static str) -> Place<'a> {
    Place {
        table: TABLE,
        row: bound,
        column,
    }
}
