//! Sign-ins at OIDC providers.
use super::SqlStore;
use crate::error::StoreError;
use crate::provider_flows::{
    BROWSER, FLOW_TTL, NewProviderFlow, ProviderFlow, ProviderFlows, STATE, TABLE,
};
use crate::row::Columns;
use crate::sealing::Place;
use async_trait::async_trait;
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use uuid::Uuid;

#[async_trait]
impl ProviderFlows for SqlStore {
    async fn begin(&self, new: &NewProviderFlow, now: Timestamp) -> Result<(), StoreError> {
        let keys = &self.shared.keys;
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
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("begin a sign-in at a provider"))?;
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
        let browsers: Vec<String> = keys.hashes(BROWSER, browser).collect();
        for state in keys.hashes(STATE, state) {
            let row = sqlx::query(
                "SELECT id, browser_hash, nonce_sealed, verifier_sealed, return_path
                 FROM provider_flows
                 WHERE state_hash = $1 AND provider = $2 AND expires_at > $3",
            )
            .bind(state)
            .bind(provider)
            .bind(now.as_second())
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("find a sign-in at a provider"))?;
            let Some(row) = row else { continue };
            let columns = Columns::new(TABLE, &row);
            if !browsers.contains(&columns.text("browser_hash")?) {
                return Ok(None);
            }
            let id = columns.text("id")?;
            let open = |column| keys.open(place(&id, column), &columns.bytes(column)?);
            let flow = ProviderFlow {
                nonce: open("nonce_sealed")?,
                verifier: open("verifier_sealed")?,
                return_path: columns.text("return_path")?,
            };
            let taken = sqlx::query("DELETE FROM provider_flows WHERE id = $1")
                .bind(id.as_str())
                .execute(&self.pool)
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
