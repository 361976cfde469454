//! Bodies of requests that create something.
use serde::Serialize;
use serde_json::{Value, json};

/// Returns the body of a request. What has no value is left out, so that the template, the cluster or
/// Magnum decides about it.
pub(super) fn body_of_new(new: &impl Serialize) -> Value {
    let mut body = json!(new);
    if let Some(fields) = body.as_object_mut() {
        fields.retain(|_, value| !is_unset(value));
    }
    body
}

fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(entries) => entries.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_no_value_is_left_out() {
        let new = json!({"a": null, "b": {}, "c": [], "d": "", "e": 0, "f": false,
                         "g": {"h": null}});
        let expected = json!({"d": "", "e": 0, "f": false, "g": {"h": null}});
        assert_eq!(body_of_new(&new), expected);
    }
}
