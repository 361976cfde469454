//! Clusters that users enrolled; on a SQL database only.
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::Timestamp;
use portico_domain::enrolled_cluster::EnrolledCluster;
use uuid::Uuid;

pub(crate) const TABLE: &str = "enrolled_clusters";

/// The records of enrolled clusters; see [`crate::Store::enrolled_clusters`]. Every change increases
/// one sequence, in its own transaction: a reader that remembers the sequence of its last read
/// finds out with one number whether to read again. The sequence is also that of the signed
/// cluster list, so it never decreases.
///
/// On Redis every method fails with [`StoreError::NeedsSql`].
#[async_trait]
pub trait EnrolledClusters: Send + Sync {
    /// Returns the current sequence.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn sequence(&self) -> Result<u64, StoreError>;

    /// Returns all records and their sequence, from the same moment.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn all(&self) -> Result<AllEnrolledClusters, StoreError>;

    /// Returns the record of one cluster.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn get(&self, cluster: Uuid) -> Result<Option<EnrolledCluster>, StoreError>;

    /// Stores a record in the place of the one with the same ID, if there is one; returns whether
    /// something has changed. The same record again changes nothing, and no sequence.
    ///
    /// # Errors
    /// [`StoreError::Cluster`] for a record beyond its limits and
    /// [`StoreError::TooManyClusters`] for one cluster too many: a list that kube-auth would refuse
    /// is never stored. Otherwise if the store cannot be reached or its answer cannot be read.
    async fn put(&self, cluster: &EnrolledCluster, now: Timestamp) -> Result<bool, StoreError>;

    /// Stores the record of an enrolment, and returns it as it was stored: with the projects and roles
    /// that an earlier record of the same owner accepts (see [`EnrolledCluster::keep_accepted`]).
    /// That record is read in the transaction that replaces it, so that no change between the two is
    /// lost.
    ///
    /// # Errors
    /// Those of [`EnrolledClusters::put`].
    async fn enrol(
        &self,
        cluster: &EnrolledCluster,
        now: Timestamp,
    ) -> Result<EnrolledCluster, StoreError>;

    /// Removes a record; returns whether there was one.
    ///
    /// # Errors
    /// If the store cannot be reached.
    async fn remove(&self, cluster: Uuid) -> Result<bool, StoreError>;
}

/// The result of a read of all records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllEnrolledClusters {
    pub sequence: u64,
    /// In the order of their IDs.
    pub clusters: Vec<EnrolledCluster>,
}
