//! The identity that an app receives, by its configuration.
use std::{os::unix::fs::PermissionsExt as _, path::PathBuf, time::Duration};

use http::{Method, StatusCode};
use jiff::Timestamp;
use portico_assertion::cluster_token;
use portico_runtime::metrics::Metrics;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::support::{
    browser::{Browser, Page},
    received_identity::{basic, claims, header},
    stack::{APP, CLUSTER, MAIN, Stack, Wanted},
    time::{advance, eventually},
};

async fn telling(identity: Value) -> Stack {
    Stack::start(Wanted {
        app: json!({ "identity": identity }),
        ..Wanted::default()
    })
    .await
}

/// An app that opens for a group, too, of a provider that is never asked.
async fn telling_groups(identity: Value) -> Stack {
    Stack::start(Wanted {
        app: json!({ "identity": identity }),
        groups: &[("staff", "corp")],
        gateway: json!({ "providers": [{
            "id": "corp", "name": "Corp", "kind": "oidc", "issuer": "https://id.invalid",
            "client_id": "portico",
        }]}),
        ..Wanted::default()
    })
    .await
}

/// What the app receives for a user with this role.
async fn echo_for(stack: &Stack, role: &str) -> Value {
    let (_, session) = stack.session(&[role]).await;
    let (mut browser, _) = stack.at_app(&session).await;
    open(&mut browser).await.json()
}

async fn open(browser: &mut Browser) -> Page {
    browser.call(Method::GET, &format!("{APP}/d/1"), "").await
}

fn secret(dir: &TempDir, name: &str, content: &str) -> PathBuf {
    let path = dir.path().join(name);
    std::fs::write(&path, content).expect("written");
    let owner = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&path, owner).expect("permissions");
    path
}

#[tokio::test]
async fn an_app_without_a_word_about_it_gets_the_assertion() {
    let stack = Stack::start(Wanted::default()).await;
    let echo = echo_for(&stack, "k8s_admin").await;
    let assertion = header(&echo, "portico-assertion");
    assert_eq!(assertion.len(), 1);
    assert_eq!(claims(assertion[0])["aud"], "prometheus");
    assert!(header(&echo, "authorization").is_empty());
}

#[tokio::test]
async fn the_assertion_may_have_headers_beside_it_and_none_has_nothing() {
    let stack = telling(json!({ "headers": { "X-User": "user" } })).await;
    let with_both = echo_for(&stack, "k8s_admin").await;
    assert_eq!(header(&with_both, "portico-assertion").len(), 1);
    assert_eq!(header(&with_both, "x-user"), ["ada@Default"]);
    let stack = telling(json!({ "kind": "none" })).await;
    let nothing = echo_for(&stack, "k8s_admin").await;
    assert!(header(&nothing, "portico-assertion").is_empty());
    assert!(!nothing.to_string().contains("ada"), "{nothing}");
}

#[tokio::test]
async fn plain_headers_have_the_configured_values() {
    let stack = telling(json!({ "kind": "headers", "headers": {
        "X-WEBAUTH-USER": "user",
        "X-Name": "user_name",
        "X-Id": { "value": "user_id" },
        "X-Full-Name": "display_name",
        "X-Email": "email",
        "X-Project": "project_name",
        "X-Project-Key": "project_id",
        "X-Roles": "roles",
        "X-Role-Ids": { "value": "role_ids", "separator": "|" },
        "X-Groups": "groups",
        "X-Scope-OrgID": { "text": "acme" },
    }}))
    .await;
    let (_, session) = stack.session(&["k8s_admin", "member"]).await;
    let (mut browser, _) = stack.at_app(&session).await;
    // the second answer is what was kept
    for _ in 0..2 {
        let echo = open(&mut browser).await.json();
        for (name, value) in [
            ("x-webauth-user", "ada@Default"),
            ("x-name", "ada"),
            ("x-id", "u1"),
            ("x-full-name", "ada"),
            ("x-project", "acme"),
            ("x-project-key", "p1"),
            ("x-roles", "k8s_admin,member"),
            ("x-role-ids", "k8s_admin-id|member-id"),
            ("x-scope-orgid", "acme"),
        ] {
            assert_eq!(header(&echo, name), [value], "{name}");
        }
        // Keystone names no address, and this session has no provider
        assert!(header(&echo, "x-email").is_empty());
        assert!(header(&echo, "x-groups").is_empty());
        assert!(header(&echo, "portico-assertion").is_empty());
    }
}

