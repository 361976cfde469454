//! Sign-ins at OIDC providers; see [`crate::ProviderFlows`].
use super::Redis;
use super::entry::{Entry, Fields, Found};
use super::scripts::CODES;
use crate::error::StoreError;
use crate::provider_flows::{BROWSER, NewProviderFlow, ProviderFlow, STATE};
use crate::sealing::{KeyRing, Place};
use jiff::Timestamp;
use secrecy::ExposeSecret as _;

const TABLE: &str = "provider_flows";
const KIND: &str = "provider_flow";

impl Redis {
    /// Stores a new sign-in.
    pub async fn begin_provider_flow(
        &self,
        keys: &KeyRing,
        new: &NewProviderFlow,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
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
        let mut call = self.call(&CODES, "put_free");
        call.arg(KIND).arg(&hash).arg(expires_at.as_second());
        fields.append_to(&mut call);
        let _done: i64 = self.script("begin a sign-in at a provider", &call).await?;
        Ok(())
    }

    /// Takes the sign-in of a `state`, for its provider and its browser only.
    pub async fn take_provider_flow(
        &self,
        keys: &KeyRing,
        provider: &str,
        state: &str,
        browser: &str,
        now: Timestamp,
    ) -> Result<Option<ProviderFlow>, StoreError> {
        for hash in keys.hashes(STATE, state) {
            let mut read = ::redis::cmd("HGETALL");
            read.arg(self.key(KIND, &hash));
            let found: Found = self.command("find a sign-in at a provider", &read).await?;
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
            let mut call = self.call(&CODES, "drop");
            call.arg(KIND).arg(&hash);
            let taken: bool = self.script("take a sign-in at a provider", &call).await?;
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
