//! What is counted or begun at one replica is known at the other.
use http::{Method, StatusCode};
use jiff::Timestamp;

use crate::{
    pair::Pair,
    support::{browser::Browser, form::enter, stack::MAIN},
};

#[tokio::test]
async fn a_cookie_of_one_replica_is_good_at_the_other() {
    let pair = Pair::start().await;
    let password = pair.env.get("DEMO_PASSWORD").expect("password");
    let mut browser = Browser::new(pair.one.address);
    let page = enter(&mut browser, "/projects/x", "vera", password).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    let mut there = Browser::new(pair.other.address);
    let cookie = browser.cookie("localhost", "portico").expect("cookie");
    there.set_cookie("localhost", "portico", cookie);
    let page = there.open(&format!("{MAIN}/projects/x")).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("portico-assertion"));
}

#[tokio::test]
async fn failed_sign_ins_are_counted_together() {
    let pair = Pair::start().await;
    let name = format!("guessed-{}", uuid::Uuid::new_v4().simple());
    let (mut here, mut there) = (
        Browser::new(pair.one.address),
        Browser::new(pair.other.address),
    );
    for _ in 0..4 {
        for browser in [&mut here, &mut there] {
            let page = enter(browser, "/", &name, "x").await;
            assert_eq!(page.status, StatusCode::UNAUTHORIZED);
        }
    }
    for browser in [&mut here, &mut there] {
        let page = enter(browser, "/", &name, "x").await;
        assert_eq!(page.status, StatusCode::TOO_MANY_REQUESTS);
    }
}

#[tokio::test]
async fn a_device_code_begun_here_is_approved_there_and_fetched_here() {
    let pair = Pair::start().await;
    let (_, mut there, _) = pair.signed_in().await;
    let mut terminal = Browser::new(pair.one.address);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let mut post = async |path: &str, fields: &[(&str, &str)]| {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        let url = format!("{MAIN}{path}");
        terminal.send(Method::POST, &url, &form, body).await.json()
    };
    let device = post("/oauth2/device", &[("client_id", "portico-cli")]).await;
    let page = device["verification_uri_complete"]
        .as_str()
        .expect("address");
    let page = there.open(page).await;
    let fields = [
        ("csrf_token", &*page.field("csrf_token")),
        ("user_code", &*page.field("user_code")),
        ("decision", "approve"),
    ];
    let url = format!("{MAIN}/oauth2/device/decision");
    assert_eq!(
        there.submit(MAIN, &url, &fields).await.status,
        StatusCode::OK
    );
    let fields = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("client_id", "portico-cli"),
        ("device_code", device["device_code"].as_str().expect("code")),
    ];
    let granted = post("/oauth2/token", &fields).await;
    assert!(granted["access_token"].is_string(), "{granted}");
}

#[tokio::test]
async fn a_one_time_code_counts_once_for_both() {
    let pair = Pair::start().await;
    let until = Timestamp::now() + jiff::SignedDuration::from_secs(90);
    let mark = async |store: &portico_store::Store, code| {
        let marked = store.totp_marks().mark("mia", code, until).await;
        marked.expect("marked")
    };
    assert!(mark(&pair.one.store, "123456").await);
    assert!(!mark(&pair.other.store, "123456").await);
    assert!(mark(&pair.other.store, "654321").await);
}