#[tokio::test]
async fn groups_and_a_verified_address_come_from_the_provider() {
    let identity = json!({ "kind": "headers", "headers": {
        "X-Email": { "value": "email", "required": true },
        "X-Groups": { "value": "groups", "lines": true },
        "X-Some": { "value": "groups", "only": ["ops"] },
        "X-Roles": "roles",
        "X-Full-Name": "display_name",
    }});
    let stack = telling_groups(identity).await;
    let session = stack.session_of_provider("bob", &["ops", "staff"]).await;
    let (mut browser, _) = stack.at_app(&session).await;
    let echo = open(&mut browser).await.json();
    assert_eq!(header(&echo, "x-email"), ["bob@corp.example"]);
    assert_eq!(header(&echo, "x-full-name"), ["bob of Corp"]);
    assert_eq!(header(&echo, "x-groups"), ["ops", "staff"]);
    assert_eq!(header(&echo, "x-some"), ["ops"]);
    assert!(header(&echo, "x-roles").is_empty());

    let session = stack.session_of_provider("mallory", &["staff"]).await;
    let (mut browser, _) = stack.at_app(&session).await;
    let page = browser.open(&format!("{APP}/")).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(
        page.body.contains("verified e-mail address"),
        "{}",
        page.body
    );
    assert!(
        page.body
            .contains("Your identity cannot be passed to Prometheus")
    );
    let events = stack.audited("app.open").await;
    let reason = events[0].detail["reason"].as_str().expect("reason");
    assert!(reason.contains("e-mail"), "{reason}");
}

#[tokio::test]
async fn an_app_has_roles_of_its_own() {
    let roles = json!([
        { "value": "Admin", "for": [{ "role": "k8s_admin", "project": "p1" }] },
        { "value": "Editor", "for": [
            { "role": "k8s_developer", "project": "p1" },
            { "group": "ops", "provider": "corp" },
        ]},
    ]);
    let headers = json!({ "X-WEBAUTH-ROLE": "role" });
    let with = |otherwise: Value| {
        let mut identity = json!({ "kind": "headers", "headers": headers, "roles": roles });
        if !otherwise.is_null() {
            identity["default_role"] = otherwise;
        }
        identity
    };
    let stack = telling_groups(with(json!("Viewer"))).await;
    for (role, expected) in [("k8s_admin", "Admin"), ("k8s_developer", "Editor")] {
        let echo = echo_for(&stack, role).await;
        assert_eq!(header(&echo, "x-webauth-role"), [expected]);
    }
    for (groups, expected) in [(&["ops", "staff"][..], "Editor"), (&["staff"], "Viewer")] {
        let session = stack.session_of_provider("bob", groups).await;
        let (mut browser, _) = stack.at_app(&session).await;
        let echo = open(&mut browser).await.json();
        assert_eq!(header(&echo, "x-webauth-role"), [expected], "{groups:?}");
    }
    let stack = telling_groups(with(Value::Null)).await;
    let session = stack.session_of_provider("bob", &["staff"]).await;
    let (mut browser, _) = stack.at_app(&session).await;
    let answer = open(&mut browser).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert_eq!(answer.json()["error"], "identity_refused");
    assert_eq!(stack.app.asked(), 0, "the app was asked");
}

