use super::*;
use serde_json::{Value, json};

fn read(text: Value) -> IdentityConfig {
    serde_json::from_value(text).expect("shape")
}

fn fault(text: Value) -> IdentityFault {
    let config = read(text.clone());
    match config.validate() {
        Err(fault) => fault,
        Ok(()) => panic!("accepted: {text}"),
    }
}

#[test]
fn every_kind_can_be_configured() {
    let editor = json!([{ "value": "Editor", "for": [
        { "role": "k8s_developer", "project": "p" },
        { "group": "ops", "provider": "corp" },
    ]}]);
    for text in [
        json!({}),
        json!({ "kind": "none" }),
        json!({ "kind": "headers", "headers": {
            "X-WEBAUTH-USER": "user",
            "X-WEBAUTH-ROLE": { "value": "role" },
            "X-WEBAUTH-GROUPS": { "value": "groups", "separator": ";", "only": ["ops"] },
            "X-Roles": { "value": "roles", "lines": true },
            "X-Scope-OrgID": { "text": "acme" },
            "X-Email": { "value": "email", "required": true },
        }, "roles": editor, "default_role": "Viewer" }),
        json!({ "kind": "jwt" }),
        json!({ "kind": "jwt", "roles": editor }),
        json!({ "kind": "jwt", "header": "Authorization", "claims": { "sub": "user_id" } }),
        json!({ "kind": "basic", "user": "user_name", "password_file": "p" }),
        json!({ "kind": "basic", "user_file": "u", "password_file": "p",
                "headers": { "es-security-runas-user": "user_name" } }),
        json!({ "kind": "bearer", "token_file": "t" }),
        json!({ "kind": "cluster", "cluster": "acme-prod" }),
    ] {
        assert_eq!(read(text.clone()).validate(), Ok(()), "{text}");
    }
}

#[test]
fn what_is_written_is_what_is_printed() {
    let config = read(json!({ "kind": "headers", "headers": {
        "X-User": "user", "X-Groups": { "value": "groups", "separator": ";" },
        "X-Org": { "text": "acme" },
    }}));
    let printed = serde_json::to_value(&config).expect("JSON");
    assert_eq!(read(printed), config);
}

#[test]
fn settings_go_with_their_kind() {
    for (text, setting) in [
        (
            json!({ "kind": "none", "headers": { "X-User": "user" } }),
            "headers",
        ),
        (
            json!({ "kind": "cluster", "cluster": "c", "headers": { "X-User": "user" } }),
            "headers",
        ),
        (json!({ "header": "X-Token" }), "header"),
        (json!({ "claims": { "sub": "user" } }), "claims"),
        (
            json!({ "kind": "bearer", "token_file": "t", "user": "user" }),
            "user",
        ),
        (json!({ "kind": "jwt", "token_file": "t" }), "token_file"),
        (json!({ "kind": "basic", "cluster": "c" }), "cluster"),
    ] {
        let found = fault(text);
        assert!(
            matches!(found, IdentityFault::NotOfKind { setting: named, .. } if named == setting),
            "{found}"
        );
    }
    for text in [
        json!({ "kind": "headers" }),
        json!({ "kind": "basic", "password_file": "p" }),
        json!({ "kind": "basic", "user": "user" }),
        json!({ "kind": "bearer" }),
        json!({ "kind": "cluster" }),
    ] {
        assert!(matches!(fault(text), IdentityFault::Missing { .. }));
    }
    let two = json!({ "kind": "basic", "user": "user", "user_file": "u", "password_file": "p" });
    assert_eq!(fault(two), IdentityFault::TwoUsers);
    let list = json!({ "kind": "basic", "user": "groups", "password_file": "p" });
    assert_eq!(fault(list), IdentityFault::ListAsUser);
}

