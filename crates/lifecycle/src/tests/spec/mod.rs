//! The specification and its forms.
mod command_line;
mod request;
mod round_trip;
mod validation;

use serde_json::{Value, json};

use crate::spec::{ClusterDocument, ClusterSpec, Exposure, Metadata, SpecError};

/// The example of the guide.
pub(super) fn shop() -> Value {
    json!({
        "apiVersion": "portico.dev/v1alpha1",
        "kind": "Cluster",
        "metadata": {
            "name": "shop",
            "project": "k8s-prod",
            "annotations": { "portico.dev/reason": "CHG-12" },
        },
        "spec": {
            "provider": { "kind": "OpenStack", "cloud": "acme" },
            "template": "k8s-1.32-b",
            "keypair": "ops",
            "controlPlane": { "replicas": 3, "flavor": "m1.medium" },
            "network": { "existing": { "network": "k8s-net", "subnet": "k8s-subnet" } },
            "api": { "exposure": "public", "allowedCIDRs": ["198.51.100.0/24"] },
            "labels": { "auto_healing_enabled": "true" },
            "nodeGroups": [
                { "name": "default-worker", "replicas": 3, "flavor": "m1.small" },
                {
                    "name": "gpu", "replicas": 1, "min": 0, "max": 3, "flavor": "m1.large",
                    "labels": { "tier": "gpu" }, "taints": ["gpu=true:NoSchedule"],
                },
            ],
            "services": ["monitoring", "ingress"],
            "protection": true,
        },
    })
}

pub(super) fn minimal(name: &str, template: &str) -> ClusterDocument {
    let metadata = Metadata {
        name: name.to_owned(),
        ..Metadata::default()
    };
    let spec = ClusterSpec {
        template: template.to_owned(),
        ..ClusterSpec::default()
    };
    ClusterDocument::new(metadata, spec)
}

#[test]
fn the_example_of_the_guide_is_read_and_written_unchanged() {
    let document = ClusterDocument::read(shop()).unwrap();
    assert_eq!(document.to_value(), shop());
    assert_eq!(document.spec.api.exposure, Some(Exposure::Public));
    let groups: Vec<_> = document
        .spec
        .further_groups()
        .map(|group| &group.name)
        .collect();
    assert_eq!(groups, ["gpu"]);
}

#[test]
fn absent_fields_are_left_out() {
    let value = minimal("shop", "k8s").to_value();
    assert_eq!(
        value,
        json!({
            "apiVersion": "portico.dev/v1alpha1",
            "kind": "Cluster",
            "metadata": { "name": "shop" },
            "spec": { "template": "k8s" },
        })
    );
}

#[test]
fn values_of_yaml_are_read_as_text_in_labels() {
    let mut value = shop();
    value["spec"]["labels"] = json!({ "auto_healing_enabled": true, "boot_volume_size": 40 });
    let document = ClusterDocument::read(value).unwrap();
    assert_eq!(document.spec.labels["auto_healing_enabled"], "true");
    assert_eq!(document.spec.labels["boot_volume_size"], "40");
}

#[test]
fn labels_with_a_field_move_to_it() {
    let mut value = shop();
    value["spec"]["labels"] = json!({
        "availability_zone": "az1",
        "master_lb_floating_ip_enabled": "false",
        "master_lb_allowed_cidrs": "10.0.0.0/8, 10.1.0.0/16",
    });
    value["spec"].as_object_mut().unwrap().remove("api");
    let document = ClusterDocument::read(value).unwrap();
    assert_eq!(document.spec.zone.as_deref(), Some("az1"));
    assert_eq!(document.spec.api.exposure, Some(Exposure::Private));
    assert_eq!(
        document.spec.api.allowed_cidrs,
        ["10.0.0.0/8", "10.1.0.0/16"]
    );
    assert!(document.spec.labels.is_empty());
}

#[test]
fn errors_name_the_field() {
    for (pointer, wrong, expected) in [
        ("/spec/bogus", json!(1), "bogus"),
        ("/spec/nodeGroups/0/size", json!(3), "size"),
        ("/kind", json!("Bootstrap"), "Bootstrap"),
        ("/apiVersion", json!("v2"), "portico.dev/v1alpha1"),
        ("/spec/labels", json!({ "a": [1] }), "label a"),
        (
            "/spec/nodeGroups/1/taints",
            json!(["gpu"]),
            "key=value:Effect",
        ),
    ] {
        let mut value = shop();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        value.pointer_mut(parent).unwrap()[key] = wrong;
        let error = ClusterDocument::read(value).unwrap_err();
        assert!(matches!(error, SpecError::Document(_)));
        assert!(error.to_string().contains(expected), "{pointer}: {error}");
    }
}

#[test]
fn the_schema_permits_what_is_read_and_forbids_unknown_fields() {
    let schema = ClusterDocument::json_schema();
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(
        schema["required"],
        json!(["apiVersion", "kind", "metadata", "spec"])
    );
    let spec = &schema["$defs"]["ClusterSpec"];
    assert_eq!(spec["required"], json!(["template"]));
    for field in shop()["spec"].as_object().unwrap().keys() {
        assert!(spec["properties"].get(field).is_some(), "{field}");
    }
    let groups = &schema["$defs"]["NodeGroupSpec"];
    for labels in [
        &spec["properties"]["labels"],
        &groups["properties"]["labels"],
    ] {
        let kinds = json!(["string", "number", "boolean"]);
        assert_eq!(labels["additionalProperties"]["type"], kinds);
        assert!(labels["description"].is_string(), "{labels}");
    }
    assert_eq!(groups["required"], json!(["name"]));
}