#[tokio::test]
async fn a_signed_token_has_the_claims_that_grafana_reads() {
    let stack = telling(json!({ "kind": "jwt", "roles": [
        { "value": "Admin", "for": [{ "role": "k8s_admin", "project": "p1" }] },
    ]}))
    .await;
    let echo = echo_for(&stack, "k8s_admin").await;
    let token = header(&echo, "x-jwt-assertion");
    assert_eq!(token.len(), 1);
    let jwks = Browser::new(stack.address)
        .open(&format!("{MAIN}/.well-known/jwks.json"))
        .await
        .json();
    // as any library for JWTs does, by the published keys
    let keys: jsonwebtoken::jwk::JwkSet = serde_json::from_value(jwks).expect("keys");
    let kid = jsonwebtoken::decode_header(token[0]).expect("header").kid;
    let key = keys.find(&kid.expect("kid")).expect("the key");
    let key = jsonwebtoken::DecodingKey::from_jwk(key).expect("usable");
    let mut validation = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::EdDSA);
    validation.set_audience(&["prometheus"]);
    validation.set_issuer(&[MAIN]);
    let claims = jsonwebtoken::decode::<Value>(token[0], &key, &validation);
    let claims = claims.expect("verified").claims;
    for (name, value) in [
        ("sub", json!("u1")),
        ("login", json!("ada@Default")),
        ("preferred_username", json!("ada@Default")),
        ("name", json!("ada")),
        ("roles", json!(["k8s_admin"])),
        ("role", json!("Admin")),
    ] {
        assert_eq!(claims[name], value, "{name}");
    }
    assert!(claims.get("email").is_none());
    let life = claims["exp"].as_i64().expect("exp") - claims["iat"].as_i64().expect("iat");
    assert_eq!(life, 60);
    validation.set_audience(&["panel"]);
    assert!(jsonwebtoken::decode::<Value>(token[0], &key, &validation).is_err());
}

#[tokio::test]
async fn a_signed_token_may_have_fewer_claims_and_be_the_bearer() {
    let stack = telling(
        json!({ "kind": "jwt", "header": "Authorization", "claims": {
            "sub": "user", "scope": "project_id",
        }}),
    )
    .await;
    let echo = echo_for(&stack, "k8s_admin").await;
    let bearer = header(&echo, "authorization");
    assert_eq!(bearer.len(), 1);
    let claims = claims(bearer[0].strip_prefix("Bearer ").expect("a bearer"));
    assert_eq!(claims["sub"], "ada@Default");
    assert_eq!(claims["scope"], "p1");
    assert!(claims.get("name").is_none() && claims.get("login").is_none());
}

#[tokio::test]
async fn credentials_of_the_app_come_from_files_that_are_read_again() {
    let metrics = Metrics::install(Timestamp::UNIX_EPOCH).expect("recorder");
    let dir = tempfile::tempdir().expect("directory");
    let (user, password) = (secret(&dir, "user", "svc\n"), secret(&dir, "pw", "one:1\n"));
    let stack = telling(json!({
        "kind": "basic", "user_file": user, "password_file": password,
        "headers": { "es-security-runas-user": "user_name" },
    }))
    .await;
    let (_, session) = stack.session(&["k8s_admin"]).await;
    let (mut browser, _) = stack.at_app(&session).await;
    let echo = open(&mut browser).await.json();
    assert_eq!(basic(&echo), "svc:one:1");
    assert_eq!(header(&echo, "es-security-runas-user"), ["ada"]);

    let (gateway, stop) = (stack.gateway.clone(), CancellationToken::new());
    let until = stop.clone();
    tokio::spawn(async move { gateway.run(until).await });
    secret(&dir, "pw", "two");
    let changed = async {
        while basic(&open(&mut browser).await.json()) != "svc:two" {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(15), changed).await;
    assert!(in_time.is_ok(), "the new password is not used");
    // what cannot be used changes nothing
    secret(&dir, "pw", "");
    advance(Duration::from_secs(3)).await;
    eventually("the empty password is read", async || {
        let unusable = "portico_keys_unusable{keys=\"apps\"} 1";
        metrics.render().contains(unusable)
    })
    .await;
    assert_eq!(basic(&open(&mut browser).await.json()), "svc:two");
    stop.cancel();
}

#[tokio::test]
async fn basic_credentials_may_name_the_user() {
    let dir = tempfile::tempdir().expect("directory");
    let password = secret(&dir, "pw", "shared");
    let stack = telling(json!({
        "kind": "basic", "user": "user", "password_file": password,
    }))
    .await;
    assert_eq!(
        basic(&echo_for(&stack, "k8s_admin").await),
        "ada@Default:shared"
    );
    let (_, session) = stack.session_of("u2", "a:b", &["k8s_admin"]).await;
    let (mut browser, _) = stack.at_app(&session).await;
    let answer = open(&mut browser).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN, "a name with a colon");
}

