//! Reading of single objects, as JSON and as YAML.
use super::{Api, KubeError, path};
use portico_domain::panel::ObjectRef;
use serde_json::{Map, Value, json};

/// Reads one object.
pub async fn get(api: &Api, object: &ObjectRef) -> Result<Value, KubeError> {
    api.get(&path::object(object)?).await
}

/// Returns the object as YAML in the usual order, without managed fields. The values of a Secret
/// are left out, also in the annotation in which `kubectl apply` stores a copy of them.
pub fn yaml(mut object: Value) -> Result<String, KubeError> {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    if object["kind"] == "Secret" && object["apiVersion"] == "v1" {
        redact(&mut object);
    }
    plain_yaml(object)
}

/// Returns an object as YAML in the usual order, with every field that it has.
pub fn plain_yaml(object: Value) -> Result<String, KubeError> {
    serde_norway::to_string(&ordered(object))
        .map_err(|error| KubeError::Protocol(error.to_string()))
}

fn redact(secret: &mut Value) {
    for field in ["data", "stringData"] {
        if let Some(values) = secret.get_mut(field).and_then(Value::as_object_mut) {
            for value in values.values_mut() {
                let length = value.as_str().map_or(0, decoded_length);
                *value = json!(format!("(not shown: {length} bytes)"));
            }
        }
    }
    if let Some(annotations) = secret
        .pointer_mut("/metadata/annotations")
        .and_then(Value::as_object_mut)
        && annotations.contains_key(LAST_APPLIED)
    {
        annotations.insert(
            LAST_APPLIED.to_owned(),
            json!("(not shown: holds the values)"),
        );
    }
}

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Returns the number of bytes that a base64 value encodes.
fn decoded_length(text: &str) -> usize {
    text.trim_end_matches('=').len() * 3 / 4
}

/// Puts `apiVersion`, `kind`, `metadata` and `spec` first, the usual order.
fn ordered(object: Value) -> serde_norway::Value {
    let Value::Object(mut fields) = object else {
        return serde_norway::to_value(object).unwrap_or_default();
    };
    let mut out = serde_norway::Mapping::new();
    let mut push = |name: String, value: Value| {
        out.insert(
            name.into(),
            serde_norway::to_value(value).unwrap_or_default(),
        );
    };
    let mut status = None;
    for name in ["apiVersion", "kind", "metadata", "spec"] {
        if let Some(value) = fields.remove(name) {
            push(name.to_owned(), value);
        }
    }
    take(&mut fields, "status", &mut status);
    for (name, value) in fields {
        push(name, value);
    }
    if let Some(value) = status {
        push("status".to_owned(), value);
    }
    serde_norway::Value::Mapping(out)
}

fn take(fields: &mut Map<String, Value>, name: &str, out: &mut Option<Value>) {
    *out = fields.remove(name);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_values_never_reach_the_yaml() {
        let text = yaml(json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {"name": "db", "managedFields": [{"manager": "kubectl"}],
                "annotations": {LAST_APPLIED: "{\"data\":{\"password\":\"czNjcjN0\"}}"}},
            "data": {"password": "czNjcjN0"},
        }))
        .unwrap();
        assert!(!text.contains("czNjcjN0"), "{text}");
        assert!(!text.contains("managedFields"));
        assert!(text.contains("not shown: 6 bytes"), "{text}");
        assert!(text.starts_with("apiVersion: v1\nkind: Secret\nmetadata:\n"));
    }

    #[test]
    fn other_kinds_are_shown_in_full() {
        let text = yaml(
            json!({"kind": "ConfigMap", "apiVersion": "v1", "data": {"a": "b"}, "status": {}}),
        )
        .unwrap();
        assert!(text.contains("a: b"));
    }
}
