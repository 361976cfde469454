//! Fields that the API server sets, which are noise in a text to edit and in a difference.
use serde_json::{Value, json};

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Removes the fields that only the API server may set, as in a manifest copied from a cluster.
pub fn server_fields(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in [
            "managedFields",
            "uid",
            "resourceVersion",
            "generation",
            "creationTimestamp",
            "selfLink",
        ] {
            metadata.remove(field);
        }
        if let Some(annotations) = metadata
            .get_mut("annotations")
            .and_then(Value::as_object_mut)
        {
            annotations.remove(LAST_APPLIED);
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
    }
    // a custom resource may have a field of this name that is not a status
    if object["status"].is_object()
        && let Some(fields) = object.as_object_mut()
    {
        fields.remove("status");
    }
}

/// Replaces the values of two versions of a Secret by words that state which of them differ.
pub fn hide_values(before: &mut Value, after: &mut Value) {
    if after["kind"] != "Secret" || after["apiVersion"] != "v1" {
        return;
    }
    for field in ["data", "stringData"] {
        let old = before[field].clone();
        hide(before, field, |_, _| "(value not shown)".to_owned());
        hide(after, field, |key, value| {
            if old.get(key) == Some(value) {
                "(value not shown)".to_owned()
            } else {
                "(new value, not shown)".to_owned()
            }
        });
    }
}

fn hide(object: &mut Value, field: &str, words: impl Fn(&str, &Value) -> String) {
    if let Some(values) = object.get_mut(field).and_then(Value::as_object_mut) {
        for (key, value) in values.iter_mut() {
            *value = json!(words(key, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_api_server_sets_is_removed() {
        let mut object = json!({"kind": "Pod", "metadata": {"name": "a", "uid": "1", "managedFields": [],
            "labels": {"a": "b"}, "annotations": {LAST_APPLIED: "{}"}}, "spec": {}, "status": {"phase": "x"}});
        server_fields(&mut object);
        assert_eq!(
            object,
            json!({"kind": "Pod", "metadata": {"name": "a", "labels": {"a": "b"}}, "spec": {}})
        );
        let mut odd = json!({"status": "draft"});
        server_fields(&mut odd);
        assert_eq!(odd, json!({"status": "draft"}));
    }

    #[test]
    fn a_secrets_difference_names_the_keys_and_no_value() {
        let secret = |password: &str| {
            json!({"apiVersion": "v1", "kind": "Secret",
                "data": {"password": password, "user": "YQ=="}})
        };
        let (mut before, mut after) = (secret("b2xk"), secret("bmV3"));
        hide_values(&mut before, &mut after);
        let text = format!("{before}{after}");
        assert!(!text.contains("b2xk") && !text.contains("bmV3") && !text.contains("YQ=="));
        assert_eq!(after["data"]["password"], "(new value, not shown)");
        assert_eq!(after["data"]["user"], before["data"]["user"]);
    }
}
