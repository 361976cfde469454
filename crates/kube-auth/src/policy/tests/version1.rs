use super::*;

fn resource(resources: &str, namespace: &str, group: &str) -> String {
    format!(
        r#"[{{"resource": {{"verbs": ["get", "list"], "resources": {resources},
             "version": "{group}", "namespace": "{namespace}"}},
             "match": [{{"type": "role", "values": ["dev", "ops"]}}]}}]"#
    )
}

#[test]
fn a_resource_does_not_cover_its_subresources() {
    let dev = user(&["dev"], "p1", "acme");
    check(
        &resource(r#"["pods", "nodes/*", "services/status"]"#, "*", ""),
        &dev,
        &[
            ("get pods in shop", true),
            ("list pods", true),
            ("delete pods in shop", false),
            ("GET pods in shop", false),
            ("get pods/exec in shop", false),
            ("get nodes", false),
            ("get nodes/proxy", true),
            ("get services/status in shop", true),
            ("get services/proxy in shop", false),
            ("get Pods in shop", false),
            ("get deployments.apps in shop", false),
        ],
    );
}

#[test]
fn a_star_covers_subresources_too() {
    let dev = user(&["dev"], "p1", "acme");
    check(
        &resource(r#"["*"]"#, "shop", "*"),
        &dev,
        &[
            ("get pods/exec in shop", true),
            ("get deployments.apps/scale in shop", true),
            ("get pods in other", false),
            ("get pods", false),
        ],
    );
}

#[test]
fn an_empty_namespace_is_only_what_has_none() {
    let dev = user(&["dev"], "p1", "acme");
    check(
        &resource(r#"["pods"]"#, "", ""),
        &dev,
        &[("list pods", true), ("list pods in shop", false)],
    );
}

#[test]
fn all_matches_must_hold_and_their_values_are_alternatives() {
    let policy = |matches: &str| {
        format!(
            r#"[{{"resource": {{"verbs": ["*"], "resources": ["*"], "version": "*",
                 "namespace": "*"}}, "match": {matches}}}]"#
        )
    };
    let ada = user(&["dev"], "p1", "acme");
    for (matches, allowed) in [
        (r#"[{"type": "role", "values": ["dev"]}]"#, true),
        (r#"[{"type": "role", "values": ["x", "dev"]}]"#, true),
        (r#"[{"type": "role", "values": ["*"]}]"#, true),
        (r#"[{"type": "role", "values": []}]"#, false),
        (r#"[{"type": "project", "values": ["p1"]}]"#, true),
        (r#"[{"type": "project", "values": ["acme"]}]"#, true),
        (r#"[{"type": "project", "values": ["p2"]}]"#, false),
        (r#"[{"type": "user", "values": ["ada"]}]"#, true),
        // the UID is lost on the way
        (r#"[{"type": "user", "values": ["u1"]}]"#, false),
        (r#"[{"type": "group", "values": ["g1"]}]"#, true),
        (r#"[{"type": "planet", "values": ["*"]}]"#, false),
        (
            r#"[{"type": "role", "values": ["dev"]}, {"type": "group", "values": ["g2"]}]"#,
            false,
        ),
    ] {
        check(&policy(matches), &ada, &[("get pods in shop", allowed)]);
    }
}

#[test]
fn paths_are_exact_or_a_plain_prefix() {
    let ada = user(&["dev"], "p1", "acme");
    let policy = |path: &str, verbs: &str| {
        format!(
            r#"[{{"nonresource": {{"verbs": {verbs}, "path": "{path}"}},
                 "match": [{{"type": "user", "values": ["*"]}}]}}]"#
        )
    };
    let get = r#"["get"]"#;
    check(
        &policy("/api*", get),
        &ada,
        &[
            ("get /api", true),
            ("get /apis", true),
            ("post /api", false),
        ],
    );
    check(
        &policy("/api/*", get),
        &ada,
        &[("get /api/v1", true), ("get /api", false)],
    );
    check(&policy("*", r#"["*"]"#), &ada, &[("put /anything", true)]);
    // an empty verb switches the entry off
    check(
        &policy("*", r#"["*", ""]"#),
        &ada,
        &[("get /healthz", false)],
    );
}

#[test]
fn what_the_reference_crashes_on_or_widens_is_refused() {
    let resource = |fields: &str| {
        format!(r#"[{{"match": [{{"type": "user", "values": ["*"]}}], "resource": {{{fields}}}}}]"#)
    };
    let open = r#"[{"resource": {"verbs": ["get"], "resources": ["pods"], "version": "*", "namespace": "*"}}]"#;
    let errors = [
        refused(&resource(r#""verbs": ["get"], "namespace": "*""#)),
        refused(&resource(r#""verbs": ["get"], "version": "*""#)),
        refused(&resource(r#""verb": ["get"]"#)),
        refused(open),
        refused("["),
        refused(&open.replace("}}]", r#"}, "match": []}]"#)),
        refused(r#"[{"match": {}}]"#),
    ];
    insta::assert_snapshot!("errors", errors.join("\n"));
}

#[test]
fn finding_s10_an_empty_value_that_every_user_matches_is_refused() {
    let policy = |matches: &str| {
        format!(
            r#"[{{"resource": {{"verbs": ["get"], "resources": ["pods"], "version": "*",
                 "namespace": "*"}}, "match": {matches}}}]"#
        )
    };
    for matches in [
        r#"[{"type": "user", "values": [""]}]"#,
        r#"[{"type": "user", "values": ["ada", ""]}]"#,
        r#"[{"type": "role", "values": ["dev"]}, {"Type": "user", "Values": [""]}]"#,
        r#"[{"type": "group", "values": [""]}]"#,
    ] {
        let error = refused(&policy(matches));
        assert!(
            error.starts_with("rule 1: match.values must not hold \"\""),
            "{error}"
        );
    }
    // the control case: all users, written explicitly
    let all_users = policy(r#"[{"type": "user", "values": ["*"]}]"#);
    check(
        &all_users,
        &user(&[], "p9", "any"),
        &[("get pods in shop", true)],
    );
}
