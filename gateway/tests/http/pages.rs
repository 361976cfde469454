//! The gateway's own pages and small endpoints.
use http::{Method, StatusCode};
use portico_testkit::{html_lines, snapshot_settings};
use serde_json::json;

use crate::support::{
    browser::Browser,
    stack::{MAIN, MAIN_HOST, Stack, Wanted},
};

async fn stack() -> (Stack, Browser) {
    let stack = Stack::start(Wanted::default()).await;
    let browser = Browser::new(stack.address);
    (stack, browser)
}

#[tokio::test]
async fn the_sign_in_page_is_small_and_strict() {
    let (_stack, mut browser) = stack().await;
    let page = browser
        .open(&format!(
            "{MAIN}/oauth2/sign_in?rd=%2Fprojects%2Fp1&reason=expired"
        ))
        .await;
    assert_eq!(page.status, StatusCode::OK);
    let policy = page.headers["content-security-policy"]
        .to_str()
        .expect("text");
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(!policy.contains("script-src"));
    assert_eq!(page.headers["cache-control"], "no-store");
    assert!(!page.body.contains("<script"));
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("sign_in_after_an_expired_session", page.snapshot());
    });
    let at = page.body.find("/oauth2/static/").expect("style sheet");
    let style: String = page.body[at..].chars().take_while(|c| *c != '"').collect();
    let style = browser.open(&format!("{MAIN}{style}")).await;
    assert_eq!(style.status, StatusCode::OK);
    assert!(page.body.len() + style.body.len() < 40_000);
}

#[tokio::test]
async fn every_page_is_in_a_document_with_the_same_head_and_headers() {
    let (_stack, mut browser) = stack().await;
    let page = browser.open(&format!("{MAIN}/oauth2/nothing")).await;
    let (before, _) = page.body.split_once("<div class=\"card\">").expect("page");
    let names = [
        "cache-control",
        "content-security-policy",
        "content-type",
        "cross-origin-opener-policy",
        "cross-origin-resource-policy",
        "referrer-policy",
        "vary",
        "x-content-type-options",
        "x-frame-options",
    ];
    let headers: Vec<_> = names
        .iter()
        .map(|name| format!("{name}: {}", page.headers[*name].to_str().expect("text")))
        .collect();
    let text = format!("{}\n\n{}", headers.join("\n"), html_lines(before));
    snapshot_settings().bind(|| insta::assert_snapshot!("document", text));
}

#[tokio::test]
async fn finding_p16_the_theme_chosen_in_the_panel_holds_on_these_pages() {
    let (_stack, mut browser) = stack().await;
    for (value, attribute) in [
        ("dark", Some("data-theme=\"dark\"")),
        ("light", Some("data-theme=\"light\"")),
        ("blue", None),
    ] {
        browser.set_cookie(MAIN_HOST, "portico-theme", value);
        for path in ["/oauth2/sign_in", "/oauth2/there-is-no-such-page"] {
            let page = browser.open(&format!("{MAIN}{path}")).await;
            let found = page.body.contains("data-theme=");
            assert_eq!(found, attribute.is_some(), "{path} {value}");
            assert!(attribute.is_none_or(|text| page.body.contains(text)));
            assert_eq!(page.headers["vary"], "Cookie");
        }
    }
}

#[tokio::test]
async fn an_unreachable_keystone_is_reported_and_the_name_kept() {
    let (_stack, mut browser) = stack().await;
    let page = browser.open(&format!("{MAIN}/oauth2/sign_in")).await;
    let csrf = page.field("csrf_token");
    let fields = [
        ("csrf_token", csrf.as_str()),
        ("name", "ada\"><script>"),
        ("password", "secret-password"),
        ("rd", "https://evil.example/"),
    ];
    let page = browser
        .submit(MAIN, &format!("{MAIN}/oauth2/sign_in"), &fields)
        .await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("sign_in_while_keystone_is_away", page.snapshot());
    });
    assert!(page.body.contains("value=\"ada&quot;&gt;&lt;script&gt;\""));
    assert!(!page.body.contains("secret-password"));
    assert_eq!(page.field("rd"), "/");
}

#[tokio::test]
async fn a_cross_origin_form_or_one_without_its_token_is_refused() {
    let (_stack, mut browser) = stack().await;
    let page = browser.open(&format!("{MAIN}/oauth2/sign_in")).await;
    let csrf = page.field("csrf_token");
    let url = format!("{MAIN}/oauth2/sign_in");
    let fields = [
        ("csrf_token", csrf.as_str()),
        ("name", "ada"),
        ("password", "p"),
    ];
    let page = browser.submit("https://evil.example", &url, &fields).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    let page = browser.submit(MAIN, &url, &fields[1..]).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("sign_in_without_the_token_of_the_form", page.snapshot());
    });
    let mut other = Browser::new(browser_address(&_stack));
    let page = other.submit(MAIN, &url, &fields).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
}

