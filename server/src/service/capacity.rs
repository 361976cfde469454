//! The resource requests of pods, compared with the capacity of the nodes.
use super::error::ServiceError;
use super::quantity;
use crate::kube::{Api, KubeError, namespaces, path};
use futures::{StreamExt, stream};
use k8s_openapi::{
    api::core::v1::{Container, Node, Pod},
    apimachinery::pkg::api::resource::Quantity,
};
use portico_domain::panel::{Capacity, ListScope, ResourceKind, ResourceRef};
use serde::Deserialize;
use serde_json::Value;

/// Maximum number of pods that are counted.
const MAX_PODS: u64 = 20_000;
/// Maximum number of requests for them: an API server may name a next chunk for ever.
const MAX_CHUNKS: u64 = MAX_PODS / 500;

/// Sums over the pods that the user may list.
pub async fn capacity(api: &Api, nodes: &[Node]) -> Result<Capacity, ServiceError> {
    let mut sum = Capacity {
        cpu_requested: 0,
        cpu_allocatable: 0,
        memory_requested: 0,
        memory_allocatable: 0,
        pods: 0,
        pods_allocatable: 0,
        limits: None,
    };
    for node in nodes {
        let Some(allocatable) = node.status.as_ref().and_then(|s| s.allocatable.as_ref()) else {
            continue;
        };
        let of = |name: &str| allocatable.get(name);
        sum.cpu_allocatable += of("cpu").map_or(0, millicores);
        sum.memory_allocatable += of("memory").map_or(0, bytes);
        sum.pods_allocatable += of("pods").map_or(0, bytes);
    }
    let kind = ResourceKind {
        group: String::new(),
        version: "v1".to_owned(),
        plural: "pods".to_owned(),
        kind: "Pod".to_owned(),
        namespaced: true,
        verbs: Vec::new(),
        short_names: Vec::new(),
    };
    let mut scope = namespaces::scope(api, &kind, &[], "list").await?;
    let places = crate::kube::listing::places(&scope);
    let answers: Vec<_> = stream::iter(places)
        .map(|place| async move {
            let added = add_up(api, place.as_deref()).await;
            (place, added)
        })
        .buffered(6)
        .collect()
        .await;
    for (place, added) in answers {
        match added {
            Ok((cpu, memory, pods)) => {
                sum.cpu_requested += cpu;
                sum.memory_requested += memory;
                sum.pods += pods;
            }
            // a right, or the whole namespace, that ended after the scope was determined
            Err(KubeError::Refused(_)) if leave_out(&mut scope, place.as_deref()) => {}
            Err(error) => return Err(error.into()),
        }
    }
    sum.limits = limits(&scope);
    Ok(sum)
}

/// Moves a namespace to those that the user may not list. Returns false if it is the only one.
fn leave_out(scope: &mut ListScope, namespace: Option<&str>) -> bool {
    let (
        ListScope::Namespaces {
            listed, refused, ..
        },
        Some(namespace),
    ) = (scope, namespace)
    else {
        return false;
    };
    if listed.len() < 2 {
        return false;
    }
    listed.retain(|known| known != namespace);
    refused.push(namespace.to_owned());
    true
}

fn limits(scope: &ListScope) -> Option<String> {
    let ListScope::Namespaces {
        refused, all_known, ..
    } = scope
    else {
        return None;
    };
    match refused.as_slice() {
        [] if *all_known => None,
        [] => Some("in the namespaces that are known to be yours".to_owned()),
        [one] => Some(format!("without the pods of {one}, which you may not list")),
        many => Some(format!(
            "without the pods of {} namespaces that you may not list",
            many.len()
        )),
    }
}

