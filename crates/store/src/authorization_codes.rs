//! Authorization codes of the command line: loopback redirect with PKCE.
use crate::error::StoreError;
use crate::random::random_secret;
use crate::row::Columns;
use crate::store::Store;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

pub(crate) const PURPOSE: &str = "authorization code";
const LIFETIME: SignedDuration = SignedDuration::from_secs(60);

/// The authorization codes; see [`Store::authorization_codes`].
#[derive(Clone, Copy)]
pub struct AuthorizationCodes<'s>(pub(crate) &'s Store);

/// What a code is bound to.
#[derive(Clone, Debug)]
pub struct NewAuthorizationCode {
    /// The browser session that approved.
    pub session: Uuid,
    /// The client's name.
    pub client: String,
    pub redirect_uri: String,
    /// PKCE, S256.
    pub code_challenge: String,
    pub project: Option<String>,
}

/// A redeemed code. Whoever redeems it must compare redirect URI and challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationCode {
    pub session: Uuid,
    pub client: String,
    pub redirect_uri: String,
    pub code_challenge: String,
    pub project: Option<String>,
}

impl AuthorizationCodes<'_> {
    /// Issues a code that is good for a minute, once.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn create(
        self,
        new: &NewAuthorizationCode,
        now: Timestamp,
    ) -> Result<SecretString, StoreError> {
        let code = random_secret()?;
        if let Some(redis) = self.0.redis() {
            let created = redis.create_authorization_code(&self.0.keys, &code, new, now + LIFETIME);
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
        .bind((now + LIFETIME).as_second())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("store an authorization code"))?;
        Ok(code)
    }

    /// Redeems a code: it is gone afterwards.
    ///
    /// # Errors
    /// When the store cannot say.
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
