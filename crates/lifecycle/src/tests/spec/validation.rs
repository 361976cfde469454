//! What is wrong with a specification.
use serde_json::{Value, json};

use super::shop;
use crate::spec::{ClusterDocument, Problem, validate};

/// The problems after one value was replaced.
fn problems(pointer: &str, value: Value) -> Vec<Problem> {
    let mut document = shop();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    document.pointer_mut(parent).unwrap()[key] = value;
    validate(&ClusterDocument::read(document).unwrap())
}

/// Returns problems as users get them, one a line.
fn in_words(problems: &[Problem]) -> String {
    let lines = problems.iter();
    lines
        .map(|problem| format!("{}: {}\n", problem.field, problem.message))
        .collect()
}

fn only(pointer: &str, value: Value) -> Problem {
    let mut found = problems(pointer, value);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[test]
fn the_example_of_the_guide_is_valid() {
    assert_eq!(validate(&ClusterDocument::read(shop()).unwrap()), []);
}

#[test]
fn names_follow_magnums_pattern() {
    for valid in ["a", "Shop-1", "k8s_1.32", &"a".repeat(242)] {
        assert_eq!(problems("/metadata/name", json!(valid)), [], "{valid}");
    }
    for invalid in ["", "1shop", "-a", "shop 1", "schöp", &"a".repeat(243)] {
        assert_eq!(
            only("/metadata/name", json!(invalid)).field,
            "metadata.name"
        );
    }
}

#[test]
fn an_even_number_of_masters_is_refused_with_magnums_rule() {
    let problem = only("/spec/controlPlane/replicas", json!(2));
    assert_eq!(problem.field, "spec.controlPlane.replicas");
    let none = only("/spec/controlPlane/replicas", json!(0));
    assert_eq!(none.field, problem.field);
    insta::assert_snapshot!("even_number_of_masters", in_words(&[problem, none]));
    for odd in [1, 3, 5, 7] {
        assert_eq!(problems("/spec/controlPlane/replicas", json!(odd)), []);
    }
}

#[test]
fn several_masters_without_a_load_balancer_are_refused() {
    let found = problems("/spec/controlPlane/loadBalancer", json!(false));
    let fields: Vec<_> = found.iter().map(|problem| problem.field.as_str()).collect();
    assert_eq!(fields, ["spec.controlPlane.loadBalancer", "spec.api"]);
    insta::assert_snapshot!("masters_without_a_load_balancer", in_words(&found));
}

#[test]
fn networks_are_written_in_cidr_notation() {
    let invalid = ["198.51.100.7", "2001:db8::1", "198.51.100.7/24", "home"];
    let mut found: Vec<_> = invalid
        .iter()
        .map(|text| only("/spec/api/allowedCIDRs", json!([text])))
        .collect();
    let private = json!({ "exposure": "private", "allowedCIDRs": ["10.0.0.0/8"] });
    assert_eq!(problems("/spec/api", private), []);
    let mixed = json!({ "exposure": "private", "allowedCIDRs": ["198.51.100.0/24"] });
    found.push(only("/spec/api", mixed));
    insta::assert_snapshot!("networks", in_words(&found));
}

#[test]
fn a_subnet_needs_its_network() {
    let problem = only("/spec/network", json!({ "existing": { "subnet": "s" } }));
    assert_eq!(problem.field, "spec.network.existing.network");
}

#[test]
fn sizes_are_within_their_bounds() {
    let groups = [
        json!({ "name": "g", "min": 4, "max": 3 }),
        json!({ "name": "g", "replicas": 1, "min": 2 }),
        json!({ "name": "g", "replicas": 5, "max": 3 }),
    ];
    let found = groups.map(|group| only("/spec/nodeGroups", json!([group])));
    insta::assert_snapshot!("sizes", in_words(&found));
}

#[test]
fn groups_have_unique_names_and_are_not_the_control_plane() {
    let twice = json!([{ "name": "gpu" }, { "name": "gpu" }]);
    let found = [
        only("/spec/nodeGroups", twice),
        only("/spec/nodeGroups", json!([{ "name": "default-master" }])),
    ];
    insta::assert_snapshot!("names_of_groups", in_words(&found));
}

#[test]
fn labels_of_nodes_in_the_namespaces_of_kubernetes_are_refused() {
    for key in ["kubernetes.io/x", "node.kubernetes.io/x", "k8s.io/x"] {
        let group = json!([{ "name": "g", "labels": { key: "1" } }]);
        let problem = only("/spec/nodeGroups", group);
        assert!(problem.message.contains("restricted"), "{key}");
    }
    let own = json!([{ "name": "g", "labels": { "example.org/x": "1", "tier": "gpu" } }]);
    assert_eq!(problems("/spec/nodeGroups", own), []);
}

#[test]
fn labels_have_valid_names_and_values_and_no_field_of_their_own() {
    let labels = [
        ("a b", "1"),
        ("boot_volume_size", "much"),
        ("master_lb_floating_ip_enabled", "true"),
    ];
    let found = labels.map(|(key, value)| only("/spec/labels", json!({ key: value })));
    insta::assert_snapshot!("labels", in_words(&found));
}

#[test]
fn a_template_is_required_and_volumes_are_not_empty() {
    assert_eq!(only("/spec/template", json!(" ")).field, "spec.template");
    assert_eq!(
        only("/spec/dockerVolumeSize", json!(0)).field,
        "spec.dockerVolumeSize"
    );
}
