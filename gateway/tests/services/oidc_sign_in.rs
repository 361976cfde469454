//! Signing in with OIDC providers.
use http::{Method, StatusCode};
use portico_testkit::OidcPerson;
use serde_json::json;

use crate::{
    oidc::{answered, gateway, open_app, registered, session, signed_in},
    support::{
        browser::Browser,
        stack::{APP, MAIN, MAIN_HOST},
    },
};

#[tokio::test]
async fn somebody_of_a_provider_gets_apps_by_group_but_no_clusters() {
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
async fn the_account_is_issuer_and_subject_and_the_email_names_nobody() {
    let corp = registered("corp").await;
    let partner = registered("partner").await;
    let stack = gateway(json!([
        corp.entry(&json!({})),
        partner.entry(&json!({ "claims": { "groups": "/groups", "roles": "/roles" } })),
    ]))
    .await;
    let (mut browser, _) = signed_in(&stack, "corp", "alice").await;
    let (mut other, _) = signed_in(&stack, "partner", "alice").await;
    let one = browser
        .call(Method::GET, &format!("{MAIN}/oauth2/userinfo"), "")
        .await;
    let two = other
        .call(Method::GET, &format!("{MAIN}/oauth2/userinfo"), "")
        .await;
    let (one, two) = (one.json(), two.json());
    assert_eq!(one["name"], "alice");
    assert_eq!(one["name"], two["name"]);
    assert_ne!(one["sub"], two["sub"]);
    assert!(one["sub"].as_str().expect("id").starts_with("oidc-"));
    let profile = session(&stack).await.provider.expect("provider").profile;
    assert_eq!(profile.groups, ["k8s-admins", "ops"]);
    assert_eq!(profile.email.as_deref(), Some("alice@example.test"));
    assert!(profile.email_verified && !profile.keystone);
    // the same group's name at another provider is another group
    let refused = open_app(&mut other).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let opened = open_app(&mut browser).await;
    assert_eq!(opened.status, StatusCode::OK);
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
async fn a_provider_that_is_down_stops_nobody_else_and_is_named() {
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
async fn an_answer_counts_once_in_the_browser_that_asked() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (mut browser, mut person) = (Browser::new(stack.address), OidcPerson::default());
    let callback = answered(&mut browser, &mut person, "corp", "alice", "/").await;

    // login CSRF: another browser is given the answer
    let mut victim = Browser::new(stack.address);
    victim
        .open(&format!("{MAIN}/oauth2/start?provider=corp"))
        .await;
    let page = victim.open(&callback).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    assert!(victim.cookie(MAIN_HOST, "portico").is_none());
    // no code was redeemed for it
    let events = corp.provider.events().await.expect("events");
    assert!(events.iter().all(|event| event.kind != "grant"));

    // a parameter given twice, a foreign state, another issuer, none
    for bad in [
        format!("{callback}&state=x"),
        format!("{callback}&iss=x"),
        format!("{callback}&code=x"),
        callback.replace("state=", "state=x"),
    ] {
        let page = browser.open(&bad).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{bad}");
        assert!(browser.cookie(MAIN_HOST, "portico").is_none());
    }
    // its twin succeeds, once
    let page = browser.open(&callback).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    let page = browser.open(&callback).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    assert!(page.body.contains("you are signed in"), "{}", page.body);
}

#[tokio::test]
async fn an_answer_of_another_issuer_is_refused_before_its_code_is_redeemed() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    for change in ["another", "none"] {
        let (mut browser, mut person) = (Browser::new(stack.address), OidcPerson::default());
        let callback = answered(&mut browser, &mut person, "corp", "alice", "/").await;
        let mut url = url::Url::parse(&callback).expect("url");
        let pairs: Vec<(String, String)> = url
            .query_pairs()
            .filter(|(name, _)| name != "iss")
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        url.query_pairs_mut().clear().extend_pairs(pairs);
        if change == "another" {
            url.query_pairs_mut()
                .append_pair("iss", "https://evil.example");
        }
        let page = browser.open(url.as_str()).await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{change}");
        assert!(browser.cookie(MAIN_HOST, "portico").is_none());
    }
    let events = corp.provider.events().await.expect("events");
    assert!(events.iter().all(|event| event.kind != "grant"));
    signed_in(&stack, "corp", "alice").await;
}

#[tokio::test]
async fn the_providers_words_are_shown_as_text_and_only_with_a_state() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (mut browser, mut person) = (Browser::new(stack.address), OidcPerson::default());
    let spoofed =
        format!("{MAIN}/oauth2/callback/corp?error=x&error_description=call%20555-1234&state=y");
    let page = browser.open(&spoofed).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    assert!(!page.body.contains("555-1234"));
    let page = browser
        .open(&format!("{MAIN}/oauth2/start?provider=corp"))
        .await;
    let callback = person
        .cancel(page.location().as_str())
        .await
        .expect("answer");
    let page = browser.open(&callback).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(page.body.contains("access_denied"), "{}", page.body);
    assert!(page.body.contains("&lt;b&gt;the user&lt;/b&gt;"));
    assert!(browser.cookie(MAIN_HOST, "portico").is_none());
}

#[tokio::test]
async fn a_session_gets_a_new_id_and_the_old_one_is_dead() {
    let corp = registered("corp").await;
    let stack = gateway(json!([corp.entry(&json!({}))])).await;
    let (mut browser, mut person) = signed_in(&stack, "corp", "alice").await;
    let before = browser
        .cookie(MAIN_HOST, "portico")
        .expect("cookie")
        .to_owned();
    let page = browser
        .open(&format!("{MAIN}/oauth2/start?provider=corp&prompt=login"))
        .await;
    let callback = person
        .sign_in(page.location().as_str(), "alice")
        .await
        .expect("answer");
    let page = browser.open(&callback).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    let after = browser.cookie(MAIN_HOST, "portico").expect("cookie");
    assert_ne!(before, after);
    let mut thief = Browser::new(stack.address);
    thief.set_cookie(MAIN_HOST, "portico", &before);
    let page = thief.open(&format!("{MAIN}/")).await;
    assert!(page.location().path().ends_with("/oauth2/sign_in"));
    assert_eq!(
        browser.open(&format!("{MAIN}/")).await.status,
        StatusCode::OK
    );
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