#[test]
fn headers_with_a_meaning_of_their_own_carry_no_identity() {
    for name in [
        "Host",
        "Cookie",
        "Authorization",
        "Connection",
        "Content-Length",
        "Transfer-Encoding",
        "Sec-Fetch-Site",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "Impersonate-User",
        "Portico-Assertion",
        "Portico-Token",
        "Proxy-Authorization",
        "traceparent",
        "X-Request-Id",
        "X-HTTP-Method-Override",
    ] {
        let text = json!({ "kind": "headers", "headers": { name: "user" } });
        assert!(
            matches!(fault(text), IdentityFault::HeaderTaken(_)),
            "{name}"
        );
        if name != "Authorization" {
            let text = json!({ "kind": "jwt", "header": name });
            assert!(
                matches!(fault(text), IdentityFault::HeaderTaken(_)),
                "{name}"
            );
        }
    }
    for name in ["", "X_User", "X-User ", "X-Usér", "X.User", "a:b", "x\r\ny"] {
        let text = json!({ "kind": "headers", "headers": { name: "user" } });
        assert!(
            matches!(fault(text), IdentityFault::HeaderName(_)),
            "{name}"
        );
    }
    for name in [
        "X-Forwarded-User",
        "X-Forwarded-Groups",
        "Remote-User",
        "X-User",
    ] {
        let text = json!({ "kind": "headers", "headers": { name: "user" } });
        assert_eq!(read(text).validate(), Ok(()), "{name}");
    }
}

#[test]
fn a_header_is_named_once_and_lists_are_distinguished() {
    let twice = json!({ "kind": "headers", "headers": { "X-User": "user", "x-user": "user_id" } });
    assert!(matches!(fault(twice), IdentityFault::HeaderTwice(_)));
    let twice = json!({ "kind": "jwt", "headers": { "x-jwt-assertion": "user" } });
    assert!(matches!(fault(twice), IdentityFault::HeaderTwice(_)));
    for from in [
        json!({ "value": "user", "separator": ";" }),
        json!({ "value": "user", "lines": true }),
        json!({ "text": "x", "only": ["y"] }),
        json!({ "value": "groups", "separator": ";", "lines": true }),
    ] {
        let text = json!({ "kind": "headers", "headers": { "X-A": from } });
        assert!(matches!(fault(text), IdentityFault::NotAList(_)), "{from}");
    }
    for separator in ["%", "\"", "a", " ", "\n", "é"] {
        let from = json!({ "value": "groups", "separator": separator });
        let text = json!({ "kind": "headers", "headers": { "X-A": from } });
        assert!(
            matches!(fault(text), IdentityFault::Separator(_)),
            "{separator:?}"
        );
    }
    for content in ["", "a\r\nb: c", "é", " a", "\u{0}"] {
        let text = json!({ "kind": "headers", "headers": { "X-A": { "text": content } } });
        assert!(matches!(fault(text), IdentityFault::Text(_)), "{content:?}");
    }
    for wrong in [
        json!({}),
        json!({ "value": "user", "text": "x" }),
        json!({ "value": "password" }),
        json!({ "value": "user", "separators": ";" }),
        json!("token"),
    ] {
        let text = json!({ "kind": "headers", "headers": { "X-A": wrong } });
        assert!(
            serde_json::from_value::<IdentityConfig>(text).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn a_token_takes_no_claim_about_itself_from_the_configuration() {
    for name in ["iss", "aud", "exp", "iat", "nbf", "jti", "", "a b", "é"] {
        let text = json!({ "kind": "jwt", "claims": { name: "user" } });
        assert!(matches!(fault(text), IdentityFault::ClaimName(_)), "{name}");
    }
}

#[test]
fn roles_are_passed_on_and_have_holders() {
    let headers = json!({ "kind": "headers", "headers": { "X-Role": "role" } });
    assert_eq!(fault(headers), IdentityFault::NoRoles);
    let unused = json!({ "kind": "headers", "headers": { "X-User": "user" }, "roles": [
        { "value": "Admin", "for": [{ "role": "r", "project": "p" }] },
    ]});
    assert_eq!(fault(unused), IdentityFault::UnusedRoles);
    for holders in [json!([]), json!([{ "role": "", "project": "p" }])] {
        let unheld = json!({ "kind": "jwt", "roles": [{ "value": "Admin", "for": holders }] });
        assert!(matches!(
            fault(unheld),
            IdentityFault::RoleWithoutHolders(_)
        ));
    }
    let bare = json!({ "kind": "jwt", "roles": [{ "value": "Admin", "for": [{ "role": "r" }] }] });
    assert!(
        serde_json::from_value::<IdentityConfig>(bare).is_err(),
        "a role without a project"
    );
}
