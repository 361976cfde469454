//! What reaches the panel, and what comes back.
use http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use portico_assertion::panel_token;
use portico_store::EndReason;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::support::{
    browser::{Browser, Page},
    stack::{APP, MAIN, MAIN_HOST, Stack, Wanted},
};

fn header<'a>(echo: &'a Value, name: &str) -> Vec<&'a str> {
    echo["headers"]
        .as_array()
        .expect("headers")
        .iter()
        .filter(|pair| pair[0] == name)
        .filter_map(|pair| pair[1].as_str())
        .collect()
}

fn claims(echo: &Value) -> Value {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    let assertion = header(echo, "portico-assertion");
    assert_eq!(assertion.len(), 1);
    let payload = assertion[0].split('.').nth(1).expect("payload");
    let bytes = URL_SAFE_NO_PAD.decode(payload).expect("base64");
    serde_json::from_slice(&bytes).expect("claims")
}

async fn get(browser: &mut Browser, path: &str) -> Page {
    browser
        .call(Method::GET, &format!("{MAIN}{path}"), "")
        .await
}

#[tokio::test]
async fn the_panel_learns_who_is_asking() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, session) = stack.signed_in(&["k8s_admin"]).await;
    let echo = get(&mut browser, "/projects/p1/clusters?x=%2F")
        .await
        .json();
    assert_eq!(echo["target"], "/projects/p1/clusters?x=%2F");
    let claims = claims(&echo);
    assert_eq!(claims["aud"], "panel");
    assert_eq!(claims["iss"], MAIN);
    assert_eq!(claims["sid"], session.id.to_string());
    assert_eq!(claims["name"], "ada");
    assert_eq!(claims["project"]["id"], "p1");
    assert_eq!(claims["roles"][0]["name"], "k8s_admin");
    assert_eq!(claims["csrf"], session.csrf.expose_secret());
    assert_eq!(claims["next_project"], "p1");
    assert_eq!(claims["keystone"], "ok");
    let sealed = header(&echo, "portico-token");
    let keys = [stack.panel_key.clone()];
    let jti = claims["jti"].as_str().expect("jti");
    let opened = panel_token::open(&keys, jti, sealed[0], Timestamp::now()).expect("opens");
    assert_eq!(opened.token.expose_secret(), "keystone-token-of-p1");
    assert_eq!(header(&echo, "x-request-id").len(), 1);
    assert_eq!(header(&echo, "host"), ["localhost:8080"]);
    assert_eq!(header(&echo, "x-forwarded-proto"), ["http"]);
    assert_eq!(header(&echo, "x-forwarded-for"), ["127.0.0.1"]);
}

#[tokio::test]
async fn a_project_without_a_role_has_no_token() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    for path in ["/projects/p2", "/"] {
        let echo = get(&mut browser, path).await.json();
        assert!(header(&echo, "portico-token").is_empty(), "{path}");
        assert_eq!(claims(&echo)["project"], Value::Null);
        assert_eq!(claims(&echo)["projects"][0]["id"], "p1");
    }
}

#[tokio::test]
async fn no_identity_that_a_client_claims_arrives() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let cookie = format!("{}; theme=dark", browser.cookie_line(MAIN_HOST));
    let page = browser
        .send(
            Method::GET,
            &format!("{MAIN}/projects/p1"),
            &[
                ("cookie", &cookie),
                ("connection", "close, portico-assertion, x-secret"),
                ("x-secret", "1"),
                ("portico-assertion", "forged"),
                ("portico_assertion", "forged"),
                ("x-forwarded-for", "10.0.0.1"),
                ("x-forwarded-host", "evil.example"),
                ("forwarded", "for=10.0.0.1"),
                ("x-auth-token", "forged"),
                ("impersonate-user", "admin"),
                ("remote-user", "admin"),
                ("authorization", "Bearer forged"),
                ("x-request-id", "forged"),
            ],
            String::new(),
        )
        .await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(!page.body.contains("forged"), "{}", page.body);
    assert!(!page.body.contains("10.0.0.1"));
    assert!(!page.body.contains("admin\""));
    let echo = page.json();
    assert_eq!(header(&echo, "cookie"), ["theme=dark"]);
    assert!(header(&echo, "x-secret").is_empty());
    assert_eq!(claims(&echo)["name"], "ada");
}

#[tokio::test]
async fn finding_s6_headers_that_an_app_must_not_get_are_removed() {
    let sent = [
        ("x-my-tenant", "forged-1"),
        ("x-my-tenant", "forged-2"),
        ("x_my_tenant", "forged-3"),
        ("x-my-role", "forged-4"),
        ("x_my_role", "forged-5"),
        ("x-my-tenants", "another header"),
    ];
    for (removed, passes) in [
        (json!(["X-My-Tenant", "X_My_Role"]), false),
        // the control case: what is not named passes, where its name has no underscore
        (json!([]), true),
    ] {
        let stack = Stack::start(Wanted {
            app: json!({ "upstream": { "remove_headers": removed } }),
            ..Wanted::default()
        })
        .await;
        let (_, session) = stack.session(&["k8s_admin"]).await;
        let (mut browser, _) = stack.at_app(&session).await;
        let page = browser
            .send(Method::GET, &format!("{APP}/d/1"), &sent, String::new())
            .await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        let echo = page.json();
        assert_eq!(header(&echo, "x-my-tenants"), ["another header"]);
        let (tenant, role) = (header(&echo, "x-my-tenant"), header(&echo, "x-my-role"));
        if passes {
            assert_eq!(tenant, ["forged-1", "forged-2"]);
            assert_eq!(role, ["forged-4"]);
        } else {
            assert!(tenant.is_empty() && role.is_empty(), "{echo}");
            assert!(!page.body.contains("forged"), "{}", page.body);
        }
        for underscored in ["x_my_tenant", "x_my_role"] {
            assert!(header(&echo, underscored).is_empty(), "{underscored}");
        }
    }
}

