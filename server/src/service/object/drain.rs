//! Draining a node, as `kubectl drain` does: cordon it, then evict its pods. A request evicts a few of
//! them and returns how far the drain is; the browser repeats it, so that a drain runs only while its
//! user is there.
use super::{state_change, text};
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    kube::{Api, KubeError, api::Call, objects, path},
    service::error::ServiceError,
};
use futures::{StreamExt, stream};
use http::{Method, StatusCode};
use portico_domain::panel::{
    DrainOptions, DrainPod, DrainProgress, DrainState, ObjectRef, Refusal, ResourceRef, StateChange,
};
use portico_lifecycle::drain::{self, Fate};
use serde_json::{Value, json};

/// Maximum number of pods that one request evicts. An audit report has room for them all.
const MAX_EVICTIONS: usize = 20;
const MAX_CONCURRENT_EVICTIONS: usize = 5;

/// Returns what a drain would do with the pods of a node. Nothing is changed.
pub async fn plan(
    api: &Api,
    node: &ObjectRef,
    options: DrainOptions,
) -> Result<DrainProgress, ServiceError> {
    check(node)?;
    let pods = pods_on(api, &node.name).await?;
    Ok(progress(pods.iter().map(|pod| describe(pod, options))))
}

/// Cordons exactly the node with this UID, and evicts some of its pods.
pub async fn step(
    caller: &Caller,
    api: &Api,
    node: &ObjectRef,
    uid: &str,
    options: DrainOptions,
) -> Result<DrainProgress, ServiceError> {
    cordon(caller, api, node, uid).await?;
    let pods = pods_on(api, &node.name).await?;
    let (next, mut others): (Vec<_>, Vec<_>) = pods
        .iter()
        .map(|pod| (text(pod, "/metadata/uid"), describe(pod, options)))
        .partition(|(_, pod)| pod.state == DrainState::Waiting);
    if !next.is_empty() {
        let version = eviction_version(api).await?;
        let version = version.as_str();
        let mut next = next.into_iter();
        let evictions: Vec<_> = next
            .by_ref()
            .take(MAX_EVICTIONS)
            .map(|(uid, pod)| async move { evict(caller, api, uid, pod, version).await })
            .collect();
        others.extend(next);
        let evicted: Vec<Result<_, ServiceError>> = stream::iter(evictions)
            .buffered(MAX_CONCURRENT_EVICTIONS)
            .collect()
            .await;
        for pod in evicted {
            others.extend(pod?.map(|pod| (String::new(), pod)));
        }
    }
    Ok(progress(others.into_iter().map(|(_, pod)| pod)))
}

fn check(node: &ObjectRef) -> Result<(), ServiceError> {
    if node.resource == ResourceRef::core("nodes") {
        Ok(())
    } else {
        Err(ServiceError::invalid("Only nodes can be drained."))
    }
}

/// Cordons exactly the node with this UID, with which its drain begins; evicts nothing.
pub async fn cordon(
    caller: &Caller,
    api: &Api,
    node: &ObjectRef,
    uid: &str,
) -> Result<(), ServiceError> {
    check(node)?;
    let value = objects::get(api, node).await?;
    if text(&value, "/metadata/uid") != uid {
        return Err(ServiceError::conflict(format!(
            "Another node has been made under the name {} meanwhile; it was not drained.",
            node.name
        )));
    }
    if !state_change::applies(&value, StateChange::Cordon) {
        return Ok(());
    }
    let cordoned = state_change::change(api, node, uid, StateChange::Cordon).await;
    let outcome = match &cordoned {
        Ok(_) => Outcome::Done,
        Err(error) if error.kind == app::error::UiErrorKind::NotPermitted => Outcome::Refused,
        Err(_) => Outcome::Failed,
    };
    audit::record(
        caller,
        "drain",
        api.cluster(),
        &audit::target(node),
        outcome,
    );
    cordoned.map(|_| ())
}

