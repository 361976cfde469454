//! Removal of the record of an enrolled cluster that no longer exists.
use super::{EnrolError, Enrolment};
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    service::{Services, error::ServiceError},
};
use portico_store::Store;
use uuid::Uuid;

impl Enrolment {
    async fn remove(&self, caller: &Caller, id: Uuid) -> Result<bool, EnrolError> {
        let project = caller.project().ok_or(EnrolError::NoToken)?;
        ensure_owner(&self.store, id, &project.id).await?;
        let token = self.token(caller).await?;
        match self.magnum.cluster(&token, id).await {
            Ok(_) => return Err(EnrolError::Exists),
            // the token is one of the cluster's own project, which sees all of its clusters
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(EnrolError::Magnum(Box::new(error))),
        }
        Ok(self.store.enrolled_clusters().remove(id).await?)
    }
}

/// Checks that the cluster has a stored record of this project, from an enrolment. The snapshot does not
/// decide it: it lacks the clusters that cannot be served at the moment, and may be some seconds old.
/// Magnum never has an imported cluster, which does not mean that the cluster is gone.
async fn ensure_owner(store: &Store, id: Uuid, project: &str) -> Result<(), EnrolError> {
    let stored = store.enrolled_clusters().get(id).await?;
    match stored {
        Some(record) if record.owner_project != project => Err(EnrolError::NotEnrolled),
        Some(record) if record.is_imported() => Err(EnrolError::Imported),
        Some(_) => Ok(()),
        None => Err(EnrolError::NotEnrolled),
    }
}

/// Removes the record of an enrolled cluster of the caller's project after Magnum has deleted the
/// cluster; returns whether there was one. From then on kube-auth refuses its API server.
///
/// # Errors
/// A sentence with a next step: also while Magnum still has the cluster, so that no member of a
/// project can take a cluster away from the others.
pub async fn remove_record(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<bool, ServiceError> {
    let found = match &services.enrolment {
        Some(enrolment) => enrolment.remove(caller, cluster).await,
        None => Err(EnrolError::NotOffered),
    };
    let outcome = match &found {
        Ok(_) => Outcome::Done,
        Err(error) if error.is_refusal() => Outcome::Refused,
        Err(_) => Outcome::Failed,
    };
    audit::record(caller, "remove_record", cluster, "", outcome);
    found.map_err(ServiceError::from)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOW, record};
    use super::*;
    use portico_domain::enrolled_cluster::{ClusterSource, EnrolledCluster};
    use portico_store::KeyRing;

    #[tokio::test]
    async fn the_stored_record_decides_whose_cluster_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let keys = KeyRing::random().unwrap();
        let store = Store::connect(&url, 2, keys).await.unwrap();
        store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        let record = record();
        let missing = ensure_owner(&store, record.id, "p1").await;
        assert!(matches!(missing, Err(EnrolError::NotEnrolled)));
        let all = store.enrolled_clusters();
        all.put(&record, NOW).await.unwrap();
        assert!(ensure_owner(&store, record.id, "p1").await.is_ok());
        let other = ensure_owner(&store, record.id, "p2").await;
        assert!(matches!(other, Err(EnrolError::NotEnrolled)));
        let imported = EnrolledCluster {
            source: ClusterSource::Operator,
            ..record
        };
        all.put(&imported, NOW).await.unwrap();
        let own = ensure_owner(&store, imported.id, "p1").await;
        assert!(matches!(own, Err(EnrolError::Imported)));
        let other = ensure_owner(&store, imported.id, "p2").await;
        assert!(matches!(other, Err(EnrolError::NotEnrolled)));
    }
}
