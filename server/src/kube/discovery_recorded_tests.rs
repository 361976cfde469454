//! Discovery of a current release, as recorded in `tests/data/kubernetes-1.37`.
use super::*;
use std::collections::BTreeSet;

const RECORDED: [&str; 2] = [
    include_str!("../../tests/data/kubernetes-1.37/api.json"),
    include_str!("../../tests/data/kubernetes-1.37/apis.json"),
];

fn recorded() -> Vec<ResourceKind> {
    RECORDED
        .iter()
        .flat_map(|text| aggregated(&serde_json::from_str(text).unwrap()))
        .collect()
}

fn name(kind: &ResourceKind) -> String {
    format!("{}/{} {}", kind.group, kind.version, kind.plural)
}

#[test]
fn recorded_kinds_of_the_current_release_are_listed_in_their_stable_version() {
    let catalog = Catalog::new(recorded());
    let listed = catalog.listable();
    let names: BTreeSet<String> = listed.iter().map(name).collect();
    for expected in [
        "/v1 pods",
        "apps/v1 deployments",
        "autoscaling/v2 horizontalpodautoscalers",
        "batch/v1 cronjobs",
        "batch/v1 jobs",
        "discovery.k8s.io/v1 endpointslices",
        "events.k8s.io/v1 events",
        "networking.k8s.io/v1 ingresses",
        "policy/v1 poddisruptionbudgets",
        "resource.k8s.io/v1 resourceclaims",
        "storage.k8s.io/v1 storageclasses",
    ] {
        assert!(names.contains(expected), "{expected}: {names:?}");
    }
    // each group and plural once
    let plurals: BTreeSet<_> = listed
        .iter()
        .map(|kind| (&kind.group, &kind.plural))
        .collect();
    assert_eq!(plurals.len(), listed.len());
    // questions to the API server are not lists
    assert!(!names.iter().any(|name| name.contains("reviews")));
}

#[test]
fn recorded_versions_that_the_current_release_has_removed_are_not_found() {
    let catalog = Catalog::new(recorded());
    for (group, version, plural) in [
        ("batch", "v1beta1", "cronjobs"),
        ("policy", "v1beta1", "poddisruptionbudgets"),
        ("policy", "v1beta1", "podsecuritypolicies"),
        ("networking.k8s.io", "v1beta1", "ingresses"),
        ("extensions", "v1beta1", "ingresses"),
        ("autoscaling", "v2beta2", "horizontalpodautoscalers"),
        ("discovery.k8s.io", "v1beta1", "endpointslices"),
    ] {
        let resource = ResourceRef::new(group, version, plural);
        assert!(
            catalog.find(&resource).is_none(),
            "{group}/{version} {plural}"
        );
    }
    // references of older versions lead to the version that is served
    let found = catalog.by_group_and_kind("batch", "CronJob");
    assert_eq!(found.map(name).as_deref(), Some("batch/v1 cronjobs"));
    let found = catalog.preferred("autoscaling", "horizontalpodautoscalers");
    assert_eq!(
        found.map(name).as_deref(),
        Some("autoscaling/v2 horizontalpodautoscalers")
    );
}

#[test]
fn recorded_scopes_and_verbs_are_those_of_the_kinds() {
    let catalog = Catalog::new(recorded());
    for (group, plural, kind, namespaced) in [
        ("", "namespaces", "Namespace", false),
        ("", "nodes", "Node", false),
        ("", "secrets", "Secret", true),
        (
            "rbac.authorization.k8s.io",
            "clusterroles",
            "ClusterRole",
            false,
        ),
        ("rbac.authorization.k8s.io", "roles", "Role", true),
    ] {
        let found = catalog.preferred(group, plural).unwrap();
        assert_eq!((found.kind.as_str(), found.namespaced), (kind, namespaced));
        for verb in [
            "create", "delete", "get", "list", "patch", "update", "watch",
        ] {
            assert!(
                found.verbs.iter().any(|known| known == verb),
                "{plural} {verb}"
            );
        }
    }
}

#[test]
fn recorded_groups_of_the_current_release_are_known_as_built_in() {
    let unknown: BTreeSet<String> = recorded()
        .into_iter()
        .map(|kind| kind.group)
        .filter(|group| !BUILT_IN_GROUPS.contains(&group.as_str()))
        .collect();
    assert_eq!(unknown, BTreeSet::new());
}
