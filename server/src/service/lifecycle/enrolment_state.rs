//! Whether a cluster of Magnum can be used through Portico.
use super::{access::MagnumAccess, error, origin::Origin, viewer::Viewer};
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
use tokio::time::Instant;
use uuid::Uuid;

/// Maximum time for a question to an API server, such as whether it asks kube-auth.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(3);
/// With less time than this, an API server is not asked: it would count as one that does not answer.
const MIN_PROBE_TIME: Duration = Duration::from_secs(1);

/// A cluster, and what is known of it besides.
#[derive(Clone, Copy)]
pub struct Examined<'a> {
    pub cluster: &'a magnum::Cluster,
    pub origin: Origin,
    /// Until when API servers are waited for; `None`: as long as one may take.
    pub deadline: Option<Instant>,
}

/// Returns whether a cluster of the viewer's project can be used, or what is missing.
pub async fn of(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    viewer: &Viewer,
    examined: Examined<'_>,
) -> EnrolmentState {
    let id = examined.cluster.uuid;
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
        return match probe(services, clusters, caller, id, examined.deadline).await {
            Probe::Asks(false) => EnrolmentState::WaitingForConfiguration,
            Probe::Asks(true) | Probe::Unknown => EnrolmentState::Enrolled,
            Probe::Unanswered => EnrolmentState::NotChecked,
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
    let rules = Rules {
        permits_outside: access.section.permits_outside(),
        permit: &permit,
    };
    of_unknown(examined.cluster, viewer, examined.origin, &rules)
}

/// The operator's rules.
struct Rules<'a> {
    /// Whether clusters that were not made through Portico may be enrolled.
    permits_outside: bool,
    permit: &'a (dyn Fn(&str) -> Result<(), RefusedAddress> + Sync),
}

/// Returns the state of a cluster that Portico has no record of.
fn of_unknown(
    cluster: &magnum::Cluster,
    viewer: &Viewer,
    origin: Origin,
    rules: &Rules<'_>,
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
    if origin != Origin::Portico && !rules.permits_outside {
        return refused(
            "Portico has no record that it made this cluster, and its operator permits only clusters \
             made through Portico. Ask the operator to add \"magnum\" to enrolment.sources.",
        );
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
    match (rules.permit)(address) {
        Ok(()) if origin == Origin::Portico => EnrolmentState::Ready,
        Ok(()) => EnrolmentState::Offered,
        Err(reason) => EnrolmentState::NotOffered(format!(
            "{} Ask the operator of Portico to permit the network of the cluster's API server \
             (enrolment.api_networks).",
            error::sentence(&reason.to_string())
        )),
    }
}

/// What is known about an API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    /// Whether it asks kube-auth.
    Asks(bool),
    /// It has not answered in time, or was not asked.
    Unanswered,
    /// It cannot be found out.
    Unknown,
}

