use super::*;
use crate::service::access::who_can::fixtures::{Cluster, rule};

fn user(name: &str) -> Subject {
    Subject::User {
        name: name.to_owned(),
    }
}

/// Returns `shop/readers (reader): get pods` for each rule; a namespace before the binding.
fn shown(cluster: &Cluster, subjects: &[Subject]) -> Vec<String> {
    let (places, _) = what_can(&cluster.policy(), subjects);
    let mut lines = Vec::new();
    for place in places {
        for grant in place.grants {
            let binding = match &place.scope {
                PermissionScope::Cluster => grant.binding.name.clone(),
                PermissionScope::Namespace { name } => format!("{name}/{}", grant.binding.name),
            };
            let mark = if grant.through.is_some() { "*" } else { "" };
            for rule in grant.rules {
                let (verbs, resources) = (rule.verbs.join(","), rule.resources.join(","));
                lines.push(format!("{binding}{mark}: {verbs} {resources}"));
            }
        }
    }
    lines
}

#[test]
fn rules_are_listed_by_place_with_their_binding() {
    let get = [rule(&["get"], &[""], &["pods"])];
    let cluster = Cluster::default()
        .role(None, "reader", &get)
        .role(
            Some("shop"),
            "writer",
            &[rule(&["create"], &[""], &["pods"])],
        )
        .bind(Some("shop"), "write", "Role/writer", &["User/ada"])
        .bind(Some("bank"), "read", "ClusterRole/reader", &["User/ada"])
        .bind(None, "everywhere", "ClusterRole/reader", &["User/ada"])
        .bind(None, "others", "ClusterRole/reader", &["User/bob"]);
    assert_eq!(
        shown(&cluster, &[user("ada")]),
        [
            "everywhere: get pods",
            "bank/read: get pods",
            "shop/write: create pods"
        ]
    );
    assert!(shown(&cluster, &[user("eve")]).is_empty());
}

#[test]
fn rules_of_groups_are_marked() {
    let cluster = Cluster::default()
        .role(None, "reader", &[rule(&["get"], &[""], &["pods"])])
        .bind(
            None,
            "all",
            "ClusterRole/reader",
            &["Group/system:authenticated"],
        )
        .bind(None, "role", "ClusterRole/reader", &["Group/r1"])
        .bind(None, "zone", "ClusterRole/reader", &["User/ada"]);
    let subjects = with_groups(&user("ada"), &["r1".to_owned()]);
    assert_eq!(
        shown(&cluster, &subjects),
        ["zone: get pods", "all*: get pods", "role*: get pods"]
    );
}

#[test]
fn a_binding_without_its_role_is_reported_for_its_subjects_only() {
    let cluster = Cluster::default()
        .bind(Some("shop"), "mine", "Role/lost", &["User/ada"])
        .bind(Some("shop"), "theirs", "Role/lost", &["User/bob"]);
    let (places, dangling) = what_can(&cluster.policy(), &[user("ada")]);
    assert!(places.is_empty());
    let names: Vec<_> = dangling.iter().map(|found| &found.binding.name).collect();
    assert_eq!(names, ["mine"]);
}
