//! What a drain does with the pods of a node, by the rules of `kubectl drain`.
use serde_json::Value;

/// The annotation of a pod that the kubelet reads from a file.
const MIRROR: &str = "/metadata/annotations/kubernetes.io~1config.mirror";

/// What the user accepts to lose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrainOptions {
    /// Pods without a controller: nothing creates them again.
    pub unmanaged: bool,
    /// The data of emptyDir volumes.
    pub local_data: bool,
}

/// What a drain does with a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It belongs to the node; the reason as a sentence.
    Stays(&'static str),
    /// It is being deleted.
    Terminating,
    /// It is evicted.
    Evicted,
    /// The user has to accept a loss first; the reason as a sentence.
    NeedsUser(&'static str),
}

/// Returns what a drain does with a pod.
pub fn fate(pod: &Value, options: DrainOptions) -> Fate {
    let controller = pod
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .find(|owner| owner["controller"] == true);
    if pod.pointer(MIRROR).is_some() {
        return Fate::Stays("The node itself runs it.");
    }
    let is_finished = matches!(
        pod.pointer("/status/phase").and_then(Value::as_str),
        Some("Succeeded" | "Failed")
    );
    if controller.is_some_and(|owner| owner["kind"] == "DaemonSet") && !is_finished {
        return Fate::Stays("A DaemonSet runs it on every node.");
    }
    if pod.pointer("/metadata/deletionTimestamp").is_some() {
        return Fate::Terminating;
    }
    if is_finished {
        return Fate::Evicted;
    }
    if controller.is_none() && !options.unmanaged {
        return Fate::NeedsUser("It has no controller: nothing creates it again.");
    }
    let has_local_data = pod
        .pointer("/spec/volumes")
        .and_then(Value::as_array)
        .is_some_and(|volumes| {
            volumes
                .iter()
                .any(|volume| volume.get("emptyDir").is_some())
        });
    if has_local_data && !options.local_data {
        return Fate::NeedsUser("The data of its emptyDir volumes would be lost.");
    }
    Fate::Evicted
}

/// Returns why a PodDisruptionBudget does not permit an eviction, in the words of the API server; `answer` is
/// its response with the status 429.
pub fn budget(answer: &Value) -> String {
    let causes = answer
        .pointer("/details/causes")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|cause| cause["message"].as_str());
    let words: Vec<_> = causes.collect();
    let words = if words.is_empty() {
        answer["message"].as_str().unwrap_or_default().to_owned()
    } else {
        words.join("; ")
    };
    let words = words.trim_end_matches('.');
    if words.is_empty() {
        "A PodDisruptionBudget does not allow the eviction now.".to_owned()
    } else {
        format!("{words}.")
    }
}

/// Checks that a node is cordoned and nothing is left to evict; `pods` are all pods of the node.
///
/// # Errors
/// Why it is not drained, as a sentence.
pub fn ensure_drained<'a>(
    node: &Value,
    pods: impl IntoIterator<Item = &'a Value>,
) -> Result<(), String> {
    let name = node["metadata"]["name"].as_str().unwrap_or_default();
    if node["spec"]["unschedulable"] != true {
        return Err(format!(
            "The node {name} is not cordoned: new pods can start on it."
        ));
    }
    let remaining = pods
        .into_iter()
        .filter(|pod| !matches!(fate(pod, DrainOptions::default()), Fate::Stays(_)));
    let mut names: Vec<_> = remaining.map(name_of).collect();
    names.sort();
    if names.is_empty() {
        return Ok(());
    }
    Err(format!(
        "The node {name} is not drained: it still runs {}.",
        crate::placement::names(&names)
    ))
}

/// Returns `namespace/name` of a pod.
pub fn name_of(pod: &Value) -> String {
    let text = |key: &str| pod["metadata"][key].as_str().unwrap_or_default();
    format!("{}/{}", text("namespace"), text("name"))
}
