//! The health of ResourceQuotas (<https://kubernetes.io/docs/concepts/policy/resource-quotas/>).
use super::Assessment;
use crate::service::quantity::number;
use portico_domain::panel::Health;
use serde_json::Value;

/// Share of a quota in percent from which it needs attention.
pub const QUOTA_WARNING_PERCENT: f64 = 90.0;

pub fn quota(object: &Value) -> Assessment {
    let (used, hard) = (&object["status"]["used"], &object["status"]["hard"]);
    let mut exhausted = Vec::new();
    let mut nearly = Vec::new();
    for (resource, limit) in hard.as_object().into_iter().flatten() {
        match percent(&used[resource], limit) {
            Some(percent) if percent >= 100.0 => exhausted.push(resource.as_str()),
            Some(percent) if percent >= QUOTA_WARNING_PERCENT => {
                nearly.push(format!("{resource} ({percent:.0} %)"));
            }
            _ => {}
        }
    }
    if !exhausted.is_empty() {
        let verb = if exhausted.len() == 1 { "is" } else { "are" };
        let mut reason = format!(
            "{} {verb} used up: new objects that need more are refused. Delete what is not needed, \
             or ask for a larger quota.",
            exhausted.join(", ")
        );
        if !nearly.is_empty() {
            reason.push_str(&format!(" Nearly used up: {}.", nearly.join(", ")));
        }
        return Assessment::new(Health::Warning, "Exhausted").because(reason);
    }
    if !nearly.is_empty() {
        return Assessment::new(Health::Warning, "Nearly exhausted").because(format!(
            "Nearly used up: {}. Ask for a larger quota before new objects are refused.",
            nearly.join(", ")
        ));
    }
    if hard.is_object() {
        Assessment::ok("Within its limits")
    } else {
        Assessment::new(Health::Progressing, "Not evaluated yet")
            .because("The cluster has not added up what is used yet.")
    }
}

/// Returns the used share of a limit in percent. `None` if a quantity is not a number, and if nothing
/// is allowed and nothing used.
fn percent(used: &Value, limit: &Value) -> Option<f64> {
    let (used, limit) = (number(used.as_str()?)?, number(limit.as_str()?)?);
    if limit > 0.0 {
        Some(used / limit * 100.0)
    } else {
        (used > 0.0).then_some(f64::INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn assessed(used: &str, hard: &str) -> Assessment {
        quota(&json!({"status": {
            "used": {"pods": used, "requests.cpu": "100m"},
            "hard": {"pods": hard, "requests.cpu": "2"}}}))
    }

    #[test]
    fn a_quota_needs_attention_from_ninety_percent_and_names_the_resource() {
        for (used, hard, health, status) in [
            ("8", "10", Health::Ok, "Within its limits"),
            ("9", "10", Health::Warning, "Nearly exhausted"),
            ("10", "10", Health::Warning, "Exhausted"),
            ("11", "10", Health::Warning, "Exhausted"),
            // nothing is allowed, and nothing used
            ("0", "0", Health::Ok, "Within its limits"),
        ] {
            let assessment = assessed(used, hard);
            assert_eq!(
                (assessment.health, assessment.status.as_str()),
                (health, status)
            );
        }
        assert!(assessed("9", "10").reason.unwrap().contains("pods (90 %)"));
        assert!(
            assessed("10", "10")
                .reason
                .unwrap()
                .starts_with("pods is used up")
        );
    }

    #[test]
    fn a_new_quota_is_not_evaluated_yet() {
        let new = quota(&json!({"spec": {"hard": {"pods": "1"}}}));
        assert_eq!(new.health, Health::Progressing);
    }
}
