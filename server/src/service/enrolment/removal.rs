//! Removal of the record of an enrolled cluster that no longer exists.
use super::{EnrolError, Enrolment};
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    kube::ClusterSnapshot,
    service::{Services, error::ServiceError},
};
use uuid::Uuid;

impl Enrolment {
    async fn remove(
        &self,
        clusters: &ClusterSnapshot,
        caller: &Caller,
        id: Uuid,
    ) -> Result<bool, EnrolError> {
        let project = caller.project().ok_or(EnrolError::NoToken)?;
        let is_own = clusters.get(id).is_some_and(|cluster| {
            cluster.is_enrolled() && cluster.record().owner_project == project.id
        });
        if !is_own {
            return Err(EnrolError::NotEnrolled);
        }
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

/// Removes the record of an enrolled cluster of the caller's project after Magnum has deleted the
/// cluster; returns whether there was one. From then on kube-auth refuses its API server.
///
/// # Errors
/// A sentence with a next step: also while Magnum still has the cluster, so that no member of a
/// project can take a cluster away from the others.
pub async fn remove_record(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Result<bool, ServiceError> {
    let found = match &services.enrolment {
        Some(enrolment) => enrolment.remove(clusters, caller, cluster).await,
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
