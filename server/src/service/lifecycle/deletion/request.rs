//! The request for a deletion.
use super::{
    contents::{self, ReclaimPolicies},
    inventory::{Doomed, checks, look},
    items::fates,
};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{
        Services,
        enrolment::remove_record,
        error::ServiceError,
        lifecycle::{error, progress::no_such_cluster, protection, viewer::Viewer},
    },
};
use jiff::Timestamp;
use portico_cluster_operations::Clients;
use portico_domain::panel::lifecycle::{DeletionOptions, DeletionOutcome, DeletionRecord};
use portico_lifecycle::{preflight::Level, rights::Call};
use portico_openstack::rest::{Effect, Error};
use uuid::Uuid;

const AGAIN: &str =
    "The cluster was not deleted. Wait for a minute and delete it again, or leave the options out.";

/// Deletes a cluster if `typed` is its name, it is not protected, and no check blocks it; before that, what
/// the options name in the cluster. If Magnum no longer has the cluster, the record of its enrolment is
/// removed.
///
/// # Errors
/// Those of [`crate::service::lifecycle::list()`], if nothing was sent, also if it is not known whether the
/// cluster is protected. Refusals are in the answer.
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
    let clients = &access.clients;
    let is_protected = protection::is_protected(access, &viewer, cluster).await?;
    let doomed = match permit(clients, &viewer, cluster, typed, is_protected).await? {
        Permit::Granted(doomed) => doomed,
        Permit::Answered(DeletionOutcome::AlreadyGone) => {
            forget_record(services, clusters, caller, cluster).await;
            protection::forget(access, &viewer, cluster).await;
            return Ok(DeletionOutcome::AlreadyGone);
        }
        Permit::Answered(outcome) => return Ok(outcome),
    };
    let has_options = options.services_first || options.claims_first;
    if has_options && !is_running(&doomed) {
        let emptied = match contents::open(services, clusters, caller, cluster).await {
            Ok(api) => contents::delete_first(&api, caller, &options).await,
            Err(refusal) => Err(refusal),
        };
        if let Err(reason) = emptied {
            return Ok(refused(reason, Some(AGAIN)));
        }
    }
    Ok(carry_out(clients, &viewer, cluster, &doomed, services.clock.now()).await)
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
        known.is_of_magnum() && caller.project().is_some_and(|project| project.id == *owner)
    });
    // it asks Magnum once more, and writes the audit line
    is_own && remove_record(services, caller, cluster).await.is_ok()
}

/// Whether a deletion may be sent.
pub enum Permit {
    Granted(Box<Doomed>),
    /// Nothing is to be sent.
    Answered(DeletionOutcome),
}

/// Checks a deletion, with the clients of a cloud.
///
/// # Errors
/// As [`delete`].
pub async fn permit(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    typed: &str,
    is_protected: bool,
) -> Result<Permit, ServiceError> {
    let found = match clients.magnum.cluster(&viewer.token, cluster).await {
        Ok(found) if viewer.is_of_project(&found) => found,
        // to an administrator, clusters of other projects exist
        Ok(_) => return Err(no_such_cluster()),
        Err(error) if error.is_not_found() => {
            return Ok(Permit::Answered(DeletionOutcome::AlreadyGone));
        }
        Err(error) => return Err(error::of_service(&error)),
    };
    if let Some(refusal) = viewer.refusal(Call::DeleteCluster, None) {
        return Ok(Permit::Answered(refused(refusal, None)));
    }
    let options = DeletionOptions::default();
    let doomed = look(clients, viewer, &found, &options, &ReclaimPolicies::new()).await;
    let checks = checks(&doomed.cluster, is_protected, typed, true);
    let mut blocking = checks.0.iter().filter(|one| one.level == Level::Blocks);
    if let Some(check) = blocking.next() {
        let next_step = "Nothing was sent. Correct it and try again.";
        let outcome = refused(check.text.clone(), Some(next_step));
        return Ok(Permit::Answered(outcome));
    }
    Ok(Permit::Granted(Box::new(doomed)))
}

fn is_running(doomed: &Doomed) -> bool {
    let status = &doomed.cluster.status;
    status.is_deletion() && status.is_in_progress()
}

/// Sends a deletion that is permitted, unless it is running already.
pub async fn carry_out(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    doomed: &Doomed,
    now: Timestamp,
) -> DeletionOutcome {
    if !is_running(doomed) {
        match clients.magnum.delete_cluster(&viewer.token, cluster).await {
            Ok(()) => {}
            Err(error) if error.is_not_found() => return DeletionOutcome::AlreadyGone,
            Err(error) => return failed(&error),
        }
    }
    DeletionOutcome::Accepted(Box::new(DeletionRecord {
        cluster,
        name: doomed.cluster.name.clone(),
        driver_id: doomed.cluster.driver_id.clone(),
        items: fates(&doomed.inventory),
        accepted_at: now.as_second(),
    }))
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
