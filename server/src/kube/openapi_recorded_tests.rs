//! The OpenAPI definitions of a current release, as recorded in `tests/data/kubernetes-1.37`.
use super::*;
use serde_json::json;

const KINDS: [(&str, &str, &str); 5] = [
    ("apps", "v1", "Deployment"),
    ("autoscaling", "v2", "HorizontalPodAutoscaler"),
    ("batch", "v1", "CronJob"),
    ("networking.k8s.io", "v1", "Ingress"),
    ("policy", "v1", "PodDisruptionBudget"),
];

fn recorded() -> Value {
    serde_json::from_str(include_str!(
        "../../tests/data/kubernetes-1.37/openapi.json"
    ))
    .unwrap()
}

/// Returns a definition as version 3 writes it: a reference with a description beside it is an `allOf`.
fn as_v3(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let mut fields: Map<String, Value> = fields
                .iter()
                .map(|(name, value)| (name.clone(), as_v3(value)))
                .collect();
            let target = fields.get("$ref").and_then(Value::as_str);
            if let Some(name) = target.and_then(|target| target.strip_prefix(V2_REFERENCE)) {
                let reference = json!({ "$ref": format!("{V3_REFERENCE}{name}") });
                fields.remove("$ref");
                if fields.is_empty() {
                    return reference;
                }
                fields.insert("allOf".to_owned(), json!([reference]));
            }
            Value::Object(fields)
        }
        Value::Array(items) => items.iter().map(as_v3).collect(),
        other => other.clone(),
    }
}

fn schema(group: &str, version: &str, kind: &str) -> KindSchema {
    from_v2(&recorded(), group, version, kind).unwrap()
}

/// Returns the schema at a path of fields; `[]` selects the items of a list.
fn at<'a>(schema: &'a KindSchema, path: &[&str]) -> &'a Value {
    let resolve = |mut value: &'a Value| {
        while let Some(target) = value.get("$ref").and_then(Value::as_str) {
            let name = target.strip_prefix(V2_REFERENCE).unwrap();
            value = &schema.definitions[&*unescape(name)];
        }
        value
    };
    let name = schema.root.target.strip_prefix(V2_REFERENCE).unwrap();
    let root = resolve(&schema.definitions[name]);
    path.iter().fold(root, |value, field| match *field {
        "[]" => resolve(&value["items"]),
        field => resolve(&value["properties"][field]),
    })
}

#[test]
fn recorded_kinds_of_the_current_release_come_with_all_their_definitions() {
    for (group, version, kind) in KINDS {
        let schema = schema(group, version, kind);
        let text = serde_json::to_string(&schema).unwrap();
        for part in text.split(V2_REFERENCE).skip(1) {
            let name = part.split('"').next().unwrap();
            let is_known = schema.definitions.contains_key(&*unescape(name));
            assert!(is_known, "{kind}: {name}");
        }
        for field in ["apiVersion", "kind", "metadata", "spec", "status"] {
            assert!(at(&schema, &[field]).is_object(), "{kind}: {field}");
        }
    }
}

#[test]
fn recorded_definitions_read_the_same_in_both_versions_of_openapi() {
    let document = recorded();
    let v3 = json!({ "components": { "schemas": as_v3(&document["definitions"]) } });
    for (group, version, kind) in KINDS {
        let expected = from_v2(&document, group, version, kind);
        assert!(expected.is_some(), "{kind}");
        assert_eq!(from_v3(&v3, group, version, kind), expected, "{kind}");
    }
}

#[test]
fn recorded_fields_that_are_newer_than_the_live_cluster_are_known() {
    let deployment = schema("apps", "v1", "Deployment");
    let container = ["spec", "template", "spec", "containers", "[]"];
    let field = |name: &'static str| at(&deployment, &[&container[..], &[name]].concat());
    assert_eq!(field("resizePolicy")["type"], "array");
    assert_eq!(field("restartPolicy")["type"], "string");
    let autoscaler = schema("autoscaling", "v2", "HorizontalPodAutoscaler");
    let behavior = at(&autoscaler, &["spec", "behavior", "scaleDown"]);
    assert!(behavior["properties"]["stabilizationWindowSeconds"].is_object());
    let cron_job = schema("batch", "v1", "CronJob");
    assert_eq!(at(&cron_job, &["spec", "timeZone"])["type"], "string");
    let budget = schema("policy", "v1", "PodDisruptionBudget");
    let policy = at(&budget, &["spec", "unhealthyPodEvictionPolicy"]);
    assert!(
        policy["description"]
            .as_str()
            .unwrap()
            .contains("AlwaysAllow")
    );
    let ingress = schema("networking.k8s.io", "v1", "Ingress");
    let path = ["spec", "rules", "[]", "http", "paths", "[]"];
    assert_eq!(
        at(&ingress, &path)["required"],
        json!(["pathType", "backend"])
    );
}

#[test]
fn recorded_numbers_or_strings_and_quantities_take_both() {
    let budget = schema("policy", "v1", "PodDisruptionBudget");
    assert_eq!(
        at(&budget, &["spec", "minAvailable"])[INT_OR_STRING],
        Value::Bool(true)
    );
    let deployment = schema("apps", "v1", "Deployment");
    assert_eq!(deployment.definitions[QUANTITY], json!({}));
}

#[test]
fn recorded_versions_that_were_removed_have_no_schema() {
    let document = recorded();
    for (group, version, kind) in [
        ("batch", "v1beta1", "CronJob"),
        ("policy", "v1beta1", "PodDisruptionBudget"),
        ("networking.k8s.io", "v1beta1", "Ingress"),
        ("extensions", "v1beta1", "Ingress"),
        ("autoscaling", "v2beta2", "HorizontalPodAutoscaler"),
    ] {
        assert_eq!(
            from_v2(&document, group, version, kind),
            None,
            "{group}/{version}"
        );
    }
}
