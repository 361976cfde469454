//! The replicas and revisions of a workload
//! (<https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-back-a-deployment>).
use super::{
    pod_template::items,
    pods::is_owned,
    reader::{Reader, Select},
};
use crate::service::object::{selector, time};
use portico_domain::panel::{ObjectRef, Revision, Rollout};
use serde_json::Value;

const REVISION: &str = "/metadata/annotations/deployment.kubernetes.io~1revision";
const CHANGE_CAUSE: &str = "/metadata/annotations/kubernetes.io~1change-cause";

/// Returns the state of a workload's replicas; `None` for kinds without revisions.
pub fn rollout(plural: &str, value: &Value) -> Option<Rollout> {
    let status = |name: &str| value["status"][name].as_i64().unwrap_or(0);
    let desired = value.pointer("/spec/replicas").and_then(Value::as_i64);
    let rollout = match plural {
        "deployments" => {
            let updated = status("updatedReplicas");
            Rollout {
                desired: desired.unwrap_or(1),
                updated,
                ready: status("readyReplicas"),
                available: status("availableReplicas"),
                outdated: (status("replicas") - updated).max(0),
                is_paused: value.pointer("/spec/paused") == Some(&Value::Bool(true)),
                strategy: strategy(&value["spec"]["strategy"]),
            }
        }
        "statefulsets" => {
            let is_rolled_out =
                value.pointer("/status/currentRevision") == value.pointer("/status/updateRevision");
            let replicas = status("replicas");
            let updated = if is_rolled_out {
                replicas
            } else {
                status("updatedReplicas")
            };
            Rollout {
                desired: desired.unwrap_or(1),
                updated,
                ready: status("readyReplicas"),
                // counted since Kubernetes 1.22 only
                available: value
                    .pointer("/status/availableReplicas")
                    .and_then(Value::as_i64)
                    .unwrap_or_else(|| status("readyReplicas")),
                outdated: (replicas - updated).max(0),
                is_paused: false,
                strategy: strategy(&value["spec"]["updateStrategy"]),
            }
        }
        "daemonsets" => Rollout {
            desired: status("desiredNumberScheduled"),
            updated: status("updatedNumberScheduled"),
            ready: status("numberReady"),
            available: status("numberAvailable"),
            outdated: (status("currentNumberScheduled") - status("updatedNumberScheduled")).max(0),
            is_paused: false,
            strategy: strategy(&value["spec"]["updateStrategy"]),
        },
        _ => return None,
    };
    Some(rollout)
}

fn strategy(strategy: &Value) -> String {
    let kind = strategy["type"].as_str().unwrap_or("RollingUpdate");
    let rolling = &strategy["rollingUpdate"];
    let mut limits = Vec::new();
    for (name, words) in [("maxSurge", "more"), ("maxUnavailable", "fewer")] {
        match &rolling[name] {
            Value::String(text) if text != "0%" => limits.push(format!("{text} {words}")),
            Value::Number(number) if number.as_i64() != Some(0) => {
                limits.push(format!("{number} {words}"));
            }
            _ => {}
        }
    }
    if limits.is_empty() {
        kind.to_owned()
    } else {
        format!("{kind}, at most {} at a time", limits.join(" and "))
    }
}

/// Returns the revisions of a workload, the newest first.
pub async fn revisions(reader: &Reader<'_>, object: &ObjectRef, value: &Value) -> Vec<Revision> {
    let (group, plural) = ("apps", stored_in(&object.resource.plural));
    let (Some(plural), Some(uid)) = (plural, value.pointer("/metadata/uid")) else {
        return Vec::new();
    };
    let labels = selector::of_pods(&object.resource, value).unwrap_or_default();
    let select = Select {
        labels: &labels,
        ..Select::default()
    };
    let mut stored = reader.list(group, plural, select).await;
    stored.retain(|one| is_owned(one, uid));
    let mut found: Vec<_> = stored
        .iter()
        .filter_map(|one| revision(reader.reference_of(group, plural, one)?, one))
        .collect();
    found.sort_by_key(|revision| std::cmp::Reverse(revision.number));
    if let Some(newest) = found.first_mut() {
        newest.is_current = true;
    }
    found
}

