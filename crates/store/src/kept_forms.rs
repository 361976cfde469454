//! Forms whose session had expired when they arrived: sealed, for one browser and one user.
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
/// How long somebody may take to sign in again.
const LIFETIME: SignedDuration = SignedDuration::from_mins(10);
/// A user's older forms make room for newer ones.
const MOST_OF_A_USER: i64 = 4;

/// The kept forms; see [`Store::kept_forms`].
#[derive(Clone, Copy)]
pub struct KeptForms<'s>(pub(crate) &'s Store);

/// What a browser sent.
#[derive(Clone, Debug)]
pub struct NewKeptForm {
    /// Whose session it was.
    pub user_id: String,
    /// Path and query that it was sent to; checked by whoever keeps it.
    pub target: String,
    /// The body, as `application/x-www-form-urlencoded`.
    pub body: SecretString,
}

/// A form that waits for its user.
#[derive(Clone, Debug)]
pub struct KeptForm {
    pub id: Uuid,
    pub user_id: String,
    pub target: String,
    pub body: SecretString,
    pub expires_at: Timestamp,
}

impl KeptForms<'_> {
    /// Keeps a form for ten minutes; answers with the secret for the browser's cookie.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn keep(self, new: &NewKeptForm, now: Timestamp) -> Result<SecretString, StoreError> {
        let secret = random_secret()?;
        if let Some(redis) = self.0.redis() {
            let times = (now, now + LIFETIME);
            redis
                .keep_form(&self.0.keys, &secret, new, MOST_OF_A_USER, times)
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
        .bind((now + LIFETIME).as_second())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("keep a form"))?;
        self.make_room(&new.user_id, &id).await?;
        Ok(secret)
    }

    /// The form of a browser's cookie, if it is this user's. Nobody else learns that it exists.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn find(
        self,
        secret: &str,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Option<KeptForm>, StoreError> {
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
            return Ok(Some(KeptForm {
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

    /// Forgets a form; says whether it was there, so that it is sent once at most.
    ///
    /// # Errors
    /// When the store cannot say.
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
        .bind(MOST_OF_A_USER)
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
