use super::*;

fn warnings(policy: &str) -> Vec<String> {
    let policy = Policy::parse(policy).unwrap();
    policy.lint().iter().map(ToString::to_string).collect()
}

#[test]
fn holes_of_a_readers_rule_are_named() {
    let found = warnings(
        r#"[{"users": {"roles": ["viewer"], "projects": ["p1"]},
            "resource_permissions": {"!kube-system/['pods', 'secrets']": ["get", "list"], "*/nodes": ["get"], "shop/!'secrets'": ["watch"]}}]"#,
    )
    .join("\n");
    assert!(!found.contains("serviceaccounts/token"), "{found}");
    insta::assert_snapshot!("lint_of_a_reader", found);
}

#[test]
fn an_administrators_rule_is_one_note() {
    let found = warnings(
        r#"[{"users": {"roles": ["admin"], "projects": ["p1"]}, "resource_permissions": {"*/*": ["*"]}}]"#,
    );
    insta::assert_snapshot!("lint_of_an_administrator", found.join("\n"));
}

#[test]
fn rules_without_effect_are_named() {
    let found = warnings(
        r#"[{"users": {"roles": ["dev"]}, "resource_permissions": {"a/b/c": ["get"]}},
            {"match": [{"type": "planet", "values": ["x"]}],
             "nonresource": {"verbs": ["get"], "path": "/x"}}]"#,
    )
    .join("\n");
    insta::assert_snapshot!("lint_of_rules_without_effect", found);
}

#[test]
fn a_strict_rule_names_what_it_opens() {
    let found = warnings(
        "apiVersion: kube-auth.portico.dev/v1\nkind: Policy\nrules:\n- {name: a, subjects: {roleIDs: [r1]}, \
         resources: [{groups: [\"\"], resources: [secrets], namespaces: [shop], verbs: [get]}]}",
    );
    assert_eq!(
        found,
        ["warning: rule 1: allows get secrets in shop, which reads secrets"]
    );
}
