//! People of an OIDC provider whom Keystone knows by federation: with the provider that is real and
//! the Keystone that is real, whose port only this test's gateway uses.
use http::{Method, StatusCode};
use portico_store::Session;
use portico_testkit::{CLIENT_ID, CLIENT_SECRET, KeystoneAdmin, OidcPerson, OidcProvider, TestEnv};
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::NamedTempFile;

use crate::{
    keystone::{Running, running_for},
    sign_in::sign_out,
    support::{
        browser::{Browser, Page},
        stack::{APP, MAIN, MAIN_HOST},
    },
};

const API: &str = "https://portico.example.test/api";

struct Federated {
    running: Running,
    provider: OidcProvider,
    _secret: NamedTempFile,
}

/// A gateway with a provider `corp` whose issuer Keystone trusts, unless `trusted` is another one.
async fn federated(trusted: Option<&str>, federation: Value, bearer: &[&str]) -> Federated {
    let env = TestEnv::load().expect("the stack's env file");
    let callback = format!("{MAIN}/oauth2/callback/corp");
    let provider = OidcProvider::start(&callback, MAIN, 300).await;
    let provider = provider.expect("provider");
    let admin = KeystoneAdmin::sign_in(&env).await.expect("admin");
    let issuer = trusted.unwrap_or(&provider.issuer);
    let known = admin.trust_issuer(issuer).await.expect("trusted");
    let secret = NamedTempFile::new().expect("file");
    std::fs::write(secret.path(), CLIENT_SECRET).expect("secret");
    let mut section = json!({
        "identity_provider": known.id,
        "protocol": known.protocol,
        "url": env.get("KEYSTONE_URL").expect("address"),
        "headers": {
            "OIDC-ISS": "issuer",
            "OIDC-CLAIM-PREFERRED-USERNAME": "name",
            "OIDC-CLAIM-EMAIL": "email",
            "OIDC-CLAIM-GROUPS": "groups",
        },
    });
    for (key, value) in federation.as_object().expect("object") {
        section[key] = value.clone();
    }
    let entry = json!({
        "id": "corp", "name": "Corp", "kind": "oidc", "issuer": provider.issuer,
        "client_id": CLIENT_ID, "client_secret_file": secret.path(),
        "scopes": ["profile", "email", "groups"], "timeout": "8s",
        "api_audience": API, "federation": section,
    });
    let running = running_for(json!({ "providers": [entry] }), bearer).await;
    Federated {
        running,
        provider,
        _secret: secret,
    }
}

/// From a start at the gateway through the provider's pages and back.
async fn through(browser: &mut Browser, start: &str, login: &str) -> Page {
    let page = browser.open(start).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    let mut person = OidcPerson::default();
    let callback = person.sign_in(page.location().as_str(), login).await;
    browser.open(&callback.expect("an answer")).await
}

async fn signed_in(federated: &Federated, login: &str, rd: &str) -> Browser {
    let mut browser = Browser::new(federated.running.stack.address);
    let start = format!("{MAIN}/oauth2/start?provider=corp&rd={rd}");
    let page = through(&mut browser, &start, login).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    browser
}

async fn session(federated: &Federated, browser: &Browser) -> Session {
    let cookie = browser.cookie(MAIN_HOST, "portico").expect("a session");
    let now = jiff::Timestamp::now();
    let sessions = federated.running.stack.store.sessions();
    let found = sessions.find(cookie, now).await.expect("an answer");
    found.expect("a live session")
}

#[tokio::test]
async fn a_provider_that_keystone_trusts_opens_projects_as_a_password_does() {
    let federated = federated(None, json!({}), &[]).await;
    let acme = &federated.running.acme;
    let mut browser = signed_in(&federated, "alice", "/x").await;
    let page = browser.open(&format!("{MAIN}/projects/{acme}")).await;
    assert!(page.body.contains("portico-token"), "{}", page.body);
    let session_of_alice = session(&federated, &browser).await;
    assert!(session_of_alice.has_keystone());
    assert_eq!(session_of_alice.user.name, "alice");
    let auth = format!("{MAIN}/oauth2/auth?app=prometheus");
    assert_eq!(browser.open(&auth).await.status, StatusCode::ACCEPTED);
    let held = federated.running.stack.store.keystone_tokens();
    let held = held.list(session_of_alice.id).await.expect("tokens");
    assert_eq!(held.len(), 2, "unscoped, acme");
    sign_out(&mut browser).await;
    let admin = KeystoneAdmin::sign_in(&federated.running.env).await;
    let admin = admin.expect("admin");
    for token in held {
        let good = admin.token_is_good(&token.token).await;
        assert!(!good.expect("answer"), "a token outlives the session");
    }
}

