//! Usage of the rows of a list from `metrics.k8s.io`, with the viewer's own token.
use super::{
    batch::{Batch, Key, Samples},
    collect,
};
use crate::{
    kube::{Api, discovery},
    service::{
        error::ServiceError,
        usage::metrics_api::{self, NodeMetrics, PodMetrics},
    },
};
use portico_domain::panel::UsageSource;

/// Maximum number of pods or nodes that are read: one is about 400 bytes.
const MAX_OBJECTS: usize = 20_000;

/// Measures rows; `None` if the cluster does not serve `metrics.k8s.io`.
///
/// # Errors
/// If no place of the batch could be read, with the first reason.
pub async fn measure(api: &Api, batch: &Batch) -> Result<Option<Samples>, ServiceError> {
    let plural = match batch {
        Batch::Nodes => "nodes",
        Batch::Pods { .. } | Batch::Namespaces(_) => "pods",
    };
    let resource = metrics_api::resource(plural);
    if discovery::catalog(api).await?.find(&resource).is_none() {
        return Ok(None);
    }
    if *batch == Batch::Nodes {
        let nodes: Vec<NodeMetrics> = collect::of_cluster(api, &resource, MAX_OBJECTS).await?;
        return Ok(Some(of_nodes(&nodes)));
    }
    let namespaces = batch.namespaces();
    let read: collect::Collected<PodMetrics> =
        collect::of_namespaces(api, &resource, namespaces, MAX_OBJECTS).await;
    let first = namespaces.iter().find_map(|name| read.failures.get(name));
    if let Some(error) = first
        && read.failures.len() == namespaces.len()
    {
        return Err(error.clone());
    }
    let mut samples = of_pods(batch, &read.items);
    samples.failures = read.failures;
    Ok(Some(samples))
}

fn of_nodes(nodes: &[NodeMetrics]) -> Samples {
    let mut samples = Samples::of(UsageSource::MetricsApi);
    for node in nodes {
        let key = (String::new(), node.metadata.name.clone());
        samples.used.insert(key, node.used());
    }
    samples
}

fn of_pods(batch: &Batch, pods: &[PodMetrics]) -> Samples {
    let mut samples = Samples::of(UsageSource::MetricsApi);
    for pod in pods {
        let namespace = pod.metadata.namespace.clone();
        let key: Key = match batch {
            Batch::Namespaces(_) => (String::new(), namespace),
            Batch::Pods { .. } | Batch::Nodes => (namespace, pod.metadata.name.clone()),
        };
        let used = pod.used();
        let sum = samples.used.entry(key).or_default();
        sum.cpu = sum.cpu.saturating_add(used.cpu);
        sum.memory = sum.memory.saturating_add(used.memory);
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::CpuMemory;
    use serde_json::json;

    fn pods() -> Vec<PodMetrics> {
        let pod = |namespace: &str, name: &str, cpu: &str| {
            json!({"metadata": {"name": name, "namespace": namespace},
                "containers": [{"name": "app", "usage": {"cpu": cpu, "memory": "1Ki"}}]})
        };
        let all = json!([
            pod("shop", "web-0", "100m"),
            pod("shop", "web-1", "50m"),
            pod("bank", "web-0", "7m"),
        ]);
        serde_json::from_value(all).unwrap()
    }

    fn used(samples: &Samples, namespace: &str, name: &str) -> Option<CpuMemory> {
        let key = (namespace.to_owned(), name.to_owned());
        samples.used.get(&key).copied()
    }

    #[test]
    fn need_07_rows_of_namespaces_are_the_sums_of_their_pods() {
        let samples = of_pods(&Batch::Namespaces(Vec::new()), &pods());
        let expected = |cpu: u64, memory: u64| Some(CpuMemory { cpu, memory });
        assert_eq!(used(&samples, "", "shop"), expected(150, 2_048));
        assert_eq!(used(&samples, "", "bank"), expected(7, 1_024));
        let batch = Batch::Pods {
            namespaces: Vec::new(),
            names: Vec::new(),
        };
        let samples = of_pods(&batch, &pods());
        assert_eq!(used(&samples, "shop", "web-0"), expected(100, 1_024));
        assert_eq!(used(&samples, "bank", "web-0"), expected(7, 1_024));
    }

    #[test]
    fn need_07_rows_of_nodes_are_found_by_their_names() {
        let node =
            json!([{"metadata": {"name": "node-1"}, "usage": {"cpu": "1", "memory": "1Mi"}}]);
        let nodes: Vec<NodeMetrics> = serde_json::from_value(node).unwrap();
        let samples = of_nodes(&nodes);
        assert_eq!(used(&samples, "", "node-1").unwrap().cpu, 1_000);
    }
}
