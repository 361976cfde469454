//! The request for a deletion.
use super::{
    inventory::{OPTIONS_REFUSAL, checks, elsewhere, look},
    items::fates,
};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{
        Services,
        enrolment::remove_record,
        error::ServiceError,
        lifecycle::{error, viewer::Viewer},
    },
};
use jiff::Timestamp;
use portico_cluster_operations::Clients;
use portico_domain::panel::lifecycle::{DeletionOptions, DeletionOutcome, DeletionRecord};
use portico_lifecycle::{preflight::Level, rights::Call};
use portico_openstack::rest::{Effect, Error};
use uuid::Uuid;

/// Deletes a cluster if `typed` is its name and no check blocks it. If Magnum no longer has the cluster,
/// the record of its enrolment is removed.
///
/// # Errors
/// Those of [`crate::service::lifecycle::list()`], if nothing was sent. Refusals are in the answer.
pub async fn delete(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    typed: &str,
    options: DeletionOptions,
) -> Result<DeletionOutcome, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let outcome = send(&access.clients, &viewer, cluster, typed, options).await?;
    if outcome == DeletionOutcome::AlreadyGone {
        forget_record(services, clusters, caller, cluster).await;
    }
    Ok(outcome)
}

/// Removes the record of a cluster that Magnum no longer has, if the caller's project has enrolled it.
pub async fn forget_record(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> bool {
    let is_own = clusters.get(cluster).is_some_and(|known| {
        let owner = &known.record().owner_project;
        known.is_enrolled() && caller.project().is_some_and(|project| project.id == *owner)
    });
    // it asks Magnum once more, and writes the audit line
    is_own
        && remove_record(services, clusters, caller, cluster)
            .await
            .is_ok()
}

/// Deletes a cluster with the clients of a cloud.
///
/// # Errors
/// As [`delete`].
pub async fn send(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    typed: &str,
    options: DeletionOptions,
) -> Result<DeletionOutcome, ServiceError> {
    let found = match clients.magnum.cluster(&viewer.token, cluster).await {
        Ok(found) if found.project_id == viewer.project_id() => found,
        // to an administrator, clusters of other projects exist
        Ok(_) => return Err(elsewhere()),
        Err(error) if error.is_not_found() => return Ok(DeletionOutcome::AlreadyGone),
        Err(error) => return Err(error::of_service(&error)),
    };
    if let Some(refusal) = viewer.refusal(Call::DeleteCluster, None) {
        return Ok(refused(refusal, None));
    }
    if options.services_first || options.claims_first {
        let next_step = "Delete the cluster without these options.";
        return Ok(refused(OPTIONS_REFUSAL.to_owned(), Some(next_step)));
    }
    let doomed = look(clients, viewer, &found, options).await;
    let checks = checks(&doomed.cluster, typed);
    let mut blocking = checks.0.iter().filter(|one| one.level == Level::Blocks);
    if let Some(check) = blocking.next() {
        let next_step = "Nothing was sent. Correct it and try again.";
        return Ok(refused(check.text.clone(), Some(next_step)));
    }
    let status = &doomed.cluster.status;
    let is_running = status.is_deletion() && status.is_in_progress();
    if !is_running {
        match clients.magnum.delete_cluster(&viewer.token, cluster).await {
            Ok(()) => {}
            Err(error) if error.is_not_found() => return Ok(DeletionOutcome::AlreadyGone),
            Err(error) => return Ok(failed(&error)),
        }
    }
    Ok(DeletionOutcome::Accepted(Box::new(DeletionRecord {
        cluster,
        name: doomed.cluster.name.clone(),
        driver_id: doomed.cluster.driver_id.clone(),
        items: fates(&doomed.inventory),
        accepted_at: Timestamp::now().as_second(),
    })))
}

fn refused(reason: String, next_step: Option<&str>) -> DeletionOutcome {
    DeletionOutcome::Refused {
        reason,
        next_step: next_step.map(str::to_owned),
        request_id: None,
    }
}

/// Returns the outcome of a request that Magnum did not accept.
fn failed(error: &Error) -> DeletionOutcome {
    if error.effect == Effect::Unknown {
        return DeletionOutcome::Unknown {
            reason: format!(
                "The response to the deletion was lost. {}",
                error::message(error)
            ),
            next_step:
                "Reload the page. If the cluster is still there, delete it again: that does no \
                        harm."
                    .to_owned(),
        };
    }
    DeletionOutcome::Refused {
        reason: error::message(error),
        next_step: Some(error::next_step(error)),
        request_id: error.request_id.clone(),
    }
}
