//! Signing in with OIDC providers.
use http::{Method, StatusCode};
use portico_testkit::OidcPerson;
use serde_json::json;

use crate::{
    oidc::{answered, gateway, open_app, registered, signed_in},
    support::{
        browser::Browser,
        stack::{APP, MAIN},
    },
};

#[tokio::test]
async fn a_user_of_a_provider_gets_apps_by_group_but_no_clusters() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (mut alice, _) = signed_in(&stack, "corp", "alice").await;
    let home = alice.open(&format!("{MAIN}/")).await;
    assert_eq!(home.status, StatusCode::OK, "{}", home.body);
    assert!(home.body.contains("You see no clusters here"));
    assert!(home.body.contains(&format!("{APP}/")), "{}", home.body);
    let call = alice.call(Method::GET, &format!("{MAIN}/api/x"), "").await;
    assert_eq!(call.status, StatusCode::FORBIDDEN);
    assert_eq!(call.json()["error"], "no_keystone");
    let app = open_app(&mut alice).await;
    assert_eq!(app.status, StatusCode::OK, "{}", app.body);
    assert_eq!(app.json()["target"], "/graph");

    // bob is in another group
    let (mut bob, _) = signed_in(&stack, "corp", "bob").await;
    let refused = open_app(&mut bob).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(refused.body.contains("ops") && refused.body.contains("corp login"));
    let home = bob.open(&format!("{MAIN}/")).await;
    assert!(!home.body.contains(&format!("{APP}/")), "{}", home.body);
}

#[tokio::test]
async fn the_sign_in_page_offers_what_the_host_has() {
    let corp = registered("corp").await;
    let partner = registered("partner").await;
    let stack = gateway(json!([
        corp.entry(&json!({ "hosts": ["main"] })),
        partner.entry(&json!({ "hosts": ["prometheus"] })),
        { "id": "cloud", "name": "Cloud", "kind": "keystone", "hosts": ["main"] },
    ]))
    .await;
    let mut browser = Browser::new(stack.address);
    let page = browser.open(&format!("{MAIN}/oauth2/sign_in")).await;
    assert!(page.body.contains("Sign in with corp login"));
    assert!(!page.body.contains("partner login"));
    assert!(page.body.contains("name=\"password\""));
    let to_app = format!("{MAIN}/oauth2/sign_in?rd=%2Foauth2%2Fhandover%3Fapp%3Dprometheus");
    let page = browser.open(&to_app).await;
    assert!(page.body.contains("Sign in with partner login"));
    assert!(!page.body.contains("corp login"));
    assert!(!page.body.contains("name=\"password\""));
    // and nothing else is accepted
    let page = browser
        .open(&format!("{MAIN}/oauth2/start?provider=partner"))
        .await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    let page = browser
        .open(&format!("{MAIN}/oauth2/start?provider=nobody"))
        .await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_provider_that_a_browser_used_last_is_offered_first() {
    let corp = registered("corp").await;
    let partner = registered("partner").await;
    let entries = json!([corp.entry(&json!({})), partner.entry(&json!({}))]);
    let stack = gateway(entries).await;
    let url = format!("{MAIN}/oauth2/sign_in?prompt=login");
    let order = |body: &str| {
        let at = |name| body.find(name).expect("button");
        at("Sign in with partner login") < at("Sign in with corp login")
    };
    let page = Browser::new(stack.address).open(&url).await;
    assert!(!order(&page.body) && !page.body.contains("last used"));
    let (mut alice, _) = signed_in(&stack, "partner", "alice").await;
    let page = alice.open(&url).await;
    assert!(order(&page.body), "{}", page.body);
    assert_eq!(page.body.matches("last used").count(), 1);
}

#[tokio::test]
async fn a_provider_that_is_down_stops_no_other_sign_in_and_is_named() {
    let corp = registered("corp").await;
    let down = json!({
        "id": "down", "name": "Gone & Co", "kind": "oidc", "issuer": "http://127.0.0.1:9",
        "client_id": "x",
    });
    let stack = gateway(json!([down, corp.entry(&json!({}))])).await;
    let mut browser = Browser::new(stack.address);
    let page = browser
        .open(&format!("{MAIN}/oauth2/start?provider=down"))
        .await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(
        page.body.contains("Gone &amp; Co does not answer"),
        "{}",
        page.body
    );
    let page = browser.open(&format!("{MAIN}/oauth2/sign_in")).await;
    assert!(
        page.body
            .contains("Gone &amp; Co does not answer at the moment")
    );
    signed_in(&stack, "corp", "alice").await;
}

#[tokio::test]
async fn tabs_sign_in_at_the_same_time() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (mut browser, mut person) = (Browser::new(stack.address), OidcPerson::default());
    browser.open(&format!("{MAIN}/oauth2/sign_in")).await;
    let one = answered(&mut browser, &mut person, "corp", "alice", "/a").await;
    let two = answered(&mut browser, &mut person, "corp", "alice", "/b").await;
    for callback in [two, one] {
        let page = browser.open(&callback).await;
        assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    }
    assert_eq!(
        browser.open(&format!("{MAIN}/")).await.status,
        StatusCode::OK
    );
}
