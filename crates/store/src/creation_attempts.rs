//! Requests for new clusters, so that each makes one cluster at most; on a SQL database only.
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

pub(crate) const TABLE: &str = "cluster_creation_attempts";
/// How long an attempt is stored after its last change.
pub(crate) const RETENTION: SignedDuration = SignedDuration::from_hours(24 * 7);

/// The attempts to create clusters; see [`crate::Store::creation_attempts`].
///
/// One run at a time works on an attempt: it acquires a lease, stores each state before and after it
/// sends, and releases the lease. If it dies, its lease expires, and the next run continues with the
/// stored state.
///
/// On Redis every method fails with [`StoreError::NeedsSql`].
#[async_trait]
pub trait CreationAttempts: Send + Sync {
    /// Stores an attempt, unless it is stored already, and acquires its lease unless another run
    /// holds it. Name and specification do not change once it was sent.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn begin(
        &self,
        new: &NewCreationAttempt,
        lease: AttemptLease,
        now: Timestamp,
    ) -> Result<BegunAttempt, StoreError>;

    /// Stores the state of an attempt and prolongs its lease; returns false, and changes nothing, if
    /// `lease` is no longer held: the caller must not send anything then. `sent_at` is when the
    /// request was last sent.
    ///
    /// # Errors
    /// If the store cannot be reached.
    async fn advance(
        &self,
        key: &AttemptKey,
        lease: AttemptLease,
        state: AttemptState,
        sent_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Prolongs a lease; returns false if it is no longer held.
    ///
    /// # Errors
    /// If the store cannot be reached.
    async fn prolong(
        &self,
        key: &AttemptKey,
        lease: AttemptLease,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Releases a lease.
    ///
    /// # Errors
    /// If the store cannot be reached; the lease then expires by itself.
    async fn release(&self, key: &AttemptKey, holder: Uuid) -> Result<(), StoreError>;

    /// Deletes an attempt that made nothing; returns false if `holder` no longer has its lease.
    ///
    /// # Errors
    /// If the store cannot be reached.
    async fn forget(&self, key: &AttemptKey, holder: Uuid) -> Result<bool, StoreError>;

    /// Deletes an attempt of which it is not known whether it made a cluster, if it was last sent at
    /// `sent_before` or earlier and no run holds its lease; returns whether there was one.
    ///
    /// # Errors
    /// If the store cannot be reached.
    async fn dismiss(
        &self,
        key: &AttemptKey,
        sent_before: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Returns a user's attempts in a project, the latest first.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn of_user(
        &self,
        project_id: &str,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Vec<CreationAttempt>, StoreError>;

    /// Returns the attempt of any user of the project that made a cluster.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn of_cluster(
        &self,
        project_id: &str,
        cluster: Uuid,
        now: Timestamp,
    ) -> Result<Option<CreationAttempt>, StoreError>;

    /// Returns the latest 5,000 attempts of all users of a project, each as its ID and the cluster
    /// that it made.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn of_project(
        &self,
        project_id: &str,
        now: Timestamp,
    ) -> Result<Vec<(Uuid, Option<Uuid>)>, StoreError>;

    /// Notes that nothing of the specification of a cluster remains to be sent; returns whether that
    /// is new.
    ///
    /// # Errors
    /// If the store cannot be reached.
    async fn complete(&self, project_id: &str, cluster: Uuid) -> Result<bool, StoreError>;
}

/// What identifies an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptKey {
    pub project_id: String,
    pub user_id: String,
    /// A random UUID that the page makes.
    pub attempt: Uuid,
}

/// An attempt to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCreationAttempt {
    pub key: AttemptKey,
    /// The name of the cluster.
    pub cluster_name: String,
    /// The specification of the cluster as JSON, without secrets.
    pub specification: String,
}

/// The lease of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptLease {
    /// Identifies the run.
    pub holder: Uuid,
    /// How long it lasts from now on.
    pub life: SignedDuration,
}

/// The result of [`CreationAttempts::begin`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BegunAttempt {
    /// The caller holds the lease exclusively until it ends.
    Yours(CreationAttempt),
    /// Another run holds the lease.
    Taken(CreationAttempt),
}

/// A stored attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreationAttempt {
    pub key: AttemptKey,
    pub cluster_name: String,
    pub specification: String,
    pub state: AttemptState,
    /// When the request was last sent.
    pub sent_at: Option<Timestamp>,
}

/// What is known about the request of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptState {
    /// Nothing was sent.
    NotSent,
    /// It was sent, and no answer is stored.
    Unknown,
    /// Magnum answered with this UUID.
    Accepted(Uuid),
    /// Magnum has the cluster. Further steps of the specification may remain.
    Created(Uuid),
    /// Magnum has the cluster, and no step remains.
    Complete(Uuid),
}

impl AttemptState {
    /// Returns the UUID of the cluster, if it is known.
    pub fn cluster(self) -> Option<Uuid> {
        match self {
            Self::NotSent | Self::Unknown => None,
            Self::Accepted(cluster) | Self::Created(cluster) | Self::Complete(cluster) => {
                Some(cluster)
            }
        }
    }

    /// Returns the word of the column `state`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::NotSent => "not_sent",
            Self::Unknown => "unknown",
            Self::Accepted(_) => "accepted",
            Self::Created(_) => "created",
            Self::Complete(_) => "complete",
        }
    }

    /// Reads both columns; `None` if they are not a state.
    pub(crate) fn read(word: &str, cluster: Option<Uuid>) -> Option<Self> {
        match (word, cluster) {
            ("not_sent", None) => Some(Self::NotSent),
            ("unknown", None) => Some(Self::Unknown),
            ("accepted", Some(cluster)) => Some(Self::Accepted(cluster)),
            ("created", Some(cluster)) => Some(Self::Created(cluster)),
            ("complete", Some(cluster)) => Some(Self::Complete(cluster)),
            _ => None,
        }
    }
}
