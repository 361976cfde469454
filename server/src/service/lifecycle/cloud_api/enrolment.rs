//! The enrolment of a cluster, for `portico cluster import`: the same as with the button of its page.
use super::{
    check::CloudRequest,
    pass_on::{CloudRefusal, of_panel},
    protection::refusal,
    rights,
};
use crate::{
    caller::Caller,
    service::{
        Services, enrolment,
        lifecycle::{
            enrol,
            enrolment_state::{self, Examined},
            journal::{Change, RequestOutcome, record},
            origin,
            viewer::Viewer,
        },
    },
};
use portico_cluster_operations::Clients;
use portico_domain::panel::lifecycle::{EnrolmentOutcome, EnrolmentState, RemovedRecord};
use uuid::Uuid;

const ENROL: &str = "enrol";

/// Returns whether a cluster of the caller's project can be used through Portico, as the page of the cluster shows it;
/// nothing is changed.
///
/// # Errors
/// Those of [`rights::own_cluster`]; that the caller has no token for the project.
pub async fn cloud_enrolment(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<EnrolmentState, CloudRefusal> {
    let access = services.magnum().map_err(of_panel)?;
    let viewer = access.viewer(caller).await.map_err(of_panel)?;
    let found = rights::own_cluster(&access.clients, &viewer, cluster).await?;
    let creations = origin::creations(access, viewer.project_id()).await;
    let examined = Examined {
        cluster: &found,
        origin: origin::of(&found, creations.as_ref(), services.clock.now()),
        deadline: None,
    };
    let clusters = services.clusters.snapshot();
    Ok(enrolment_state::of(services, &clusters, caller, &viewer, examined).await)
}

/// Enrols a cluster of the caller's project, with an entry in its journal; the audit line is written there. Of
/// what is refused to a user who may not change the cluster, only the audit log has a line.
///
/// # Errors
/// As [`enrol`]. Refusals, and that it is too early, are in the answer.
pub async fn cloud_enrol(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    request: &CloudRequest,
) -> Result<EnrolmentOutcome, CloudRefusal> {
    let clusters = services.clusters.snapshot();
    let answer = enrol(services, &clusters, caller, cluster).await;
    if let Some((outcome, text)) = answer.as_ref().ok().and_then(outcome)
        && (outcome == RequestOutcome::Accepted
            || records_refused_enrolment(services, caller, cluster).await)
    {
        let change = Change {
            cluster,
            action: ENROL,
            target: "",
            reason: request.reason.as_deref(),
        };
        record(services, caller, change, outcome, text).await;
    }
    answer.map_err(refusal)
}

/// Returns whether the journal has an enrolment that was refused: not that of a cluster which the project does
/// not have, or which the user may not change.
pub async fn records_refused_enrolment(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> bool {
    let Ok(access) = services.magnum() else {
        return false;
    };
    match access.viewer(caller).await {
        Ok(viewer) => has_journal(&access.clients, &viewer, cluster).await,
        Err(_) => false,
    }
}

/// Returns whether a cluster is one of the project that the user may change: with any other ID, a user must
/// not begin journals, and a reader must not fill one.
async fn has_journal(clients: &Clients, viewer: &Viewer, cluster: Uuid) -> bool {
    match rights::own_cluster(clients, viewer, cluster).await {
        Ok(found) => rights::ensure_permitted(viewer, ENROL, &found).is_ok(),
        Err(_) => false,
    }
}

/// Removes the record of an enrolled cluster of the caller's project that Magnum no longer has; the audit
/// line is written there.
///
/// # Errors
/// If Magnum still has the cluster, the record belongs to another project or an operator, or the store does
/// not answer.
pub async fn remove_cloud_record(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<RemovedRecord, CloudRefusal> {
    let removed = enrolment::remove_record(services, caller, cluster).await;
    let existed = removed.map_err(refusal)?;
    Ok(RemovedRecord { existed })
}

/// Returns what the journal has of an enrolment; `None` if it is too early, as the command tries again.
fn outcome(outcome: &EnrolmentOutcome) -> Option<(RequestOutcome, Option<String>)> {
    match outcome {
        EnrolmentOutcome::Enrolled { .. } => Some((RequestOutcome::Accepted, None)),
        EnrolmentOutcome::WaitingForConfiguration(_) => Some((
            RequestOutcome::Accepted,
            Some("The API server has to be configured.".to_owned()),
        )),
        EnrolmentOutcome::Refused { reason, .. } => {
            Some((RequestOutcome::Refused, Some(reason.clone())))
        }
        EnrolmentOutcome::Later { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::lifecycle::changing_magnum::{CLUSTER, ChangingMagnum, cluster};
    use serde_json::json;

    #[tokio::test]
    async fn attack_a_refused_enrolment_neither_begins_nor_fills_a_foreign_journal() {
        let other = Uuid::from_u128(1);
        for (project, user, roles, id, expected) in [
            ("acme", "ada", &["member", "reader"][..], CLUSTER, true),
            ("acme", "ada", &["member", "reader"][..], other, false),
            ("acme", "vera", &["reader"][..], CLUSTER, false),
            ("globex", "root", &["admin"][..], CLUSTER, false),
        ] {
            let mut shop = cluster("shop", "CREATE_COMPLETE");
            shop["project_id"] = json!(project);
            let magnum = ChangingMagnum::with(vec![shop]).await;
            let viewer = magnum.viewer(user, roles);
            let found = has_journal(&magnum.clients, &viewer, id).await;
            assert_eq!(found, expected, "{user} {project} {id}");
        }
    }

    #[test]
    fn an_enrolment_that_is_tried_again_is_not_in_the_journal() {
        let later = EnrolmentOutcome::Later {
            reason: "The API server does not answer yet.".to_owned(),
            seconds: 10,
        };
        assert_eq!(outcome(&later), None);
        let refused = EnrolmentOutcome::Refused {
            reason: "No.".to_owned(),
            next_step: None,
        };
        let expected = (RequestOutcome::Refused, Some("No.".to_owned()));
        assert_eq!(outcome(&refused), Some(expected));
        let cluster = Uuid::nil();
        let enrolled = outcome(&EnrolmentOutcome::Enrolled { cluster });
        assert_eq!(enrolled, Some((RequestOutcome::Accepted, None)));
    }
}
