use super::attributes::extra;
use super::*;

/// `get pods/exec in shop`, `get /healthz`; the resource as `deployments.apps/scale`.
fn request(user: &User, text: &str) -> Attributes {
    let words: Vec<&str> = text.split(' ').collect();
    let (verb, what) = (words[0], words[1]);
    let target = if what.starts_with('/') {
        Target::Path(what.to_owned())
    } else {
        let namespace = words
            .iter()
            .position(|word| *word == "in")
            .map_or("", |at| words[at + 1]);
        let name = words.get(2).filter(|word| **word != "in").unwrap_or(&"");
        Target::Resource(ResourceAttributes {
            namespace: namespace.to_owned(),
            name: (*name).to_owned(),
            ..ResourceAttributes::parse(what)
        })
    };
    Attributes {
        user: user.clone(),
        verb: verb.to_owned(),
        target,
    }
}

fn user(roles: &[&str], project_id: &str, project_name: &str) -> User {
    let values = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect();
    User {
        name: "ada".to_owned(),
        uid: "u1".to_owned(),
        groups: vec!["g1".to_owned(), "system:authenticated".to_owned()],
        extra: [
            (extra::ROLES.to_owned(), values(roles)),
            (extra::PROJECT_ID.to_owned(), values(&[project_id])),
            (extra::PROJECT_NAME.to_owned(), values(&[project_name])),
        ]
        .into(),
    }
}

fn check(policy: &str, user: &User, cases: &[(&str, bool)]) {
    let policy = Policy::parse(policy).unwrap();
    for (text, allowed) in cases {
        let verdict = policy.decide(&request(user, text));
        assert_eq!(verdict.allowed(), *allowed, "{text}");
    }
}

fn refused(policy: &str) -> String {
    Policy::parse(policy).unwrap_err().to_string()
}

mod version1 {
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
            (r#"[{"type": "user", "values": [""]}]"#, true),
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
            format!(
                r#"[{{"match": [{{"type": "user", "values": ["*"]}}], "resource": {{{fields}}}}}]"#
            )
        };
        assert!(refused(&resource(r#""verbs": ["get"], "namespace": "*""#)).contains("version"));
        assert!(refused(&resource(r#""verbs": ["get"], "version": "*""#)).contains("namespace"));
        assert!(refused(&resource(r#""verb": ["get"]"#)).contains("unknown key \"verb\""));
        let open = r#"[{"resource": {"verbs": ["get"], "resources": ["pods"], "version": "*", "namespace": "*"}}]"#;
        assert!(refused(open).contains("rule 1: without match or users"));
        assert!(refused("[").contains("line 1"));
        assert!(refused(r#"[{"match": {}}]"#).contains("must be a list"));
    }
}

mod version2 {
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
        let policy = r#"[{"resource_permissions": {},
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
    fn whoever_came_in_another_way_is_denied() {
        let policy = r#"[{"resource_permissions": {"*/*": ["*"]}}]"#;
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
}

mod strict {
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
                // a star of namespaces is no word about requests without one
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
    fn names_of_objects_and_cluster_wide_requests_are_said() {
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
        // names, wherever they stand, are no IDs
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
    fn what_says_too_little_is_refused() {
        for (rule, word) in [
            (
                "{name: a, subjects: {}, paths: [{paths: [/x], verbs: [get]}]}",
                "at least one",
            ),
            (
                r#"{name: a, subjects: {roleIDs: ["*"]}, paths: [{paths: [/x], verbs: [get]}]}"#,
                "no Keystone ID",
            ),
            ("{name: a, subjects: {roleIDs: [r1]}}", "allows nothing"),
            (
                r#"{name: a, subjects: {roleIDs: [r1]}, resources: [{groups: [""], resources: [pods], verbs: [get]}]}"#,
                "needs namespaces",
            ),
            (
                r#"{name: a, subjects: {roleIDs: [r1]}, resources: [{groups: [""], resources: ["*/exec"], namespaces: [a], verbs: [get]}]}"#,
                "stands alone",
            ),
            (
                "{name: a, subjects: {roles: [dev]}, paths: []}",
                "unknown field",
            ),
        ] {
            assert!(
                refused(&policy(rule)).contains(word),
                "{rule}: {}",
                refused(&policy(rule))
            );
        }
        assert!(refused("apiVersion: v1\nkind: Policy\nrules: []").contains("apiVersion"));
    }
}

mod lint {
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
        for hole in [
            "get pods/exec",
            "list secrets",
            "get nodes/proxy",
            "any project of that name",
            "added later",
        ] {
            assert!(found.contains(hole), "{hole}\n{found}");
        }
        assert!(!found.contains("serviceaccounts/token"), "{found}");
    }

    #[test]
    fn an_administrators_rule_is_one_note() {
        let found = warnings(
            r#"[{"users": {"roles": ["admin"], "projects": ["p1"]}, "resource_permissions": {"*/*": ["*"]}}]"#,
        );
        assert!(
            found
                .iter()
                .any(|line| line.starts_with("note: rule 1: gives everything"))
        );
        assert!(
            !found.iter().any(|line| line.contains("secrets")),
            "{found:?}"
        );
    }

    #[test]
    fn rules_without_effect_are_named() {
        let found = warnings(
            r#"[{"users": {"roles": ["dev"]}, "resource_permissions": {"a/b/c": ["get"]}},
                {"match": [{"type": "planet", "values": ["x"]}],
                 "nonresource": {"verbs": ["get"], "path": "/x"}}]"#,
        )
        .join("\n");
        for word in ["about nobody", "passed over", "never applies"] {
            assert!(found.contains(word), "{word}\n{found}");
        }
    }

    #[test]
    fn a_strict_rule_says_what_it_opens() {
        let found = warnings(
            "apiVersion: kube-auth.portico.dev/v1\nkind: Policy\nrules:\n- {name: a, subjects: {roleIDs: [r1]}, \
             resources: [{groups: [\"\"], resources: [secrets], namespaces: [shop], verbs: [get]}]}",
        );
        assert_eq!(
            found,
            ["warning: rule 1: allows get secrets in shop, which reads secrets"]
        );
    }
}

#[test]
fn cases_are_decided_as_kube_auth_names_their_users() {
    let policy = Policy::parse(
        "apiVersion: kube-auth.portico.dev/v1\nkind: Policy\nrules:\n- {name: a, subjects: {roleIDs: [r1], projectIDs: [p1]}, \
         resources: [{groups: [apps], resources: [deployments/scale], namespaces: [shop], verbs: [patch]}]}",
    )
    .unwrap();
    let cases = Case::parse_all(
        "- {name: scales, user: {roles: [{id: r1}], project: {id: p1}}, verb: patch, resource: deployments.apps/scale, namespace: shop, allowed: true}\n\
         - {name: elsewhere, user: {roles: [{id: r1}], project: {id: p2}}, verb: patch, resource: deployments.apps/scale, namespace: shop, allowed: false}\n",
    )
    .unwrap();
    for case in cases {
        assert_eq!(
            policy.decide(&case.attributes()).allowed(),
            case.allowed,
            "{}",
            case.name
        );
    }
    assert!(Case::parse_all("- {name: x, verb: get, allowed: true}").is_err());
}
