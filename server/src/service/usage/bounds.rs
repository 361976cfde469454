//! What usage is compared with: requests and limits of pods, what a node can allocate, and the quota
//! of a namespace.
use crate::service::{capacity, quantity};
use k8s_openapi::{
    api::core::v1::{Node, Pod, ResourceQuota},
    apimachinery::pkg::api::resource::Quantity,
};
use portico_domain::panel::{UsageBound, UsageBoundKind};
use std::collections::BTreeMap;

/// The amounts for CPU in millicores and for memory in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    pub cpu: Vec<UsageBound>,
    pub memory: Vec<UsageBound>,
}

impl Bounds {
    fn add(&mut self, kind: UsageBoundKind, cpu: Option<u64>, memory: Option<u64>) {
        let bound = |amount: Option<u64>| {
            let amount = amount.filter(|amount| *amount > 0)?;
            Some(UsageBound { kind, amount })
        };
        self.cpu.extend(bound(cpu));
        self.memory.extend(bound(memory));
    }
}

/// Returns whether a pod has not ended, so that it occupies what it requests.
pub fn is_active(pod: &Pod) -> bool {
    let phase = pod
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref());
    !matches!(phase, Some("Succeeded" | "Failed"))
}

/// Returns the requests and limits of pods together. The limits are left out where a container has
/// none.
pub fn of_pods<'a>(pods: impl Iterator<Item = &'a Pod> + Clone) -> Bounds {
    let mut bounds = Bounds::default();
    let (cpu, memory) = pods.clone().map(capacity::requests).fold(
        (0_u64, 0_u64),
        |(cpu, memory), (more_cpu, more_memory)| {
            (
                cpu.saturating_add(more_cpu),
                memory.saturating_add(more_memory),
            )
        },
    );
    bounds.add(UsageBoundKind::Requests, Some(cpu), Some(memory));
    bounds.add(
        UsageBoundKind::Limits,
        limits(pods.clone(), "cpu", quantity::millicores),
        limits(pods, "memory", quantity::whole),
    );
    bounds
}

/// Returns the sum of the limits; `None` if a container has none.
fn limits<'a>(
    pods: impl Iterator<Item = &'a Pod>,
    name: &str,
    read: fn(&str) -> u64,
) -> Option<u64> {
    let containers = pods.flat_map(|pod| pod.spec.iter().flat_map(|spec| &spec.containers));
    let mut each = containers.map(|container| {
        let limits = container.resources.as_ref()?.limits.as_ref()?;
        amount(limits, name, read)
    });
    each.try_fold(0_u64, |sum, amount| Some(sum.saturating_add(amount?)))
}

/// Returns what a node can allocate to pods.
pub fn of_node(node: &Node) -> Bounds {
    let mut bounds = Bounds::default();
    let allocatable = node
        .status
        .as_ref()
        .and_then(|status| status.allocatable.as_ref());
    if let Some(allocatable) = allocatable {
        bounds.add(
            UsageBoundKind::Allocatable,
            amount(allocatable, "cpu", quantity::millicores),
            amount(allocatable, "memory", quantity::whole),
        );
    }
    bounds
}

/// Adds the quota of a namespace: the smallest of each, as every quota applies.
pub fn add_quota(bounds: &mut Bounds, quotas: &[ResourceQuota]) {
    let smallest = |names: &[&str], read: fn(&str) -> u64| {
        let hard = quotas
            .iter()
            .filter_map(|quota| quota.spec.as_ref())
            // a quota with scopes is about some of the pods only
            .filter(|spec| spec.scopes.is_none() && spec.scope_selector.is_none())
            .filter_map(|spec| spec.hard.as_ref());
        let amounts = hard.flat_map(|hard| {
            names
                .iter()
                .filter_map(move |name| amount(hard, name, read))
        });
        amounts.min()
    };
    bounds.add(
        UsageBoundKind::QuotaRequests,
        smallest(&["requests.cpu", "cpu"], quantity::millicores),
        smallest(&["requests.memory", "memory"], quantity::whole),
    );
    bounds.add(
        UsageBoundKind::QuotaLimits,
        smallest(&["limits.cpu"], quantity::millicores),
        smallest(&["limits.memory"], quantity::whole),
    );
}

fn amount(amounts: &BTreeMap<String, Quantity>, name: &str, read: fn(&str) -> u64) -> Option<u64> {
    amounts.get(name).map(|quantity| read(&quantity.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn pod(resources: &[Value]) -> Pod {
        let containers: Vec<_> = resources
            .iter()
            .map(|resources| json!({"name": "c", "resources": resources}))
            .collect();
        serde_json::from_value(json!({"metadata": {}, "spec": {"containers": containers}})).unwrap()
    }

    fn pairs(bounds: &[UsageBound]) -> Vec<(UsageBoundKind, u64)> {
        bounds
            .iter()
            .map(|bound| (bound.kind, bound.amount))
            .collect()
    }

    #[test]
    fn need_07_requests_are_added_up_and_limits_only_where_every_container_has_one() {
        let both = json!({"requests": {"cpu": "100m", "memory": "64Mi"},
            "limits": {"cpu": "250m", "memory": "128Mi"}});
        let memory_only = json!({"requests": {"cpu": "50m"}, "limits": {"memory": "1Mi"}});
        let pods = [pod(std::slice::from_ref(&both)), pod(&[both, memory_only])];
        let bounds = of_pods(pods.iter());
        assert_eq!(pairs(&bounds.cpu), [(UsageBoundKind::Requests, 250)]);
        assert_eq!(
            pairs(&bounds.memory),
            [
                (UsageBoundKind::Requests, 134_217_728),
                (UsageBoundKind::Limits, 269_484_032)
            ]
        );
        assert_eq!(of_pods([pod(&[json!({})])].iter()), Bounds::default());
        assert_eq!(of_pods([].iter()), Bounds::default());
    }

    #[test]
    fn the_smallest_quota_without_scopes_is_compared() {
        let quota = |spec: Value| serde_json::from_value(json!({"metadata": {}, "spec": spec}));
        let quotas: Vec<ResourceQuota> = [
            json!({"hard": {"requests.cpu": "4", "limits.memory": "1Gi"}}),
            json!({"hard": {"cpu": "2", "pods": "10"}}),
            json!({"hard": {"requests.cpu": "1"}, "scopes": ["BestEffort"]}),
        ]
        .into_iter()
        .map(|spec| quota(spec).unwrap())
        .collect();
        let mut bounds = Bounds::default();
        add_quota(&mut bounds, &quotas);
        assert_eq!(pairs(&bounds.cpu), [(UsageBoundKind::QuotaRequests, 2_000)]);
        assert_eq!(
            pairs(&bounds.memory),
            [(UsageBoundKind::QuotaLimits, 1_073_741_824)]
        );
    }

    #[test]
    fn a_pod_that_has_ended_occupies_nothing() {
        let pod = |phase: &str| {
            serde_json::from_value(json!({"metadata": {}, "status": {"phase": phase}})).unwrap()
        };
        assert!(is_active(&pod("Running")) && is_active(&pod("Pending")));
        assert!(!is_active(&pod("Succeeded")) && !is_active(&pod("Failed")));
    }
}
