//! The application credentials of sessions that stay signed in: one per session and project; its
//! secret is sealed, and destroyed when the session ends.
use crate::error::StoreError;
use crate::sealing::Place;
use async_trait::async_trait;
use jiff::Timestamp;
use portico_domain::identity::Project;
use secrecy::SecretString;
use uuid::Uuid;

pub(crate) const TABLE: &str = "session_credentials";

/// The credentials; see [`crate::Store::session_credentials`].
#[async_trait]
pub trait SessionCredentials: Send + Sync {
    /// Stores a credential, extends its session's lifetime to that of the credential and limits the
    /// session to its project. Returns false if the session has ended meanwhile: the credential
    /// then remains, without its secret, to be deleted at Keystone.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read: the credential must be deleted
    /// and not used.
    async fn store(&self, new: &NewSessionCredential, now: Timestamp) -> Result<bool, StoreError>;

    /// Returns the credential of a live session.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn of_session(
        &self,
        root: Uuid,
        now: Timestamp,
    ) -> Result<Option<SessionCredential>, StoreError>;

    /// Returns the credentials of an ended session that still exist in Keystone.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn left_of_session(&self, root: Uuid) -> Result<Vec<SessionCredential>, StoreError>;

    /// Returns the credentials of all ended sessions of a user that still exist in Keystone.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn left_of_user(&self, user_id: &str) -> Result<Vec<SessionCredential>, StoreError>;

    /// Returns the credentials of live sessions that have no token left that is valid beyond
    /// `before`, and for which no replica is fetching one.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn due(
        &self,
        before: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<SessionCredential>, StoreError>;

    /// Claims the right to fetch a token until `until`; returns false if another replica has
    /// claimed it.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn claim(&self, id: Uuid, until: Timestamp, now: Timestamp) -> Result<bool, StoreError>;

    /// Releases the claim, and records how the session's tokens are obtained from now on.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn fetched(
        &self,
        credential: &SessionCredential,
        methods: &[String],
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Deletes a credential that no longer exists in Keystone.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn forget(&self, id: Uuid) -> Result<(), StoreError>;
}

/// A credential that Keystone has just made.
#[derive(Clone, Debug)]
pub struct NewSessionCredential {
    /// The root of the session.
    pub session: Uuid,
    pub user_id: String,
    /// The only project that the session can be used for from now on.
    pub project: Project,
    /// Keystone's ID.
    pub credential_id: String,
    pub name: String,
    pub secret: SecretString,
    pub expires_at: Timestamp,
}

/// A credential of a session, live or ended.
#[derive(Clone, Debug)]
pub struct SessionCredential {
    pub id: Uuid,
    pub session: Uuid,
    pub user_id: String,
    pub project_id: String,
    pub project_name: String,
    pub credential_id: String,
    pub name: String,
    /// `None` once the session has ended.
    pub secret: Option<SecretString>,
    pub expires_at: Timestamp,
}

pub(crate) fn place(id: &str) -> Place<'_> {
    Place {
        table: TABLE,
        row: id,
        column: "secret_sealed",
    }
}
