//! The health of HorizontalPodAutoscalers of all API versions
//! (<https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/>).
use super::{Assessment, conditions, counted, sentence};
use portico_domain::panel::{Condition, Health};
use serde_json::Value;

pub fn autoscaler(object: &Value) -> Assessment {
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64);
    let max = number("/spec/maxReplicas").unwrap_or(0);
    let min = number("/spec/minReplicas").unwrap_or(1);
    let current = number("/status/currentReplicas").unwrap_or(0);
    let conditions = conditions(object);
    let condition = |kind: &str, status: &str| {
        let mut all = conditions.iter();
        all.find(|condition| condition.kind == kind && condition.status == status)
    };
    if let Some(failure) = condition("AbleToScale", "False") {
        return Assessment::new(Health::Failed, "Cannot scale").because(format!(
            "It cannot scale its target: {} Check that the target exists and can be scaled.",
            message(failure)
        ));
    }
    if let Some(inactive) = condition("ScalingActive", "False") {
        if inactive.reason == "ScalingDisabled" {
            return Assessment::ok("Disabled").because(
                "Its target is scaled to zero: it does nothing until the target is scaled up.",
            );
        }
        return Assessment::new(Health::Warning, "No metrics").because(format!(
            "It cannot calculate how many replicas are needed: {} Check that the cluster serves \
             these metrics and that every container has requests for them.",
            message(inactive)
        ));
    }
    let replicas = counted(current, "replica");
    let is_limited = condition("ScalingLimited", "True")
        .is_some_and(|limited| limited.reason == "TooManyReplicas");
    if is_limited {
        return Assessment::new(Health::Warning, format!("{replicas}, the maximum")).because(
            format!(
                "The load needs more than its maximum of {}. Raise the maximum, or give each pod \
                 more resources.",
                counted(max, "replica")
            ),
        );
    }
    if conditions.is_empty() && current == 0 {
        return Assessment::new(Health::Progressing, "Not evaluated yet")
            .because("The cluster has not compared the metrics with the target yet.");
    }
    if current >= max && max > min {
        return Assessment::ok(format!("{replicas}, the maximum"))
            .because("It adds no replicas if the load grows, unless the maximum is raised.");
    }
    Assessment::ok(format!("{replicas}, {min} to {max} allowed"))
}

fn message(condition: &Condition) -> String {
    sentence(if condition.message.is_empty() {
        &condition.reason
    } else {
        &condition.message
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn scaler(current: i64, conditions: Value) -> Value {
        json!({"spec": {"minReplicas": 1, "maxReplicas": 4},
            "status": {"currentReplicas": current, "conditions": conditions}})
    }

    #[test]
    fn an_autoscaler_is_assessed_by_its_conditions() {
        let condition = |kind: &str, status: &str, reason: &str| json!([{"type": kind, "status": status, "reason": reason, "message": "no such target"}]);
        for (object, health, status) in [
            (
                scaler(2, condition("AbleToScale", "False", "FailedGetScale")),
                Health::Failed,
                "Cannot scale",
            ),
            (
                scaler(
                    2,
                    condition("ScalingActive", "False", "FailedGetResourceMetric"),
                ),
                Health::Warning,
                "No metrics",
            ),
            (
                scaler(0, condition("ScalingActive", "False", "ScalingDisabled")),
                Health::Ok,
                "Disabled",
            ),
            (
                scaler(4, condition("ScalingLimited", "True", "TooManyReplicas")),
                Health::Warning,
                "4 replicas, the maximum",
            ),
            (
                scaler(1, condition("ScalingLimited", "True", "TooFewReplicas")),
                Health::Ok,
                "1 replica, 1 to 4 allowed",
            ),
            (
                scaler(4, condition("AbleToScale", "True", "ReadyForNewScale")),
                Health::Ok,
                "4 replicas, the maximum",
            ),
            (
                scaler(0, json!([])),
                Health::Progressing,
                "Not evaluated yet",
            ),
        ] {
            let assessment = autoscaler(&object);
            assert_eq!(
                (assessment.health, assessment.status.as_str()),
                (health, status)
            );
        }
    }

    #[test]
    fn the_first_version_has_its_conditions_in_an_annotation() {
        let object = json!({"metadata": {"annotations": {"autoscaling.alpha.kubernetes.io/conditions":
                "[{\"type\":\"AbleToScale\",\"status\":\"False\",\"reason\":\"FailedGetScale\",\"message\":\"deployments \\\"web\\\" not found\"}]"}},
            "spec": {"maxReplicas": 3}, "status": {"currentReplicas": 0}});
        let assessment = autoscaler(&object);
        assert_eq!(assessment.health, Health::Failed);
        assert!(
            assessment
                .reason
                .unwrap()
                .contains("\"web\" not found. Check")
        );
    }
}
