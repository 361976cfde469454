//! Forms that wait until their user has signed in again.
use super::SqlStore;
use crate::error::StoreError;
use crate::random::random_secret;
use crate::row::Columns;
use crate::saved_forms::{
    FORM_TTL, MAX_FORMS_PER_USER, NewSavedForm, PURPOSE, SavedForm, SavedForms, TABLE,
};
use crate::sealing::Place;
use async_trait::async_trait;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

#[async_trait]
impl SavedForms for SqlStore {
    async fn save(&self, new: &NewSavedForm, now: Timestamp) -> Result<SecretString, StoreError> {
        let secret = random_secret()?;
        let id = Uuid::new_v4().to_string();
        let sealed = self
            .shared
            .keys
            .seal(place(&id), new.body.expose_secret())?;
        sqlx::query(
            "INSERT INTO saved_forms (
                 secret_hash, id, user_id, target, body_sealed, created_at, expires_at
             )
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(self.shared.keys.hash(PURPOSE, secret.expose_secret()))
        .bind(id.as_str())
        .bind(new.user_id.as_str())
        .bind(new.target.as_str())
        .bind(sealed)
        .bind(now.as_second())
        .bind((now + FORM_TTL).as_second())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("save a form"))?;
        self.make_room(&new.user_id, &id).await?;
        Ok(secret)
    }

    async fn find(
        &self,
        secret: &str,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Option<SavedForm>, StoreError> {
        for hash in self.shared.keys.hashes(PURPOSE, secret) {
            let row = sqlx::query(
                "SELECT id, user_id, target, body_sealed, expires_at
                 FROM saved_forms
                 WHERE secret_hash = $1 AND user_id = $2 AND expires_at > $3",
            )
            .bind(hash)
            .bind(user_id)
            .bind(now.as_second())
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("find a saved form"))?;
            let Some(row) = row else { continue };
            let columns = Columns::new(TABLE, &row);
            let id = columns.text("id")?;
            return Ok(Some(SavedForm {
                id: columns.uuid("id")?,
                user_id: columns.text("user_id")?,
                target: columns.text("target")?,
                body: self
                    .shared
                    .keys
                    .open(place(&id), &columns.bytes("body_sealed")?)?,
                expires_at: columns.time("expires_at")?,
            }));
        }
        Ok(None)
    }

    async fn forget(&self, id: Uuid) -> Result<bool, StoreError> {
        let gone = sqlx::query(
            "DELETE FROM saved_forms
             WHERE id = $1",
        )
        .bind(id.to_string())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("forget a saved form"))?;
        Ok(gone.rows_affected() > 0)
    }
}

impl SqlStore {
    async fn make_room(&self, user_id: &str, newest: &str) -> Result<(), StoreError> {
        sqlx::query(
            "DELETE FROM saved_forms
             WHERE user_id = $1 AND id <> $2 AND id NOT IN (
                 SELECT id
                 FROM saved_forms
                 WHERE user_id = $1
                 ORDER BY created_at DESC, id
                 LIMIT $3
             )",
        )
        .bind(user_id)
        .bind(newest)
        .bind(MAX_FORMS_PER_USER)
        .execute(&self.pool)
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
