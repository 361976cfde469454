//! Sign-ins at OIDC providers that are in progress: each is bound to the browser that started it,
//! and usable once.
use crate::error::StoreError;
use crate::row::Columns;
use crate::sealing::Place;
use crate::store::Store;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

const TABLE: &str = "provider_flows";
pub(crate) const STATE: &str = "provider flow state";
pub(crate) const BROWSER: &str = "provider flow browser";
/// How long a sign-in at the provider may take.
const FLOW_TTL: SignedDuration = SignedDuration::from_mins(15);

/// Sign-ins at OIDC providers; see [`Store::provider_flows`].
#[derive(Clone, Copy)]
pub struct ProviderFlows<'s>(pub(crate) &'s Store);

/// A new sign-in.
#[derive(Clone, Debug)]
pub struct NewProviderFlow {
    /// The provider's ID in the configuration.
    pub provider: String,
    pub state: SecretString,
    /// The secret in the cookie of the browser.
    pub browser: SecretString,
    pub nonce: SecretString,
    /// The PKCE verifier.
    pub verifier: SecretString,
    /// Where to go after the sign-in; the caller that stores it has checked it.
    pub return_path: String,
}

/// A sign-in whose response has arrived.
#[derive(Clone, Debug)]
pub struct ProviderFlow {
    pub nonce: SecretString,
    pub verifier: SecretString,
    pub return_path: String,
}

impl ProviderFlows<'_> {
    /// Starts a sign-in, which must be completed within fifteen minutes.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn begin(self, new: &NewProviderFlow, now: Timestamp) -> Result<(), StoreError> {
        let keys = &self.0.keys;
        if let Some(redis) = self.0.redis() {
            return redis.begin_provider_flow(keys, new, now + FLOW_TTL).await;
        }
        let id = Uuid::new_v4().to_string();
        sqlx::query(
            "INSERT INTO provider_flows (
                 id, state_hash, provider, browser_hash, nonce_sealed, verifier_sealed,
                 return_path, created_at, expires_at
             )
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        )
        .bind(id.as_str())
        .bind(keys.hash(STATE, new.state.expose_secret()))
        .bind(new.provider.as_str())
        .bind(keys.hash(BROWSER, new.browser.expose_secret()))
        .bind(keys.seal(place(&id, "nonce_sealed"), new.nonce.expose_secret())?)
        .bind(keys.seal(place(&id, "verifier_sealed"), new.verifier.expose_secret())?)
        .bind(new.return_path.as_str())
        .bind(now.as_second())
        .bind((now + FLOW_TTL).as_second())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("begin a sign-in at a provider"))?;
        Ok(())
    }

    /// Takes the sign-in of a `state`, once: only for the provider at which it was started and the
    /// browser that started it. Any other request leaves it unchanged.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn take(
        self,
        provider: &str,
        state: &str,
        browser: &str,
        now: Timestamp,
    ) -> Result<Option<ProviderFlow>, StoreError> {
        if let Some(redis) = self.0.redis() {
            let taken = redis.take_provider_flow(&self.0.keys, provider, state, browser, now);
            return taken.await;
        }
        let browsers: Vec<String> = self.0.keys.hashes(BROWSER, browser).collect();
        for state in self.0.keys.hashes(STATE, state) {
            let row = sqlx::query(
                "SELECT id, browser_hash, nonce_sealed, verifier_sealed, return_path
                 FROM provider_flows
                 WHERE state_hash = $1 AND provider = $2 AND expires_at > $3",
            )
            .bind(state)
            .bind(provider)
            .bind(now.as_second())
            .fetch_optional(&self.0.pool)
            .await
            .map_err(StoreError::database("find a sign-in at a provider"))?;
            let Some(row) = row else { continue };
            let columns = Columns::new(TABLE, &row);
            if !browsers.contains(&columns.text("browser_hash")?) {
                return Ok(None);
            }
            let id = columns.text("id")?;
            let open = |column| {
                self.0
                    .keys
                    .open(place(&id, column), &columns.bytes(column)?)
            };
            let flow = ProviderFlow {
                nonce: open("nonce_sealed")?,
                verifier: open("verifier_sealed")?,
                return_path: columns.text("return_path")?,
            };
            let taken = sqlx::query("DELETE FROM provider_flows WHERE id = $1")
                .bind(id.as_str())
                .execute(&self.0.pool)
                .await
                .map_err(StoreError::database("take a sign-in at a provider"))?;
            return Ok((taken.rows_affected() > 0).then_some(flow));
        }
        Ok(None)
    }
}

fn place<'a>(id: &'a str, column: &'static str) -> Place<'a> {
    Place {
        table: TABLE,
        row: id,
        column,
    }
}
