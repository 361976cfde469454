//! Changed fields, applied to the object.
use super::fields::groups;
use crate::service::error::ServiceError;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use portico_domain::panel::{FieldEdit, FieldKind, FormField, ResourceRef};
use serde_json::{Map, Value, json};

/// Changes the fields of an object; only those that the form offers.
pub fn apply(
    resource: &ResourceRef,
    value: &mut Value,
    edits: &[FieldEdit],
) -> Result<(), ServiceError> {
    let groups = groups(resource, value);
    let is_secret = *resource == ResourceRef::core("secrets");
    let mut removed_variables = Vec::new();
    for edit in edits {
        let known = groups.iter().flat_map(|group| &group.fields);
        let known = known
            .into_iter()
            .find(|field| field.pointer == edit.pointer);
        let added = groups.iter().filter_map(|group| group.addable.as_deref());
        let added = added.into_iter().find_map(|base| {
            let name = edit.pointer.strip_prefix(base)?.strip_prefix('/')?;
            (!name.is_empty() && !name.contains('/')).then(|| (base.to_owned(), unescaped(name)))
        });
        let is_encoded = is_secret && edit.pointer.starts_with("/data/");
        match (known, added, &edit.value) {
            (Some(field), _, None) if !field.is_removable => {
                return Err(ServiceError::invalid(format!(
                    "{} is required.",
                    field.label
                )));
            }
            (Some(field), _, None) if is_variable(&field.pointer) => {
                removed_variables.push(field.pointer.trim_end_matches("/value").to_owned());
            }
            (Some(field), _, None) => remove(value, &field.pointer),
            // a request or limit that is empty is none
            (Some(field), _, Some(text))
                if text.trim().is_empty()
                    && (field.pointer.contains("/resources/")
                        || field.kind == FieldKind::Number)
                    && field.is_removable =>
            {
                remove(value, &field.pointer);
            }
            (Some(field), _, Some(text)) => {
                let new = typed(field, text, is_encoded)?;
                set(value, &field.pointer, new);
            }
            (None, Some((base, name)), Some(text)) if base.ends_with("/env") => {
                let variable = json!({ "name": name, "value": text });
                match value.pointer_mut(&base).and_then(Value::as_array_mut) {
                    Some(list) => list.push(variable),
                    None => set(value, &base, json!([variable])),
                }
            }
            (None, Some(_), Some(text)) => {
                let new = if is_encoded {
                    STANDARD.encode(text)
                } else {
                    text.clone()
                };
                set(value, &edit.pointer, json!(new));
            }
            _ => {
                return Err(ServiceError::invalid(
                    "The form does not offer one of the fields that were sent.",
                ));
            }
        }
    }
    // from the end, so that the places of the others stay
    removed_variables.sort_by_key(|pointer| std::cmp::Reverse(index_of(pointer)));
    for pointer in removed_variables {
        remove(value, &pointer);
    }
    Ok(())
}

fn is_variable(pointer: &str) -> bool {
    pointer.contains("/env/") && pointer.ends_with("/value")
}

fn index_of(pointer: &str) -> usize {
    let last = pointer.rsplit('/').next();
    last.and_then(|index| index.parse().ok()).unwrap_or(0)
}

fn typed(field: &FormField, text: &str, is_encoded: bool) -> Result<Value, ServiceError> {
    match field.kind {
        FieldKind::Number => {
            text.trim().parse::<i64>().map(Value::from).map_err(|_| {
                ServiceError::invalid(format!("{} must be a whole number.", field.label))
            })
        }
        _ if is_encoded => Ok(json!(STANDARD.encode(text))),
        FieldKind::Text => Ok(json!(text.trim())),
        FieldKind::Lines | FieldKind::Secret => Ok(json!(text)),
    }
}

/// Sets a value; objects on the way to it that are missing are created.
fn set(value: &mut Value, pointer: &str, new: Value) {
    let mut place = value;
    for segment in pointer.split('/').skip(1) {
        let key = unescaped(segment);
        place = match place {
            Value::Array(list) => match key
                .parse::<usize>()
                .ok()
                .and_then(|index| list.get_mut(index))
            {
                Some(item) => item,
                None => return,
            },
            other => {
                if !other.is_object() {
                    *other = Value::Object(Map::new());
                }
                match other {
                    Value::Object(fields) => fields.entry(key).or_insert(Value::Null),
                    _ => return,
                }
            }
        };
    }
    *place = new;
}

