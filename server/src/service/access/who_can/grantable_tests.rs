use super::super::fixtures::{Cluster, asks as question, named, rule, shown};
use super::*;

const SHOP: Option<&str> = Some("shop");

fn rbac(verbs: &[&str], resources: &[&str]) -> Rule {
    rule(verbs, &[GROUP], resources)
}

/// Returns `User/ada by shop/binding: Holds` for each subject that could grant `get pods`.
fn granters(cluster: &Cluster, namespace: Option<&str>) -> Vec<String> {
    let found = grantable(&cluster.policy(), &question("get", "pods", namespace, None));
    let means = found.holders.iter().map(|holder| holder.grants_by.unwrap());
    shown(&found)
        .into_iter()
        .zip(means)
        .map(|(holder, means)| format!("{holder}: {means:?}"))
        .collect()
}

fn reader() -> Cluster {
    let get = rule(&["get"], &[""], &["pods"]);
    let secrets = rule(&["get"], &[""], &["secrets"]);
    Cluster::default()
        .role(None, "reader", std::slice::from_ref(&get))
        .role(None, "editor", &[get, secrets])
}

/// Returns a cluster in which ada has some rules, in a namespace or everywhere.
fn with_ada(namespace: Option<&str>, rules: &[Rule]) -> Cluster {
    reader()
        .role(None, "ada", rules)
        .bind(namespace, "ada", "ClusterRole/ada", &["User/ada"])
}

#[test]
fn both_the_writing_and_the_means_are_needed() {
    let get = || rule(&["get"], &[""], &["pods"]);
    let create = || rbac(&["create"], &["rolebindings"]);
    let bind = || named(rbac(&["bind"], &["clusterroles"]), &["reader"]);
    let escalate = || rbac(&["escalate"], &["roles"]);
    for (rules, expected) in [
        (vec![create(), get()], Some("Holds")),
        (vec![create(), bind()], Some("Bind")),
        (vec![create(), get(), bind()], Some("Holds")),
        (
            vec![
                create(),
                escalate(),
                rbac(&["create", "update"], &["roles"]),
            ],
            Some("Escalate"),
        ),
        (
            vec![create(), escalate(), rbac(&["create", "bind"], &["roles"])],
            Some("Escalate"),
        ),
        (vec![create()], None),
        (vec![get()], None),
        (vec![bind()], None),
        (vec![get(), bind()], None),
        (
            vec![create(), escalate(), rbac(&["bind"], &["roles"])],
            None,
        ),
        (vec![create(), escalate()], None),
        (
            vec![create(), escalate(), rbac(&["create"], &["roles"])],
            None,
        ),
        (vec![create(), rule(&["list"], &[""], &["pods"])], None),
        (vec![create(), rule(&["get"], &["apps"], &["pods"])], None),
        (vec![create(), named(get(), &["one"])], None),
        (
            vec![rule(&["create"], &[""], &["rolebindings"]), get()],
            None,
        ),
        (
            vec![rbac(&["create"], &["clusterrolebindings"]), get()],
            None,
        ),
        (
            vec![rbac(&["list", "delete"], &["rolebindings"]), get()],
            None,
        ),
        (
            vec![
                create(),
                named(rbac(&["bind"], &["clusterroles"]), &["ada"]),
            ],
            None,
        ),
        (
            vec![create(), named(rbac(&["bind"], &["roles"]), &["reader"])],
            None,
        ),
    ] {
        let expected: Vec<_> = expected
            .map(|means| format!("User/ada by shop/ada: {means}"))
            .into_iter()
            .collect();
        assert_eq!(
            granters(&with_ada(SHOP, &rules), SHOP),
            expected,
            "{rules:?}"
        );
    }
}

#[test]
fn a_whole_role_has_to_be_held_to_add_a_subject_to_its_binding() {
    let get = rule(&["get"], &[""], &["pods"]);
    let secrets = rule(&["get"], &[""], &["secrets"]);
    let update = named(rbac(&["update"], &["rolebindings"]), &["b"]);
    for (rules, expected) in [
        (vec![update.clone(), get.clone(), secrets], true),
        (vec![update, get], false),
    ] {
        let cluster = with_ada(SHOP, &rules).bind(SHOP, "b", "ClusterRole/editor", &["User/bob"]);
        assert_eq!(!granters(&cluster, SHOP).is_empty(), expected, "{rules:?}");
    }
}

#[test]
fn a_cluster_role_binding_takes_what_is_held_in_the_whole_cluster() {
    let update = named(rbac(&["update"], &["clusterrolebindings"]), &["b"]);
    for (place, expected) in [(None, true), (SHOP, false)] {
        let cluster = reader()
            .role(None, "writer", std::slice::from_ref(&update))
            .bind(None, "write", "ClusterRole/writer", &["User/ada"])
            .bind(place, "read", "ClusterRole/editor", &["User/ada"])
            .bind(None, "b", "ClusterRole/editor", &["User/bob"]);
        assert_eq!(!granters(&cluster, SHOP).is_empty(), expected, "{place:?}");
    }
}

