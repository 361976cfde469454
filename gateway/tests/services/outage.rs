//! The store stands still or is killed under a gateway: 503 with a page, no cookie is taken away,
//! and afterwards all users are still signed in. On real servers of the test's own.
use std::time::Duration;

use http::{Method, StatusCode, header};
use portico_store::EndReason;
use portico_testkit::{PostgresServer, RedisServer};
use secrecy::ExposeSecret as _;
use tokio::time::{Instant, sleep};

use crate::support::{
    browser::{Browser, Page},
    database::Database,
    stack::{MAIN, MAIN_HOST, Stack, Wanted},
};

/// The longest that the error page may take.
const MAX_RESPONSE_TIME: Duration = Duration::from_secs(8);

async fn gateway_on(url: &str) -> Stack {
    Stack::start(Wanted {
        database: Database::At(url),
        ..Wanted::default()
    })
    .await
}

/// A gateway on this store, and a browser that it shows the panel to.
async fn signed_in_on(url: &str) -> (Stack, Browser) {
    let stack = gateway_on(url).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    assert_eq!(panel(&mut browser).await.status, StatusCode::OK);
    (stack, browser)
}

async fn panel(browser: &mut Browser) -> Page {
    browser.open(&format!("{MAIN}/projects/p1")).await
}

/// A browser that this gateway has never seen, with the cookie of another.
fn with_cookie_of(browser: &Browser, stack: &Stack) -> Browser {
    let mut other = Browser::new(stack.address);
    let cookie = browser.cookie(MAIN_HOST, "portico").expect("cookie");
    other.set_cookie(MAIN_HOST, "portico", cookie);
    other
}

/// Checks that pages and answers report the outage of the store in time, and set no cookie.
async fn expect_outage(browser: &mut Browser) {
    let cookie = browser.cookie(MAIN_HOST, "portico").map(str::to_owned);
    let started = Instant::now();
    let page = panel(browser).await;
    assert_eq!(
        page.status,
        StatusCode::SERVICE_UNAVAILABLE,
        "{}",
        page.body
    );
    assert!(
        started.elapsed() < MAX_RESPONSE_TIME,
        "{:?}",
        started.elapsed()
    );
    assert!(page.body.contains("cannot reach its database"));
    assert!(page.body.contains("Your session has not ended"));
    assert!(page.headers.contains_key(header::RETRY_AFTER));
    assert!(!page.headers.contains_key(header::SET_COOKIE));
    let answer = browser
        .call(Method::GET, &format!("{MAIN}/api/v1/whatever"), "")
        .await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(!answer.headers.contains_key(header::SET_COOKIE));
    assert_eq!(browser.cookie(MAIN_HOST, "portico"), cookie.as_deref());
}

async fn comes_back(browser: &mut Browser) {
    let until = Instant::now() + Duration::from_secs(15);
    loop {
        let page = panel(browser).await;
        if page.status == StatusCode::OK {
            return;
        }
        assert_eq!(
            page.status,
            StatusCode::SERVICE_UNAVAILABLE,
            "{}",
            page.body
        );
        assert!(Instant::now() < until, "the store is back for long");
        sleep(Duration::from_millis(100)).await;
    }
}

/// A session that ended before the outage has not come back with it.
async fn ended_stays_ended(stack: &Stack, cookie: &str) {
    let mut browser = Browser::new(stack.address);
    browser.set_cookie(MAIN_HOST, "portico", cookie);
    let page = panel(&mut browser).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    assert_eq!(page.location().path(), "/oauth2/sign_in");
}

async fn ended_session(stack: &Stack) -> String {
    let (secret, session) = stack.session(&[]).await;
    let ended =
        stack
            .store
            .sessions()
            .end(session.id, EndReason::SignedOut, jiff::Timestamp::now());
    assert_eq!(ended.await.expect("ended").len(), 1);
    secret.expose_secret().to_owned()
}

#[tokio::test]
async fn attack_26_a_redis_that_hangs_signs_no_user_out() {
    let server = RedisServer::start().unwrap();
    let (stack, mut browser) = signed_in_on(&server.url()).await;
    let mut elsewhere = with_cookie_of(&browser, &stack);
    server.freeze().unwrap();
    expect_outage(&mut browser).await;
    expect_outage(&mut elsewhere).await;
    server.thaw().unwrap();
    comes_back(&mut browser).await;
    comes_back(&mut elsewhere).await;
}

#[tokio::test]
async fn attack_26_a_redis_that_is_killed_signs_no_user_out() {
    let mut server = RedisServer::start().unwrap();
    let (stack, mut browser) = signed_in_on(&server.url()).await;
    let ended = ended_session(&stack).await;
    server.kill().unwrap();
    expect_outage(&mut browser).await;
    server.start_again().unwrap();
    comes_back(&mut browser).await;
    ended_stays_ended(&stack, &ended).await;
    // nor does a gateway that has never seen the cookie
    let other = gateway_on(&server.url()).await;
    comes_back(&mut with_cookie_of(&browser, &other)).await;
}

#[tokio::test]
async fn attack_26_a_redis_that_lost_everything_signs_no_user_out_by_itself() {
    let server = RedisServer::start().unwrap();
    let (stack, mut browser) = signed_in_on(&server.url()).await;
    stack.store.revert_all().await.unwrap();
    expect_outage(&mut browser).await;
    // once an operator has confirmed that it is a store, the sessions are gone for good
    stack
        .store
        .migrate(jiff::Timestamp::UNIX_EPOCH)
        .await
        .unwrap();
    assert_eq!(panel(&mut browser).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn attack_26_a_postgresql_that_hangs_signs_no_user_out() {
    let server = PostgresServer::start().unwrap();
    let (stack, mut browser) = signed_in_on(&server.url()).await;
    let mut elsewhere = with_cookie_of(&browser, &stack);
    server.freeze().unwrap();
    expect_outage(&mut browser).await;
    expect_outage(&mut elsewhere).await;
    server.thaw().unwrap();
    comes_back(&mut browser).await;
    comes_back(&mut elsewhere).await;
}

#[tokio::test]
async fn attack_26_a_postgresql_that_is_killed_signs_no_user_out() {
    let mut server = PostgresServer::start().unwrap();
    let (stack, mut browser) = signed_in_on(&server.url()).await;
    let ended = ended_session(&stack).await;
    server.kill().unwrap();
    expect_outage(&mut browser).await;
    server.start_again().unwrap();
    comes_back(&mut browser).await;
    ended_stays_ended(&stack, &ended).await;
    let other = gateway_on(&server.url()).await;
    comes_back(&mut with_cookie_of(&browser, &other)).await;
}
