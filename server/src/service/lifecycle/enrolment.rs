//! The enrolment of a cluster from its page.
use super::not_available;
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{Services, error::ServiceError},
};
use portico_domain::panel::lifecycle::{ApiServerConfiguration, EnrolmentOutcome};
use uuid::Uuid;

/// Enrols a cluster with [`crate::service::enrolment::enrol`], which writes the audit line.
///
/// # Errors
/// Those of [`super::list()`]. Refusals, and that it is too early, are in the answer.
pub async fn enrol(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Result<EnrolmentOutcome, ServiceError> {
    // not written yet
    let _ = (services, clusters, caller, cluster);
    Err(not_available())
}

/// Returns what the API server of a cluster needs, line by line; no secret is in it.
///
/// # Errors
/// `NotFound` if the project has no such cluster; else those of [`super::list()`].
pub async fn configuration(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Result<ApiServerConfiguration, ServiceError> {
    // not written yet
    let _ = (services, clusters, caller, cluster);
    Err(not_available())
}