fn browser_address(stack: &Stack) -> std::net::SocketAddr {
    stack.address
}

#[tokio::test]
async fn bad_input_gets_a_clear_answer() {
    let (_stack, mut browser) = stack().await;
    let page = browser.open(&format!("{MAIN}/oauth2/sign_in")).await;
    let csrf = page.field("csrf_token");
    let url = format!("{MAIN}/oauth2/sign_in");
    let long = "x".repeat(1 << 20);
    for (name, status) in [
        (long.as_str(), StatusCode::PAYLOAD_TOO_LARGE),
        (&long[..300], StatusCode::BAD_REQUEST),
    ] {
        let fields = [
            ("csrf_token", csrf.as_str()),
            ("name", name),
            ("password", "y"),
        ];
        let page = browser.submit(MAIN, &url, &fields).await;
        assert_eq!(page.status, status);
        assert!(page.body.len() < 20_000);
    }
    for (path, name) in [
        ("/oauth2/nothing", "unknown_path"),
        ("/oauth2/token", "other_method"),
    ] {
        let page = browser.open(&format!("{MAIN}{path}")).await;
        snapshot_settings().bind(|| insta::assert_snapshot!(name, page.snapshot()));
    }
    let page = browser.open(&format!("{MAIN}/oauth2/demo/password")).await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn health_and_keys_are_public() {
    let (stack, mut browser) = stack().await;
    assert_eq!(
        browser.open(&format!("{MAIN}/ping")).await.status,
        StatusCode::OK
    );
    assert_eq!(
        browser.open(&format!("{MAIN}/ready")).await.status,
        StatusCode::OK
    );
    let jwks = browser
        .open(&format!("{MAIN}/.well-known/jwks.json"))
        .await
        .json();
    assert_eq!(jwks["keys"][0]["crv"], "Ed25519");
    let keys = browser
        .open(&format!("{MAIN}/.well-known/portico-cluster-keys"))
        .await
        .json();
    assert_eq!(keys["keys"][0]["kid"], stack.cluster_key.kid());
    stack.store.close().await;
    let page = browser.open(&format!("{MAIN}/ready")).await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn forward_auth_allows_refuses_or_fails() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let url = format!("{MAIN}/oauth2/auth");
    let answer = browser.open(&url).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED);
    assert_eq!(answer.headers["x-auth-request-user"], "u1");
    let open = browser.open(&format!("{url}?app=prometheus")).await;
    assert_eq!(open.status, StatusCode::ACCEPTED);
    let who = browser
        .call(Method::GET, &format!("{MAIN}/oauth2/userinfo"), "")
        .await;
    assert_eq!(who.json()["name"], "ada");
    let mut stranger = Browser::new(stack.address);
    assert_eq!(stranger.open(&url).await.status, StatusCode::UNAUTHORIZED);
    stranger.set_cookie(MAIN_HOST, "portico", "broken; ;;=");
    assert_eq!(stranger.open(&url).await.status, StatusCode::UNAUTHORIZED);

    let (fresh, _) = stack.signed_in(&[]).await;
    let mut fresh = fresh;
    stack.store.close().await;
    let answer = fresh.open(&url).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    let page = fresh.open(MAIN).await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(page.body.contains("Your session has not ended"));
    assert!(fresh.cookie(MAIN_HOST, "portico").is_some());
}

#[tokio::test]
async fn userinfo_returns_the_user_of_the_session() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let url = format!("{MAIN}/oauth2/userinfo");
    let answer = browser.call(Method::GET, &url, "").await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let cache_control = answer.headers["cache-control"].to_str().unwrap();
    assert!(cache_control.contains("no-store"), "{cache_control}");
    let user = answer.json();
    assert_eq!((&user["sub"], &user["name"]), (&json!("u1"), &json!("ada")));
    assert_eq!(user["projects"][0]["id"], "p1", "{user}");
    assert_eq!(user["keystone"], "ok");
    assert!(user["session_expires_at"].is_i64(), "{user}");
    let cookie = browser.cookie(MAIN_HOST, "portico").unwrap();
    assert!(!answer.body.contains(cookie));
    let mut stranger = Browser::new(stack.address);
    let answer = stranger.call(Method::GET, &url, "").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{}", answer.body);
    assert!(!answer.body.contains("ada"));
}

#[tokio::test]
async fn finding_o16_a_refused_sign_in_names_its_request() {
    let stack = Stack::start(Wanted::default()).await;
    let mut browser = Browser::new(stack.address);
    let url = format!("{MAIN}/oauth2/sign_in");
    let page = browser.open(&url).await;
    assert!(!page.body.contains("Request <code>"), "{}", page.body);
    let fields = [("csrf_token", "x"), ("name", "ada"), ("password", "x")];
    let page = browser.submit(MAIN, &url, &fields).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    let id = page.headers["x-request-id"].to_str().expect("text");
    let line = format!("Request <code>{id}</code>");
    assert!(page.body.contains(&line), "{}", page.body);
}
