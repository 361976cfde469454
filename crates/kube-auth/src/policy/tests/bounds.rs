use super::*;
use crate::policy::membership::Membership;
use portico_domain::identity::{project_group, project_role_group};
use std::time::Duration;
use tokio::time::Instant;

const HEAD: &str = "apiVersion: kube-auth.portico.dev/v1\nkind: Policy\n";

/// Nested aliases inside the keys that the format knows: 1800 rules of 1300 resources of 4 lists of
/// 1000 values.
fn nested_aliases() -> String {
    let list = format!("[{}]", ["x"; 1_000].join(","));
    let resources = "  - {groups: *g, resources: *g, namespaces: *g, verbs: *g}\n".repeat(1_300);
    let rules = "- {name: a, subjects: {roleIDs: *g}, resources: *r}\n".repeat(1_800);
    format!(
        "{HEAD}rules:\n- name: a\n  subjects: {{roleIDs: &g {list}}}\n  resources: &r\n{resources}{rules}"
    )
}

/// What a call took. An optimised build needs milliseconds; the bound is for a test build on a busy
/// machine, where the same work without limits took minutes.
fn within_seconds<T>(what: &str, call: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = call();
    let took = started.elapsed();
    assert!(took < Duration::from_secs(5), "{what} took {took:?}");
    result
}

#[test]
fn finding_s1_documents_that_multiply_or_nest_are_refused_at_once() {
    let nested = format!("{HEAD}rules: {}", "[".repeat(200_000));
    for (text, reason) in [
        (nested_aliases(), "anchors (&name) and aliases (*name)"),
        (nested, "nested more than 16 levels"),
        (
            format!("{HEAD}rules: !!seq []"),
            "line 3: tags (!name) are not accepted",
        ),
        (
            format!("{HEAD}rules:\n- <<: {{name: a}}\n"),
            "line 4: merge keys",
        ),
        (format!("{HEAD}---\nrules: []"), "second document"),
        ("[".repeat(200_000), "nested more than 16 levels"),
        (
            format!("[{}]", ["1"; 100_000].join(",")),
            "more than 20000 keys and values",
        ),
        (
            format!(r#"[{{"users": {}}}]"#, r#"{"a":"#.repeat(200)),
            "nested more than 16 levels",
        ),
        (" ".repeat(2 * 1024 * 1024), "larger than 1048576 bytes"),
        (
            format!("[{}]", vec![r#"{"users": {}}"#; 1_001].join(",")),
            "1001 rules, more than 1000",
        ),
    ] {
        let error = within_seconds(reason, || refused(&text));
        assert!(error.contains(reason), "{reason}: {error}");
    }
    let cases = format!("- &a {{name: x}}\n{}", "- *a\n".repeat(1_000));
    assert!(Case::parse_all(&cases).is_err());
}

#[test]
fn finding_s1_the_limits_count_values_and_not_characters_in_strings() {
    let brackets = "[{,:".repeat(10_000);
    let policy = format!(
        r#"[{{"users": {{"projects": ["\"{brackets}"]}}, "resource_permissions": {{"*/*": ["get"]}}}}]"#
    );
    assert!(Policy::parse(&policy).is_ok());
    // as many rules as are accepted
    let rule = r#"{"users": {"projects": ["p"]}, "resource_permissions": {"a/b": ["get"]}}"#;
    let policy = format!("[{}]", vec![rule; 1_000].join(","));
    assert_eq!(Policy::parse(&policy).unwrap().len(), 1_000);
}

#[test]
fn finding_s1_deciding_and_linting_cost_no_more_than_policy_and_user_are_long() {
    let ids = |prefix: &str, count: usize| {
        let ids: Vec<String> = (0..count).map(|n| format!("{prefix}{n}")).collect();
        ids
    };
    let listed = |ids: &[String]| ids.join(", ");
    let (roles, projects) = (ids("r", 9_000), ids("p", 9_000));
    // every role in every project, and the user has the wrong ones
    let policy = format!(
        "{HEAD}rules:\n- name: a\n  subjects: {{roleIDs: [{}], projectIDs: [{}]}}\n  resources:\n  \
         - {{groups: ['*'], resources: ['*'], namespaces: ['*'], verbs: ['*']}}\n",
        listed(&roles),
        listed(&projects)
    );
    let policy = within_seconds("parse", || Policy::parse(&policy)).unwrap();
    let mut user = user(&[], "p0", "acme");
    for project in projects.iter().take(3_000) {
        user.groups.push(project_group(project));
        user.groups.push(project_role_group(project, "other"));
    }
    let ask = request(&user, "get pods in shop");
    assert!(!within_seconds("decide", || policy.decide(&ask)).allowed());
    // the control case: one of them
    user.groups.push(project_role_group("p1", "r8999"));
    assert!(policy.decide(&request(&user, "get pods in shop")).allowed());
    within_seconds("lint", || policy.lint());

    let names = ids("n", 18_000);
    let policy = format!(
        "{HEAD}rules:\n- name: a\n  subjects: {{roleIDs: [r]}}\n  resources:\n  \
         - {{groups: [''], resources: [configmaps], namespaces: [{}], verbs: [get]}}\n",
        listed(&names)
    );
    let policy = Policy::parse(&policy).unwrap();
    assert!(within_seconds("lint of namespaces", || policy.lint()).is_empty());

    let quoted: Vec<String> = ids("x", 9_000).iter().map(|id| format!("{id:?}")).collect();
    let policy = format!(
        r#"[{{"users": {{"roles": [{}], "projects": ["p0"]}}, "resource_permissions": {{"*/*": ["get"]}}}}]"#,
        listed(&quoted)
    );
    let policy = Policy::parse(&policy).unwrap();
    let mut names: Vec<String> = ids("x", 8_999);
    names.reverse();
    let roles: Vec<&str> = names.iter().map(String::as_str).collect();
    let user = super::user(&roles, "p0", "acme");
    let ask = request(&user, "get pods in shop");
    assert!(!within_seconds("decide by names", || policy.decide(&ask)).allowed());
    within_seconds("lint by names", || policy.lint());
}

#[test]
fn a_role_in_another_project_does_not_count() {
    let group = |text: &str| text.to_owned();
    let user = User {
        groups: vec![
            project_group("p1"),
            project_role_group("p2", "r1"),
            group("portico:user:u1"),
        ],
        ..User::default()
    };
    let membership = Membership::of(&user);
    assert!(membership.project_ids.contains("p1") && !membership.project_ids.contains("p2"));
    assert!(membership.user_ids.contains("u1"));
    let policy = |projects: &str| {
        format!(
            "{HEAD}rules:\n- {{name: a, subjects: {{roleIDs: [r1], projectIDs: [{projects}]}}, paths: \
             [{{paths: [/x], verbs: [get]}}]}}"
        )
    };
    check(&policy("p1"), &user, &[("get /x", false)]);
    check(&policy("p1, p2"), &user, &[("get /x", true)]);
}