/// Adds up CPU, memory and number of the pods in one place that occupy a node's resources.
async fn add_up(api: &Api, namespace: Option<&str>) -> Result<(u64, u64, u64), KubeError> {
    let collection = path::collection(&ResourceRef::core("pods"), namespace)?;
    let (mut cpu, mut memory, mut pods) = (0, 0, 0);
    let mut position = String::new();
    let mut chunks = 0;
    loop {
        chunks += 1;
        let chunk = path::with_query(
            &collection,
            &[
                ("limit", "500"),
                ("continue", &position),
                (
                    "fieldSelector",
                    "status.phase!=Succeeded,status.phase!=Failed,spec.nodeName!=",
                ),
            ],
        );
        let mut list = api.get(&chunk).await?;
        position = list
            .pointer("/metadata/continue")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        for item in list["items"].as_array_mut().into_iter().flatten() {
            let Ok(pod) = Pod::deserialize(item.take()) else {
                continue;
            };
            let (pod_cpu, pod_memory) = requests(&pod);
            cpu += pod_cpu;
            memory += pod_memory;
            pods += 1;
        }
        if position.is_empty() || pods > MAX_PODS || chunks > MAX_CHUNKS {
            return Ok((cpu, memory, pods));
        }
    }
}

/// Returns the requests that the scheduler uses: the containers together, or the largest init
/// container.
pub(super) fn requests(pod: &Pod) -> (u64, u64) {
    let Some(spec) = &pod.spec else {
        return (0, 0);
    };
    let of = |container: &Container, name: &str, read: fn(&Quantity) -> u64| {
        container
            .resources
            .as_ref()
            .and_then(|resources| resources.requests.as_ref())
            .and_then(|requests| requests.get(name))
            .map_or(0, read)
    };
    let reckon = |name: &str, read: fn(&Quantity) -> u64| {
        let together: u64 = spec.containers.iter().map(|c| of(c, name, read)).sum();
        let largest = spec
            .init_containers
            .iter()
            .flatten()
            .map(|c| of(c, name, read))
            .max();
        let overhead = spec
            .overhead
            .as_ref()
            .and_then(|overhead| overhead.get(name))
            .map_or(0, read);
        together.max(largest.unwrap_or(0)) + overhead
    };
    (reckon("cpu", millicores), reckon("memory", bytes))
}

/// Returns a CPU quantity in millicores.
fn millicores(quantity: &Quantity) -> u64 {
    quantity::millicores(&quantity.0)
}

/// Returns a quantity in its base unit.
fn bytes(quantity: &Quantity) -> u64 {
    quantity::whole(&quantity.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_namespace_that_is_refused_meanwhile_is_left_out_unless_it_is_the_only_one() {
        let mut scope = ListScope::Namespaces {
            listed: vec!["shop".to_owned(), "web".to_owned()],
            refused: Vec::new(),
            all_known: true,
        };
        assert!(leave_out(&mut scope, Some("web")));
        assert_eq!(
            limits(&scope).unwrap(),
            "without the pods of web, which you may not list"
        );
        assert!(!leave_out(&mut scope, Some("shop")));
        assert!(!leave_out(&mut ListScope::Cluster, None));
    }

    #[test]
    fn quantities_are_read_in_every_unit() {
        let cpu = |text: &str| millicores(&Quantity(text.to_owned()));
        assert_eq!((cpu("2"), cpu("250m"), cpu("0.5")), (2000, 250, 500));
        let memory = |text: &str| bytes(&Quantity(text.to_owned()));
        assert_eq!(memory("64Mi"), 67_108_864);
        assert_eq!(memory("1G"), 1_000_000_000);
        assert_eq!(memory("8052740Ki"), 8_246_005_760);
        assert_eq!(memory("nonsense"), 0);
    }

    #[test]
    fn a_large_init_container_counts_instead_of_the_others() {
        let pod = json!({"metadata": {}, "spec": {
            "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "1"}}}],
            "containers": [{"name": "a", "resources": {"requests": {"cpu": "200m", "memory": "1Mi"}}},
                {"name": "b", "resources": {"requests": {"cpu": "300m"}}}]}});
        assert_eq!(
            requests(&serde_json::from_value(pod).unwrap()),
            (1000, 1_048_576)
        );
    }
}
