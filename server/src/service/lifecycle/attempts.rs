//! What is stored about creations that the panel has sent.
use crate::service::error::ServiceError;
use async_trait::async_trait;
use portico_domain::panel::lifecycle::{PlannedStep, UnfinishedCreation};
use portico_lifecycle::model::{Cluster, NodeGroup};
use portico_store::Store;
use uuid::Uuid;

/// The stored creations, for the pages that show what became of them.
#[async_trait]
pub trait Attempts: Send + Sync {
    /// Returns the creations of a user in a project of which it is not known whether Magnum has made the
    /// cluster, the latest first.
    ///
    /// # Errors
    /// If they cannot be read.
    async fn unfinished(
        &self,
        project_id: &str,
        user_id: &str,
    ) -> Result<Vec<UnfinishedCreation>, ServiceError>;

    /// Returns the steps of the plan of a creation that were not sent yet; none for a cluster that
    /// was not created here. The first is ready when the cluster is settled.
    ///
    /// # Errors
    /// If they cannot be read.
    async fn remaining(
        &self,
        project_id: &str,
        cluster: &Cluster,
        groups: &[NodeGroup],
    ) -> Result<Vec<PlannedStep>, ServiceError>;

    /// Returns the latest attempts of all users of a project, each as its ID and the cluster that it
    /// made. Without a database there are none.
    ///
    /// # Errors
    /// If they cannot be read.
    async fn of_project(&self, _: &str) -> Result<Vec<(Uuid, Option<Uuid>)>, ServiceError> {
        Ok(Vec::new())
    }

    /// Returns the database of the creations; `None`: none can be stored, so that none is sent.
    fn store(&self) -> Option<Store> {
        None
    }
}

/// No creations are stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAttempts;

#[async_trait]
impl Attempts for NoAttempts {
    async fn unfinished(&self, _: &str, _: &str) -> Result<Vec<UnfinishedCreation>, ServiceError> {
        Ok(Vec::new())
    }

    async fn remaining(
        &self,
        _: &str,
        _: &Cluster,
        _: &[NodeGroup],
    ) -> Result<Vec<PlannedStep>, ServiceError> {
        Ok(Vec::new())
    }
}
