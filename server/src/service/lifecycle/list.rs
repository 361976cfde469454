//! The clusters of the project.
use super::not_available;
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{Services, error::ServiceError},
};
use portico_domain::panel::lifecycle::ManagedClusters;

/// Returns the clusters of the caller's project, with what the caller may do.
///
/// # Errors
/// `NotPermitted` without a token or if Magnum refuses; `Unavailable` if the cloud has no Magnum, or it
/// does not answer.
pub async fn list(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
) -> Result<ManagedClusters, ServiceError> {
    // not written yet
    let _ = (services, clusters, caller);
    Err(not_available())
}
