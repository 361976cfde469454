//! What rules say together, without a gateway.
mod explain;
mod users;

use std::time::Duration;

use http::Method;
use portico_domain::access::{GroupOfProvider, RoleInProject};
use proptest::prelude::*;
use serde_json::{Value, json};

use portico_request::rewrite::Rewrite;

use super::{
    app::{AppPolicy, GroupSource},
    model::RuleConfig,
    policy::{Asking, Outcome, Policy, Subject},
};

/// A rule with a name unless it has one.
pub(super) fn rule(mut text: Value) -> RuleConfig {
    if text.get("name").is_none() {
        text["name"] = json!("r");
    }
    serde_json::from_value(text).expect("rule")
}

pub(super) fn app(allow: Value, rules: Value) -> AppPolicy {
    AppPolicy {
        id: "app".to_owned(),
        project: "p1".to_owned(),
        allow: serde_json::from_value(allow).expect("allow"),
        rules: serde_json::from_value(rules).expect("rules"),
        ..AppPolicy::default()
    }
}

pub(super) fn policy(allow: Value, rules: Value) -> Policy {
    Policy::read(&app(allow, rules), &[]).expect("policy")
}

fn admins() -> Value {
    json!([{ "role": "admin", "project": "p1" }])
}

fn members() -> Value {
    json!([{ "role": "member", "project": "p1" }])
}

fn with_role(role: &str) -> Subject {
    Subject {
        roles: vec![RoleInProject {
            role: role.to_owned(),
            project: "p1".to_owned(),
        }],
        ..Subject::named("u1", "ada", "Default")
    }
}

fn ask(policy: &Policy, method: &str, path: &str, person: Option<&Subject>) -> Outcome {
    ask_from(policy, method, path, person, Some("192.0.2.7"))
}

fn ask_from(
    policy: &Policy,
    method: &str,
    path: &str,
    person: Option<&Subject>,
    client: Option<&str>,
) -> Outcome {
    policy.decide(&Asking {
        method: &Method::from_bytes(method.as_bytes()).expect("method"),
        path,
        client: client.map(|client| client.parse().expect("address")),
        person,
    })
}

fn refused(rule: &str) -> Outcome {
    Outcome::Refused {
        rule: Some(rule.to_owned()),
    }
}

#[test]
fn without_rules_the_list_decides() {
    let policy = policy(admins(), json!([]));
    let open = ask(&policy, "GET", "/", Some(&with_role("admin")));
    assert_eq!(
        open,
        Outcome::Open {
            by: "admin in p1".to_owned(),
            by_list: true
        }
    );
    let none = Outcome::Refused { rule: None };
    assert_eq!(ask(&policy, "GET", "/", Some(&with_role("member"))), none);
    assert_eq!(
        ask(&policy, "GET", "/", None),
        Outcome::SignIn { rule: None }
    );
}

#[test]
fn a_deny_wins_over_all_other_rules_in_any_position() {
    let deny = json!({ "name": "no", "effect": "deny", "paths": ["/x/"] });
    let public = json!({ "name": "all", "effect": "public", "paths": ["prefix:/"] });
    let allow = json!({ "name": "some", "effect": "allow", "who": [{ "signed_in": true }] });
    for order in [
        json!([deny, public, allow]),
        json!([allow, public, deny]),
        json!([public, deny, allow]),
    ] {
        let policy = policy(admins(), order);
        for person in [None, Some(with_role("admin"))] {
            assert_eq!(ask(&policy, "GET", "/x/y", person.as_ref()), refused("no"));
            let open = ask(&policy, "GET", "/y", person.as_ref());
            assert_eq!(
                open,
                Outcome::Public {
                    rule: "all".to_owned()
                }
            );
        }
    }
}

#[test]
fn who_is_in_neither_a_rule_nor_the_list_gets_nothing() {
    let rules = json!([
        { "name": "reports", "effect": "allow", "paths": ["/reports/"], "who": members() }
    ]);
    let policy = policy(admins(), rules);
    let (admin, member, other) = (with_role("admin"), with_role("member"), with_role("x"));
    assert!(ask(&policy, "GET", "/reports/1", Some(&member)).is_open());
    assert!(!ask(&policy, "GET", "/", Some(&member)).is_open());
    assert!(ask(&policy, "GET", "/reports/1", Some(&admin)).is_open());
    assert!(!ask(&policy, "GET", "/reports/1", Some(&other)).is_open());
    // the same role in another project is another role
    let mut elsewhere = member.clone();
    elsewhere.roles[0].project = "p2".to_owned();
    assert!(!ask(&policy, "GET", "/reports/1", Some(&elsewhere)).is_open());
}

#[test]
fn a_deny_lets_its_exceptions_past_and_leads_others_to_sign_in() {
    let rules = json!([{
        "name": "admin API", "effect": "deny", "paths": ["/admin/"],
        "except": { "who": admins(), "networks": ["10.0.0.0/8"] },
    }]);
    let policy = policy(
        json!([{ "role": "admin", "project": "p1" }, { "role": "member", "project": "p1" }]),
        rules,
    );
    let (admin, member) = (with_role("admin"), with_role("member"));
    let inside = Some("10.1.2.3");
    assert!(ask_from(&policy, "GET", "/admin/x", Some(&admin), inside).is_open());
    assert_eq!(
        ask_from(&policy, "GET", "/admin/x", Some(&member), inside),
        refused("admin API")
    );
    assert_eq!(
        ask_from(&policy, "GET", "/admin/x", Some(&admin), Some("192.0.2.7")),
        refused("admin API")
    );
    assert_eq!(
        ask_from(&policy, "GET", "/admin/x", Some(&admin), None),
        refused("admin API")
    );
    assert!(ask(&policy, "GET", "/other", Some(&member)).is_open());
    assert_eq!(
        ask_from(&policy, "GET", "/admin/x", None, inside),
        Outcome::SignIn {
            rule: Some("admin API".to_owned())
        }
    );
    // no sign-in helps from there
    assert_eq!(
        ask_from(&policy, "GET", "/admin/x", None, Some("192.0.2.7")),
        refused("admin API")
    );
    // an address in its IPv6 form is the same address
    assert!(
        ask_from(
            &policy,
            "GET",
            "/admin/x",
            Some(&admin),
            Some("::ffff:10.1.2.3")
        )
        .is_open()
    );
}

