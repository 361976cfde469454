//! Single sign-on at Keystone: the browser goes there and brings a token back.
use http::StatusCode;
use portico_testkit::{FederatedPerson, single_sign_on};
use serde_json::json;

use crate::{
    keystone::{Running, running_with},
    sign_in::sign_out,
    support::{
        browser::{Browser, Page},
        stack::{MAIN, MAIN_HOST},
    },
};

async fn offering() -> Running {
    let env = portico_testkit::TestEnv::load().expect("the stack's env file");
    let keystone = env.get("KEYSTONE_URL").expect("address");
    running_with(json!({ "keystone": { "websso": [
        { "id": "company", "label": "the company account", "url": keystone },
    ]}}))
    .await
}

fn origin(running: &Running) -> String {
    let keystone = running.env.get("KEYSTONE_URL").expect("address");
    let url = url::Url::parse(keystone).expect("address");
    url.origin().ascii_serialization()
}

/// From the button to the address at Keystone.
async fn start(browser: &mut Browser, rd: &str) -> Page {
    let page = browser
        .open(&format!("{MAIN}/oauth2/sign_in?prompt=login&rd={rd}"))
        .await;
    assert!(page.body.contains("Sign in with the company account"));
    let (csrf, rd) = (page.field("csrf_token"), page.field("rd"));
    let fields = [
        ("csrf_token", csrf.as_str()),
        ("rd", &rd),
        ("way", "company"),
    ];
    let url = format!("{MAIN}/oauth2/websso/start");
    browser.submit(MAIN, &url, &fields).await
}

/// What Keystone gives the user of this name at that address.
async fn at_keystone(running: &Running, there: &Page, name: &str) -> String {
    let issuer = running.env.get("FEDERATION_ISSUER").expect("federation");
    let person = FederatedPerson {
        issuer,
        name,
        groups: "k8s-admins;strangers",
    };
    let token = single_sign_on(there.location().as_str(), &person).await;
    token.expect("a token")
}

/// Keystone's page posts the token: from another site, so without the cookies of ours.
async fn arrive(running: &Running, origin: &str, token: &str) -> Page {
    Browser::new(running.stack.address)
        .submit(
            origin,
            &format!("{MAIN}/oauth2/websso"),
            &[("token", token)],
        )
        .await
}

async fn finish(browser: &mut Browser, origin: &str, code: &str) -> Page {
    let url = format!("{MAIN}/oauth2/websso/finish");
    browser.submit(origin, &url, &[("code", code)]).await
}

#[tokio::test]
async fn single_sign_on_opens_projects_by_the_groups_of_the_provider() {
    let running = offering().await;
    let mut browser = Browser::new(running.stack.address);
    let path = format!("/projects/{}", running.acme);
    let there = start(&mut browser, &path).await;
    assert_eq!(there.status, StatusCode::SEE_OTHER, "{}", there.body);
    let token = at_keystone(&running, &there, "wanda.fed").await;
    let page = arrive(&running, &origin(&running), &token).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(!page.body.contains(&token), "the token is in our page");
    let code = page.field("code");
    let page = finish(&mut browser, MAIN, &code).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    assert_eq!(page.location().path(), path);
    let page = browser.follow(page.location().as_str()).await;
    assert!(page.body.contains("portico-token"), "{}", page.body);
    let auth = format!("{MAIN}/oauth2/auth?app=prometheus");
    assert_eq!(browser.open(&auth).await.status, StatusCode::ACCEPTED);

    // the token that crossed the browser is revoked, and its reference was valid once
    let admin = portico_testkit::KeystoneAdmin::sign_in(&running.env).await;
    let admin = admin.expect("admin");
    let good = admin.token_is_good(&token.as_str().into()).await;
    assert!(!good.expect("answer"));
    let again = finish(&mut browser, MAIN, &code).await;
    assert!(again.location().as_str().contains("reason=ended"));

    // it continues through the same provider, in the same session
    let before = browser.cookie(MAIN_HOST, "portico").map(str::to_owned);
    let page = browser
        .open(&format!("{MAIN}/oauth2/reauthenticate?rd={path}"))
        .await;
    assert!(page.body.contains("Confirm with the company account"));
    let csrf = page.field("csrf_token");
    let fields = [
        ("csrf_token", csrf.as_str()),
        ("rd", &path),
        ("reauthenticate", "1"),
        ("way", "company"),
    ];
    let url = format!("{MAIN}/oauth2/websso/start");
    let sessions = running.stack.audited("session.sign_in").await.len();
    for (name, status) in [("zelda.fed", 403), ("wanda.fed", 303)] {
        let there = browser.submit(MAIN, &url, &fields).await;
        let token = at_keystone(&running, &there, name).await;
        let page = arrive(&running, &origin(&running), &token).await;
        let page = finish(&mut browser, MAIN, &page.field("code")).await;
        assert_eq!(page.status.as_u16(), status, "{name}: {}", page.body);
    }
    assert_ne!(browser.cookie(MAIN_HOST, "portico"), before.as_deref());
    assert_eq!(
        running.stack.audited("session.sign_in").await.len(),
        sessions
    );
    assert_eq!(browser.open(&auth).await.status, StatusCode::ACCEPTED);
    sign_out(&mut browser).await;
}

#[tokio::test]
async fn a_token_that_this_browser_did_not_go_and_get_signs_no_user_in() {
    let running = offering().await;
    let mut attacker = Browser::new(running.stack.address);
    let there = start(&mut attacker, "/").await;
    let token = at_keystone(&running, &there, "mallory.fed").await;
    for origin in ["https://evil.example", MAIN, "null"] {
        let page = arrive(&running, origin, &token).await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{origin}");
    }
    let page = arrive(&running, &origin(&running), &token).await;
    let code = page.field("code");
    let mut victim = Browser::new(running.stack.address);
    // the attacker's page cannot send the form, and without it a victim has started nothing
    let page = finish(&mut victim, "https://evil.example", &code).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    let page = finish(&mut victim, MAIN, &code).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN, "{}", page.body);
    assert!(page.body.contains("not started in this browser"));
    assert!(victim.cookie(MAIN_HOST, "portico").is_none());

    // the control case
    let there = start(&mut victim, "/").await;
    let token = at_keystone(&running, &there, "wanda.fed").await;
    let page = arrive(&running, &origin(&running), &token).await;
    let page = finish(&mut victim, MAIN, &page.field("code")).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    assert!(victim.cookie(MAIN_HOST, "portico").is_some());
}

#[tokio::test]
async fn what_keystone_did_not_send_is_refused_with_the_way_on() {
    let running = offering().await;
    let mut browser = Browser::new(running.stack.address);
    start(&mut browser, "/").await;
    let page = arrive(&running, &origin(&running), "gAAAA-garbage").await;
    let page = finish(&mut browser, MAIN, &page.field("code")).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    assert!(page.body.contains("Sign in again"), "{}", page.body);
    let page = arrive(&running, &origin(&running), "").await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    // a code that waits at the TOTP page is none of this kind
    let page = arrive(&running, &origin(&running), "gAAAA-garbage").await;
    browser.set_cookie(MAIN_HOST, "portico-flow", &page.field("code"));
    let page = browser.open(&format!("{MAIN}/oauth2/totp")).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
}
