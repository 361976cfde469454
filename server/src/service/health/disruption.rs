//! The health of PodDisruptionBudgets
//! (<https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-budgets>).
use super::{Assessment, counted};
use portico_domain::panel::Health;
use serde_json::Value;

pub fn budget(object: &Value) -> Assessment {
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64);
    let status = |name: &str| number(&format!("/status/{name}")).unwrap_or(0);
    if number("/status/observedGeneration").is_none() {
        return Assessment::new(Health::Progressing, "Not evaluated yet")
            .because("The cluster has not counted the pods that it protects yet.");
    }
    let (expected, healthy) = (status("expectedPods"), status("currentHealthy"));
    let (required, allowed) = (status("desiredHealthy"), status("disruptionsAllowed"));
    if expected == 0 {
        return Assessment::new(Health::Warning, "Matches no pods").because(
            "Its selector matches no pods, so it protects nothing. Compare the selector with the \
             labels of the pods, or scale the workload up.",
        );
    }
    if allowed > 0 {
        let disruptions = counted(allowed, "disruption");
        return Assessment::ok(format!("{disruptions} allowed"));
    }
    let consequence = "no pod may be evicted, and the drain of a node waits";
    let reason = if required >= expected {
        format!(
            "It requires all of its {expected} pods, so {consequence}. Add replicas, or require \
             fewer pods."
        )
    } else {
        format!(
            "{healthy} of {} healthy, and it requires {required}, so {consequence}. See the pods \
             that are not ready.",
            if expected == 1 {
                "1 pod is".to_owned()
            } else {
                format!("{expected} pods are")
            }
        )
    };
    Assessment::new(Health::Warning, "No disruption allowed").because(reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn assessed(expected: i64, healthy: i64, required: i64, allowed: i64) -> Assessment {
        budget(
            &json!({"status": {"observedGeneration": 1, "expectedPods": expected,
            "currentHealthy": healthy, "desiredHealthy": required, "disruptionsAllowed": allowed}}),
        )
    }

    #[test]
    fn a_budget_that_allows_no_eviction_names_the_reason() {
        let strict = assessed(2, 2, 2, 0);
        assert_eq!(strict.health, Health::Warning);
        assert!(
            strict
                .reason
                .unwrap()
                .contains("requires all of its 2 pods")
        );
        let unhealthy = assessed(3, 2, 2, 0);
        assert_eq!(unhealthy.status, "No disruption allowed");
        assert!(
            unhealthy
                .reason
                .unwrap()
                .starts_with("2 of 3 pods are healthy, and it requires 2")
        );
    }

    #[test]
    fn a_budget_without_pods_protects_nothing() {
        let assessment = assessed(0, 0, 1, 0);
        assert_eq!(
            (assessment.health, assessment.status.as_str()),
            (Health::Warning, "Matches no pods")
        );
    }

    #[test]
    fn a_budget_shows_how_many_pods_may_be_evicted() {
        assert_eq!(assessed(3, 3, 2, 1).status, "1 disruption allowed");
        let new = budget(&json!({"spec": {"minAvailable": 1}}));
        assert_eq!(new.health, Health::Progressing);
    }
}
