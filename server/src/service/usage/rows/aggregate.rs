//! The rows of a list, from what was measured and what it is compared with.
use super::{
    batch::{Key, Samples, key},
    collect::Collected,
    workload,
};
use crate::service::{
    error::ServiceError,
    usage::bounds::{self, Bounds},
};
use k8s_openapi::api::core::v1::{Node, Pod, ResourceQuota};
use portico_domain::panel::{CpuMemory, RowFigure, RowFigures, RowUsage, UsageRow};
use std::collections::HashMap;

/// Returns the usage of pods against their requests and limits.
pub fn of_pods(rows: &[UsageRow], samples: &Samples, read: &Collected<Pod>) -> Vec<RowUsage> {
    let mut pods: HashMap<Key, &Pod> = HashMap::new();
    for pod in &read.items {
        pods.insert(key_of(pod), pod);
    }
    rows.iter()
        .map(|row| {
            let key = key(row);
            let pod = pods.get(&key).copied();
            if pod.is_some_and(|pod| !bounds::is_active(pod)) {
                return RowUsage::Unknown("The pod has ended.".to_owned());
            }
            let Some(used) = samples.used.get(&key) else {
                return without_sample(samples, &key.0);
            };
            match pod {
                Some(pod) => known(*used, bounds::of_pods(std::iter::once(pod)), String::new()),
                None => {
                    let note = not_known("Its requests are", read.gap(&key.0));
                    known(*used, Bounds::default(), note)
                }
            }
        })
        .collect()
}

/// Returns the usage of the pods of workloads of one kind, against their requests and limits.
pub fn of_workloads(
    plural: &str,
    rows: &[UsageRow],
    samples: &Samples,
    read: &Collected<Pod>,
) -> Vec<RowUsage> {
    let mut groups: HashMap<Key, Vec<&Pod>> = HashMap::new();
    for pod in &read.items {
        if !bounds::is_active(pod) {
            continue;
        }
        if let Some(name) = workload::name_of(pod, plural) {
            let (namespace, _) = key_of(pod);
            groups.entry((namespace, name)).or_default().push(pod);
        }
    }
    rows.iter()
        .map(|row| {
            let key = key(row);
            // without all pods, the sum would be too small
            if let Some(reason) = read.gap(&key.0) {
                return RowUsage::Unknown(reason);
            }
            match groups.get(&key) {
                Some(pods) => of_workload(pods, samples, &key.0),
                None => RowUsage::Unknown("No pod is running.".to_owned()),
            }
        })
        .collect()
}

fn of_workload(pods: &[&Pod], samples: &Samples, namespace: &str) -> RowUsage {
    let mut used = CpuMemory::default();
    let mut measured = 0;
    for pod in pods {
        if let Some(sample) = samples.used.get(&key_of(pod)) {
            used.cpu = used.cpu.saturating_add(sample.cpu);
            used.memory = used.memory.saturating_add(sample.memory);
            measured += 1;
        }
    }
    if measured == 0 {
        return without_sample(samples, namespace);
    }
    let note = if measured < pods.len() {
        format!("{measured} of {} pods are measured.", pods.len())
    } else {
        String::new()
    };
    known(used, bounds::of_pods(pods.iter().copied()), note)
}

/// Returns the usage of namespaces against their quota.
pub fn of_namespaces(
    rows: &[UsageRow],
    samples: &Samples,
    read: &Collected<ResourceQuota>,
) -> Vec<RowUsage> {
    let mut quotas: HashMap<String, Vec<ResourceQuota>> = HashMap::new();
    for quota in &read.items {
        let namespace = quota.metadata.namespace.clone().unwrap_or_default();
        quotas.entry(namespace).or_default().push(quota.clone());
    }
    rows.iter()
        .map(|row| {
            let Some(used) = samples.used.get(&(String::new(), row.name.clone())) else {
                return without_sample(samples, &row.name);
            };
            let mut bounds = Bounds::default();
            if let Some(quotas) = quotas.get(&row.name) {
                bounds::add_quota(&mut bounds, quotas);
            }
            known(
                *used,
                bounds,
                not_known("Its quota is", read.gap(&row.name)),
            )
        })
        .collect()
}

/// Returns the usage of nodes against what they can allocate.
pub fn of_nodes(
    rows: &[UsageRow],
    samples: &Samples,
    read: &Result<Vec<Node>, ServiceError>,
) -> Vec<RowUsage> {
    let mut nodes: HashMap<String, &Node> = HashMap::new();
    let mut gap = None;
    match read {
        Ok(read) => {
            for node in read {
                nodes.insert(node.metadata.name.clone().unwrap_or_default(), node);
            }
        }
        Err(error) => gap = Some(error.message.clone()),
    }
    rows.iter()
        .map(|row| {
            let Some(used) = samples.used.get(&(String::new(), row.name.clone())) else {
                return without_sample(samples, "");
            };
            let bounds = nodes.get(&row.name).map(|node| bounds::of_node(node));
            let note = not_known("What it can allocate is", gap.clone());
            known(*used, bounds.unwrap_or_default(), note)
        })
        .collect()
}

fn key_of(pod: &Pod) -> Key {
    let metadata = &pod.metadata;
    (
        metadata.namespace.clone().unwrap_or_default(),
        metadata.name.clone().unwrap_or_default(),
    )
}

fn known(used: CpuMemory, bounds: Bounds, note: String) -> RowUsage {
    RowUsage::Known(RowFigures {
        cpu: RowFigure {
            used: used.cpu,
            bounds: bounds.cpu,
        },
        memory: RowFigure {
            used: used.memory,
            bounds: bounds.memory,
        },
        note,
    })
}

/// Returns why a row has no sample.
fn without_sample(samples: &Samples, namespace: &str) -> RowUsage {
    RowUsage::Unknown(match samples.failures.get(namespace) {
        Some(error) => error.message.clone(),
        None => format!("{} has no recent samples of it.", samples.source.words()),
    })
}

/// Returns a sentence about what is missing; empty if nothing is.
fn not_known(what: &str, gap: Option<String>) -> String {
    gap.map_or_else(String::new, |reason| format!("{what} not known. {reason}"))
}

#[cfg(test)]
#[path = "aggregate_tests.rs"]
mod tests;