/// Returns the kind that stores a workload's revisions; `None` for those that have none.
pub fn stored_in(plural: &str) -> Option<&'static str> {
    match plural {
        "deployments" => Some("replicasets"),
        "statefulsets" | "daemonsets" => Some("controllerrevisions"),
        _ => None,
    }
}

fn revision(object: ObjectRef, value: &Value) -> Option<Revision> {
    let is_replica_set = object.resource.plural == "replicasets";
    let number = if is_replica_set {
        value.pointer(REVISION)?.as_str()?.parse().ok()?
    } else {
        value["revision"].as_i64()?
    };
    Some(Revision {
        number,
        object,
        created_at: time(value, "/metadata/creationTimestamp"),
        images: items(&template(value)?["spec"]["containers"])
            .filter_map(|container| container["image"].as_str().map(str::to_owned))
            .collect(),
        replicas: is_replica_set
            .then(|| value.pointer("/status/replicas").and_then(Value::as_i64))
            .flatten(),
        is_current: false,
        cause: value
            .pointer(CHANGE_CAUSE)
            .and_then(Value::as_str)
            .map(str::to_owned),
    })
}

/// Returns the pod template of a ReplicaSet, a ControllerRevision or a workload.
pub fn template(value: &Value) -> Option<&Value> {
    value
        .pointer("/data/spec/template")
        .or_else(|| value.pointer("/spec/template"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::ResourceRef;
    use serde_json::json;

    #[test]
    fn a_rollout_counts_replicas_of_earlier_revisions() {
        let rollout = rollout(
            "deployments",
            &json!({"spec": {"replicas": 4, "paused": true, "strategy": {"type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}}},
                "status": {"replicas": 5, "updatedReplicas": 2, "readyReplicas": 4, "availableReplicas": 3}}),
        )
        .unwrap();
        assert_eq!(
            (rollout.desired, rollout.updated, rollout.outdated),
            (4, 2, 3)
        );
        assert!(rollout.is_paused && !rollout.is_complete());
        assert_eq!(
            rollout.strategy,
            "RollingUpdate, at most 25% more at a time"
        );
    }

    #[test]
    fn a_stateful_set_without_an_update_has_no_outdated_replicas() {
        let set = json!({"spec": {"replicas": 3, "updateStrategy": {"type": "RollingUpdate"}},
            "status": {"replicas": 3, "readyReplicas": 3, "currentRevision": "a", "updateRevision": "a"}});
        let rollout = rollout("statefulsets", &set).unwrap();
        assert!(rollout.is_complete(), "{rollout:?}");
    }

    #[test]
    fn revisions_are_read_from_replica_sets_and_controller_revisions() {
        let reference = |plural: &str| ObjectRef {
            resource: ResourceRef::new("apps", "v1", plural),
            namespace: Some("shop".to_owned()),
            name: "web-1".to_owned(),
        };
        let set = json!({"metadata": {"annotations": {"deployment.kubernetes.io/revision": "7",
                "kubernetes.io/change-cause": "new image"}},
            "spec": {"template": {"spec": {"containers": [{"image": "web:2"}]}}},
            "status": {"replicas": 2}});
        let read = revision(reference("replicasets"), &set).unwrap();
        assert_eq!((read.number, read.replicas), (7, Some(2)));
        assert_eq!(read.images, ["web:2"]);
        assert_eq!(read.cause.as_deref(), Some("new image"));
        let stored = json!({"metadata": {}, "revision": 3,
            "data": {"spec": {"template": {"spec": {"containers": [{"image": "db:1"}]}}}}});
        let read = revision(reference("controllerrevisions"), &stored).unwrap();
        assert_eq!((read.number, read.replicas), (3, None));
        assert_eq!(read.images, ["db:1"]);
        assert!(revision(reference("replicasets"), &json!({"metadata": {}})).is_none());
    }
}
