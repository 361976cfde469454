//! Usage from `metrics.k8s.io`, as metrics-server and other adapters serve it, with the viewer's own
//! token (<https://github.com/kubernetes/metrics>). It has no history.
use super::{Measured, Place};
use crate::{
    kube::{Api, KubeError, discovery, path},
    service::{error::ServiceError, quantity},
};
use app::error::UiErrorKind;
use portico_domain::panel::{CpuMemory, ObjectRef, ResourceRef, UsagePart, UsageSource};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use std::collections::HashSet;

#[derive(Debug, Deserialize)]
pub(super) struct PodMetrics {
    pub metadata: Metadata,
    containers: Vec<ContainerMetrics>,
}

impl PodMetrics {
    /// Returns what its containers use together.
    pub fn used(&self) -> CpuMemory {
        total(
            self.containers
                .iter()
                .map(|container| container.usage.read()),
        )
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    pub name: String,
    #[serde(default)]
    pub namespace: String,
}

#[derive(Debug, Deserialize)]
struct ContainerMetrics {
    name: String,
    usage: Amounts,
}

#[derive(Debug, Deserialize)]
pub(super) struct NodeMetrics {
    pub metadata: Metadata,
    usage: Amounts,
}

impl NodeMetrics {
    pub fn used(&self) -> CpuMemory {
        self.usage.read()
    }
}

/// Quantities as text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Amounts {
    cpu: String,
    memory: String,
}

impl Amounts {
    fn read(&self) -> CpuMemory {
        CpuMemory {
            cpu: quantity::millicores(&self.cpu),
            memory: quantity::whole(&self.memory),
        }
    }
}

/// Returns the kind with the usage of nodes, or of everything else: of pods.
pub fn resource(plural: &str) -> ResourceRef {
    let plural = if plural == "nodes" { "nodes" } else { "pods" };
    ResourceRef::new("metrics.k8s.io", "v1beta1", plural)
}

/// Measures one place; `None` if the cluster does not serve `metrics.k8s.io`.
///
/// # Errors
/// A refusal, and a failure of the API, in a sentence.
pub async fn measure(api: &Api, place: &Place) -> Result<Option<Measured>, ServiceError> {
    let plural = match place {
        Place::Pod { .. } | Place::Pods { .. } | Place::Namespace(_) => "pods",
        Place::Node(_) | Place::Cluster => "nodes",
    };
    let resource = resource(plural);
    let catalog = discovery::catalog(api).await?;
    if catalog.find(&resource).is_none() {
        return Ok(None);
    }
    let measured = read(api, place, resource).await.map_err(|error| {
        if matches!(error, KubeError::Refused(_)) {
            let mut question = place.question();
            question.resource = format!("{plural}.metrics.k8s.io");
            ServiceError::lacks(question)
        } else if matches!(error, KubeError::NotFound(_)) {
            no_samples()
        } else {
            error.into()
        }
    })?;
    measured.map(Some).ok_or_else(no_samples)
}

fn no_samples() -> ServiceError {
    ServiceError::new(
        UiErrorKind::Unavailable,
        "metrics.k8s.io has no recent samples here.",
    )
}

