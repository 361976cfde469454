//! The running operation of a cluster, read by one poller for all of its viewers.
use super::not_available;
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{Services, error::ServiceError},
};
use portico_domain::panel::lifecycle::ProgressUpdate;
use uuid::Uuid;

/// Returns a cluster and its running operation, if that differs from the version that the page has.
/// Viewers that ask within the poll interval share one request to Magnum, made with the token of one of
/// them; a viewer of another project or without `cluster:get` gets nothing of it.
///
/// # Errors
/// `NotFound` if the project has no such cluster and none was deleted lately; else those of
/// [`super::list()`]. While Magnum does not answer, the last state is returned, marked as outdated.
pub async fn progress(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    version: Option<&str>,
) -> Result<ProgressUpdate, ServiceError> {
    // not written yet
    let _ = (services, clusters, caller, cluster, version);
    Err(not_available())
}
