//! 26: a store that fails is neither a permission nor a sign-out; see also `services/outage.rs`.
use std::time::Duration;

use http::{Method, StatusCode, header};
use portico_testkit::{PostgresServer, RedisServer};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::support::{
    browser::{Browser, Page},
    database::Database,
    stack::{APP, APP_HOST, Stack, Wanted},
};

async fn gateway_on(url: &str) -> Stack {
    Stack::start(Wanted {
        database: Database::At(url),
        app: json!({ "identity": { "kind": "headers", "headers": { "X-User": "user" } } }),
        ..Wanted::default()
    })
    .await
}

async fn ask(browser: &mut Browser, path: &str) -> Page {
    browser.call(Method::GET, &format!("{APP}{path}"), "").await
}

/// A user at an app of a gateway on this store.
async fn at_app_on(url: &str) -> (Stack, Browser) {
    let stack = gateway_on(url).await;
    let (_, session) = stack.session(&["k8s_admin"]).await;
    let (browser, _) = stack.at_app(&session).await;
    (stack, browser)
}

/// Requests to an app and to `/oauth2/auth` get 503 while the store does not respond.
async fn nothing_opens(stack: &Stack, browser: &mut Browser, stop: impl FnOnce()) {
    assert_eq!(ask(browser, "/x").await.status, StatusCode::OK, "before");
    let asked = stack.app.asked();
    let cookie = browser.cookie(APP_HOST, "portico").map(str::to_owned);
    stop();
    for path in ["/x", "/oauth2/auth"] {
        let answer = ask(browser, path).await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert!(!answer.headers.contains_key(header::SET_COOKIE), "{path}");
        assert!(
            !answer.headers.contains_key("x-auth-request-user"),
            "{path}"
        );
    }
    assert_eq!(stack.app.asked(), asked, "the app was asked");
    assert_eq!(browser.cookie(APP_HOST, "portico"), cookie.as_deref());
}

async fn opens_again(browser: &mut Browser) {
    let until = Instant::now() + Duration::from_secs(15);
    loop {
        match ask(browser, "/x").await.status {
            StatusCode::OK => return,
            status => assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE),
        }
        assert!(Instant::now() < until, "the store is back for long");
        sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn attack_26_without_redis_no_app_is_opened_and_no_user_signed_out() {
    let server = RedisServer::start().unwrap();
    let (stack, mut browser) = at_app_on(&server.url()).await;
    nothing_opens(&stack, &mut browser, || server.freeze().unwrap()).await;
    server.thaw().unwrap();
    opens_again(&mut browser).await;
}

#[tokio::test]
async fn attack_26_without_postgresql_no_app_is_opened_and_no_user_signed_out() {
    let server = PostgresServer::start().unwrap();
    let (stack, mut browser) = at_app_on(&server.url()).await;
    nothing_opens(&stack, &mut browser, || server.freeze().unwrap()).await;
    server.thaw().unwrap();
    opens_again(&mut browser).await;
}