async fn read(
    api: &Api,
    place: &Place,
    resource: ResourceRef,
) -> Result<Option<Measured>, KubeError> {
    let object = |namespace: Option<&String>, name: &str| ObjectRef {
        resource: resource.clone(),
        namespace: namespace.cloned(),
        name: name.to_owned(),
    };
    match place {
        Place::Pod { namespace, name } => {
            let value = api
                .get(&path::object(&object(Some(namespace), name))?)
                .await?;
            let pod: PodMetrics = parse(value)?;
            let parts = pod.containers.iter().map(|container| UsagePart {
                name: container.name.clone(),
                used: container.usage.read(),
            });
            Ok(Some(sum(parts.collect(), Some(1))))
        }
        Place::Pods {
            namespace,
            names,
            selector,
        } => {
            let collection = path::collection(&resource, Some(namespace))?;
            let list = path::with_query(&collection, &[("labelSelector", selector)]);
            let names: HashSet<&str> = names.iter().map(String::as_str).collect();
            let pods: Vec<PodMetrics> = items(api.get(&list).await?)?;
            let pods = pods
                .iter()
                .filter(|pod| names.contains(pod.metadata.name.as_str()));
            Ok(sum_of_pods(pods.map(part).collect()))
        }
        Place::Namespace(namespace) => {
            let list = path::collection(&resource, Some(namespace))?;
            let pods: Vec<PodMetrics> = items(api.get(&list).await?)?;
            let measured = sum_of_pods(pods.iter().map(part).collect());
            Ok(measured.map(|measured| Measured {
                parts: Vec::new(),
                ..measured
            }))
        }
        Place::Node(name) => {
            let value = api.get(&path::object(&object(None, name))?).await?;
            let node: NodeMetrics = parse(value)?;
            Ok(Some(Measured {
                used: node.used(),
                ..Measured::of(UsageSource::MetricsApi)
            }))
        }
        Place::Cluster => {
            let list = path::collection(&resource, None)?;
            let nodes: Vec<NodeMetrics> = items(api.get(&list).await?)?;
            let used = total(nodes.iter().map(NodeMetrics::used));
            Ok((!nodes.is_empty()).then(|| Measured {
                used,
                ..Measured::of(UsageSource::MetricsApi)
            }))
        }
    }
}

/// Returns the sum over pods; `None` without any.
fn sum_of_pods(pods: Vec<UsagePart>) -> Option<Measured> {
    let count = pods.len();
    (count > 0).then(|| sum(pods, Some(count)))
}

fn sum(parts: Vec<UsagePart>, pods: Option<usize>) -> Measured {
    Measured {
        used: total(parts.iter().map(|part| part.used)),
        pods,
        parts,
        ..Measured::of(UsageSource::MetricsApi)
    }
}

fn part(pod: &PodMetrics) -> UsagePart {
    UsagePart {
        name: pod.metadata.name.clone(),
        used: pod.used(),
    }
}

fn total(parts: impl Iterator<Item = CpuMemory>) -> CpuMemory {
    parts.fold(CpuMemory::default(), |sum, part| CpuMemory {
        cpu: sum.cpu.saturating_add(part.cpu),
        memory: sum.memory.saturating_add(part.memory),
    })
}

fn parse<T: DeserializeOwned>(value: Value) -> Result<T, KubeError> {
    serde_json::from_value(value).map_err(|error| KubeError::Protocol(error.to_string()))
}

fn items<T: DeserializeOwned>(mut list: Value) -> Result<Vec<T>, KubeError> {
    match list.get_mut("items").map(Value::take) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(items) => parse(items),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn need_07_the_containers_of_a_pod_are_added_up() {
        let list = json!({"kind": "PodMetricsList", "items": [{
            "metadata": {"name": "web-0", "namespace": "shop"},
            "timestamp": "2026-01-01T00:00:00Z", "window": "30s",
            "containers": [
                {"name": "app", "usage": {"cpu": "137n", "memory": "1Mi"}},
                {"name": "log", "usage": {"cpu": "2500u", "memory": "512Ki"}}]}]});
        let pods: Vec<PodMetrics> = items(list).unwrap();
        let web = part(&pods[0]);
        assert_eq!(web.name, "web-0");
        assert_eq!(
            web.used,
            CpuMemory {
                cpu: 4,
                memory: 1_572_864
            }
        );
        let measured = sum_of_pods(vec![web]).unwrap();
        assert_eq!((measured.used.cpu, measured.pods), (4, Some(1)));
    }

    #[test]
    fn a_list_without_items_is_nothing_and_another_shape_an_error() {
        assert!(
            items::<PodMetrics>(json!({"items": null}))
                .unwrap()
                .is_empty()
        );
        assert!(sum_of_pods(Vec::new()).is_none());
        let wrong = items::<PodMetrics>(json!({"items": [{"metadata": {}}]}));
        assert!(matches!(wrong, Err(KubeError::Protocol(_))));
    }
}
