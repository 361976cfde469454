//! Conditions of any kind, and kinds without rules of their own.
use super::{Assessment, sentence};
use jiff::Timestamp;
use portico_domain::panel::{Condition, Health};
use serde_json::Value;

/// The status of an object without conditions: it exists.
pub const EXISTS: &str = "Present";

/// Condition types that report a fault when they are true.
const FAILURE_CONDITIONS: [&str; 9] = [
    "Failed",
    "Stalled",
    "Degraded",
    "ReplicaFailure",
    "MemoryPressure",
    "DiskPressure",
    "PIDPressure",
    "NetworkUnavailable",
    "FailureTarget",
];

/// Condition types that indicate neither health nor a fault.
const NEUTRAL_CONDITIONS: [&str; 7] = [
    "Progressing",
    "Suspended",
    "PodReadyToStartContainers",
    "DisruptionTarget",
    "NamesAccepted",
    "ScalingLimited",
    "DisruptionAllowed",
];

/// Where an autoscaler of `autoscaling/v1` has its conditions.
const CONDITIONS_ANNOTATION: &str = "autoscaling.alpha.kubernetes.io/conditions";

/// Returns the object's conditions, each with its health.
pub fn conditions(object: &Value) -> Vec<Condition> {
    let finished = object
        .pointer("/status/phase")
        .and_then(Value::as_str)
        .is_some_and(|phase| phase == "Succeeded");
    list(object)
        .iter()
        .map(|condition| {
            let text = |name: &str| condition[name].as_str().unwrap_or_default().to_owned();
            let (kind, status, reason) = (text("type"), text("status"), text("reason"));
            let health = if finished || reason == "PodCompleted" {
                Health::Ok
            } else {
                health(&kind, &status)
            };
            Condition {
                health,
                message: text("message"),
                changed_at: condition["lastTransitionTime"]
                    .as_str()
                    .and_then(|time| time.parse::<Timestamp>().ok())
                    .map(Timestamp::as_second),
                kind,
                status,
                reason,
            }
        })
        .collect()
}

fn list(object: &Value) -> Vec<Value> {
    let in_status = object.pointer("/status/conditions");
    if let Some(conditions) = in_status.and_then(Value::as_array) {
        return conditions.clone();
    }
    let annotation = &object["metadata"]["annotations"][CONDITIONS_ANNOTATION];
    annotation
        .as_str()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

fn health(kind: &str, status: &str) -> Health {
    let bad_when_true = FAILURE_CONDITIONS.contains(&kind);
    match status {
        "Unknown" => Health::Unknown,
        "True" if bad_when_true => Health::Failed,
        "False" if !bad_when_true && NEUTRAL_CONDITIONS.contains(&kind) => Health::Unknown,
        "False" if !bad_when_true => Health::Warning,
        _ => Health::Ok,
    }
}

/// Assesses a kind without rules of its own: deletion, conditions, then its phase.
pub fn generic(object: &Value) -> Assessment {
    if super::is_being_deleted(object) {
        return Assessment::new(Health::Progressing, "Being deleted");
    }
    let worst = conditions(object)
        .into_iter()
        .filter(|condition| matches!(condition.health, Health::Warning | Health::Failed))
        .max_by_key(|condition| condition.health);
    if let Some(condition) = worst {
        let status = if condition.status == "False" {
            format!("Not {}", condition.kind)
        } else {
            condition.kind
        };
        let reason = if condition.message.is_empty() {
            condition.reason
        } else {
            condition.message
        };
        return Assessment::new(condition.health, status).because(sentence(&reason));
    }
    let phase = object.pointer("/status/phase").and_then(Value::as_str);
    match phase {
        Some("Terminating") => Assessment::new(Health::Progressing, "Terminating"),
        Some("Failed" | "Error") => Assessment::new(Health::Failed, "Failed"),
        Some("Pending") => Assessment::new(Health::Warning, "Pending"),
        Some(phase) => Assessment::ok(phase),
        None => Assessment::ok(EXISTS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_custom_resource_is_assessed_by_its_worst_condition() {
        let assessment = generic(&json!({"status": {"conditions": [
            {"type": "Ready", "status": "False", "message": "no endpoints"},
            {"type": "Synced", "status": "True"}]}}));
        assert_eq!(assessment.status, "Not Ready");
        assert_eq!(assessment.reason.as_deref(), Some("no endpoints."));
    }

    #[test]
    fn what_has_no_status_is_simply_there() {
        assert_eq!(generic(&json!({"data": {}})), Assessment::ok("Present"));
    }

    #[test]
    fn bad_conditions_are_bad_when_true() {
        let read = |kind: &str, status: &str| {
            conditions(&json!({"status": {"conditions": [{"type": kind, "status": status}]}}))[0]
                .health
        };
        assert_eq!(read("MemoryPressure", "False"), Health::Ok);
        assert_eq!(read("MemoryPressure", "True"), Health::Failed);
        assert_eq!(read("Available", "False"), Health::Warning);
    }
}
