//! What `explain` and `lint` say about rules.
use super::*;
use crate::PolicyQuery;

#[test]
fn every_rule_explains_why_it_does_not_decide() {
    let rules = json!([
        { "name": "method", "effect": "deny", "methods": ["POST"] },
        { "name": "path", "effect": "deny", "paths": ["/x"] },
        { "name": "address", "effect": "deny", "networks": ["10.0.0.0/8"] },
        { "name": "people", "effect": "deny", "who": members() },
        { "name": "past", "effect": "deny", "except": { "who": admins() } },
        { "name": "late", "effect": "allow", "who": admins(), "signed_in_within": "1m" },
        { "name": "in", "effect": "allow", "who": admins() },
        { "name": "too", "effect": "allow", "who": [{ "signed_in": true }] },
    ]);
    let policy = policy(json!([]), rules);
    let question = PolicyQuery {
        method: Method::GET,
        path: "/".to_owned(),
        client: Some("192.0.2.7".parse().expect("address")),
        person: Some(Subject {
            signed_in_ago: Some(Duration::from_secs(120)),
            ..with_role("admin")
        }),
    };
    let explained = policy.explain(&question);
    assert_eq!(explained.outcome.rule(), Some("in"));
    use crate::Step::*;
    let steps: Vec<_> = explained.steps.iter().map(|(_, _, step)| *step).collect();
    assert_eq!(
        steps,
        [
            OtherMethod,
            OtherPath,
            OtherAddress,
            OtherUsers,
            LetsPast,
            TooLongAgo,
            Decides,
            FitsToo
        ]
    );
    let signed_out = policy.explain(&PolicyQuery {
        person: None,
        ..question
    });
    assert_eq!(signed_out.steps[3].2, NotSignedIn);
    assert_eq!(
        signed_out.steps[4].1,
        "deny any method on every path except admin in p1"
    );
}

#[test]
fn lint_finds_what_opens_by_accident_and_what_has_no_effect() {
    let found = |rules: Value| -> Vec<String> {
        let policy = policy(admins(), rules);
        policy.lint().iter().map(ToString::to_string).collect()
    };
    let has = |rules: Value, text: &str| {
        let all = found(rules.clone());
        assert!(
            all.iter().any(|one| one.contains(text)),
            "{text} not in {all:?}"
        );
    };
    has(
        json!([{ "name": "a", "effect": "public" }]),
        "every path of the app to everyone",
    );
    has(
        json!([{ "name": "a", "effect": "public", "paths": ["prefix:/"] }]),
        "every path of the app to everyone",
    );
    has(
        json!([{ "name": "a", "effect": "deny" }]),
        "closes the whole app",
    );
    has(
        json!([{ "name": "a", "effect": "public", "paths": ["regex:/api"] }]),
        "the whole path",
    );
    has(
        json!([{ "name": "a", "effect": "public", "paths": ["regex:^/api$"] }]),
        "write /api",
    );
    has(
        json!([{ "name": "a", "effect": "public", "paths": ["regex:^/api/.*$"] }]),
        "write /api/",
    );
    has(
        json!([{ "name": "a", "effect": "public", "paths": ["/oauth2/x"] }]),
        "Portico's own",
    );
    has(
        json!([{ "name": "a", "effect": "public", "paths": ["/a,/b"] }]),
        "a comma in it",
    );
    has(
        json!([{ "name": "a", "effect": "public", "paths": ["prefix:/api"] }]),
        "also names /apix",
    );
    has(
        json!([{ "name": "a", "effect": "allow", "who": [{ "signed_in": true }] }]),
        "all signed-in users",
    );
    has(
        json!([{ "name": "a", "effect": "allow", "who": admins(), "factors": ["otp"], "paths": ["/x"] }]),
        "no sign-in has the factor",
    );
    has(
        json!([{ "name": "a", "effect": "allow", "who": admins(), "factors": ["totp"], "paths": ["/x"] }]),
        "have access without it",
    );
    has(
        json!([{ "name": "a", "effect": "deny", "who": [{ "user": "x", "domain": "d" }], "paths": ["/x"] }]),
        "a user_id cannot",
    );
    has(
        json!([
            { "name": "a", "effect": "deny", "paths": ["/x/"] },
            { "name": "b", "effect": "public", "paths": ["/x/y"] },
        ]),
        "never decides: the rule \"a\"",
    );
    has(
        json!([
            { "name": "a", "effect": "public", "paths": ["/x/"] },
            { "name": "b", "effect": "allow", "paths": ["/x/y"], "who": admins() },
        ]),
        "never decides: the rule \"a\"",
    );
    has(
        json!([
            { "name": "a", "effect": "public", "paths": ["/x/"] },
            { "name": "b", "effect": "deny", "who": members(), "paths": ["/x/y"] },
        ]),
        "can sign out",
    );
    let fine = json!([
        { "name": "a", "effect": "public", "paths": ["/static/"], "methods": ["GET"] },
        { "name": "b", "effect": "deny", "paths": ["/admin/"], "except": { "who": admins() } },
        { "name": "c", "effect": "public", "paths": ["regex:^/v[0-9]+/status$"] },
    ]);
    assert_eq!(found(fine), Vec::<String>::new());
}
