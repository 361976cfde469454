//! Namespaces in which a subject may have rights.
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

/// How long a candidate is stored after it was last added.
pub(crate) const RETENTION: SignedDuration = SignedDuration::from_hours(24 * 400);
/// Maximum number of candidates of one subject; the oldest ones are deleted.
pub(crate) const MAX_OF_SUBJECT: i64 = 100;
/// Maximum number of subjects in one query.
pub const MAX_SUBJECTS: usize = 64;

/// Candidates for the namespaces of users who may not list namespaces; see
/// [`crate::Store::namespace_candidates`]. They are not rights: the panel shows those that the API
/// server confirms with the user's own token.
#[async_trait]
pub trait NamespaceCandidates: Send + Sync {
    /// Adds a candidate for a subject, which is a group as role bindings name it. One that exists
    /// is stored for longer.
    ///
    /// # Errors
    /// If the store cannot be reached.
    async fn add(
        &self,
        subject: &str,
        candidate: &NamespaceCandidate,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Returns the candidates of the first [`MAX_SUBJECTS`] subjects, in the order of clusters and
    /// names.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn of(
        &self,
        subjects: &[String],
        now: Timestamp,
    ) -> Result<Vec<NamespaceCandidate>, StoreError>;
}

/// A namespace of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamespaceCandidate {
    pub cluster: Uuid,
    pub namespace: String,
}
