//! The fields that a form for an object offers.
use base64::{Engine as _, engine::general_purpose::STANDARD};
use portico_domain::panel::{FieldKind, FormField, FormGroup, ResourceRef};
use serde_json::Value;

/// Returns the fields of an object in the order of the form.
pub fn groups(resource: &ResourceRef, value: &Value) -> Vec<FormGroup> {
    let mut found = Vec::new();
    let plural = resource.plural.as_str();
    let is_workload = matches!(resource.group.as_str(), "apps" | "batch");
    let mut settings = Vec::new();
    if is_workload && value.pointer("/spec/replicas").is_some() {
        settings.push(field(
            value,
            "/spec/replicas",
            "Replicas",
            FieldKind::Number,
            false,
        ));
    }
    if plural == "cronjobs" {
        settings.push(field(
            value,
            "/spec/schedule",
            "Schedule",
            FieldKind::Text,
            false,
        ));
    }
    if plural == "horizontalpodautoscalers" {
        settings.push(field(
            value,
            "/spec/minReplicas",
            "Minimum replicas",
            FieldKind::Number,
            true,
        ));
        settings.push(field(
            value,
            "/spec/maxReplicas",
            "Maximum replicas",
            FieldKind::Number,
            false,
        ));
    }
    if plural == "persistentvolumeclaims" {
        let pointer = "/spec/resources/requests/storage";
        settings.push(field(value, pointer, "Size", FieldKind::Text, false));
    }
    if !settings.is_empty() {
        found.push(group("Settings", settings, None));
    }
    if is_workload {
        let template = if plural == "cronjobs" {
            "/spec/jobTemplate/spec/template/spec/containers"
        } else {
            "/spec/template/spec/containers"
        };
        // the template of a Job cannot be changed
        if plural != "jobs" {
            found.extend(containers(value, template));
        }
    }
    if *resource == ResourceRef::core("configmaps") {
        let fields = entries(value, "/data", FieldKind::Lines);
        found.push(group("Values", fields, Some("/data")));
    }
    if *resource == ResourceRef::core("secrets") {
        let fields = entries(value, "/data", FieldKind::Secret)
            .into_iter()
            .filter_map(|field| {
                let bytes = STANDARD.decode(&field.value).ok()?;
                let value = String::from_utf8(bytes).ok()?;
                Some(FormField { value, ..field })
            })
            .collect();
        found.push(group("Values", fields, Some("/data")));
    }
    let labels = entries(value, "/metadata/labels", FieldKind::Text);
    found.push(group("Labels", labels, Some("/metadata/labels")));
    found
}

fn containers(value: &Value, pointer: &str) -> Vec<FormGroup> {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .enumerate()
        .flat_map(|(index, container)| {
            let base = format!("{pointer}/{index}");
            let name = container["name"].as_str().unwrap_or_default();
            let mut fields = vec![field(
                value,
                &format!("{base}/image"),
                "Image",
                FieldKind::Text,
                false,
            )];
            for (place, label) in [
                ("requests/cpu", "CPU request"),
                ("limits/cpu", "CPU limit"),
                ("requests/memory", "Memory request"),
                ("limits/memory", "Memory limit"),
            ] {
                let place = format!("{base}/resources/{place}");
                fields.push(field(value, &place, label, FieldKind::Text, true));
            }
            let environment = container["env"]
                .as_array()
                .into_iter()
                .flatten()
                .enumerate();
            let environment = environment
                .filter(|(_, variable)| variable.get("valueFrom").is_none())
                .filter_map(|(at, variable)| {
                    let pointer = format!("{base}/env/{at}/value");
                    Some(FormField {
                        value: variable["value"].as_str().unwrap_or_default().to_owned(),
                        label: variable["name"].as_str()?.to_owned(),
                        kind: FieldKind::Text,
                        is_removable: true,
                        pointer,
                    })
                })
                .collect();
            [
                group(&format!("Container {name}"), fields, None),
                group(
                    &format!("Environment of {name}"),
                    environment,
                    Some(&format!("{base}/env")),
                ),
            ]
        })
        .collect()
}

fn group(title: &str, fields: Vec<FormField>, addable: Option<&str>) -> FormGroup {
    FormGroup {
        title: title.to_owned(),
        fields,
        addable: addable.map(str::to_owned),
    }
}

fn field(
    value: &Value,
    pointer: &str,
    label: &str,
    kind: FieldKind,
    is_removable: bool,
) -> FormField {
    let text = match value.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    FormField {
        pointer: pointer.to_owned(),
        label: label.to_owned(),
        value: text,
        kind,
        is_removable,
    }
}

fn entries(value: &Value, pointer: &str, kind: FieldKind) -> Vec<FormField> {
    let map = value.pointer(pointer).and_then(Value::as_object);
    map.into_iter()
        .flatten()
        .filter_map(|(key, value)| {
            Some(FormField {
                pointer: format!("{pointer}/{}", escaped(key)),
                label: key.clone(),
                value: value.as_str()?.to_owned(),
                kind,
                is_removable: true,
            })
        })
        .collect()
}

/// Escapes a key for a JSON pointer (RFC 6901, section 3).
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
