//! Which PodDisruptionBudgets hold up the drain of a node.
use super::workloads;
use serde_json::Value;

/// Returns which budgets select a pod that a drain evicts, as `namespace/name`; the budgets permit no
/// disruption, and the pods are left on the node.
pub fn holding_up(budgets: &[Value], pods_of_node: &[Value]) -> Vec<String> {
    let holding = budgets.iter().filter(|budget| {
        let mut pods = pods_of_node.iter().filter(|pod| workloads::is_evicted(pod));
        pods.any(|pod| namespace(pod) == namespace(budget) && selects(budget, pod))
    });
    holding.map(workloads::name).collect()
}

/// Returns the namespace of an object.
pub fn namespace(object: &Value) -> Option<&str> {
    object
        .pointer("/metadata/namespace")
        .and_then(Value::as_str)
}

/// Returns whether the selector of a budget selects a pod.
fn selects(budget: &Value, pod: &Value) -> bool {
    let Some(selector) = budget
        .pointer("/spec/selector")
        .filter(|one| !one.is_null())
    else {
        return false;
    };
    let label = |key: &str| pod.pointer("/metadata/labels")?.get(key)?.as_str();
    let wanted = selector.get("matchLabels").and_then(Value::as_object);
    let mut wanted = wanted.into_iter().flatten();
    let has_labels = wanted.all(|(key, value)| label(key) == value.as_str());
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    let mut expressions = expressions.into_iter().flatten();
    has_labels && expressions.all(|one| is_met(one, label))
}

/// Returns whether labels meet an expression of a selector; one of an unknown operator is not met.
fn is_met<'a>(expression: &Value, label: impl Fn(&str) -> Option<&'a str>) -> bool {
    let text = |key: &str| expression.get(key).and_then(Value::as_str);
    let Some(found) = text("key").map(label) else {
        return false;
    };
    let values = expression.get("values").and_then(Value::as_array);
    let is_among = |found: &str| values.is_some_and(|values| values.iter().any(|one| one == found));
    match text("operator") {
        Some("In") => found.is_some_and(is_among),
        Some("NotIn") => !found.is_some_and(is_among),
        Some("Exists") => found.is_some(),
        Some("DoesNotExist") => found.is_none(),
        _ => false,
    }
}
