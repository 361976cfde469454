//! Magnum's requests.
use serde_json::{Value, json};

use super::{minimal, shop};
use crate::{
    driver::Family,
    spec::{
        ClusterDocument, SpecError, create_request, effective, node_group_request,
        read_create_request, validate,
    },
    tests::examples::template,
};

/// The sample request of Catalyst Cloud's white paper (2020).
fn catalyst() -> Value {
    json!({
        "name": "k8s",
        "discovery_url": null,
        "master_count": 3,
        "cluster_template_id": "0562d357-8641-4759-8fed-8173f02c9633",
        "node_count": 3,
        "create_timeout": 60,
        "keypair": "my_keypair",
        "master_flavor_id": null,
        "labels": {},
        "flavor_id": null,
    })
}

fn request(document: &ClusterDocument, family: Family) -> Value {
    Value::Object(create_request(document, family))
}

#[test]
fn a_published_request_is_accepted_as_it_is() {
    let read = read_create_request(&catalyst()).unwrap();
    assert!(read.notices.is_empty());
    assert!(validate(&read.document).is_empty());
    // what is null is the template's: it is left out
    assert_eq!(
        request(&read.document, Family::Heat),
        json!({
            "name": "k8s",
            "master_count": 3,
            "cluster_template_id": "0562d357-8641-4759-8fed-8173f02c9633",
            "node_count": 3,
            "create_timeout": 60,
            "keypair": "my_keypair",
        })
    );
}

#[test]
fn the_example_of_the_guide_becomes_a_request_and_its_groups() {
    let document = ClusterDocument::read(shop()).unwrap();
    assert_eq!(
        request(&document, Family::CapiHelm),
        json!({
            "name": "shop",
            "cluster_template_id": "k8s-1.32-b",
            "keypair": "ops",
            "master_count": 3,
            "master_flavor_id": "m1.medium",
            "node_count": 3,
            "flavor_id": "m1.small",
            "fixed_network": "k8s-net",
            "fixed_subnet": "k8s-subnet",
            "merge_labels": true,
            "labels": {
                "auto_healing_enabled": "true",
                "master_lb_floating_ip_enabled": "true",
                "api_master_lb_allowed_cidrs": "198.51.100.0/24",
            },
        })
    );
    let gpu = document.spec.further_groups().next().unwrap();
    assert_eq!(
        Value::Object(node_group_request(gpu)),
        json!({
            "name": "gpu",
            "node_count": 1,
            "min_node_count": 0,
            "max_node_count": 3,
            "flavor_id": "m1.large",
            "node_labels": { "tier": "gpu" },
            "node_taints": [{ "key": "gpu", "value": "true", "effect": "NoSchedule" }],
        })
    );
}

#[test]
fn the_networks_of_the_api_have_the_label_of_the_driver() {
    let document = ClusterDocument::read(shop()).unwrap();
    let labels = &request(&document, Family::Heat)["labels"];
    assert_eq!(labels["master_lb_allowed_cidrs"], "198.51.100.0/24");
    assert!(labels.get("api_master_lb_allowed_cidrs").is_none());
}

#[test]
fn labels_are_always_merged_and_that_is_stated() {
    let mut body = catalyst();
    body["labels"] = json!({ "kube_tag": "v1.31.0", "boot_volume_size": 40 });
    let read = read_create_request(&body).unwrap();
    assert_eq!(read.notices.len(), 1);
    assert!(read.notices[0].contains("merge_labels"));
    let sent = request(&read.document, Family::ClusterApi);
    assert_eq!(sent["merge_labels"], true);
    assert_eq!(sent["labels"]["boot_volume_size"], "40");
    body["merge_labels"] = json!(true);
    assert!(read_create_request(&body).unwrap().notices.is_empty());
}

#[test]
fn unknown_and_malformed_fields_are_named() {
    let mut body = catalyst();
    body["bogus"] = json!(1);
    assert_eq!(
        read_create_request(&body),
        Err(SpecError::UnknownField("bogus".to_owned()))
    );
    for (field, value, message) in [
        (
            "node_count",
            json!("3"),
            "node_count must be a whole number, not \"3\"",
        ),
        (
            "node_count",
            json!(-1),
            "node_count must be a whole number, not -1",
        ),
        ("keypair", json!(7), "keypair must be a text, not 7"),
        (
            "master_lb_enabled",
            json!("yes"),
            "master_lb_enabled must be true or false, not \"yes\"",
        ),
        (
            "labels",
            json!([1]),
            "labels must be an object of texts, not [1]",
        ),
        ("name", json!(null), "name is missing"),
        (
            "cluster_template_id",
            json!(null),
            "cluster_template_id is missing",
        ),
    ] {
        let mut body = catalyst();
        body[field] = value;
        let error = read_create_request(&body).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    assert_eq!(read_create_request(&json!([])), Err(SpecError::NotAnObject));
}

#[test]
fn defaults_are_filled_in_once() {
    let filled = effective(
        &minimal("shop", "k8s-1.31"),
        &template("k8s-1.31", "v1.31.0"),
    );
    assert!(filled.adjustments.is_empty());
    assert_eq!(
        request(&filled.document, Family::ClusterApi),
        json!({
            "name": "shop",
            "cluster_template_id": "k8s-1.31",
            "keypair": "ops",
            "master_count": 1,
            "master_flavor_id": "m1.medium",
            "master_lb_enabled": false,
            "node_count": 1,
            "flavor_id": "m1.small",
            "create_timeout": 60,
            "floating_ip_enabled": false,
        })
    );
    let again = effective(&filled.document, &template("k8s-1.31", "v1.31.0"));
    assert_eq!(again.document, filled.document);
}

#[test]
fn flags_and_the_printed_file_make_the_same_request() {
    let words = "demo -t k8s-1.31 --masters 3 --workers 2 --set boot_volume_size=40 --api private";
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    let template = template("k8s-1.31", "v1.31.0");
    let by_flags = effective(&crate::spec::CommandLine::read(&words).unwrap(), &template).document;
    // what `--dry-run -o yaml` prints is read by `apply`
    let printed = ClusterDocument::read(by_flags.to_value()).unwrap();
    let by_file = effective(&printed, &template).document;
    assert_eq!(
        request(&by_flags, Family::ClusterApi),
        request(&by_file, Family::ClusterApi)
    );
}

#[test]
fn several_masters_switch_the_load_balancer_on_with_the_reason() {
    let mut document = minimal("shop", "k8s-1.31");
    document.spec.control_plane.replicas = Some(3);
    let filled = effective(&document, &template("k8s-1.31", "v1.31.0"));
    assert_eq!(filled.document.spec.control_plane.load_balancer, Some(true));
    assert_eq!(filled.adjustments.len(), 1);
    assert!(filled.adjustments[0].contains("3 control plane nodes need one"));
}
