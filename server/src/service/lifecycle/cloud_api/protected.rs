//! Deletions of clusters that are protected in Portico.
use super::{
    check::{Changing, Subject},
    pass_on::{CloudRefusal, of_panel},
};
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    service::{
        Services,
        error::ServiceError,
        lifecycle::{
            access::MagnumAccess,
            journal::{Change, RequestOutcome, record},
            protection,
            viewer::Viewer,
        },
    },
};
use axum::http::StatusCode;
use uuid::Uuid;

/// Returns the cluster that a change deletes.
pub(super) fn deleted(change: &Changing) -> Option<Uuid> {
    match change.subject {
        Subject::Cluster(cluster) if change.action == "delete_cluster" => Some(cluster),
        _ => None,
    }
}

/// Refuses the deletion of a protected cluster. The refusal is in the journal and in the audit log.
///
/// # Errors
/// 409 for a protected cluster; 503 if it is not known whether it is protected.
pub(super) async fn ensure_deletable(
    services: &Services,
    caller: &Caller,
    access: &MagnumAccess,
    viewer: &Viewer,
    deletion: Change<'_>,
) -> Result<(), CloudRefusal> {
    let cluster = deletion.cluster;
    let is_protected = protection::is_protected(access, viewer, cluster).await;
    let Some(refusal) = refusal(is_protected) else {
        return Ok(());
    };
    let (outcome, audited) = match refusal.status {
        StatusCode::CONFLICT => (RequestOutcome::Refused, Outcome::Refused),
        _ => (RequestOutcome::Failed, Outcome::Failed),
    };
    let text = Some(refusal.detail.clone());
    record(services, caller, deletion, outcome, text).await;
    audit::record(caller, deletion.action, cluster, deletion.target, audited);
    Err(refusal)
}

/// Returns the refusal for a protected cluster, or for one of which it is not known.
pub(super) fn refusal(is_protected: Result<bool, ServiceError>) -> Option<CloudRefusal> {
    match is_protected {
        Ok(false) => None,
        Ok(true) => Some(CloudRefusal::new(
            StatusCode::CONFLICT,
            "The cluster is protected from deletion in Portico, so the deletion was not sent. Remove the \
             protection on the cluster's page in the panel, then delete the cluster again.",
        )),
        Err(error) => {
            let refusal = of_panel(error);
            let detail = format!("The deletion was not sent. {}", refusal.detail);
            Some(CloudRefusal { detail, ..refusal })
        }
    }
}
