use super::fixtures::{Cluster, asks, named, rule, shown};
use super::*;

fn reader() -> Cluster {
    let get = [rule(&["get", "list"], &[""], &["pods"])];
    Cluster::default()
        .role(None, "reader", &get)
        .role(Some("shop"), "reader", &get)
        .role(Some("bank"), "other", &get)
}

#[test]
fn a_role_binding_counts_in_its_namespace_only() {
    let cluster = reader()
        .bind(
            Some("shop"),
            "to-cluster-role",
            "ClusterRole/reader",
            &["User/ada"],
        )
        .bind(Some("shop"), "to-role", "Role/reader", &["User/bob"])
        .bind(None, "everywhere", "ClusterRole/reader", &["Group/ops"]);
    let asked = |namespace| cluster.who_can(&asks("get", "pods", namespace, None));
    assert_eq!(
        asked(Some("shop")),
        [
            "Group/ops by everywhere",
            "User/ada by shop/to-cluster-role",
            "User/bob by shop/to-role"
        ]
    );
    assert_eq!(asked(Some("bank")), ["Group/ops by everywhere"]);
    assert_eq!(asked(None), ["Group/ops by everywhere"]);
    assert_eq!(asked(Some("")), ["Group/ops by everywhere"]);
}

#[test]
fn a_role_is_looked_up_in_the_namespace_of_its_binding() {
    let cluster = reader()
        .bind(Some("shop"), "own", "Role/reader", &["User/ada"])
        .bind(Some("shop"), "foreign", "Role/other", &["User/bob"])
        .bind(Some("shop"), "missing", "ClusterRole/other", &["User/bob"]);
    let question = asks("get", "pods", Some("shop"), None);
    let found = who_can(&cluster.policy(), &question);
    assert_eq!(shown(&found), ["User/ada by shop/own"]);
    let dangling: Vec<_> = found
        .dangling
        .iter()
        .map(|found| {
            (
                found.binding.name.as_str(),
                found.role.cluster,
                found.role.name.as_str(),
            )
        })
        .collect();
    assert_eq!(
        dangling,
        [("foreign", false, "other"), ("missing", true, "other")]
    );
}

#[test]
fn dangling_bindings_are_reported_where_they_count() {
    let cluster = Cluster::default()
        .bind(None, "everywhere", "ClusterRole/lost", &["User/ada"])
        .bind(None, "invalid", "Role/lost", &["User/ada"])
        .bind(Some("shop"), "shop", "Role/lost", &["User/ada"])
        .bind(Some("bank"), "bank", "Role/lost", &["User/ada"]);
    let asked = |namespace| {
        let found = who_can(&cluster.policy(), &asks("get", "pods", namespace, None));
        assert!(found.holders.is_empty());
        let names = found.dangling.into_iter().map(|found| found.binding.name);
        names.collect::<Vec<_>>()
    };
    assert_eq!(asked(None), ["everywhere", "invalid"]);
    assert_eq!(asked(Some("shop")), ["everywhere", "invalid", "shop"]);
}

#[test]
fn a_service_account_without_a_namespace_is_in_that_of_its_binding() {
    let cluster = reader()
        .bind(
            Some("shop"),
            "short",
            "Role/reader",
            &["ServiceAccount/robot"],
        )
        .bind(
            Some("shop"),
            "foreign",
            "Role/reader",
            &["ServiceAccount/bank/robot"],
        )
        .bind(
            None,
            "nowhere",
            "ClusterRole/reader",
            &["ServiceAccount/robot"],
        );
    assert_eq!(
        cluster.who_can(&asks("get", "pods", Some("shop"), None)),
        [
            "ServiceAccount/bank/robot by shop/foreign",
            "ServiceAccount/shop/robot by shop/short"
        ]
    );
}

