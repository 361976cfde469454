//! Hand-over codes.
use super::SqlStore;
use crate::error::StoreError;
use crate::handover::{CODE, CODE_TTL, Handover, Handovers, NONCE, NewHandover};
use crate::random::random_secret;
use crate::row::Columns;
use async_trait::async_trait;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};

#[async_trait]
impl Handovers for SqlStore {
    async fn create(&self, new: &NewHandover, now: Timestamp) -> Result<SecretString, StoreError> {
        let code = random_secret()?;
        sqlx::query(
            "INSERT INTO handover_codes (
                 code_hash, session_id, host, nonce_hash, return_path, expires_at
             )
             VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(self.shared.keys.hash(CODE, code.expose_secret()))
        .bind(new.session.to_string())
        .bind(new.host.as_str())
        .bind(self.shared.keys.hash(NONCE, new.nonce.expose_secret()))
        .bind(new.return_path.as_str())
        .bind((now + CODE_TTL).as_second())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("store a hand-over code"))?;
        Ok(code)
    }

    async fn redeem(
        &self,
        code: &str,
        host: &str,
        nonce: &str,
        now: Timestamp,
    ) -> Result<Option<Handover>, StoreError> {
        for hash in self.shared.keys.hashes(CODE, code) {
            let row = sqlx::query(
                "DELETE FROM handover_codes
                 WHERE code_hash = $1
                 RETURNING session_id, host, nonce_hash, return_path, expires_at",
            )
            .bind(hash)
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("redeem a hand-over code"))?;
            let Some(row) = row else { continue };
            let columns = Columns::new("handover_codes", &row);
            let nonce_hash = columns.text("nonce_hash")?;
            let good = columns.text("host")? == host
                && self
                    .shared
                    .keys
                    .hashes(NONCE, nonce)
                    .any(|hash| hash == nonce_hash)
                && now < columns.time("expires_at")?;
            return good
                .then(|| {
                    Ok(Handover {
                        session: columns.uuid("session_id")?,
                        return_path: columns.text("return_path")?,
                    })
                })
                .transpose();
        }
        Ok(None)
    }
}