/// Returns whether the API server of a cluster with a record asks kube-auth about tokens; `None` if that
/// cannot be found out. It is asked with the caller's own token.
pub async fn asks_kube_auth(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Option<bool> {
    match probe(services, clusters, caller, cluster, None).await {
        Probe::Asks(asks) => Some(asks),
        Probe::Unanswered | Probe::Unknown => None,
    }
}

async fn probe(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    deadline: Option<Instant>,
) -> Probe {
    let Ok(access) = services.magnum() else {
        return Probe::Unknown;
    };
    if access.configured.get(&cluster).await.is_some() {
        return Probe::Asks(true);
    }
    if access.unconfigured.get(&cluster).await.is_some() {
        return Probe::Asks(false);
    }
    if access.unanswered.get(&cluster).await.is_some() {
        return Probe::Unanswered;
    }
    let Some(time) = time_for_probe(deadline, Instant::now()) else {
        return Probe::Unanswered;
    };
    let asked = async {
        let (api, _) = services.api_among(clusters, caller, cluster).await.ok()?;
        let question = reviews::question("list", &ResourceRef::core("pods"), None);
        Some(reviews::review_now(&api, &question).await)
    };
    match tokio::time::timeout(time, asked).await {
        Err(_) => {
            access.unanswered.insert(cluster, ()).await;
            Probe::Unanswered
        }
        // it knows the user, also if it refuses the question
        Ok(Some(Ok(_) | Err(KubeError::Refused(_)))) => {
            access.configured.insert(cluster, ()).await;
            Probe::Asks(true)
        }
        Ok(Some(Err(KubeError::Unauthenticated))) => note_refusal(services, access, cluster).await,
        Ok(Some(Err(_)) | None) => Probe::Unknown,
    }
}

/// Returns how long an API server may take; `None`: there is not enough time to ask it.
fn time_for_probe(deadline: Option<Instant>, now: Instant) -> Option<Duration> {
    let Some(deadline) = deadline else {
        return Some(PROBE_TIMEOUT);
    };
    let left = deadline.saturating_duration_since(now);
    (left >= MIN_PROBE_TIME).then(|| left.min(PROBE_TIMEOUT))
}

/// Concludes from a 401 of the API server: kube-auth may have refused the token.
async fn note_refusal(services: &Services, access: &MagnumAccess, cluster: Uuid) -> Probe {
    if let FiguresView::Known(figures) = services.kube_auth_metrics.now(cluster).await
        && figures.since_start.total() > 0
    {
        return Probe::Unknown;
    }
    access.unconfigured.insert(cluster, ()).await;
    Probe::Asks(false)
}

#[cfg(test)]
mod tests {
    use super::super::{fixtures, viewer::tests::viewer};
    use super::*;
    use serde_json::{Value, json};

    const ALL: Rules<'static> = Rules {
        permits_outside: true,
        permit: &|_| Ok(()),
    };

    fn state(status: &str, change: Value, user: &str) -> EnrolmentState {
        let cluster = fixtures::with(status, change);
        let viewer = viewer(user, &["member", "reader"]);
        of_unknown(&cluster, &viewer, Origin::Portico, &ALL)
    }

    #[test]
    fn a_cluster_made_elsewhere_is_enrolled_on_request_where_the_operator_permits_it() {
        let cluster = fixtures::with("CREATE_COMPLETE", json!({}));
        let ada = viewer("ada", &["member", "reader"]);
        let own_only = Rules {
            permits_outside: false,
            ..ALL
        };
        for origin in [Origin::Outside, Origin::Unknown] {
            let offered = of_unknown(&cluster, &ada, origin, &ALL);
            assert_eq!(offered, EnrolmentState::Offered);
            let EnrolmentState::NotOffered(text) = of_unknown(&cluster, &ada, origin, &own_only)
            else {
                panic!("{origin:?} is offered");
            };
            assert!(text.contains("enrolment.sources"), "{text}");
        }
        let own = of_unknown(&cluster, &ada, Origin::Portico, &own_only);
        assert_eq!(own, EnrolmentState::Ready);
    }

    #[test]
    fn a_list_waits_for_api_servers_until_its_deadline_only() {
        let now = Instant::now();
        assert_eq!(time_for_probe(None, now), Some(PROBE_TIMEOUT));
        let two = Duration::from_secs(2);
        assert_eq!(time_for_probe(Some(now + two), now), Some(two));
        assert_eq!(time_for_probe(Some(now + two), now + two), None);
        let late = now + Duration::from_millis(1_500);
        assert_eq!(time_for_probe(Some(now + two), late), None);
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
        let rules = Rules {
            permit: &|_| Err(RefusedAddress::Form),
            ..ALL
        };
        let ada = viewer("ada", &["member", "reader"]);
        let state = of_unknown(&cluster, &ada, Origin::Portico, &rules);
        let EnrolmentState::NotOffered(text) = state else {
            panic!("it is offered");
        };
        assert!(text.contains("enrolment.api_networks"), "{text}");
    }
}