#[test]
fn a_cluster_role_binding_refers_to_a_cluster_role() {
    let get = [rule(&["get"], &[""], &["pods"])];
    for (resource, expected) in [("rolebindings", true), ("clusterrolebindings", false)] {
        let rules = [rbac(&["create"], &[resource]), rbac(&["bind"], &["roles"])];
        let cluster = with_ada(None, &rules).role(SHOP, "own", &get);
        assert_eq!(!granters(&cluster, SHOP).is_empty(), expected, "{resource}");
    }
}

#[test]
fn what_is_held_through_several_bindings_counts_together() {
    let create = [rbac(&["create"], &["rolebindings"])];
    let cluster = reader()
        .role(None, "writer", &create)
        .bind(
            SHOP,
            "write",
            "ClusterRole/writer",
            &["User/ada", "User/bob"],
        )
        .bind(None, "read", "ClusterRole/editor", &["User/ada"]);
    assert_eq!(granters(&cluster, SHOP), ["User/ada by shop/write: Holds"]);
}

#[test]
fn a_permission_in_the_cluster_needs_a_cluster_role_binding() {
    let rules = |resource: &str| {
        [
            rbac(&["create"], &[resource]),
            rule(&["get"], &[""], &["pods"]),
        ]
    };
    let ada = ["User/ada by ada: Holds"];
    let none = [""; 0];
    let clusterwide = with_ada(None, &rules("clusterrolebindings"));
    assert_eq!(granters(&clusterwide, None), ada);
    assert_eq!(granters(&clusterwide, SHOP), ada);
    let everywhere = with_ada(None, &rules("rolebindings"));
    assert_eq!(granters(&everywhere, None), none);
    assert_eq!(granters(&everywhere, SHOP), ada);
    let shop = with_ada(SHOP, &rules("*"));
    assert_eq!(granters(&shop, None), none);
    assert_eq!(granters(&shop, SHOP), ["User/ada by shop/ada: Holds"]);
    assert_eq!(granters(&shop, Some("bank")), none);
}

#[test]
fn a_subject_may_be_added_to_a_binding() {
    for (verb, name, expected) in [
        ("update", "readers", true),
        ("patch", "readers", true),
        ("delete", "readers", false),
        ("update", "others", false),
        ("update", "missing", false),
    ] {
        let write = named(rbac(&[verb], &["rolebindings"]), &[name]);
        let cluster = with_ada(SHOP, &[write, rbac(&["bind"], &["clusterroles"])])
            .role(None, "other", &[rule(&["get"], &[""], &["secrets"])])
            .bind(SHOP, "readers", "ClusterRole/reader", &[])
            .bind(SHOP, "others", "ClusterRole/other", &[])
            .bind(SHOP, "missing", "ClusterRole/missing", &[]);
        let found = granters(&cluster, SHOP);
        let expected = if expected {
            vec!["User/ada by shop/ada: Bind"]
        } else {
            vec![]
        };
        assert_eq!(found, expected, "{verb} {name}");
    }
}

#[test]
fn resources_of_other_groups_are_not_bindings() {
    for (group, expected) in [(GROUP, true), ("*", true), ("example.org", false)] {
        let update = rule(&["update"], &[group], &["rolebindings"]);
        let cluster = with_ada(SHOP, &[update, rbac(&["bind"], &["clusterroles"])]).bind(
            SHOP,
            "readers",
            "ClusterRole/reader",
            &["User/bob"],
        );
        assert_eq!(!granters(&cluster, SHOP).is_empty(), expected, "{group}");
    }
}

#[test]
fn a_role_that_is_bound_may_be_changed() {
    let cluster = |subjects: &[&str], rules: &[Rule]| {
        with_ada(SHOP, rules)
            .role(SHOP, "own", &[rule(&["list"], &[""], &["nodes"])])
            .bind(SHOP, "own", "Role/own", subjects)
    };
    let escalate = || rbac(&["patch", "escalate"], &["roles"]);
    let ada = |means: &str| vec![format!("User/ada by shop/ada: {means}")];
    assert_eq!(
        granters(&cluster(&["User/bob"], &[escalate()]), SHOP),
        ada("Escalate")
    );
    assert_eq!(granters(&cluster(&[], &[escalate()]), SHOP), [""; 0]);
    assert_eq!(
        granters(
            &cluster(&["User/bob"], &[rbac(&["escalate"], &["roles"])]),
            SHOP
        ),
        [""; 0]
    );
    assert_eq!(
        granters(
            &cluster(&["User/bob"], &[rbac(&["patch"], &["roles"])]),
            SHOP
        ),
        [""; 0]
    );
    // a subject that has all of the changed role needs no `escalate`
    let get = rule(&["get"], &[""], &["pods"]);
    let list = rule(&["list"], &[""], &["nodes"]);
    let update = rbac(&["update"], &["roles"]);
    let holder = cluster(&["User/bob"], &[update.clone(), get.clone(), list]);
    assert_eq!(granters(&holder, SHOP), ada("Holds"));
    assert_eq!(
        granters(&cluster(&["User/bob"], &[update, get]), SHOP),
        [""; 0]
    );
    // an unbound role can be bound first
    let binder = cluster(
        &[],
        &[
            escalate(),
            rbac(&["create"], &["rolebindings"]),
            rbac(&["bind"], &["roles"]),
        ],
    );
    assert_eq!(granters(&binder, SHOP), ada("Escalate"));
}

