//! The beginning of a drain.
use super::{
    super::{
        healing::ensure_healed,
        reading::{Found, find},
        removal::{chosen, node_with},
        replacement::is_present,
    },
    DrainRequest, OpenDrain, object_of, open,
};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{Services, error::ServiceError, object},
};
use app::error::UiErrorKind;
use portico_domain::panel::DrainOptions;
use portico_lifecycle::rights::Call;
use portico_openstack::rest::Effect;
use uuid::Uuid;

const NEXT_STEP: &str = "Continue the drain, or stop it and uncordon the node.";

/// A drain that has begun: its node is cordoned.
#[derive(Debug)]
pub struct DrainBegun {
    /// Why the first pods were not evicted; `None`: they were.
    pub failure: Option<ServiceError>,
}

/// Begins a drain whose request is recorded: cordons the node, and evicts the first pods. From the cordon on it
/// has begun, whatever becomes of the evictions.
///
/// # Errors
/// `NotPermitted` for users who may not resize the cluster, and for those whom Kubernetes refuses it; `Conflict`
/// while another node is being drained; else those of [`super::super::nodes()`].
pub async fn begin_drain(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    wanted: &DrainRequest,
    options: DrainOptions,
) -> Result<DrainBegun, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let found = find(&access.clients, &viewer, cluster).await?;
    let creator = found.target.cluster.user_id.as_deref();
    if let Some(refusal) = viewer.refusal(Call::ResizeCluster, creator) {
        return Err(ServiceError::not_permitted(refusal));
    }
    let own_request = Some(caller.request_id());
    let other = open(access, &viewer, cluster, own_request).await?;
    if let Some(other) = other.filter(|other| is_other(&found, other, wanted)) {
        return Err(ServiceError::conflict(format!(
            "The node {} is being drained. Finish or stop that first.",
            other.request.name
        )));
    }
    let node = node_with(&found, &wanted.server).map_err(ServiceError::invalid)?;
    let (api, _) = services.api_among(clusters, caller, cluster).await?;
    let node = chosen(node, &wanted.server);
    ensure_healed(&api, &found.target.cluster, &node).await?;
    let (object, uid) = object_of(&api, &node).await?;
    let cordoned = object::drain::cordon(caller, &api, &object, &uid).await;
    cordoned.map_err(not_cordoned)?;
    let evicted = object::drain::step(caller, &api, &object, &uid, options).await;
    Ok(begun(evicted.err()))
}

/// Returns the error of a cordon; if its response was lost, the drain may have begun.
fn not_cordoned(error: ServiceError) -> ServiceError {
    if error.kind != UiErrorKind::Unavailable {
        return error;
    }
    let message = format!("{} The node may be cordoned now.", error.message);
    ServiceError {
        message,
        effect: Effect::Unknown,
        ..error
    }
    .next(NEXT_STEP)
}

/// Returns a drain that has begun, with the error of its first evictions.
fn begun(failure: Option<ServiceError>) -> DrainBegun {
    let failure = failure.map(|error| {
        let message = format!(
            "{} The node is cordoned, and its drain has begun.",
            error.message
        );
        ServiceError { message, ..error }.next(NEXT_STEP)
    });
    DrainBegun { failure }
}

/// Returns whether another node than the wanted one is being drained.
fn is_other(found: &Found, open: &OpenDrain, wanted: &DrainRequest) -> bool {
    open.request.server != wanted.server && is_present(found, &open.request.server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_cordon_a_drain_has_begun_whatever_becomes_of_the_evictions() {
        let failed = ServiceError::new(UiErrorKind::Unavailable, "It does not answer.");
        let failure = begun(Some(failed)).failure.unwrap();
        assert!(
            failure
                .message
                .starts_with("It does not answer. The node is cordoned")
        );
        assert_eq!(failure.next_step.as_deref(), Some(NEXT_STEP));
        assert!(begun(None).failure.is_none());
    }

    #[test]
    fn a_cordon_of_which_no_answer_came_may_have_begun_the_drain_and_a_refused_one_has_not() {
        let lost = not_cordoned(ServiceError::new(UiErrorKind::Unavailable, "No answer."));
        assert_eq!(lost.effect, Effect::Unknown);
        for refused in [
            ServiceError::not_permitted("Ask an administrator."),
            ServiceError::conflict("Another node has been made."),
        ] {
            assert_eq!(not_cordoned(refused.clone()).effect, refused.effect);
            assert_eq!(refused.effect, Effect::None);
        }
    }
}
