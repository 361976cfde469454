//! Which users a rule applies to.
use super::*;

#[test]
fn a_sign_in_that_is_too_old_is_confirmed_and_does_not_refuse() {
    let rules = json!([
        { "name": "fresh", "effect": "deny", "paths": ["/admin/"], "except": { "who": admins(), "signed_in_within": "5m" } },
        { "name": "key", "effect": "allow", "paths": ["/key"], "who": members(), "signed_in_within": "5m" },
    ]);
    let policy = policy(admins(), rules);
    let at = |role: &str, minutes: Option<u64>| Subject {
        signed_in_ago: minutes.map(|minutes| Duration::from_secs(minutes * 60)),
        ..with_role(role)
    };
    let again = |rule: &str| Outcome::SignInAgain {
        rule: rule.to_owned(),
    };
    assert!(ask(&policy, "GET", "/admin/", Some(&at("admin", Some(5)))).is_open());
    assert_eq!(
        ask(&policy, "GET", "/admin/", Some(&at("admin", Some(6)))),
        again("fresh")
    );
    assert_eq!(
        ask(&policy, "GET", "/admin/", Some(&at("admin", None))),
        again("fresh")
    );
    assert_eq!(
        ask(&policy, "GET", "/admin/", Some(&at("member", Some(6)))),
        refused("fresh")
    );
    assert!(ask(&policy, "GET", "/key", Some(&at("member", Some(1)))).is_open());
    assert_eq!(
        ask(&policy, "GET", "/key", Some(&at("member", Some(6)))),
        again("key")
    );
    // the list lets admins in without
    assert!(ask(&policy, "GET", "/key", Some(&at("admin", Some(60)))).is_open());
}

#[test]
fn a_factor_must_have_been_used() {
    let rules = json!([{
        "name": "two", "effect": "deny", "except": { "who": admins(), "factors": ["mfa"] },
    }]);
    let policy = policy(admins(), rules);
    let with = |factors: &[&str]| Subject {
        factors: factors.iter().map(|factor| (*factor).to_owned()).collect(),
        ..with_role("admin")
    };
    assert_eq!(
        ask(&policy, "GET", "/", Some(&with(&["password"]))),
        refused("two")
    );
    assert!(ask(&policy, "GET", "/", Some(&with(&["password", "totp"]))).is_open());
}

#[test]
fn attack_33_a_name_in_another_case_escapes_no_deny_and_gets_in_nowhere() {
    let ban = json!([{ "name": "ban", "effect": "deny", "who": [{ "user": "Mallory", "domain": "Default" }] }]);
    let banned = policy(members(), ban);
    let named = |name: &str, domain: &str| Subject {
        roles: with_role("member").roles,
        ..Subject::named("u9", name, domain)
    };
    for (name, domain) in [
        ("Mallory", "Default"),
        ("mallory", "default"),
        ("MALLORY", "DEFAULT"),
        ("mallory ", "Default"),
    ] {
        assert_eq!(
            ask(&banned, "GET", "/", Some(&named(name, domain))),
            refused("ban"),
            "{name}@{domain}"
        );
    }
    assert!(ask(&banned, "GET", "/", Some(&named("mallory", "acme"))).is_open());

    let only = policy(
        json!([]),
        json!([{ "name": "ada", "effect": "allow", "who": [{ "user": "ada", "domain": "Default" }] }]),
    );
    assert!(ask(&only, "GET", "/", Some(&named("ada", "Default"))).is_open());
    for (name, domain) in [("ADA", "Default"), ("ada", "acme"), ("ada ", "Default")] {
        assert!(
            !ask(&only, "GET", "/", Some(&named(name, domain))).is_open(),
            "{name}@{domain}"
        );
    }
}

#[test]
fn a_group_counts_at_its_provider_only() {
    let rules = json!([{ "name": "ops", "effect": "allow", "who": [{ "group": "ops", "provider": "corp" }] }]);
    let app = app(json!([]), rules);
    let provider = GroupSource {
        id: "corp".to_owned(),
        groups: true,
        roles: true,
    };
    let policy = Policy::read(&app, &[provider]).expect("policy");
    let of = |provider: &str| Subject {
        groups: vec![GroupOfProvider {
            group: "ops".to_owned(),
            provider: provider.to_owned(),
        }],
        ..Subject::named("u1", "ada", "corp")
    };
    assert!(ask(&policy, "GET", "/", Some(&of("corp"))).is_open());
    assert!(!ask(&policy, "GET", "/", Some(&of("partner"))).is_open());
}