#[tokio::test]
async fn a_user_without_a_group_in_keystone_gets_no_project() {
    let federated = federated(None, json!({}), &[]).await;
    let mut browser = signed_in(&federated, "carol", "/x").await;
    assert!(session(&federated, &browser).await.projects.is_empty());
    let auth = format!("{MAIN}/oauth2/auth?app=prometheus");
    assert_eq!(browser.open(&auth).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn an_issuer_that_keystone_does_not_trust_is_the_administrators_matter() {
    let other = format!("https://{}.example", uuid::Uuid::new_v4().simple());
    let federated = federated(Some(&other), json!({}), &[]).await;
    let mut browser = Browser::new(federated.running.stack.address);
    let start = format!("{MAIN}/oauth2/start?provider=corp&rd=/x");
    let page = through(&mut browser, &start, "alice").await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(page.body.contains("does not trust"), "{}", page.body);
    assert!(browser.cookie(MAIN_HOST, "portico").is_none());
    let audited = federated.running.stack.audited("session.federate").await;
    assert_eq!(audited.len(), 1);
}

#[tokio::test]
async fn a_federated_session_gets_new_keystone_tokens_by_a_refresh_unnoticed() {
    let soon = json!({ "renew_ahead": "59m57s" });
    let federated = federated(None, soon, &[]).await;
    let acme = &federated.running.acme;
    let mut browser = signed_in(&federated, "alice", "/x").await;
    let project = format!("{MAIN}/projects/{acme}");
    browser.open(&project).await;
    let before = session(&federated, &browser).await;
    let cookie = browser.cookie(MAIN_HOST, "portico").map(str::to_owned);
    let mut renewed = before.clone();
    for _ in 0..60 {
        tokio::time::sleep(Duration::from_millis(250)).await;
        let page = browser.open(&project).await;
        assert!(page.body.contains("portico-token"), "{}", page.body);
        renewed = session(&federated, &browser).await;
        if renewed.keystone_expires_at > before.keystone_expires_at {
            break;
        }
    }
    assert!(renewed.keystone_expires_at > before.keystone_expires_at);
    browser.open(&project).await;
    assert_eq!(renewed.id, before.id);
    assert_eq!(browser.cookie(MAIN_HOST, "portico"), cookie.as_deref());
    assert_eq!(federated.provider.refreshes().await.expect("events"), 1);
    assert_eq!(
        federated.running.stack.audited("session.renew").await.len(),
        1
    );
    let tokens = federated.running.stack.store.keystone_tokens();
    let now = jiff::Timestamp::now();
    let found = tokens
        .find(before.id, Some(acme), now)
        .await
        .expect("answer");
    let found = found.expect("a token of acme");
    assert_eq!(found.expires_at, renewed.keystone_expires_at);
}

#[tokio::test]
async fn the_dialog_leads_through_the_provider_and_the_session_continues() {
    let federated = federated(None, json!({}), &[]).await;
    let mut browser = signed_in(&federated, "alice", "/x").await;
    let before = session(&federated, &browser).await;
    let cookie = browser.cookie(MAIN_HOST, "portico").map(str::to_owned);
    let again = format!("{MAIN}/oauth2/reauthenticate?rd=/projects/x");
    let start = browser.open(&again).await.location();
    assert!(start.as_str().contains("prompt=login"), "{start}");
    let page = through(&mut browser, start.as_str(), "bob").await;
    assert_eq!(page.status, StatusCode::FORBIDDEN, "{}", page.body);
    assert_eq!(session(&federated, &browser).await.id, before.id);
    let page = through(&mut browser, start.as_str(), "alice").await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    assert_eq!(page.location().path(), "/projects/x");
    let after = session(&federated, &browser).await;
    assert_eq!(after.id, before.id);
    assert_ne!(browser.cookie(MAIN_HOST, "portico"), cookie.as_deref());
    assert!(after.keystone_expires_at >= before.keystone_expires_at);
    let auth = format!("{MAIN}/oauth2/auth?app=prometheus");
    assert_eq!(browser.open(&auth).await.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn a_jwt_for_our_audience_opens_what_its_groups_open_and_an_id_token_nothing() {
    let federated = federated(None, json!({}), &["corp"]).await;
    let stack = &federated.running.stack;
    let call = async |token: &str| {
        let line = format!("Bearer {token}");
        let headers = [("authorization", line.as_str())];
        let url = format!("{APP}/api/v1/query");
        Browser::new(stack.address)
            .send(Method::GET, &url, &headers, String::new())
            .await
    };
    let good = federated.provider.robot_token(API).await.expect("token");
    let page = call(&good).await;
    // its groups are good, and no rule of this app names them
    assert_eq!(page.status, StatusCode::FORBIDDEN, "{}", page.body);
    assert_eq!(page.json()["error"], "app_refused");
    let other = federated
        .provider
        .robot_token("https://other.example/api")
        .await;
    let page = call(&other.expect("token")).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{}", page.body);
    let mut forged = good.clone();
    forged.truncate(good.len() - 4);
    assert_eq!(call(&forged).await.status, StatusCode::UNAUTHORIZED);
    let browser = signed_in(&federated, "alice", "/x").await;
    let session = session(&federated, &browser).await;
    let held = stack.store.provider_tokens().find(session.id).await;
    let id_token = held.expect("answer").expect("tokens").id_token;
    let id_token = id_token.expect("an ID token");
    let page = call(secrecy::ExposeSecret::expose_secret(&id_token)).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{}", page.body);
}
