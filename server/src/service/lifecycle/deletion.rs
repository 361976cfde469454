//! The deletion of a cluster: inventory, request, leftovers.
use super::not_available;
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{Services, error::ServiceError},
};
use portico_domain::panel::lifecycle::{
    DeletionInventory, DeletionOptions, DeletionOutcome, DeletionRecord, Leftovers,
};
use uuid::Uuid;

/// Returns what a deletion would remove, and what would stay.
///
/// # Errors
/// `NotFound` if the project has no such cluster; else those of [`super::list()`]. What could not be
/// looked at is in the answer.
pub async fn inventory(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    options: DeletionOptions,
) -> Result<DeletionInventory, ServiceError> {
    // not written yet
    let _ = (services, clusters, caller, cluster, options);
    Err(not_available())
}

/// Deletes a cluster if `typed` is its name and no check blocks it.
///
/// # Errors
/// Those of [`super::list()`], if nothing was sent. Refusals are in the answer.
pub async fn delete(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    typed: &str,
    options: DeletionOptions,
) -> Result<DeletionOutcome, ServiceError> {
    // not written yet
    let _ = (services, clusters, caller, cluster, typed, options);
    Err(not_available())
}

/// Returns what still exists of a cluster in the caller's project. `record` comes from the page: it
/// selects among what the caller's token may see, and permits nothing.
///
/// # Errors
/// Those of [`super::list()`]. What could not be looked at is in the answer.
pub async fn leftovers(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    record: Option<&DeletionRecord>,
) -> Result<Leftovers, ServiceError> {
    // not written yet
    let _ = (services, clusters, caller, cluster, record);
    Err(not_available())
}