#[test]
fn a_cluster_role_cannot_be_changed_from_a_namespace() {
    let rules = [rbac(&["update", "escalate"], &["clusterroles"])];
    let cluster =
        |place| with_ada(place, &rules).bind(SHOP, "bob", "ClusterRole/reader", &["User/bob"]);
    assert_eq!(granters(&cluster(SHOP), SHOP), [""; 0]);
    assert_eq!(
        granters(&cluster(None), SHOP),
        ["User/ada by ada: Escalate"]
    );
}

#[test]
fn the_permissions_of_the_groups_of_a_subject_count() {
    let create = [rbac(&["create"], &["rolebindings"])];
    for (subject, group, expected) in [
        ("User/ada", "system:authenticated", true),
        (
            "User/system:serviceaccount:shop:robot",
            "system:serviceaccounts",
            true,
        ),
        (
            "ServiceAccount/shop/robot",
            "system:serviceaccounts:shop",
            true,
        ),
        (
            "ServiceAccount/bank/robot",
            "system:serviceaccounts:shop",
            false,
        ),
        ("User/ada", "system:serviceaccounts", false),
        ("User/ada", "ops", false),
        ("User/system:anonymous", "system:authenticated", false),
        ("User/system:anonymous", "system:unauthenticated", true),
        ("Group/ops", "system:authenticated", true),
        (
            "Group/system:unauthenticated",
            "system:authenticated",
            false,
        ),
        (
            "Group/system:serviceaccounts:shop",
            "system:serviceaccounts",
            true,
        ),
        ("Group/system:serviceaccounts", "ops", false),
    ] {
        let cluster = reader()
            .role(None, "writer", &create)
            .bind(SHOP, "write", "ClusterRole/writer", &[subject])
            .bind(
                SHOP,
                "read",
                "ClusterRole/reader",
                &[&format!("Group/{group}")],
            );
        let expected = if expected {
            vec![format!("{subject} by shop/write: Holds")]
        } else {
            vec![]
        };
        assert_eq!(granters(&cluster, SHOP), expected, "{subject} {group}");
    }
}

#[test]
fn a_group_that_can_grant_by_itself_is_listed_without_its_members() {
    let rules = [
        rbac(&["create"], &["rolebindings"]),
        rule(&["get"], &[""], &["pods"]),
    ];
    let cluster = reader()
        .role(None, "granter", &rules)
        .bind(
            None,
            "all",
            "ClusterRole/granter",
            &["Group/system:authenticated"],
        )
        .bind(
            None,
            "some",
            "ClusterRole/reader",
            &["User/ada", "Group/ops"],
        )
        .bind(None, "own", "ClusterRole/granter", &["User/bob"]);
    assert_eq!(
        granters(&cluster, SHOP),
        [
            "Group/system:authenticated by all: Holds",
            "User/bob by own: Holds"
        ]
    );
    // a member that adds the missing part is listed with the group's binding
    let cluster = reader()
        .role(None, "writer", &[rbac(&["create"], &["rolebindings"])])
        .bind(
            None,
            "all",
            "ClusterRole/writer",
            &["Group/system:authenticated"],
        )
        .bind(None, "read", "ClusterRole/reader", &["User/ada"]);
    assert_eq!(granters(&cluster, SHOP), ["User/ada by all: Holds"]);
}

#[test]
fn an_administrator_can_grant_anything() {
    let cluster = Cluster::default()
        .role(None, "cluster-admin", &[rule(&["*"], &["*"], &["*"])])
        .bind(
            None,
            "admins",
            "ClusterRole/cluster-admin",
            &["Group/system:masters"],
        )
        .bind(None, "lost", "ClusterRole/lost", &["Group/ops"]);
    let found = grantable(
        &cluster.policy(),
        &question("create", "apps:deployments/scale", SHOP, Some("x")),
    );
    assert_eq!(shown(&found), ["Group/system:masters by admins"]);
    assert_eq!(found.dangling.len(), 1);
}
