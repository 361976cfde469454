//! Sign-ins in progress.
use super::SqlStore;
use crate::error::StoreError;
use crate::row::Columns;
use crate::sealing::Place;
use crate::sign_in_flows::{PURPOSE, SignInFlow, SignInFlows, Started, TABLE};
use async_trait::async_trait;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

#[async_trait]
impl SignInFlows for SqlStore {
    async fn start(
        &self,
        return_path: &str,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Started, StoreError> {
        let started = Started::new(return_path, expires_at)?;
        let secret = started.secret.expose_secret();
        sqlx::query(
            "INSERT INTO sign_in_flows (
                 secret_hash, id, return_path, attempts, created_at, expires_at
             )
             VALUES ($1, $2, $3, 0, $4, $5)",
        )
        .bind(self.shared.keys.hash(PURPOSE, secret))
        .bind(started.flow.id.to_string())
        .bind(return_path)
        .bind(now.as_second())
        .bind(expires_at.as_second())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("start a sign-in"))?;
        Ok(started)
    }

    async fn find(&self, secret: &str, now: Timestamp) -> Result<Option<SignInFlow>, StoreError> {
        for hash in self.shared.keys.hashes(PURPOSE, secret) {
            let row = sqlx::query(
                "SELECT id, return_path, user_name, domain, receipt_sealed, attempts, expires_at
                 FROM sign_in_flows
                 WHERE secret_hash = $1 AND expires_at > $2",
            )
            .bind(hash)
            .bind(now.as_second())
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("find a sign-in"))?;
            let Some(row) = row else { continue };
            let columns = Columns::new(TABLE, &row);
            let id = columns.text("id")?;
            let receipt = columns
                .optional_bytes("receipt_sealed")?
                .map(|sealed| self.shared.keys.open(place(&id), &sealed))
                .transpose()?;
            return Ok(Some(SignInFlow {
                id: columns.uuid("id")?,
                return_path: columns.text("return_path")?,
                user_name: columns.optional_text("user_name")?,
                domain: columns.optional_text("domain")?,
                receipt,
                attempts: columns.integer("attempts")?,
                expires_at: columns.time("expires_at")?,
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
        let row = id.to_string();
        let sealed = self
            .shared
            .keys
            .seal(place(&row), receipt.expose_secret())?;
        sqlx::query(
            "UPDATE sign_in_flows
             SET user_name = $1, domain = $2, receipt_sealed = $3, attempts = 0
             WHERE id = $4",
        )
        .bind(user_name)
        .bind(domain)
        .bind(sealed)
        .bind(row.as_str())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("store a receipt"))?;
        Ok(())
    }

    async fn count_attempt(&self, id: Uuid) -> Result<Option<i64>, StoreError> {
        sqlx::query_scalar(
            "UPDATE sign_in_flows
             SET attempts = attempts + 1
             WHERE id = $1
             RETURNING attempts",
        )
        .bind(id.to_string())
        .fetch_optional(&self.pool)
        .await
        .map_err(StoreError::database("count an attempt"))
    }

    async fn finish(&self, id: Uuid) -> Result<bool, StoreError> {
        let gone = sqlx::query(
            "DELETE FROM sign_in_flows
             WHERE id = $1",
        )
        .bind(id.to_string())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("finish a sign-in"))?;
        Ok(gone.rows_affected() > 0)
    }
}

fn place(id: &str) -> Place<'_> {
    Place {
        table: TABLE,
        row: id,
        column: "receipt_sealed",
    }
}
