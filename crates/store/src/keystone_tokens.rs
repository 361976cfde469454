//! The Keystone tokens of a session, sealed, and their revocation.
use crate::error::StoreError;
use crate::pending_revocations::{PendingRevocation, UnfinishedRevocations};
use async_trait::async_trait;
use jiff::Timestamp;
use portico_domain::identity::{Named, Project};
use secrecy::SecretString;
use uuid::Uuid;

pub(crate) const TABLE: &str = "keystone_tokens";

/// The Keystone tokens; see [`crate::Store::keystone_tokens`].
#[async_trait]
pub trait KeystoneTokens: Send + Sync {
    /// Stores a token before its first use. Two replicas may each store one for the same project;
    /// both remain until they are revoked.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read: the token must be revoked and
    /// not used.
    async fn store(&self, new: &NewKeystoneToken, now: Timestamp) -> Result<Stored, StoreError>;

    /// Returns the session's token for a project (`None`: the unscoped one) that expires last.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn find(
        &self,
        session: Uuid,
        project_id: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<KeystoneToken>, StoreError>;

    /// Returns the session's usable tokens, at least one per project.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn usable(&self, session: Uuid, now: Timestamp)
    -> Result<Vec<KeystoneToken>, StoreError>;

    /// Returns every token of the session that has not been revoked.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn list(&self, session: Uuid) -> Result<Vec<KeystoneToken>, StoreError>;

    /// Stores the roles that Keystone returns for the token now.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn set_roles(&self, id: Uuid, roles: &[Named]) -> Result<(), StoreError>;

    /// Deletes a token that is no longer valid: revoked, or unknown to Keystone.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn forget(&self, id: Uuid) -> Result<(), StoreError>;

    /// Makes a token due for revocation at `at`, because another one has replaced it.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn revoke_later(&self, id: Uuid, at: Timestamp) -> Result<(), StoreError>;

    /// Returns the tokens that are due for revocation now, oldest first.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn due_revocations(
        &self,
        limit: i64,
        now: Timestamp,
    ) -> Result<Vec<PendingRevocation>, StoreError>;

    /// Returns the tokens of the session and its children that wait for revocation, due or not.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn pending_revocations(
        &self,
        session: Uuid,
    ) -> Result<Vec<PendingRevocation>, StoreError>;

    /// Claims the revocation of a token until `until`; returns false if another replica has tried
    /// or is trying since the entry was read.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn claim_revocation(
        &self,
        pending: &PendingRevocation,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Postpones a failed revocation until `next`.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn revocation_failed(&self, id: Uuid, next: Timestamp) -> Result<(), StoreError>;

    /// Returns the number of tokens whose revocation is due or has failed: those that
    /// [`Self::unfinished_of_user`] counts, for all users.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn count_unfinished(&self, now: Timestamp) -> Result<i64, StoreError>;

    /// Returns the user's tokens whose revocation is due or has failed; `None` if there are none. A
    /// revocation that is only planned, because the token was replaced, does not count.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn unfinished_of_user(
        &self,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Option<UnfinishedRevocations>, StoreError>;
}

/// A token that Keystone has just issued.
#[derive(Clone, Debug)]
pub struct NewKeystoneToken {
    /// The root of the session: [`crate::Session::root`].
    pub session: Uuid,
    /// `None` for an unscoped token.
    pub project: Option<Project>,
    pub roles: Vec<Named>,
    pub token: SecretString,
    pub audit_id: String,
    pub expires_at: Timestamp,
}

/// A stored token of a session.
#[derive(Clone, Debug)]
pub struct KeystoneToken {
    pub id: Uuid,
    pub session: Uuid,
    pub project: Option<Project>,
    /// The roles that Keystone returned last.
    pub roles: Vec<Named>,
    pub token: SecretString,
    pub audit_id: String,
    pub expires_at: Timestamp,
}

/// The result of storing a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// The token may be used.
    Usable(Uuid),
    /// The session has ended meanwhile: do not use the token. It is due for revocation.
    SessionEnded(Uuid),
}
