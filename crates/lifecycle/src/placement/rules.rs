//! Whether a node may run a pod: taints, node selectors and required node affinity. What is not understood
//! is not permitted; what is not looked at is named by [`unchecked`].
use super::objects::{Node, Pod, items};
use serde_json::Value;

/// Whether a node may run a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eligibility {
    Yes,
    /// It depends on what was not read.
    Unknown,
    No,
}

/// Returns whether a node may run a pod, whatever room it has; `zone` is that of the pod's present node.
pub fn eligibility(pod: &Pod<'_>, node: &Node<'_>, zone: Option<&str>) -> Eligibility {
    let spec = pod.spec;
    if !node.takes_pods || !tolerates(spec, node) || !is_selected(spec, node) {
        return Eligibility::No;
    }
    match has_affinity(spec, node) {
        Some(true) if pod.has_claims() && node.zone() != zone => Eligibility::Unknown,
        Some(true) => Eligibility::Yes,
        Some(false) => Eligibility::No,
        None => Eligibility::Unknown,
    }
}

/// Returns whether a pod has rules that depend on other pods or on objects that were not read.
pub fn unchecked(pod: &Pod<'_>) -> bool {
    let (spec, affinity) = (pod.spec, &pod.spec["affinity"]);
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let depends_on_pods = ["podAffinity", "podAntiAffinity"]
        .iter()
        .any(|kind| items(&affinity[*kind][required]).next().is_some());
    let is_spread = items(&spec["topologySpreadConstraints"])
        .any(|constraint| constraint["whenUnsatisfiable"] == "DoNotSchedule");
    let has_host_ports = items(&spec["containers"])
        .flat_map(|container| items(&container["ports"]))
        .any(|port| port["hostPort"].as_i64().unwrap_or_default() > 0);
    let has_claims_of_devices = items(&spec["resourceClaims"]).next().is_some();
    let scheduler = spec["schedulerName"].as_str();
    depends_on_pods
        || is_spread
        || has_host_ports
        || has_claims_of_devices
        || scheduler.is_some_and(|name| name != "default-scheduler")
}

/// Returns whether a pod tolerates every taint of a node that keeps pods away.
fn tolerates(spec: &Value, node: &Node<'_>) -> bool {
    let mut hard = node
        .taints
        .iter()
        .filter(|taint| taint["effect"] != "PreferNoSchedule");
    hard.all(|taint| items(&spec["tolerations"]).any(|toleration| covers(toleration, taint)))
}

/// Returns whether a toleration is for a taint.
fn covers(toleration: &Value, taint: &Value) -> bool {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let effect = text(&toleration["effect"]);
    if !effect.is_empty() && effect != text(&taint["effect"]) {
        return false;
    }
    let key = text(&toleration["key"]);
    let is_same_key = key == text(&taint["key"]);
    match text(&toleration["operator"]).as_str() {
        "Exists" => key.is_empty() || is_same_key,
        "" | "Equal" => is_same_key && text(&toleration["value"]) == text(&taint["value"]),
        _ => false,
    }
}

fn is_selected(spec: &Value, node: &Node<'_>) -> bool {
    let mut selector = spec["nodeSelector"].as_object().into_iter().flatten();
    selector.all(|(label, value)| node.labels[label.as_str()] == *value)
}

/// Returns whether one of the terms of the required node affinity fits; `None`: it is not understood.
fn has_affinity(spec: &Value, node: &Node<'_>) -> Option<bool> {
    let required =
        &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    if required.is_null() {
        return Some(true);
    }
    let mut is_understood = true;
    for term in items(&required["nodeSelectorTerms"]) {
        match fits_term(term, node) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => is_understood = false,
        }
    }
    is_understood.then_some(false)
}

fn fits_term(term: &Value, node: &Node<'_>) -> Option<bool> {
    let labels = items(&term["matchExpressions"]).map(|one| (one, label(one, node)));
    let fields = items(&term["matchFields"]).map(|one| {
        let is_name = one["key"] == "metadata.name";
        (one, is_name.then_some(node.name))
    });
    let mut rules = labels.chain(fields).peekable();
    if rules.peek().is_none() {
        // an empty term selects no node
        return Some(false);
    }
    let mut result = Some(true);
    for (rule, value) in rules {
        match matches(rule, value) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => result = None,
        }
    }
    result
}

fn label<'n>(rule: &Value, node: &Node<'n>) -> Option<&'n str> {
    node.labels[rule["key"].as_str()?].as_str()
}

fn matches(rule: &Value, value: Option<&str>) -> Option<bool> {
    let mut values = items(&rule["values"]).filter_map(Value::as_str);
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<i64>().ok());
    match rule["operator"].as_str()? {
        "In" => Some(value.is_some_and(|value| values.any(|one| one == value))),
        "NotIn" => Some(value.is_none_or(|value| values.all(|one| one != value))),
        "Exists" => Some(value.is_some()),
        "DoesNotExist" => Some(value.is_none()),
        "Gt" => Some(number(value)? > number(values.next())?),
        "Lt" => Some(number(value)? < number(values.next())?),
        _ => None,
    }
}