#[tokio::test]
async fn a_fixed_token_is_the_bearer() {
    let dir = tempfile::tempdir().expect("directory");
    let token = secret(&dir, "token", "glsa_abc\n");
    let stack = telling(json!({ "kind": "bearer", "token_file": token })).await;
    let echo = echo_for(&stack, "k8s_admin").await;
    assert_eq!(header(&echo, "authorization"), ["Bearer glsa_abc"]);
}

#[tokio::test]
async fn a_cluster_token_is_the_users_and_used_again() {
    let stack = telling(json!({ "kind": "cluster", "cluster": "acme-prod" })).await;
    let (_, session) = stack.session(&["k8s_admin"]).await;
    let (mut browser, child) = stack.at_app(&session).await;
    stack.own_token(&child, "keystone-token-of-headlamp").await;
    let bearer = |echo: &Value| {
        let lines = header(echo, "authorization");
        assert_eq!(lines.len(), 1, "{echo}");
        SecretString::from(lines[0].strip_prefix("Bearer ").expect("bearer").to_owned())
    };
    let first = bearer(&open(&mut browser).await.json());
    let second = bearer(&open(&mut browser).await.json());
    assert_eq!(first.expose_secret(), second.expose_secret());
    let keys = [stack.cluster_key.clone()];
    let opened = cluster_token::open(&keys, CLUSTER, first.expose_secret(), Timestamp::now());
    let opened = opened.expect("opens at its cluster");
    // a token of this app's own, which ends with it
    assert_eq!(
        opened.keystone_token.expose_secret(),
        "keystone-token-of-headlamp"
    );
    let events = stack.audited("cluster.token").await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].target, "acme-prod");
    assert_eq!(events[0].cluster_id, Some(CLUSTER.to_string()));

    let (_, other) = stack.session_of("u2", "devi", &["k8s_developer"]).await;
    let (mut others, child) = stack.at_app(&other).await;
    stack.own_token(&child, "another").await;
    let third = bearer(&open(&mut others).await.json());
    assert_ne!(first.expose_secret(), third.expose_secret());

    let sign_out = format!("{MAIN}/oauth2/sign_out");
    let (mut main, session) = {
        let (secret, session) = stack.session(&["k8s_admin"]).await;
        let mut main = Browser::new(stack.address);
        main.set_cookie("localhost", "portico", secret.expose_secret());
        (main, session)
    };
    let (mut browser, child) = stack.at_app(&session).await;
    stack.own_token(&child, "soon-gone").await;
    assert_eq!(open(&mut browser).await.status, StatusCode::OK);
    let csrf = session.csrf.expose_secret();
    main.submit(MAIN, &sign_out, &[("csrf_token", csrf)]).await;
    let answer = open(&mut browser).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "after sign-out");
}

#[tokio::test]
async fn without_keystone_there_is_no_cluster_token_and_a_page_explains_it() {
    let stack = telling_groups(json!({ "kind": "cluster", "cluster": CLUSTER })).await;
    let session = stack.session_of_provider("bob", &["staff"]).await;
    let (mut browser, _) = stack.at_app(&session).await;
    let page = browser.open(&format!("{APP}/")).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(
        page.body.contains("requires a Keystone account"),
        "{}",
        page.body
    );
    assert_eq!(stack.app.asked(), 0);
}
