//! 60, 63 and 68: what a client may put into `Authorization`, and roles that were taken away.
use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{Method, StatusCode};
use portico_testkit::KeystoneAdmin;
use secrecy::ExposeSecret as _;
use serde_json::json;

use crate::{
    keystone::running_with,
    support::{
        browser::Browser,
        form::enter,
        stack::{APP, MAIN, Stack, Wanted},
    },
};

const ENDPOINTS: [&str; 5] = [
    "/projects/p1",
    "/oauth2/auth",
    "/oauth2/auth?app=prometheus",
    "/oauth2/userinfo",
    "/api/v1/clusters",
];

fn jwt(header: &str, payload: &str) -> String {
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    format!(
        "{}.{}.c2lnbmF0dXJl",
        URL_SAFE_NO_PAD.encode(header),
        URL_SAFE_NO_PAD.encode(payload)
    )
}

#[tokio::test]
async fn attack_60_no_bearer_is_a_session() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, session) = stack.signed_in(&["k8s_admin"]).await;
    let unsigned = jwt(
        r#"{"alg":"none"}"#,
        r#"{"sub":"u1","aud":"panel","exp":9999999999}"#,
    );
    let cookie = browser.cookie("localhost", "portico").expect("cookie");
    for value in [
        "Bearer x".to_owned(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        "bearer x y".to_owned(),
        format!("Bearer {unsigned}"),
        format!("Bearer {cookie}"),
        format!("Bearer {}", session.csrf.expose_secret()),
        "Bearer portico_v1.kid.sealed".to_owned(),
        "Bearer keystone-token-of-p1".to_owned(),
        "DPoP x".to_owned(),
        "Negotiate x".to_owned(),
    ] {
        for path in ENDPOINTS {
            let headers = [
                ("authorization", value.as_str()),
                ("sec-fetch-mode", "cors"),
            ];
            let answer = Browser::new(stack.address)
                .send(
                    Method::GET,
                    &format!("{MAIN}{path}"),
                    &headers,
                    String::new(),
                )
                .await;
            assert!(
                matches!(
                    answer.status,
                    StatusCode::UNAUTHORIZED
                        | StatusCode::TOO_MANY_REQUESTS
                        | StatusCode::SERVICE_UNAVAILABLE
                ),
                "{value} at {path}: {}",
                answer.status
            );
        }
        let headers = [
            ("authorization", value.as_str()),
            ("sec-fetch-mode", "cors"),
        ];
        let answer = Browser::new(stack.address)
            .send(Method::GET, APP, &headers, String::new())
            .await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{value}");
    }
    for path in &ENDPOINTS[..4] {
        let answer = browser
            .call(Method::GET, &format!("{MAIN}{path}"), "")
            .await;
        assert!(answer.status.is_success(), "the control case: {path}");
    }
}

#[tokio::test]
async fn attack_63_a_role_that_keystone_takes_away_opens_nothing_any_more() {
    let running = running_with(json!({ "session": { "validate_every": "1s" } })).await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = admin.create_user("withdrawn").await.expect("user");
    let developer = running.env.get("ROLE_ID_K8S_DEVELOPER").expect("role");
    let member = running.env.get("ROLE_ID_MEMBER").expect("role");
    for role in [developer, member] {
        let granted = admin.grant(&user.id, &running.acme, role).await;
        granted.expect("granted");
    }
    let mut browser = Browser::new(running.stack.address);
    enter(&mut browser, "/", &user.name, user.password.expose_secret()).await;
    let auth = format!("{MAIN}/oauth2/auth?app=prometheus");
    let answer = browser.open(&auth).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "the control case");
    let revoked = admin.revoke(&user.id, &running.acme, developer).await;
    revoked.expect("revoked");
    let denied = async {
        while browser.open(&auth).await.status != StatusCode::FORBIDDEN {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(10), denied).await;
    admin.delete_user(&user.id).await.expect("deleted");
    assert!(in_time.is_ok(), "the role still opens the app");
}

#[tokio::test]
async fn attack_68_basic_credentials_are_nothing_here() {
    let stack = Stack::start(Wanted::default()).await;
    let token = jwt(r#"{"alg":"EdDSA"}"#, r#"{"sub":"u1"}"#);
    for pair in [
        format!("{token}:"),
        format!("x:{token}"),
        format!("jwt:{token}"),
        "ada:password".to_owned(),
        ":".to_owned(),
    ] {
        let value = format!("Basic {}", STANDARD.encode(&pair));
        for path in &ENDPOINTS[..4] {
            let headers = [
                ("authorization", value.as_str()),
                ("sec-fetch-mode", "cors"),
            ];
            let answer = Browser::new(stack.address)
                .send(
                    Method::GET,
                    &format!("{MAIN}{path}"),
                    &headers,
                    String::new(),
                )
                .await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{pair} at {path}");
            assert!(!answer.body.contains(&token), "{path}");
        }
    }
    let (mut browser, _) = stack.signed_in(&[]).await;
    let value = format!("Basic {}", STANDARD.encode("ada:password"));
    let cookies = browser.cookie_line("localhost");
    let headers = [
        ("authorization", value.as_str()),
        ("cookie", &cookies),
        ("sec-fetch-mode", "cors"),
    ];
    let page = browser
        .send(
            Method::GET,
            &format!("{MAIN}/projects/p1"),
            &headers,
            String::new(),
        )
        .await;
    assert_eq!(page.status, StatusCode::OK, "the control case");
    assert!(!page.body.contains(&value), "it went on to the upstream");
}