#[test]
fn subjects_are_listed_once_for_each_binding() {
    let all = rule(&["*"], &["*"], &["*"]);
    let cluster = Cluster::default()
        .role(None, "both", &[rule(&["get"], &[""], &["pods"]), all])
        .bind(
            None,
            "first",
            "ClusterRole/both",
            &["User/ada", "User/ada", "Robot/x"],
        )
        .bind(None, "second", "ClusterRole/both", &["User/ada"]);
    let found = who_can(&cluster.policy(), &asks("get", "pods", None, None));
    assert_eq!(shown(&found), ["User/ada by first", "User/ada by second"]);
    // the first rule that matches, not the widest
    assert_eq!(found.holders[0].rule.resources, ["pods"]);
    let secrets = who_can(&cluster.policy(), &asks("get", "secrets", None, None));
    assert_eq!(secrets.holders[0].rule.resources, ["*"]);
}

#[test]
fn the_widest_come_first_and_then_subjects_in_order() {
    let get = rule(&["get"], &[""], &["pods"]);
    let cluster = Cluster::default()
        .role(None, "all", std::slice::from_ref(&get))
        .role(None, "one", &[named(get, &["one"])])
        .bind(Some("shop"), "a", "ClusterRole/one", &["User/ada"])
        .bind(
            Some("shop"),
            "b",
            "ClusterRole/all",
            &["User/bob", "ServiceAccount/robot", "Group/ops"],
        )
        .bind(None, "c", "ClusterRole/one", &["User/ada", "Group/ops"])
        .bind(None, "d", "ClusterRole/all", &["User/zoe"]);
    let expected = [
        "User/zoe by d",
        "Group/ops by c",
        "User/ada by c",
        "Group/ops by shop/b",
        "User/bob by shop/b",
        "ServiceAccount/shop/robot by shop/b",
        "User/ada by shop/a",
    ];
    let question = asks("get", "pods", Some("shop"), Some("one"));
    assert_eq!(cluster.who_can(&question), expected);
    let mut reversed = cluster;
    reversed.bindings.reverse();
    assert_eq!(reversed.who_can(&question), expected);
}

#[test]
fn a_holder_names_its_binding_role_rule_and_scope() {
    let cluster = reader().bind(
        Some("shop"),
        "readers",
        "ClusterRole/reader",
        &["Group/ops"],
    );
    let found = who_can(&cluster.policy(), &asks("get", "pods", Some("shop"), None));
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "holders": [{
                "subject": {"kind": "group", "name": "ops"},
                "binding": {"namespace": "shop", "name": "readers"},
                "role": {"cluster": true, "name": "reader"},
                "rule": {"verbs": ["get", "list"], "groups": [""], "resources": ["pods"], "names": []},
                "scope": {"kind": "namespace", "name": "shop"},
            }],
            "dangling": [],
        })
    );
    assert_eq!(serde_json::from_value::<WhoCan>(json).unwrap(), found);
}

#[test]
fn groups_of_keystone_are_named() {
    let identity = portico_domain::identity::Identity {
        user: portico_domain::identity::User {
            id: "u1".to_owned(),
            name: "ada".to_owned(),
            domain: portico_domain::identity::Named {
                id: "default".to_owned(),
                name: "Default".to_owned(),
            },
        },
        project: None,
        roles: Vec::new(),
    };
    let names = Names {
        identity: &identity,
        projects: &[],
        configured_roles: &std::collections::BTreeMap::new(),
    };
    let cluster = reader().bind(
        None,
        "b",
        "ClusterRole/reader",
        &["Group/portico:user:u1", "Group/ops", "User/x"],
    );
    let found = who_can(&cluster.policy(), &asks("get", "pods", None, None));
    let subjects: Vec<_> = with_names(found, &names)
        .holders
        .into_iter()
        .map(|holder| holder.subject)
        .collect();
    assert_eq!(
        subjects,
        [
            Subject::Group {
                name: "ops".to_owned()
            },
            Subject::KeystoneUser {
                id: "u1".to_owned(),
                name: Some("ada".to_owned())
            },
            Subject::User {
                name: "x".to_owned()
            },
        ]
    );
}
