//! Authorization codes of the command line.
use super::SqlStore;
use crate::authorization_codes::{
    AuthorizationCode, AuthorizationCodes, CODE_TTL, NewAuthorizationCode, PURPOSE,
};
use crate::error::StoreError;
use crate::random::random_secret;
use crate::row::Columns;
use async_trait::async_trait;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};

#[async_trait]
impl AuthorizationCodes for SqlStore {
    async fn create(
        &self,
        new: &NewAuthorizationCode,
        now: Timestamp,
    ) -> Result<SecretString, StoreError> {
        let code = random_secret()?;
        sqlx::query(
            "INSERT INTO authorization_codes (
                 code_hash, session_id, client, redirect_uri, code_challenge, project, expires_at
             )
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(self.shared.keys.hash(PURPOSE, code.expose_secret()))
        .bind(new.session.to_string())
        .bind(new.client.as_str())
        .bind(new.redirect_uri.as_str())
        .bind(new.code_challenge.as_str())
        .bind(new.project.as_deref())
        .bind((now + CODE_TTL).as_second())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("store an authorization code"))?;
        Ok(code)
    }

    async fn redeem(
        &self,
        code: &str,
        now: Timestamp,
    ) -> Result<Option<AuthorizationCode>, StoreError> {
        for hash in self.shared.keys.hashes(PURPOSE, code) {
            let row = sqlx::query(
                "DELETE FROM authorization_codes
                 WHERE code_hash = $1
                 RETURNING session_id, client, redirect_uri, code_challenge, project, expires_at",
            )
            .bind(hash)
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("redeem an authorization code"))?;
            let Some(row) = row else { continue };
            let columns = Columns::new("authorization_codes", &row);
            if now >= columns.time("expires_at")? {
                return Ok(None);
            }
            return Ok(Some(AuthorizationCode {
                session: columns.uuid("session_id")?,
                client: columns.text("client")?,
                redirect_uri: columns.text("redirect_uri")?,
                code_challenge: columns.text("code_challenge")?,
                project: columns.optional_text("project")?,
            }));
        }
        Ok(None)
    }
}
