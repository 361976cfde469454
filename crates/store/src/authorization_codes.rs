//! Authorization codes of the command line: loopback redirect URI with PKCE (RFC 8252, RFC 7636).
use crate::error::StoreError;
use crate::random::random_secret;
use crate::row::Columns;
use crate::store::Store;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

pub(crate) const PURPOSE: &str = "authorization code";
const CODE_TTL: SignedDuration = SignedDuration::from_secs(60);

/// The authorization codes; see [`Store::authorization_codes`].
#[derive(Clone, Copy)]
pub struct AuthorizationCodes<'s>(pub(crate) &'s Store);

/// The values that a code is bound to.
#[derive(Clone, Debug)]
pub struct NewAuthorizationCode {
    /// The browser session that approved.
    pub session: Uuid,
    /// The client's name.
    pub client: String,
    pub redirect_uri: String,
    /// The PKCE challenge (S256).
    pub code_challenge: String,
    pub project: Option<String>,
}

/// A redeemed code. The caller of [`AuthorizationCodes::redeem`] must compare redirect URI and
/// challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationCode {
    pub session: Uuid,
    pub client: String,
    pub redirect_uri: String,
    pub code_challenge: String,
    pub project: Option<String>,
}

impl AuthorizationCodes<'_> {
    /// Issues a code that is valid once, for one minute.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn create(
        self,
        new: &NewAuthorizationCode,
        now: Timestamp,
    ) -> Result<SecretString, StoreError> {
        let code = random_secret()?;
        if let Some(redis) = self.0.redis() {
            let created = redis.create_authorization_code(&self.0.keys, &code, new, now + CODE_TTL);
            return created.await.map(|()| code);
        }
        sqlx::query(
            "INSERT INTO authorization_codes (
                 code_hash, session_id, client, redirect_uri, code_challenge, project, expires_at
             )
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(self.0.keys.hash(PURPOSE, code.expose_secret()))
        .bind(new.session.to_string())
        .bind(new.client.as_str())
        .bind(new.redirect_uri.as_str())
        .bind(new.code_challenge.as_str())
        .bind(new.project.as_deref())
        .bind((now + CODE_TTL).as_second())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("store an authorization code"))?;
        Ok(code)
    }

    /// Redeems a code and deletes it.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn redeem(
        self,
        code: &str,
        now: Timestamp,
    ) -> Result<Option<AuthorizationCode>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis
                .redeem_authorization_code(&self.0.keys, code, now)
                .await;
        }
        for hash in self.0.keys.hashes(PURPOSE, code) {
            let row = sqlx::query(
                "DELETE FROM authorization_codes
                 WHERE code_hash = $1
                 RETURNING session_id, client, redirect_uri, code_challenge, project, expires_at",
            )
            .bind(hash)
            .fetch_optional(&self.0.pool)
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
