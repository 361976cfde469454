//! Forms that wait until their user has signed in again.
use super::RedisStore;
use super::entry::{Entry, Fields, Found};
use super::scripts::SIGN_IN;
use crate::error::StoreError;
use crate::random::random_secret;
use crate::saved_forms::{
    FORM_TTL, MAX_FORMS_PER_USER, NewSavedForm, PURPOSE, SavedForm, SavedForms, TABLE,
};
use crate::sealing::Place;
use async_trait::async_trait;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

#[async_trait]
impl SavedForms for RedisStore {
    async fn save(&self, new: &NewSavedForm, now: Timestamp) -> Result<SecretString, StoreError> {
        let secret = random_secret()?;
        let expires_at = now + FORM_TTL;
        let keys = &self.shared.keys;
        let id = Uuid::new_v4().to_string();
        let hash = keys.hash(PURPOSE, secret.expose_secret());
        let bound = bound(&id, &new.user_id, &new.target);
        let sealed = keys.seal(body_place(&bound), new.body.expose_secret())?;
        let fields = Fields::default()
            .with("id", &id)
            .with("secret_hash", &hash)
            .with("user_id", &new.user_id)
            .with("target", &new.target)
            .sealed("body_sealed", &sealed)
            .time("created_at", now)
            .time("expires_at", expires_at);
        let mut call = self.redis.call(&SIGN_IN, "save_form");
        call.arg(&id)
            .arg(&hash)
            .arg(&new.user_id)
            .arg(now.as_second())
            .arg(expires_at.as_second())
            .arg(MAX_FORMS_PER_USER);
        fields.append_to(&mut call);
        let _done: i64 = self.redis.script("save a form", &call).await?;
        Ok(secret)
    }

    async fn find(
        &self,
        secret: &str,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Option<SavedForm>, StoreError> {
        let keys = &self.shared.keys;
        for hash in keys.hashes(PURPOSE, secret) {
            let mut call = self.redis.call(&SIGN_IN, "of_secret");
            call.arg("form").arg(&hash);
            let found: Found = self.redis.script("find a saved form", &call).await?;
            let Some(entry) = Entry::of(TABLE, found) else {
                continue;
            };
            let expires_at = entry.time("expires_at")?;
            if entry.text("user_id")? != user_id || now >= expires_at {
                continue;
            }
            let target = entry.owned("target")?;
            let bound = bound(entry.text("id")?, user_id, &target);
            return Ok(Some(SavedForm {
                id: entry.uuid("id")?,
                user_id: user_id.to_owned(),
                body: keys.open(body_place(&bound), &entry.sealed("body_sealed")?)?,
                target,
                expires_at,
            }));
        }
        Ok(None)
    }

    async fn forget(&self, id: Uuid) -> Result<bool, StoreError> {
        let mut call = self.redis.call(&SIGN_IN, "forget_form");
        call.arg(id.to_string());
        self.redis.script("forget a saved form", &call).await
    }
}

fn bound(id: &str, user_id: &str, target: &str) -> String {
    format!("{id}|{user_id}|{target}")
}

fn body_place(bound: &str) -> Place<'_> {
    Place {
        table: TABLE,
        row: bound,
        column: "body_sealed",
    }
}
