//! The pods of an object, as a label selector in its text form
//! (<https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/>).
use portico_domain::panel::ResourceRef;
use serde_json::Value;

/// Returns the selector of a workload's or service's pods. `None` if it has none or an empty one,
/// which would select every pod of the namespace.
pub fn of_pods(resource: &ResourceRef, value: &Value) -> Option<String> {
    let field = match resource.plural.as_str() {
        "networkpolicies" => "/spec/podSelector",
        _ => "/spec/selector",
    };
    let selector = value.pointer(field)?;
    let requirements = if *resource == ResourceRef::core("services") {
        equalities(selector)
    } else if matches!(
        (resource.group.as_str(), resource.plural.as_str()),
        ("apps" | "batch", _) | (_, "poddisruptionbudgets" | "networkpolicies")
    ) {
        let mut all = equalities(&selector["matchLabels"]);
        for expression in selector["matchExpressions"]
            .as_array()
            .into_iter()
            .flatten()
        {
            // leaving one out would select foreign pods
            all.push(requirement(expression)?);
        }
        all
    } else {
        return None;
    };
    (!requirements.is_empty()).then(|| requirements.join(","))
}

fn equalities(labels: &Value) -> Vec<String> {
    labels
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)))
        .collect()
}

fn requirement(expression: &Value) -> Option<String> {
    let key = expression["key"].as_str()?;
    let values = || {
        let values = expression["values"].as_array()?;
        let values: Vec<_> = values.iter().filter_map(Value::as_str).collect();
        Some(values.join(","))
    };
    match expression["operator"].as_str()? {
        "In" => Some(format!("{key} in ({})", values()?)),
        "NotIn" => Some(format!("{key} notin ({})", values()?)),
        "Exists" => Some(key.to_owned()),
        "DoesNotExist" => Some(format!("!{key}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn deployment(selector: Value) -> Option<String> {
        let deployments = ResourceRef::new("apps", "v1", "deployments");
        of_pods(&deployments, &json!({ "spec": { "selector": selector } }))
    }

    #[test]
    fn labels_and_expressions_are_one_selector() {
        let selector = deployment(json!({
            "matchLabels": { "app": "web" },
            "matchExpressions": [
                { "key": "tier", "operator": "In", "values": ["a", "b"] },
                { "key": "old", "operator": "DoesNotExist" },
            ],
        }));
        assert_eq!(selector.as_deref(), Some("app=web,tier in (a,b),!old"));
    }

    #[test]
    fn a_service_has_its_labels_alone() {
        let value = json!({ "spec": { "selector": { "app": "web" } } });
        let selector = of_pods(&ResourceRef::core("services"), &value);
        assert_eq!(selector.as_deref(), Some("app=web"));
    }

    #[test]
    fn an_empty_or_unknown_selector_is_none() {
        assert_eq!(deployment(json!({})), None);
        let unknown = json!({ "matchExpressions": [{ "key": "a", "operator": "Near" }] });
        assert_eq!(deployment(unknown), None);
        let claim = json!({ "spec": { "selector": { "matchLabels": { "a": "b" } } } });
        let claims = ResourceRef::core("persistentvolumeclaims");
        assert_eq!(of_pods(&claims, &claim), None);
    }
}
