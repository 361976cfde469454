//! What single objects mean for nodes that are replaced.
use serde_json::Value;

/// Maximum number of names in one check.
const MAX_NAMES: usize = 10;

/// Returns `namespace/name`, or the name of an object without a namespace.
pub fn name(object: &Value) -> String {
    let of = |key: &str| object.get("metadata")?.get(key)?.as_str();
    let name = of("name").unwrap_or_default();
    match of("namespace") {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}

/// Returns the first names, and how many there are besides.
pub fn shortened(mut names: Vec<String>) -> Vec<String> {
    let more = names.len().saturating_sub(MAX_NAMES);
    if more > 0 {
        names.truncate(MAX_NAMES);
        names.push(format!("{more} more"));
    }
    names
}

/// Returns whether a node has no condition Ready, or another one than True.
pub fn is_unready(node: &Value) -> bool {
    let mut conditions = array(node, "/status/conditions");
    let ready = conditions.find(|condition| condition.get("type") == Some(&"Ready".into()));
    ready.and_then(|condition| condition.get("status")?.as_str()) != Some("True")
}

/// Returns whether a budget permits no disruption now. One without pods delays no drain.
pub fn is_blocking(budget: &Value) -> bool {
    let number = |path: &str| budget.pointer(path).and_then(Value::as_i64);
    number("/status/disruptionsAllowed") == Some(0)
        && number("/status/expectedPods").unwrap_or_default() > 0
}

/// Returns whether a pod has no controller that would replace it. One that has ended is not missed.
pub fn is_bare(pod: &Value) -> bool {
    !has_ended(pod) && controller(pod).is_none()
}

/// Returns whether a drain evicts a pod: neither one that has ended, nor one of a DaemonSet or of the
/// kubelet itself.
pub fn is_evicted(pod: &Value) -> bool {
    !has_ended(pod) && !matches!(controller(pod), Some("DaemonSet" | "Node"))
}

/// Returns a pod with its volumes on the disk of its node. Pods of DaemonSets have one on each node.
pub fn with_local_data(pod: &Value) -> Option<String> {
    if !is_evicted(pod) {
        return None;
    }
    let mut kinds: Vec<_> = array(pod, "/spec/volumes")
        .filter_map(|volume| {
            ["emptyDir", "hostPath"]
                .into_iter()
                .find(|kind| volume.get(kind).is_some())
        })
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    (!kinds.is_empty()).then(|| format!("{} ({})", name(pod), kinds.join(", ")))
}

fn has_ended(pod: &Value) -> bool {
    let phase = pod.pointer("/status/phase").and_then(Value::as_str);
    matches!(phase, Some("Succeeded" | "Failed"))
}

/// Returns the kind of the controller of a pod.
fn controller(pod: &Value) -> Option<&str> {
    let mut owners = array(pod, "/metadata/ownerReferences");
    let owner = owners.find(|owner| owner.get("controller") == Some(&true.into()))?;
    Some(
        owner
            .get("kind")
            .and_then(Value::as_str)
            .unwrap_or_default(),
    )
}

fn array<'a>(object: &'a Value, path: &str) -> impl Iterator<Item = &'a Value> {
    let found = object.pointer(path).and_then(Value::as_array);
    found.into_iter().flatten()
}