/// Reads the pods of a node in all namespaces.
async fn pods_on(api: &Api, node: &str) -> Result<Vec<Value>, KubeError> {
    let collection = path::collection(&ResourceRef::core("pods"), None)?;
    let fields = format!("spec.nodeName={node}");
    let list = api
        .get(&path::with_query(
            &collection,
            &[("fieldSelector", &fields)],
        ))
        .await?;
    match list.get("items") {
        Some(Value::Array(pods)) => Ok(pods.clone()),
        _ => Err(KubeError::Protocol("a list without items".to_owned())),
    }
}

/// Returns the API version in which this cluster takes evictions: `policy/v1` from Kubernetes 1.22 on
/// (<https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/>).
async fn eviction_version(api: &Api) -> Result<String, KubeError> {
    let resources = api.get("/api/v1").await?;
    let eviction = resources["resources"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|resource| resource["name"] == "pods/eviction");
    let version = eviction.and_then(|eviction| eviction["version"].as_str());
    Ok(format!("policy/{}", version.unwrap_or("v1beta1")))
}

/// Evicts a pod; returns its state after that, `None` if it has left.
async fn evict(
    caller: &Caller,
    api: &Api,
    uid: String,
    pod: DrainPod,
    version: &str,
) -> Result<Option<DrainPod>, ServiceError> {
    let object = ObjectRef {
        resource: ResourceRef::core("pods"),
        namespace: Some(pod.namespace.clone()),
        name: pod.name.clone(),
    };
    let eviction = format!("{}/eviction", path::object(&object)?);
    let body = json!({
        "apiVersion": version,
        "kind": "Eviction",
        "metadata": { "name": pod.name, "namespace": pod.namespace },
        "deleteOptions": { "preconditions": { "uid": uid } },
    });
    let (status, answer) = api
        .answer(Call::send(Method::POST, &eviction, &body))
        .await?;
    let record = |outcome| {
        audit::record(
            caller,
            "evict",
            api.cluster(),
            &audit::target(&object),
            outcome,
        );
    };
    match status {
        status if status.is_success() => {
            record(Outcome::Done);
            Ok(Some(DrainPod {
                state: DrainState::Terminating,
                ..pod
            }))
        }
        StatusCode::TOO_MANY_REQUESTS => Ok(Some(DrainPod {
            state: DrainState::Blocked,
            reason: Some(budget(&answer)),
            ..pod
        })),
        // it left by itself, or another pod has its name
        StatusCode::NOT_FOUND | StatusCode::CONFLICT => Ok(None),
        StatusCode::FORBIDDEN => {
            record(Outcome::Refused);
            let refusal = refusal(KubeError::from_response(status, &answer));
            Ok(Some(DrainPod {
                state: DrainState::NeedsUser,
                reason: Some(refusal.reason),
                missing: refusal.missing,
                ..pod
            }))
        }
        status => {
            record(Outcome::Failed);
            Err(KubeError::from_response(status, &answer).into())
        }
    }
}

/// Returns why an eviction was refused: a missing permission, or the words of an admission plugin.
fn refusal(error: KubeError) -> Refusal {
    ServiceError::from(error).into_brief_refusal()
}

/// Returns why a PodDisruptionBudget does not allow an eviction, in the API server's words.
fn budget(answer: &[u8]) -> String {
    drain::budget(&serde_json::from_slice(answer).unwrap_or_default())
}

/// Returns what a drain does with a pod, by the rules of `kubectl drain`.
fn describe(pod: &Value, options: DrainOptions) -> DrainPod {
    let (state, reason) = state(pod, options);
    DrainPod {
        namespace: text(pod, "/metadata/namespace"),
        name: text(pod, "/metadata/name"),
        state,
        reason: reason.map(str::to_owned),
        missing: None,
    }
}

fn state(pod: &Value, options: DrainOptions) -> (DrainState, Option<&'static str>) {
    let options = drain::DrainOptions {
        unmanaged: options.unmanaged,
        local_data: options.local_data,
    };
    match drain::fate(pod, options) {
        Fate::Stays(reason) => (DrainState::Stays, Some(reason)),
        Fate::Terminating => (DrainState::Terminating, None),
        Fate::Evicted => (DrainState::Waiting, None),
        Fate::NeedsUser(reason) => (DrainState::NeedsUser, Some(reason)),
    }
}

