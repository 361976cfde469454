//! One-time codes that carry a session from the sign-in host to an app's host.
use crate::error::StoreError;
use crate::random::random_secret;
use crate::row::Columns;
use crate::store::Store;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

const CODE_TTL: SignedDuration = SignedDuration::from_secs(30);
pub(crate) const CODE: &str = "handover code";
pub(crate) const NONCE: &str = "handover nonce";

/// The hand-over codes; see [`Store::handovers`].
#[derive(Clone, Copy)]
pub struct Handovers<'s>(pub(crate) &'s Store);

/// The values that a code is bound to.
#[derive(Clone, Debug)]
pub struct NewHandover {
    /// The browser session that becomes the child's parent.
    pub session: Uuid,
    /// The app's host.
    pub host: String,
    /// The nonce that the app's host has set as a cookie.
    pub nonce: SecretString,
    /// The path on the app's host to continue at.
    pub return_path: String,
}

/// A redeemed code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    pub session: Uuid,
    pub return_path: String,
}

impl Handovers<'_> {
    /// Issues a code that is valid once, for 30 seconds.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn create(
        self,
        new: &NewHandover,
        now: Timestamp,
    ) -> Result<SecretString, StoreError> {
        let code = random_secret()?;
        if let Some(redis) = self.0.redis() {
            let created = redis.create_handover(&self.0.keys, &code, new, now + CODE_TTL);
            return created.await.map(|()| code);
        }
        sqlx::query(
            "INSERT INTO handover_codes (
                 code_hash, session_id, host, nonce_hash, return_path, expires_at
             )
             VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(self.0.keys.hash(CODE, code.expose_secret()))
        .bind(new.session.to_string())
        .bind(new.host.as_str())
        .bind(self.0.keys.hash(NONCE, new.nonce.expose_secret()))
        .bind(new.return_path.as_str())
        .bind((now + CODE_TTL).as_second())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("store a hand-over code"))?;
        Ok(code)
    }

    /// Redeems a code on the host, for the browser that holds the nonce. The code is deleted in any
    /// case.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn redeem(
        self,
        code: &str,
        host: &str,
        nonce: &str,
        now: Timestamp,
    ) -> Result<Option<Handover>, StoreError> {
        if let Some(redis) = self.0.redis() {
            let redeemed = redis.redeem_handover(&self.0.keys, code, host, nonce, now);
            return redeemed.await;
        }
        for hash in self.0.keys.hashes(CODE, code) {
            let row = sqlx::query(
                "DELETE FROM handover_codes
                 WHERE code_hash = $1
                 RETURNING session_id, host, nonce_hash, return_path, expires_at",
            )
            .bind(hash)
            .fetch_optional(&self.0.pool)
            .await
            .map_err(StoreError::database("redeem a hand-over code"))?;
            let Some(row) = row else { continue };
            let columns = Columns::new("handover_codes", &row);
            let nonce_hash = columns.text("nonce_hash")?;
            let good = columns.text("host")? == host
                && self
                    .0
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
