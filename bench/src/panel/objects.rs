//! The objects of a large cluster besides pods. They depend only on their numbers.
use super::pods::Pod;
use serde_json::{Value, json};

pub const NAMESPACES: usize = 200;
pub const NODES: usize = 1_000;
pub const PODS: usize = 10_000;
pub const EVENTS: usize = 10_000;
/// For a run that shows only that everything works.
pub const FEW_PODS: usize = 1_000;
pub const FEW_EVENTS: usize = 1_000;

pub fn namespace_name(number: usize) -> String {
    format!("team-{number:03}")
}

pub fn node_name(number: usize) -> String {
    format!("node-{number:04}")
}

pub fn namespace(number: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": namespace_name(number), "labels": {"team": namespace_name(number)}},
    })
}

/// Returns a node with its status, which the API server accepts with the object. One in a hundred is
/// not ready.
pub fn node(number: usize, now: &str) -> Value {
    let name = node_name(number);
    let ready = number % 100 != 17;
    let condition = |kind: &str, is: bool, reason: &str| {
        json!({
            "type": kind, "status": if is { "True" } else { "False" }, "reason": reason,
            "message": reason, "lastHeartbeatTime": now, "lastTransitionTime": now,
        })
    };
    let room = json!({"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "200Gi"});
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
            "topology.kubernetes.io/zone": format!("zone-{}", number % 3),
            "node.kubernetes.io/instance-type": "m1.xlarge",
        }},
        "spec": {"providerID": format!("openstack:///{name}")},
        "status": {
            "capacity": room, "allocatable": room,
            "addresses": [
                {"type": "InternalIP", "address": format!("10.0.{}.{}", number / 250, number % 250 + 1)},
                {"type": "Hostname", "address": name},
            ],
            "conditions": [
                condition("MemoryPressure", false, "KubeletHasSufficientMemory"),
                condition("DiskPressure", false, "KubeletHasNoDiskPressure"),
                condition("PIDPressure", false, "KubeletHasSufficientPID"),
                condition("Ready", ready, if ready { "KubeletReady" } else { "KubeletNotReady" }),
            ],
            "nodeInfo": {
                "machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "6.1.0",
                "osImage": "Debian GNU/Linux 12", "containerRuntimeVersion": "containerd://1.6.20",
                "kubeletVersion": "v1.20.2", "kubeProxyVersion": "v1.20.2",
                "operatingSystem": "linux", "architecture": "amd64",
            },
        },
    })
}

/// Returns an event of one of this number of pods.
pub fn event(number: usize, pods: usize, now: &str) -> Value {
    let pod = Pod(mixed(number) as usize % pods);
    let (kind, reason, message) = match number % 5 {
        0 => ("Warning", "BackOff", "Back-off restarting failed container"),
        1 => (
            "Normal",
            "Pulled",
            "Container image is already present on the machine",
        ),
        2 => ("Normal", "Created", "Created container"),
        3 => (
            "Normal",
            "Scheduled",
            "Successfully assigned the pod to a node",
        ),
        _ => (
            "Warning",
            "Unhealthy",
            "Readiness probe failed: HTTP probe failed with statuscode: 503",
        ),
    };
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": format!("{}.{number:016x}", pod.name()), "namespace": pod.namespace()},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": pod.name(), "namespace": pod.namespace()},
        "type": kind, "reason": reason, "message": message, "count": number % 30 + 1,
        "firstTimestamp": now, "lastTimestamp": now,
        "source": {"component": "kubelet", "host": pod.node()},
    })
}

/// Spreads a number (SplitMix64), so that neighbours differ.
#[allow(clippy::cast_possible_truncation, reason = "numbers of objects")]
pub fn mixed(number: usize) -> u64 {
    let mut z = (number as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
