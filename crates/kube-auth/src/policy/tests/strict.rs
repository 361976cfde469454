use super::*;
use portico_domain::identity::{project_group, user_group};

fn policy(rule: &str) -> String {
    format!("apiVersion: kube-auth.portico.dev/v1\nkind: Policy\nrules:\n- {rule}\n")
}

fn vera() -> User {
    User {
        name: "vera@Default".to_owned(),
        uid: "u1".to_owned(),
        groups: vec!["r1".to_owned(), project_group("p1"), user_group("u1")],
        ..User::default()
    }
}

#[test]
fn nothing_grows_into_running_commands() {
    let rule = r#"{name: a, subjects: {roleIDs: [r1]}, resources:
        [{groups: [""], resources: ["*", "pods/*"], namespaces: ["*"], verbs: ["*"]}]}"#;
    check(
        &policy(rule),
        &vera(),
        &[
            ("get pods in shop", true),
            ("get pods/log in shop", true),
            ("get pods/exec in shop", false),
            ("create pods/attach in shop", false),
            ("get pods/portforward in shop", false),
            ("create serviceaccounts/token in shop", false),
            ("get services/status in shop", false),
            // a star of namespaces does not include requests without one
            ("list pods", false),
            ("get deployments.apps in shop", false),
        ],
    );
    let rule = r#"{name: a, subjects: {roleIDs: [r1]}, resources:
        [{groups: [""], resources: [pods/exec], namespaces: [shop], verbs: [get]}]}"#;
    check(
        &policy(rule),
        &vera(),
        &[("get pods/exec in shop", true), ("get pods in shop", false)],
    );
}

#[test]
fn names_of_objects_and_cluster_wide_requests_are_shown() {
    let rule = r#"{name: a, subjects: {userIDs: [u1]}, resources:
        [{groups: [""], resources: [configmaps], names: [one], namespaces: [shop], verbs: [get, list]},
         {groups: [""], resources: [nodes], clusterWide: true, verbs: [list]}],
        paths: [{paths: [/healthz, "/api/*"], verbs: [get]}]}"#;
    check(
        &policy(rule),
        &vera(),
        &[
            ("get configmaps one in shop", true),
            ("get configmaps two in shop", false),
            ("list configmaps in shop", false),
            ("list nodes", true),
            ("get /api/v1", true),
            ("get /api", false),
            ("get /apis", false),
            ("get /healthz", true),
        ],
    );
}

#[test]
fn ids_are_compared_with_ids_only() {
    let rule = |subjects: &str| {
        policy(&format!(
            r#"{{name: a, subjects: {subjects}, resources:
            [{{groups: [""], resources: [pods], namespaces: [shop], verbs: [get]}}]}}"#
        ))
    };
    let ask = |allowed| [("get pods in shop", allowed)];
    check(
        &rule("{roleIDs: [r1], projectIDs: [p1]}"),
        &vera(),
        &ask(true),
    );
    check(
        &rule("{roleIDs: [r1], projectIDs: [p2]}"),
        &vera(),
        &ask(false),
    );
    check(&rule("{userIDs: [u2]}"), &vera(), &ask(false));
    // names, in any position, are not IDs
    let mut named = vera();
    named.groups = vec!["member".to_owned()];
    named.name = "u1".to_owned();
    named
        .extra
        .insert(extra::PROJECT_NAME.to_owned(), vec!["p1".to_owned()]);
    check(&rule("{projectIDs: [p1]}"), &named, &ask(false));
    check(&rule("{userIDs: [u1]}"), &named, &ask(false));
    // a role in another project is another role
    let mut qualified = vera();
    qualified.groups = vec![project_group("p1"), "portico:project:p2:role:r1".to_owned()];
    check(
        &rule("{roleIDs: [r1], projectIDs: [p1]}"),
        &qualified,
        &ask(false),
    );
}

#[test]
fn incomplete_rules_are_refused() {
    let rules = [
        "{name: a, subjects: {}, paths: [{paths: [/x], verbs: [get]}]}",
        r#"{name: a, subjects: {roleIDs: ["*"]}, paths: [{paths: [/x], verbs: [get]}]}"#,
        "{name: a, subjects: {roleIDs: [r1]}}",
        r#"{name: " ", subjects: {roleIDs: [r1]}, paths: [{paths: [/x], verbs: [get]}]}"#,
        r#"{name: a, subjects: {roleIDs: [r1]}, resources: [{groups: [""], resources: [pods], verbs: [get]}]}"#,
        r#"{name: a, subjects: {roleIDs: [r1]}, resources: [{groups: [""], resources: ["*/exec"], namespaces: [a], verbs: [get]}]}"#,
        "{name: a, subjects: {roles: [dev]}, paths: []}",
    ];
    let mut errors: Vec<_> = rules
        .iter()
        .map(|rule| format!("{rule}\n  {}", refused(&policy(rule))))
        .collect();
    let other = "apiVersion: v1\nkind: Policy\nrules: []";
    errors.push(format!("{other}\n  {}", refused(other)));
    insta::assert_snapshot!("errors", errors.join("\n"));
}