fn progress(pods: impl Iterator<Item = DrainPod>) -> DrainProgress {
    let mut pods: Vec<_> = pods.collect();
    pods.sort_by(|one, other| {
        let key = |pod: &DrainPod| (pod.state, pod.namespace.clone(), pod.name.clone());
        key(one).cmp(&key(other))
    });
    DrainProgress { pods }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(owner: Option<&str>, more: Value) -> Value {
        let mut pod = json!({"metadata": {"namespace": "shop", "name": "web"}, "spec": {},
            "status": {"phase": "Running"}});
        if let Some(kind) = owner {
            pod["metadata"]["ownerReferences"] = json!([{"kind": kind, "controller": true}]);
        }
        json_patch::merge(&mut pod, &more);
        pod
    }

    fn state_of(pod: &Value, unmanaged: bool, local_data: bool) -> DrainState {
        let options = DrainOptions {
            unmanaged,
            local_data,
        };
        describe(pod, options).state
    }

    #[test]
    fn need_22_pods_of_daemon_sets_and_of_the_node_itself_stay() {
        let daemon = pod(Some("DaemonSet"), json!({}));
        assert_eq!(state_of(&daemon, true, true), DrainState::Stays);
        let mirror = json!({"metadata": {"annotations": {"kubernetes.io/config.mirror": "x"}}});
        let mirror = pod(Some("Node"), mirror);
        assert_eq!(state_of(&mirror, true, true), DrainState::Stays);
        assert_eq!(
            state_of(&pod(Some("ReplicaSet"), json!({})), false, false),
            DrainState::Waiting
        );
    }

    #[test]
    fn what_would_be_lost_needs_the_user() {
        let single = pod(None, json!({}));
        assert_eq!(state_of(&single, false, true), DrainState::NeedsUser);
        assert_eq!(state_of(&single, true, false), DrainState::Waiting);
        let volumes = json!({"spec": {"volumes": [{"name": "cache", "emptyDir": {}}]}});
        let cache = pod(Some("ReplicaSet"), volumes);
        assert_eq!(state_of(&cache, true, false), DrainState::NeedsUser);
        assert_eq!(state_of(&cache, false, true), DrainState::Waiting);
        let finished = pod(None, json!({"status": {"phase": "Succeeded"}}));
        assert_eq!(state_of(&finished, false, false), DrainState::Waiting);
    }

    #[test]
    fn need_31_a_forbidden_eviction_names_the_missing_permission() {
        let forbidden = |message: &str| {
            let answer = json!({"kind": "Status", "message": message, "code": 403});
            let answer = answer.to_string();
            refusal(KubeError::from_response(
                StatusCode::FORBIDDEN,
                answer.as_bytes(),
            ))
        };
        let refused = forbidden(
            r#"pods "web" is forbidden: User "vera@Default" cannot create resource "pods/eviction" in API group "" in the namespace "shop""#,
        );
        assert_eq!(
            refused.reason,
            "Your roles do not include create on pods/eviction in shop."
        );
        assert_eq!(refused.missing.unwrap().resource_name(), "pods/eviction");
        let webhook = forbidden("admission webhook \"guard\" denied the request");
        assert!(webhook.reason.contains("guard"), "{}", webhook.reason);
        assert_eq!(webhook.missing, None);
    }

    #[test]
    fn a_refused_eviction_names_the_budget() {
        let answer = json!({"message": "Cannot evict pod as it would violate the pod's disruption budget.",
            "details": {"causes": [{"reason": "DisruptionBudget",
                "message": "The disruption budget web needs 1 healthy pods and has 1 currently"}]}});
        let words = budget(answer.to_string().as_bytes());
        assert_eq!(
            words,
            "The disruption budget web needs 1 healthy pods and has 1 currently."
        );
        assert!(budget(b"").starts_with("A PodDisruptionBudget"));
    }
}
