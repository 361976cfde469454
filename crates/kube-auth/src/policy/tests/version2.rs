use super::*;

fn policy(permissions: &str) -> String {
    format!(
        r#"[{{"users": {{"roles": ["dev"], "projects": ["p1"]}},
             "resource_permissions": {permissions}}}]"#
    )
}

#[test]
fn all_roles_in_any_project_by_id_or_name() {
    let policy = r#"[{"users": {"roles": ["dev", "member"], "projects": ["p1", "globex"]},
        "resource_permissions": {"*/*": ["*"]}}]"#;
    let ask = [("get pods in shop", true)];
    check(policy, &user(&["dev", "member", "x"], "p1", "acme"), &ask);
    check(policy, &user(&["dev", "member"], "p9", "globex"), &ask);
    let ask = [("get pods in shop", false)];
    check(policy, &user(&["dev"], "p1", "acme"), &ask);
    check(policy, &user(&["dev", "member"], "p2", "acme"), &ask);
    // a project that is named like the ID of another is taken for it: the linter says so
    let ask = [("get pods in shop", true)];
    check(policy, &user(&["dev", "member"], "p3", "p1"), &ask);
}

#[test]
fn both_sides_of_a_key_know_lists_and_negation() {
    let dev = user(&["dev"], "p1", "acme");
    check(
        &policy(
            r#"{"!kube-system/['Pods', 'services']": ["GET", "list"],
                "shop/!secrets": ["create"],
                "['a', 'b']/!['pods', 'secrets']": ["*"],
                "![]/events": ["watch"],
                "x/y/z": ["*"], "shop": ["*"], "q/['pods": ["*"]}"#,
        ),
        &dev,
        &[
            ("get pods in shop", true),
            ("list services in shop", true),
            ("get pods in kube-system", false),
            ("create pods in shop", true),
            ("create secrets in shop", false),
            ("delete nodes in a", true),
            ("delete pods in b", false),
            ("watch events in anything", true),
            ("delete y in x", false),
            ("get secrets in shop", false),
            ("update pods in q", false),
        ],
    );
}

#[test]
fn it_is_blind_to_subresources_groups_and_names() {
    let dev = user(&["dev"], "p1", "acme");
    check(
        &policy(r#"{"*/pods": ["get"], "*/nodes": ["get"]}"#),
        &dev,
        &[
            ("get pods/exec in shop", true),
            ("get pods.metrics.k8s.io in shop", true),
            ("get nodes/proxy", true),
        ],
    );
}

#[test]
fn without_a_namespace_only_a_star_counts() {
    let dev = user(&["dev"], "p1", "acme");
    let ask = |allowed| [("list pods", allowed), ("list nodes", allowed)];
    check(&policy(r#"{"*/*": ["list"]}"#), &dev, &ask(true));
    for key in ["!kube-system/*", "['*']/*", "![]/*"] {
        check(
            &policy(&format!(r#"{{"{key}": ["list"]}}"#)),
            &dev,
            &ask(false),
        );
    }
}

#[test]
fn it_hides_version_1_of_the_same_kind_in_its_entry() {
    let policy = r#"[{"users": {"projects": ["p1"]}, "resource_permissions": {},
        "resource": {"verbs": ["*"], "resources": ["*"], "version": "*", "namespace": "*"},
        "nonresource": {"verbs": ["get"], "path": "*"},
        "match": [{"type": "user", "values": ["*"]}]}]"#;
    check(
        policy,
        &user(&["dev"], "p1", "acme"),
        &[("get pods in shop", false), ("get /healthz", true)],
    );
}

#[test]
fn paths_are_exact_and_verbs_case_sensitive() {
    let policy = r#"[{"users": {"projects": ["p1"]},
        "nonresource_permissions": {"/healthz": ["get", "POST"], "/api/*": ["get"]}}]"#;
    check(
        policy,
        &user(&[], "p1", "acme"),
        &[
            ("get /healthz", true),
            ("post /healthz", false),
            ("get /healthz/etcd", false),
            ("get /api/v1", false),
        ],
    );
}

#[test]
fn a_user_who_came_in_another_way_is_denied() {
    let policy = r#"[{"match": [{"type": "user", "values": ["*"]}],
        "resource": {"verbs": ["*"], "resources": ["*"], "version": "*", "namespace": "*"}}]"#;
    let stranger = User {
        name: "system:serviceaccount:x:y".to_owned(),
        ..User::default()
    };
    check(policy, &stranger, &[("get pods in shop", false)]);
    check(
        policy,
        &user(&[], "p9", "any"),
        &[("get pods in shop", true)],
    );
}

#[test]
fn unknown_keys_would_widen_an_entry_and_are_refused() {
    let policy = r#"[{"users": {"projects": ["p1"], "groups": ["admins"]},
        "resource_permissions": {"*/*": ["*"]}}]"#;
    assert!(refused(policy).contains("rule 1: unknown key \"groups\""));
}

#[test]
fn finding_s10_an_entry_without_users_would_apply_to_all_users_and_is_refused() {
    for policy in [
        r#"[{"resource_permissions": {"*/*": ["get"]}}]"#,
        r#"[{"nonresource_permissions": {"/healthz": ["get"]}}]"#,
        r#"[{"users": null, "resource_permissions": {}}]"#,
        // match is version 1's: with these permissions it is not looked at
        r#"[{"match": [{"type": "role", "values": ["dev"]}], "resource_permissions": {"*/*": ["get"]}}]"#,
    ] {
        let error = refused(policy);
        assert!(
            error.starts_with("rule 1: without users it would"),
            "{policy}: {error}"
        );
    }
}
