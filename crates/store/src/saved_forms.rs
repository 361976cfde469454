//! Forms that arrived after their session had expired: sealed, for one browser and one user.
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use uuid::Uuid;

pub(crate) const TABLE: &str = "saved_forms";
pub(crate) const PURPOSE: &str = "saved form";
/// How long the user may take to sign in again.
pub(crate) const FORM_TTL: SignedDuration = SignedDuration::from_mins(10);
/// Maximum number of forms per user; the oldest are deleted first.
pub(crate) const MAX_FORMS_PER_USER: i64 = 4;

/// The saved forms; see [`crate::Store::saved_forms`].
#[async_trait]
pub trait SavedForms: Send + Sync {
    /// Stores a form for ten minutes; returns the secret for the browser's cookie.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn save(&self, new: &NewSavedForm, now: Timestamp) -> Result<SecretString, StoreError>;

    /// Returns the form of a browser's cookie, if it belongs to this user. Other users do not learn
    /// that it exists.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn find(
        &self,
        secret: &str,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Option<SavedForm>, StoreError>;

    /// Deletes a form; returns whether it existed, so that it is sent at most once.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn forget(&self, id: Uuid) -> Result<bool, StoreError>;
}

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
