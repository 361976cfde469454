//! Forms that arrived after their session had expired: sealed, for one browser and one user.
use crate::error::StoreError;
use crate::random::random_secret;
use crate::row::Columns;
use crate::sealing::Place;
use crate::store::Store;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

const TABLE: &str = "kept_forms";
pub(crate) const PURPOSE: &str = "kept form";
/// How long the user may take to sign in again.
const FORM_TTL: SignedDuration = SignedDuration::from_mins(10);
/// Maximum number of forms per user; the oldest are deleted first.
const MAX_FORMS_PER_USER: i64 = 4;

/// The saved forms; see [`Store::saved_forms`].
#[derive(Clone, Copy)]
pub struct SavedForms<'s>(pub(crate) &'s Store);

/// A form that a browser sent.
#[derive(Clone, Debug)]
pub struct NewSavedForm {
    /// The user of the expired session.
    pub user_id: String,
    /// Path and query of the request; the caller that stores it has checked it.
    pub target: String,
    /// The body, as `application/x-www-form-urlencoded`.
    pub body: SecretString,
}

/// A form that waits until its user has signed in again.
#[derive(Clone, Debug)]
pub struct SavedForm {
    pub id: Uuid,
    pub user_id: String,
    pub target: String,
    pub body: SecretString,
    pub expires_at: Timestamp,
}

impl SavedForms<'_> {
    /// Stores a form for ten minutes; returns the secret for the browser's cookie.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn keep(
        self,
        new: &NewSavedForm,
        now: Timestamp,
    ) -> Result<SecretString, StoreError> {
        let secret = random_secret()?;
        if let Some(redis) = self.0.redis() {
            let times = (now, now + FORM_TTL);
            redis
                .keep_form(&self.0.keys, &secret, new, MAX_FORMS_PER_USER, times)
                .await?;
            return Ok(secret);
        }
        let id = Uuid::new_v4().to_string();
        let sealed = self.0.keys.seal(place(&id), new.body.expose_secret())?;
        sqlx::query(
            "INSERT INTO kept_forms (
                 secret_hash, id, user_id, target, body_sealed, created_at, expires_at
             )
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(self.0.keys.hash(PURPOSE, secret.expose_secret()))
        .bind(id.as_str())
        .bind(new.user_id.as_str())
        .bind(new.target.as_str())
        .bind(sealed)
        .bind(now.as_second())
        .bind((now + FORM_TTL).as_second())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("keep a form"))?;
        self.make_room(&new.user_id, &id).await?;
        Ok(secret)
    }

    /// Returns the form of a browser's cookie, if it belongs to this user. Other users do not learn
    /// that it exists.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn find(
        self,
        secret: &str,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Option<SavedForm>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.find_form(&self.0.keys, secret, user_id, now).await;
        }
        for hash in self.0.keys.hashes(PURPOSE, secret) {
            let row = sqlx::query(
                "SELECT id, user_id, target, body_sealed, expires_at
                 FROM kept_forms
                 WHERE secret_hash = $1 AND user_id = $2 AND expires_at > $3",
            )
            .bind(hash)
            .bind(user_id)
            .bind(now.as_second())
            .fetch_optional(&self.0.pool)
            .await
            .map_err(StoreError::database("find a kept form"))?;
            let Some(row) = row else { continue };
            let columns = Columns::new(TABLE, &row);
            let id = columns.text("id")?;
            return Ok(Some(SavedForm {
                id: columns.uuid("id")?,
                user_id: columns.text("user_id")?,
                target: columns.text("target")?,
                body: self
                    .0
                    .keys
                    .open(place(&id), &columns.bytes("body_sealed")?)?,
                expires_at: columns.time("expires_at")?,
            }));
        }
        Ok(None)
    }

    /// Deletes a form; returns whether it existed, so that it is sent at most once.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn forget(self, id: Uuid) -> Result<bool, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.forget_form(id).await;
        }
        let gone = sqlx::query(
            "DELETE FROM kept_forms
             WHERE id = $1",
        )
        .bind(id.to_string())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("forget a kept form"))?;
        Ok(gone.rows_affected() > 0)
    }

    async fn make_room(self, user_id: &str, newest: &str) -> Result<(), StoreError> {
        sqlx::query(
            "DELETE FROM kept_forms
             WHERE user_id = $1 AND id <> $2 AND id NOT IN (
                 SELECT id
                 FROM kept_forms
                 WHERE user_id = $1
                 ORDER BY created_at DESC, id
                 LIMIT $3
             )",
        )
        .bind(user_id)
        .bind(newest)
        .bind(MAX_FORMS_PER_USER)
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("make room for a form"))?;
        Ok(())
    }
}

fn place(id: &str) -> Place<'_> {
    Place {
        table: TABLE,
        row: id,
        column: "body_sealed",
    }
}
