//! Sign-ins in progress: where to go afterwards, and Keystone's receipt between password and TOTP.
use crate::error::StoreError;
use crate::random::random_secret;
use crate::row::Columns;
use crate::sealing::Place;
use crate::store::Store;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

const TABLE: &str = "sign_in_flows";
pub(crate) const PURPOSE: &str = "sign-in flow";

/// The sign-in flows; see [`Store::sign_in_flows`].
#[derive(Clone, Copy)]
pub struct SignInFlows<'s>(pub(crate) &'s Store);

/// A sign-in in progress.
#[derive(Clone, Debug)]
pub struct SignInFlow {
    pub id: Uuid,
    /// Where to go after the sign-in; the caller that stores it has checked it.
    pub return_path: String,
    /// The user name that was entered, if any.
    pub user_name: Option<String>,
    pub domain: Option<String>,
    /// Keystone's auth receipt, while a further factor is required.
    pub receipt: Option<SecretString>,
    /// The number of codes tried with this receipt.
    pub attempts: i64,
    pub expires_at: Timestamp,
}

/// A new flow, and the secret for the browser's pre-session cookie.
#[derive(Clone, Debug)]
pub struct Started {
    pub secret: SecretString,
    pub flow: SignInFlow,
}

impl SignInFlows<'_> {
    /// Starts a flow.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn start(
        self,
        return_path: &str,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Started, StoreError> {
        let secret = random_secret()?;
        let id = Uuid::new_v4();
        let flow = SignInFlow {
            id,
            return_path: return_path.to_owned(),
            user_name: None,
            domain: None,
            receipt: None,
            attempts: 0,
            expires_at,
        };
        if let Some(redis) = self.0.redis() {
            let started = redis.start_flow(&self.0.keys, &secret, &flow, now);
            return started.await.map(|()| Started { secret, flow });
        }
        sqlx::query(
            "INSERT INTO sign_in_flows (
                 secret_hash, id, return_path, attempts, created_at, expires_at
             )
             VALUES ($1, $2, $3, 0, $4, $5)",
        )
        .bind(self.0.keys.hash(PURPOSE, secret.expose_secret()))
        .bind(id.to_string())
        .bind(return_path)
        .bind(now.as_second())
        .bind(expires_at.as_second())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("start a sign-in"))?;
        Ok(Started { secret, flow })
    }

    /// Returns the flow of a pre-session cookie.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn find(
        self,
        secret: &str,
        now: Timestamp,
    ) -> Result<Option<SignInFlow>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.find_flow(&self.0.keys, secret, now).await;
        }
        for hash in self.0.keys.hashes(PURPOSE, secret) {
            let row = sqlx::query(
                "SELECT id, return_path, user_name, domain, receipt_sealed, attempts, expires_at
                 FROM sign_in_flows
                 WHERE secret_hash = $1 AND expires_at > $2",
            )
            .bind(hash)
            .bind(now.as_second())
            .fetch_optional(&self.0.pool)
            .await
            .map_err(StoreError::database("find a sign-in"))?;
            let Some(row) = row else { continue };
            let columns = Columns::new(TABLE, &row);
            let id = columns.text("id")?;
            let receipt = columns
                .optional_bytes("receipt_sealed")?
                .map(|sealed| self.0.keys.open(place(&id), &sealed))
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

    /// Stores Keystone's receipt while a further factor is required.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn set_receipt(
        self,
        id: Uuid,
        user_name: &str,
        domain: &str,
        receipt: &SecretString,
    ) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            let kept = redis.set_receipt(&self.0.keys, id, user_name, domain, receipt);
            return kept.await;
        }
        let row = id.to_string();
        let sealed = self.0.keys.seal(place(&row), receipt.expose_secret())?;
        sqlx::query(
            "UPDATE sign_in_flows
             SET user_name = $1, domain = $2, receipt_sealed = $3, attempts = 0
             WHERE id = $4",
        )
        .bind(user_name)
        .bind(domain)
        .bind(sealed)
        .bind(row.as_str())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("store a receipt"))?;
        Ok(())
    }

    /// Counts a tried code; returns the number of tried codes, or `None` if the flow does not exist
    /// any more.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn count_attempt(self, id: Uuid) -> Result<Option<i64>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.count_attempt(id).await;
        }
        sqlx::query_scalar(
            "UPDATE sign_in_flows
             SET attempts = attempts + 1
             WHERE id = $1
             RETURNING attempts",
        )
        .bind(id.to_string())
        .fetch_optional(&self.0.pool)
        .await
        .map_err(StoreError::database("count an attempt"))
    }

    /// Ends a flow; returns whether it existed, so that only one request can finish it.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn finish(self, id: Uuid) -> Result<bool, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.finish_flow(id).await;
        }
        let gone = sqlx::query(
            "DELETE FROM sign_in_flows
             WHERE id = $1",
        )
        .bind(id.to_string())
        .execute(&self.0.pool)
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
