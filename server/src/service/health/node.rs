//! Nodes: ready or not, under pressure, or closed for new pods.
use super::{Assessment, sentence};
use k8s_openapi::api::core::v1::Node;
use portico_domain::panel::Health;

pub fn node(node: &Node) -> Assessment {
    let problems = node_problems(node);
    let cordoned = node.spec.as_ref().and_then(|spec| spec.unschedulable) == Some(true);
    let ready = condition(node, "Ready").map(|(status, _)| status);
    let assessment = match ready.as_deref() {
        Some("True") if problems.is_empty() => Assessment::ok("Ready"),
        Some("True") => Assessment::new(Health::Warning, "Ready"),
        Some("False") => Assessment::new(Health::Failed, "Not ready"),
        _ => Assessment::new(Health::Failed, "No answer"),
    };
    let mut assessment = if problems.is_empty() {
        assessment
    } else {
        assessment.because(problems.join(" "))
    };
    if cordoned {
        assessment.status.push_str(", cordoned");
    }
    assessment
}

/// Returns the node's problems, one sentence each.
pub fn node_problems(node: &Node) -> Vec<String> {
    let mut problems = Vec::new();
    match condition(node, "Ready") {
        Some((status, _)) if status == "True" => {}
        Some((status, message)) if status == "False" => {
            problems.push(format!("The kubelet is not ready: {}", sentence(&message)));
        }
        _ => problems.push("The kubelet has stopped reporting.".to_owned()),
    }
    for (kind, words) in [
        ("MemoryPressure", "It is short of memory."),
        ("DiskPressure", "It is short of disk space."),
        ("PIDPressure", "It runs too many processes."),
        ("NetworkUnavailable", "Its network is not set up."),
    ] {
        if condition(node, kind).is_some_and(|(status, _)| status == "True") {
            problems.push(words.to_owned());
        }
    }
    if node.spec.as_ref().and_then(|spec| spec.unschedulable) == Some(true) {
        problems.push("It is cordoned: no new pods are scheduled on it.".to_owned());
    }
    problems
}

fn condition(node: &Node, kind: &str) -> Option<(String, String)> {
    node.status
        .as_ref()?
        .conditions
        .as_ref()?
        .iter()
        .find(|condition| condition.type_ == kind)
        .map(|condition| {
            (
                condition.status.clone(),
                condition.message.clone().unwrap_or_default(),
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn with(conditions: Value, unschedulable: bool) -> Assessment {
        let object = json!({"metadata": {}, "spec": {"unschedulable": unschedulable},
            "status": {"conditions": conditions}});
        node(&serde_json::from_value(object).unwrap())
    }

    #[test]
    fn nodes_are_assessed_by_their_conditions() {
        let ready = json!({"type": "Ready", "status": "True"});
        assert_eq!(with(json!([ready]), false), Assessment::ok("Ready"));
        let cordoned = with(json!([ready]), true);
        assert_eq!(cordoned.status, "Ready, cordoned");
        assert_eq!(cordoned.health, Health::Warning);
        let full = with(
            json!([ready, {"type": "DiskPressure", "status": "True"}]),
            false,
        );
        assert!(full.reason.unwrap().contains("disk space"));
        assert_eq!(
            with(json!([{"type": "Ready", "status": "Unknown"}]), false).status,
            "No answer"
        );
    }
}