#[tokio::test]
async fn a_response_is_streamed_and_breaks_off_when_the_session_ends() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, session) = stack.signed_in(&[]).await;
    let url = format!("{MAIN}/stream");
    let mut response = browser.start(Method::GET, &url, &[], String::new()).await;
    let first = response.frame().await.expect("frame").expect("data");
    assert_eq!(first.into_data().expect("data"), "one");
    stack.panel.go_on.notify_one();
    let second = response.frame().await.expect("frame").expect("data");
    assert_eq!(second.into_data().expect("data"), "two");

    let mut response = browser.start(Method::GET, &url, &[], String::new()).await;
    response.frame().await.expect("frame").expect("data");
    let csrf = session.csrf.expose_secret();
    let page = browser
        .submit(
            MAIN,
            &format!("{MAIN}/oauth2/sign_out"),
            &[("csrf_token", csrf)],
        )
        .await;
    assert_eq!(page.status, StatusCode::OK);
    let broken = response.frame().await;
    assert!(matches!(broken, Some(Err(_))), "{broken:?}");
}

#[tokio::test]
async fn a_session_ended_in_another_browser_closes_what_is_open() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, session) = stack.signed_in(&[]).await;
    let stop = tokio_util::sync::CancellationToken::new();
    let (gateway, until) = (stack.gateway.clone(), stop.clone());
    tokio::spawn(async move { gateway.run(until).await });
    let mut response = browser
        .start(Method::GET, &format!("{MAIN}/stream"), &[], String::new())
        .await;
    response.frame().await.expect("frame").expect("data");
    // as another replica does
    let sessions = stack.store.sessions();
    sessions
        .end(session.id, EndReason::Revoked, Timestamp::now())
        .await
        .expect("ended");
    let broken = tokio::time::timeout(std::time::Duration::from_secs(5), response.frame()).await;
    assert!(matches!(broken, Ok(Some(Err(_)))), "{broken:?}");
    stop.cancel();
}

#[tokio::test]
async fn browsers_without_a_session_are_redirected_to_sign_in_and_programs_get_401() {
    let stack = Stack::start(Wanted::default()).await;
    let mut browser = Browser::new(stack.address);
    let page = browser.open(&format!("{MAIN}/projects/p1?a=b")).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    assert_eq!(
        page.location().as_str(),
        format!("{MAIN}/oauth2/sign_in?rd=%2Fprojects%2Fp1%3Fa%3Db")
    );
    let answer = get(&mut browser, "/projects/p1").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert_eq!(answer.json()["error"], "signed_out");
    browser.set_cookie(MAIN_HOST, "portico", &"x".repeat(43));
    let page = browser.open(&format!("{MAIN}/projects/p1")).await;
    assert!(page.location().as_str().ends_with("&reason=ended"));
}

#[tokio::test]
async fn foreign_hosts_paths_and_origins_are_refused() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let page = browser.open("http://evil.example:8080/").await;
    assert_eq!(page.status, StatusCode::MISDIRECTED_REQUEST);
    for path in ["/a/%2e%2e/b", "/a%2fb", "/a%5cb", "/a/..;/b", "//a"] {
        let page = browser
            .send(Method::GET, &format!("{MAIN}{path}"), &[], String::new())
            .await;
        // the client's URL parser has resolved some of them
        if page.url.as_str().ends_with(path) {
            assert_eq!(page.status, StatusCode::BAD_REQUEST, "{path}");
        }
    }
    for origin in [
        "https://evil.example",
        "http://prometheus.apps.localhost:8080",
        "null",
    ] {
        let page = browser
            .submit(origin, &format!("{MAIN}/api/pods/delete"), &[])
            .await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{origin}");
    }
    let page = browser
        .submit(MAIN, &format!("{MAIN}/api/pods/delete"), &[("a", "b")])
        .await;
    assert_eq!(page.json()["body"], "a=b");
}

#[tokio::test]
async fn a_dead_upstream_is_named() {
    let stack = Stack::start(Wanted {
        gateway: serde_json::json!({
            "panel_url": "http://127.0.0.1:9",
            "limits": { "response": "1s", "body": 100 },
        }),
        ..Wanted::default()
    })
    .await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let page = browser.open(&format!("{MAIN}/projects/p1")).await;
    assert_eq!(page.status, StatusCode::BAD_GATEWAY);
    assert!(page.body.contains("The panel does not answer"));
    let answer = get(&mut browser, "/projects/p1").await;
    assert_eq!(answer.json()["error"], "upstream_unreachable");
    let answer = browser
        .call(Method::POST, &format!("{MAIN}/api/a/b"), &"x".repeat(200))
        .await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_silent_upstream_is_given_up() {
    let stack = Stack::start(Wanted {
        gateway: serde_json::json!({ "limits": { "response": "300ms" } }),
        ..Wanted::default()
    })
    .await;
    let (mut browser, _) = stack.signed_in(&[]).await;
    let answer = get(&mut browser, "/slow").await;
    assert_eq!(answer.status, StatusCode::GATEWAY_TIMEOUT);
}

#[tokio::test]
async fn upstream_cookies_stay_with_the_upstream() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let before = browser.cookie(MAIN_HOST, "portico").map(str::to_owned);
    let page = get(&mut browser, "/cookies").await;
    let lines: Vec<_> = page.headers.get_all("set-cookie").iter().collect();
    assert_eq!(lines, ["theme=dark; Path=/"]);
    assert!(!page.headers.contains_key("x-hop"));
    assert_eq!(browser.cookie(MAIN_HOST, "portico"), before.as_deref());
}
