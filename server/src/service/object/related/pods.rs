//! The pods of an object, in a few words each.
use super::reader::{Reader, Select};
use crate::service::{
    health::{self, Assessment},
    object::selector,
};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use portico_domain::panel::{ObjectRef, PodList, PodSummary};
use serde::Deserialize;
use serde_json::Value;

/// Maximum number of pods on an object's page.
const MAX_PODS: usize = 100;

/// Returns the pods that a workload, Service or other selector selects. `None` for kinds that have
/// none.
pub async fn selected(reader: &Reader<'_>, object: &ObjectRef, value: &Value) -> Option<PodList> {
    let labels = selector::of_pods(&object.resource, value)?;
    let select = Select {
        labels: &labels,
        ..Select::default()
    };
    let mut pods = reader.list("", "pods", select).await;
    // the selectors of two controllers may overlap; a Deployment's pods belong to its ReplicaSets
    if let ("statefulsets" | "daemonsets" | "replicasets" | "jobs", Some(uid)) = (
        object.resource.plural.as_str(),
        value.pointer("/metadata/uid"),
    ) {
        pods.retain(|pod| is_owned(pod, uid));
    }
    Some(summarize(reader, &pods))
}

/// Returns whether an object is owned by the one with this UID.
pub fn is_owned(value: &Value, uid: &Value) -> bool {
    value
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array)
        .is_some_and(|owners| owners.iter().any(|owner| owner["uid"] == *uid))
}

/// Describes pods, those that need attention first.
pub fn summarize(reader: &Reader<'_>, pods: &[Value]) -> PodList {
    let now = reader.api.now();
    let mut found: Vec<_> = pods
        .iter()
        .filter_map(|pod| Some((reader.reference_of("", "pods", pod)?, pod)))
        .filter_map(|(object, value)| Some(summary(object, &Pod::deserialize(value).ok()?, now)))
        .collect();
    found.sort_by(|one, other| {
        let key = |pod: &PodSummary| (pod.health.severity(), std::cmp::Reverse(pod.created_at));
        key(one)
            .cmp(&key(other))
            .then_with(|| one.object.name.cmp(&other.object.name))
    });
    let total = found.len();
    found.truncate(MAX_PODS);
    PodList { pods: found, total }
}

/// Describes a pod.
pub fn summary(object: ObjectRef, pod: &Pod, now: Timestamp) -> PodSummary {
    let Assessment { health, status, .. } = health::pod(pod, now);
    let spec = pod.spec.as_ref();
    let statuses = pod
        .status
        .as_ref()
        .and_then(|status| status.container_statuses.as_deref())
        .unwrap_or_default();
    let ready = statuses.iter().filter(|container| container.ready).count();
    let containers: Vec<String> = spec
        .map(|spec| spec.containers.iter().map(|one| one.name.clone()).collect())
        .unwrap_or_default();
    let previous = health::containers(pod)
        .into_iter()
        .filter(|container| !container.init && container.has_previous)
        .map(|container| container.name)
        .collect();
    PodSummary {
        object,
        health,
        status,
        ready: (
            u32::try_from(ready).unwrap_or(u32::MAX),
            u32::try_from(containers.len()).unwrap_or(u32::MAX),
        ),
        restarts: statuses
            .iter()
            .map(|container| container.restart_count)
            .sum(),
        node: spec.and_then(|spec| spec.node_name.clone()),
        created_at: pod
            .metadata
            .creation_timestamp
            .as_ref()
            .map(|time| time.0.as_second()),
        containers,
        previous,
    }
}

/// Returns the pods that run on a node, in all namespaces; `None` if the viewer may not list them.
pub async fn on_node(reader: &Reader<'_>, node: &str) -> Option<PodList> {
    let fields = format!("spec.nodeName={node}");
    let select = Select {
        fields: &fields,
        ..Select::default()
    };
    let pods = reader.list_in("", "pods", None, select).await?;
    Some(summarize(reader, &pods))
}
