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
    let text = [
        ("signed in", explained.steps),
        ("signed out", signed_out.steps),
    ]
    .map(|(title, steps)| {
        let lines = steps.iter();
        let lines: String = lines
            .map(|(name, words, step)| format!("{name} {step}: {words}\n"))
            .collect();
        format!("{title}\n{lines}")
    })
    .join("\n");
    insta::assert_snapshot!("explanation", text);
}

/// Returns what lint finds in rules, a finding a line.
fn findings(rules: &Value) -> String {
    let policy = policy(admins(), rules.clone());
    let found: Vec<_> = policy.lint().iter().map(ToString::to_string).collect();
    found.join("\n")
}

/// Returns the findings in sets of rules, each under its title.
fn findings_by_title(cases: &[(&str, Value)]) -> String {
    let parts: Vec<_> = cases
        .iter()
        .map(|(title, rules)| format!("{title}\n{}\n", findings(rules)))
        .collect();
    parts.join("\n")
}

#[test]
fn lint_finds_what_opens_or_closes_more_than_it_seems() {
    let cases = [
        (
            "public everywhere",
            json!([{ "name": "a", "effect": "public" }]),
        ),
        (
            "public below /",
            json!([{ "name": "a", "effect": "public", "paths": ["prefix:/"] }]),
        ),
        (
            "public in a network",
            json!([{ "name": "a", "effect": "public", "networks": ["10.0.0.0/8"] }]),
        ),
        (
            "deny everywhere",
            json!([{ "name": "a", "effect": "deny" }]),
        ),
        (
            "every signed-in user",
            json!([{ "name": "a", "effect": "allow", "who": [{ "signed_in": true }] }]),
        ),
        (
            "a factor that others do not need",
            json!([{ "name": "a", "effect": "allow", "who": admins(), "factors": ["totp"], "paths": ["/x"] }]),
        ),
        (
            "users who can sign out",
            json!([
                { "name": "a", "effect": "public", "paths": ["/x/"] },
                { "name": "b", "effect": "deny", "who": members(), "paths": ["/x/y"] },
            ]),
        ),
    ];
    insta::assert_snapshot!("lint_of_reach", findings_by_title(&cases));
}

#[test]
fn lint_finds_what_has_no_effect_or_another_one_than_meant() {
    let public = |path: &str| json!([{ "name": "a", "effect": "public", "paths": [path] }]);
    let cases = [
        ("an open expression", public("regex:/api")),
        ("an expression for one path", public("regex:^/api$")),
        ("an expression for all below", public("regex:^/api/.*$")),
        ("a path of Portico", public("/oauth2/x")),
        ("a list in a path", public("/a,/b")),
        ("a sign without a meaning in a path", public("/a=b")),
        ("a prefix that ends within a name", public("prefix:/api")),
        (
            "an unknown factor",
            json!([{ "name": "a", "effect": "allow", "who": admins(), "factors": ["otp"], "paths": ["/x"] }]),
        ),
        (
            "a user by name",
            json!([{ "name": "a", "effect": "deny", "who": [{ "user": "x", "domain": "d" }], "paths": ["/x"] }]),
        ),
        (
            "public below deny",
            json!([
                { "name": "a", "effect": "deny", "paths": ["/x/"] },
                { "name": "b", "effect": "public", "paths": ["/x/y"] },
            ]),
        ),
        (
            "allow below public",
            json!([
                { "name": "a", "effect": "public", "paths": ["/x/"] },
                { "name": "b", "effect": "allow", "paths": ["/x/y"], "who": admins() },
            ]),
        ),
    ];
    insta::assert_snapshot!("lint_of_effect", findings_by_title(&cases));
}

#[test]
fn lint_finds_nothing_in_rules_that_do_what_they_seem_to() {
    let fine = json!([
        { "name": "a", "effect": "public", "paths": ["/static/"], "methods": ["GET"] },
        { "name": "b", "effect": "deny", "paths": ["/admin/"], "except": { "who": admins() } },
        { "name": "c", "effect": "public", "paths": ["regex:^/v[0-9]+/status$"] },
    ]);
    assert_eq!(findings(&fine), "");
}
