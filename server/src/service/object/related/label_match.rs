//! Label selectors as objects, matched against labels
//! (<https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#resources-that-support-set-based-requirements>).
use serde_json::Value;

/// Returns whether a map of labels, as of a Service, selects `labels`. An empty one selects nothing.
pub fn map_selects(selector: &Value, labels: &Value) -> bool {
    let wanted = selector.as_object();
    wanted.is_some_and(|wanted| !wanted.is_empty() && has_all(selector, labels))
}

/// Returns whether a selector with `matchLabels` and `matchExpressions` selects `labels`. An empty one
/// selects everything; a requirement that is not understood selects nothing.
pub fn selects(selector: &Value, labels: &Value) -> bool {
    let Some(fields) = selector.as_object() else {
        return false;
    };
    let expressions = fields
        .get("matchExpressions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    has_all(&selector["matchLabels"], labels)
        && expressions
            .into_iter()
            .all(|expression| fulfils(expression, labels))
}

fn has_all(wanted: &Value, labels: &Value) -> bool {
    wanted
        .as_object()
        .into_iter()
        .flatten()
        .all(|(key, value)| labels.get(key) == Some(value))
}

fn fulfils(expression: &Value, labels: &Value) -> bool {
    let Some(key) = expression["key"].as_str() else {
        return false;
    };
    let label = labels.get(key);
    let is_listed = || {
        let values = expression["values"].as_array();
        label.is_some_and(|label| values.is_some_and(|values| values.contains(label)))
    };
    match expression["operator"].as_str() {
        Some("In") => is_listed(),
        Some("NotIn") => !is_listed(),
        Some("Exists") => label.is_some(),
        Some("DoesNotExist") => label.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_services_selector_needs_every_label_and_an_empty_one_selects_nothing() {
        let labels = json!({"app": "web", "tier": "front"});
        assert!(map_selects(&json!({"app": "web"}), &labels));
        assert!(!map_selects(
            &json!({"app": "web", "tier": "back"}),
            &labels
        ));
        assert!(!map_selects(&json!({}), &labels));
        assert!(!map_selects(&Value::Null, &labels));
    }

    #[test]
    fn expressions_are_matched_as_the_api_server_does() {
        let labels = json!({"app": "web"});
        let selects =
            |expression: Value| selects(&json!({"matchExpressions": [expression]}), &labels);
        assert!(selects(
            json!({"key": "app", "operator": "In", "values": ["web", "db"]})
        ));
        assert!(!selects(
            json!({"key": "app", "operator": "In", "values": ["db"]})
        ));
        assert!(selects(
            json!({"key": "old", "operator": "NotIn", "values": ["yes"]})
        ));
        assert!(!selects(
            json!({"key": "app", "operator": "NotIn", "values": ["web"]})
        ));
        assert!(selects(json!({"key": "app", "operator": "Exists"})));
        assert!(!selects(json!({"key": "app", "operator": "DoesNotExist"})));
        assert!(!selects(json!({"key": "app", "operator": "Near"})));
    }

    #[test]
    fn an_empty_selector_selects_everything_and_none_nothing() {
        assert!(selects(&json!({}), &json!({"a": "b"})));
        assert!(!selects(&Value::Null, &json!({"a": "b"})));
    }
}
