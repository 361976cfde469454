//! Sign-out while Keystone is away, and what the store keeps of it.
use std::time::Duration;

use axum::Router;
use http::StatusCode;
use portico_testkit::snapshot_settings;
use secrecy::ExposeSecret as _;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::support::stack::{MAIN, MAIN_HOST, Stack, Wanted};

#[tokio::test]
async fn sign_out_needs_a_click_and_its_token() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&[]).await;
    let page = browser.open(&format!("{MAIN}/oauth2/sign_out")).await;
    snapshot_settings().bind(|| insta::assert_snapshot!("confirmation", page.snapshot()));
    let page = browser
        .submit(
            MAIN,
            &format!("{MAIN}/oauth2/sign_out"),
            &[("csrf_token", "x")],
        )
        .await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert_eq!(browser.open(MAIN).await.status, StatusCode::OK);
}

#[tokio::test]
async fn revocations_that_did_not_reach_keystone_are_kept_and_reported() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, session) = stack.signed_in(&["k8s_admin"]).await;
    let cookie = browser
        .cookie(MAIN_HOST, "portico")
        .expect("cookie")
        .to_owned();
    let csrf = session.csrf.expose_secret();
    let page = browser
        .submit(
            MAIN,
            &format!("{MAIN}/oauth2/sign_out"),
            &[("csrf_token", csrf)],
        )
        .await;
    assert_eq!(page.status, StatusCode::OK);
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("signed_out_while_keystone_is_away", page.snapshot());
    });
    assert_eq!(page.headers["clear-site-data"], "\"cache\"");
    // removes the panel's drafts from the tab
    assert!(page.body.contains("/oauth2/static/signed-out.js"));
    let tokens = stack.store.keystone_tokens();
    let pending = tokens
        .pending_revocations(session.id)
        .await
        .expect("pending");
    assert_eq!(pending.len(), 2);
    assert!(browser.cookie(MAIN_HOST, "portico").is_none());

    // a client that kept a copy of the cookie
    browser.set_cookie(MAIN_HOST, "portico", &cookie);
    let page = browser.open(&format!("{MAIN}/projects/p1")).await;
    assert!(page.location().as_str().ends_with("&reason=signed_out"));
}

#[tokio::test]
async fn revocations_are_made_up_for_when_keystone_is_back() {
    let reserved = TcpListener::bind("127.0.0.1:0").await.expect("port");
    let address = reserved.local_addr().expect("address");
    drop(reserved);
    let keystone = format!("http://{address}/v3");
    let stack = Stack::start(Wanted {
        keystone: &keystone,
        ..Wanted::default()
    })
    .await;
    let (mut browser, session) = stack.signed_in(&[]).await;
    let csrf = session.csrf.expose_secret();
    let url = format!("{MAIN}/oauth2/sign_out");
    browser.submit(MAIN, &url, &[("csrf_token", csrf)]).await;
    let tokens = stack.store.keystone_tokens();
    let pending = tokens.pending_revocations(session.id).await;
    assert_eq!(pending.expect("pending").len(), 2);

    let listener = TcpListener::bind(address).await.expect("the same port");
    let router = Router::new().fallback(|| async { StatusCode::NO_CONTENT });
    tokio::spawn(async move { axum::serve(listener, router).await });
    let (gateway, stop) = (stack.gateway.clone(), CancellationToken::new());
    tokio::spawn(gateway_until(gateway, stop.clone()));
    let made_up_for = async {
        while !tokens
            .pending_revocations(session.id)
            .await
            .expect("pending")
            .is_empty()
        {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(10), made_up_for).await;
    assert!(in_time.is_ok(), "the queue is not worked off");
    stop.cancel();
}

async fn gateway_until(gateway: gateway::Gateway, stop: CancellationToken) {
    gateway.run(stop).await;
}