fn remove(value: &mut Value, pointer: &str) {
    let Some((parent, last)) = pointer.rsplit_once('/') else {
        return;
    };
    match value.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            fields.remove(&unescaped(last));
        }
        Some(Value::Array(list)) => {
            if let Some(index) = last.parse().ok().filter(|index| *index < list.len()) {
                list.remove(index);
            }
        }
        _ => {}
    }
}

fn unescaped(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment() -> Value {
        json!({"metadata": {"labels": {"app": "web", "example.org/tier": "front"}},
            "spec": {"replicas": 2, "template": {"spec": {"containers": [{"name": "main", "image": "web:1",
                "resources": {"requests": {"cpu": "100m"}},
                "env": [{"name": "A", "value": "1"}, {"name": "S", "valueFrom": {}}, {"name": "B", "value": "2"}]}]}}}})
    }

    fn edited(edits: &[(&str, Option<&str>)]) -> Result<Value, String> {
        let resource = ResourceRef::new("apps", "v1", "deployments");
        let edits: Vec<_> = edits
            .iter()
            .map(|(pointer, value)| FieldEdit {
                pointer: (*pointer).to_owned(),
                value: value.map(str::to_owned),
            })
            .collect();
        let mut value = deployment();
        let done = apply(&resource, &mut value, &edits);
        done.map(|()| value).map_err(|error| error.message)
    }

    const MAIN: &str = "/spec/template/spec/containers/0";

    #[test]
    fn need_05_image_environment_and_resources_of_a_workload_are_fields() {
        let resource = ResourceRef::new("apps", "v1", "deployments");
        let titles: Vec<_> = groups(&resource, &deployment())
            .into_iter()
            .map(|group| format!("{} {}", group.title, group.fields.len()))
            .collect();
        assert_eq!(
            titles,
            [
                "Settings 1",
                "Container main 5",
                "Environment of main 2",
                "Labels 2"
            ]
        );
        let value = edited(&[
            ("/spec/replicas", Some(" 3 ")),
            (&format!("{MAIN}/image"), Some("web:2")),
            (&format!("{MAIN}/resources/limits/memory"), Some("64Mi")),
            (&format!("{MAIN}/resources/requests/cpu"), Some("")),
            (&format!("{MAIN}/env/0/value"), None),
            (&format!("{MAIN}/env/2/value"), Some("3")),
            (&format!("{MAIN}/env/C"), Some("4")),
            ("/metadata/labels/example.org~1tier", Some("back")),
            ("/metadata/labels/new", Some("x")),
        ])
        .unwrap();
        assert_eq!(value["spec"]["replicas"], 3);
        let main = &value["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(main["image"], "web:2");
        assert_eq!(
            main["resources"],
            json!({"requests": {}, "limits": {"memory": "64Mi"}})
        );
        assert_eq!(
            main["env"],
            json!([{"name": "S", "valueFrom": {}}, {"name": "B", "value": "3"}, {"name": "C", "value": "4"}])
        );
        assert_eq!(
            value["metadata"]["labels"],
            json!({"app": "web", "example.org/tier": "back", "new": "x"})
        );
    }

    #[test]
    fn a_field_that_the_form_does_not_offer_is_refused() {
        for (pointer, value) in [
            ("/metadata/name", Some("other")),
            ("/spec/template/spec/serviceAccountName", Some("admin")),
            ("/metadata/labels/a/b", Some("x")),
            ("/spec/replicas", None),
            ("/spec/replicas", Some("many")),
            (&format!("{MAIN}/env/1/value"), Some("s3cr3t")),
        ] {
            assert!(edited(&[(pointer, value)]).is_err(), "{pointer}");
        }
    }

    #[test]
    fn need_21_the_values_of_a_secret_are_text_in_the_form_and_encoded_in_the_object() {
        let secrets = ResourceRef::core("secrets");
        let mut secret = json!({"data": {"password": "b2xk", "bytes": "/wA="}});
        let fields = groups(&secrets, &secret)[0].fields.clone();
        assert_eq!(fields.len(), 1, "bytes are not text");
        assert_eq!(
            (fields[0].value.as_str(), fields[0].kind),
            ("old", FieldKind::Secret)
        );
        let edits =
            [("/data/password", "new"), ("/data/user", "ada")].map(|(pointer, value)| FieldEdit {
                pointer: pointer.to_owned(),
                value: Some(value.to_owned()),
            });
        apply(&secrets, &mut secret, &edits).unwrap();
        assert_eq!(
            secret["data"],
            json!({"password": "bmV3", "user": "YWRh", "bytes": "/wA="})
        );
    }
}