#[test]
fn attack_27_a_query_decides_nothing() {
    // the proxy hands over the path only; whatever would come with it is a bad path or another one
    let policy = policy(
        admins(),
        json!([{ "name": "status", "effect": "public", "paths": ["/status"] }]),
    );
    assert!(ask(&policy, "GET", "/status", None).is_open());
    for path in [
        "/api/private%3Fpath=/status",
        "/api/private%3f/status",
        "/status%3fx",
        "/status%23x",
    ] {
        assert!(!ask(&policy, "GET", path, None).is_open(), "{path}");
    }
    assert!(matches!(
        ask(&policy, "GET", "/x#/status", None),
        Outcome::BadRequest { .. }
    ));
}

#[test]
fn attack_35_the_real_method_counts() {
    let policy = policy(
        members(),
        json!([{ "name": "writes", "effect": "deny", "methods": ["unsafe"], "except": { "who": admins() } }]),
    );
    let member = with_role("member");
    for method in ["GET", "HEAD", "OPTIONS"] {
        assert!(
            ask(&policy, method, "/", Some(&member)).is_open(),
            "{method}"
        );
    }
    for method in ["POST", "DELETE", "post", "Delete", "PURGE", "get", "FOO"] {
        assert_eq!(
            ask(&policy, method, "/", Some(&member)),
            refused("writes"),
            "{method}"
        );
    }
}

proptest! {
    /// Order never matters, and nothing but a deny takes anything away.
    #[test]
    fn the_order_of_rules_changes_nothing(
        picked in proptest::collection::vec(0_usize..7, 0..6),
        shift in 0_usize..6,
        path in 0_usize..4,
        role in 0_usize..3,
    ) {
        let all = [
            json!({ "effect": "deny", "paths": ["/x/"] }),
            json!({ "effect": "deny", "paths": ["/y/"], "except": { "who": admins() } }),
            json!({ "effect": "deny", "who": members(), "paths": ["/z"] }),
            json!({ "effect": "public", "paths": ["/x/", "/z"] }),
            json!({ "effect": "public", "paths": ["/y/"], "methods": ["GET"] }),
            json!({ "effect": "allow", "who": members(), "paths": ["prefix:/"] }),
            json!({ "effect": "allow", "who": [{ "signed_in": true }], "paths": ["/y/"] }),
        ];
        let mut rules: Vec<Value> = picked.iter().enumerate().map(|(at, which)| {
            let mut rule = all[*which].clone();
            rule["name"] = json!(format!("{at}"));
            rule
        }).collect();
        let path = ["/x/1", "/y/1", "/z", "/other"][path];
        let person = [None, Some(with_role("admin")), Some(with_role("member"))][role].clone();
        let decided = |rules: &[Value]| {
            let outcome = ask(&policy(admins(), json!(rules)), "GET", path, person.as_ref());
            (std::mem::discriminant(&outcome), outcome.is_open())
        };
        let before = decided(&rules);
        if !rules.is_empty() {
            let by = shift % rules.len();
            rules.rotate_left(by);
        }
        prop_assert_eq!(decided(&rules), before);
        let open_before = before.1;
        rules.push(json!({ "name": "more", "effect": "deny", "paths": ["prefix:/"] }));
        prop_assert!(!decided(&rules).1);
        rules.pop();
        rules.push(json!({ "name": "more", "effect": "allow", "who": admins() }));
        prop_assert!(decided(&rules).1 || !open_before, "an allow took something away");
    }
}

#[test]
fn attack_31_a_rewritten_path_is_authorized_before_and_after() {
    let mut app = app(
        members(),
        json!([
            { "name": "adm", "effect": "deny", "paths": ["/adm/"] },
            { "name": "asked", "effect": "deny", "paths": ["/mounted/secret/"] },
            { "name": "half", "effect": "public", "paths": ["/half/"] },
            { "name": "open", "effect": "public", "paths": ["/open/", "/mounted/open/"] },
        ]),
    );
    app.rewrite = Rewrite::new(Some("/mounted"), None);
    let policy = Policy::read(&app, &[]).expect("policy");
    let member = with_role("member");
    assert_eq!(
        ask(&policy, "GET", "/mounted/adm/x", Some(&member)),
        refused("adm")
    );
    assert_eq!(
        ask(&policy, "GET", "/mounted/adm;x/y", Some(&member)),
        refused("adm")
    );
    assert_eq!(
        ask(&policy, "GET", "/mounted/secret/x", Some(&member)),
        refused("asked")
    );
    assert!(ask(&policy, "GET", "/mounted/other", Some(&member)).is_open());
    assert!(!ask(&policy, "GET", "/mounted/half/x", None).is_open());
    assert!(ask(&policy, "GET", "/mounted/open/x", None).is_open());
}
