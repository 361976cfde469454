//! Whether a cluster of Magnum can be used through Portico.
use super::{access::MagnumAccess, error, viewer::Viewer};
use crate::{
    caller::Caller,
    config::enrolment::RefusedAddress,
    kube::{ClusterSnapshot, KubeError, reviews},
    service::Services,
};
use portico_domain::panel::{FiguresView, ResourceRef, lifecycle::EnrolmentState};
use portico_lifecycle::{
    rights::Call,
    status::{Activity, Phase, Status},
};
use portico_openstack::magnum;
use std::time::Duration;
use uuid::Uuid;

/// Maximum time for the question whether an API server asks kube-auth.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

/// Returns whether a cluster of the viewer's project can be used, or what is missing.
pub async fn of(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    viewer: &Viewer,
    cluster: &magnum::Cluster,
) -> EnrolmentState {
    let id = cluster.uuid;
    if clusters.get(id).is_some() {
        let is_visible = caller
            .project()
            .is_some_and(|project| clusters.find(project, id).is_some());
        if !is_visible {
            return EnrolmentState::NotOffered(
                "The operator of Portico has added this cluster for other projects. Ask the operator \
                 for access."
                    .to_owned(),
            );
        }
        return match asks_kube_auth(services, clusters, caller, id).await {
            Some(false) => EnrolmentState::WaitingForConfiguration,
            Some(true) | None => EnrolmentState::Enrolled,
        };
    }
    let (Some(enrolment), Ok(access)) = (&services.enrolment, services.magnum()) else {
        return EnrolmentState::NotOffered(
            "The operator of Portico has not permitted that users enrol clusters. Ask the operator to \
             add the cluster."
                .to_owned(),
        );
    };
    if enrolment.is_running(id) {
        return EnrolmentState::Running;
    }
    let permit = |address: &str| access.section.permit(address).map(drop);
    of_unknown(cluster, viewer, &permit)
}

/// Returns the state of a cluster that Portico has no record of.
fn of_unknown(
    cluster: &magnum::Cluster,
    viewer: &Viewer,
    permit: &dyn Fn(&str) -> Result<(), RefusedAddress>,
) -> EnrolmentState {
    let refused = |text: &str| EnrolmentState::NotOffered(text.to_owned());
    match Status::parse(cluster.status.as_str()) {
        Status::Known(Activity::Delete, _) => {
            return refused("The cluster is being deleted, so it cannot be enrolled.");
        }
        Status::Known(Activity::Create, Phase::Failed) => {
            return refused(
                "The creation has failed, so there is nothing to enrol. Delete the cluster and create \
                 it again.",
            );
        }
        _ => {}
    }
    let creator = Some(cluster.user_id.as_str()).filter(|id| !id.is_empty());
    for call in [Call::ReadAuthority, Call::SignCertificate] {
        if let Some(reason) = viewer.refusal(call, creator) {
            return EnrolmentState::NotOffered(reason);
        }
    }
    let address = cluster.api_address.as_deref();
    let Some(address) = address.filter(|address| !address.is_empty()) else {
        return EnrolmentState::WaitingForApi;
    };
    match permit(address) {
        Ok(()) => EnrolmentState::Ready,
        Err(reason) => EnrolmentState::NotOffered(format!(
            "{} Ask the operator of Portico to permit the network of the cluster's API server \
             (enrolment.api_networks).",
            error::sentence(&reason.to_string())
        )),
    }
}

/// Returns whether the API server of a cluster with a record asks kube-auth about tokens; `None` if that
/// cannot be found out. It is asked with the caller's own token.
pub async fn asks_kube_auth(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Option<bool> {
    let access = services.magnum().ok()?;
    if access.configured.get(&cluster).await.is_some() {
        return Some(true);
    }
    if access.unconfigured.get(&cluster).await.is_some() {
        return Some(false);
    }
    let (api, _) = services.api_among(clusters, caller, cluster).await.ok()?;
    let question = reviews::question("list", &ResourceRef::core("pods"), None);
    let asked = reviews::review_now(&api, &question);
    match tokio::time::timeout(PROBE_TIMEOUT, asked).await.ok()? {
        // it knows the user, also if it refuses the question
        Ok(_) | Err(KubeError::Refused(_)) => {
            access.configured.insert(cluster, ()).await;
            Some(true)
        }
        Err(KubeError::Unauthenticated) => note_refusal(services, access, cluster).await,
        Err(_) => None,
    }
}

/// Concludes from a 401 of the API server: kube-auth may have refused the token.
async fn note_refusal(services: &Services, access: &MagnumAccess, cluster: Uuid) -> Option<bool> {
    if let FiguresView::Known(figures) = services.kube_auth_metrics.now(cluster).await
        && figures.since_start.total() > 0
    {
        return None;
    }
    access.unconfigured.insert(cluster, ()).await;
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::super::{fixtures, viewer::tests::viewer};
    use super::*;
    use serde_json::{Value, json};

    fn state(status: &str, change: Value, user: &str) -> EnrolmentState {
        let cluster = fixtures::with(status, change);
        let viewer = viewer(user, &["member", "reader"]);
        of_unknown(&cluster, &viewer, &|_| Ok(()))
    }

    #[test]
    fn a_cluster_is_offered_to_its_creator_once_its_api_has_an_address() {
        let none = json!({"api_address": null});
        let complete = "CREATE_COMPLETE";
        assert_eq!(state(complete, json!({}), "ada"), EnrolmentState::Ready);
        assert_eq!(
            state("CREATE_IN_PROGRESS", none, "ada"),
            EnrolmentState::WaitingForApi
        );
        let EnrolmentState::NotOffered(text) = state(complete, json!({}), "bob") else {
            panic!("it is offered to another user");
        };
        assert!(text.contains("created it"), "{text}");
        let failed = state("CREATE_FAILED", json!({}), "ada");
        assert!(matches!(failed, EnrolmentState::NotOffered(_)));
    }

    #[test]
    fn an_address_outside_of_the_permitted_networks_is_explained() {
        let cluster = fixtures::with("CREATE_COMPLETE", json!({}));
        let refuse = |_: &str| Err(RefusedAddress::Form);
        let state = of_unknown(&cluster, &viewer("ada", &["member", "reader"]), &refuse);
        let EnrolmentState::NotOffered(text) = state else {
            panic!("it is offered");
        };
        assert!(text.contains("enrolment.api_networks"), "{text}");
    }
}
