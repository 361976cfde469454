//! Signing in with an application credential or with a token that the user has already.
use std::time::Duration;

use http::{Method, StatusCode};
use portico_testkit::{KeystoneAdmin, TestUser};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use crate::{
    keystone::{Running, running, running_with},
    sign_in::{enter, sign_out},
    support::{
        browser::{Browser, Page},
        stack::{APP, MAIN, MAIN_HOST},
    },
};

const CREDENTIAL: &str = "/oauth2/sign_in/application_credential";
const TOKEN: &str = "/oauth2/sign_in/token";

/// A gateway that offers every way.
async fn offering() -> Running {
    let methods = json!(["password", "totp", "application_credential", "token"]);
    running_with(json!({
        "keystone": { "methods": methods },
        "session": { "validate_every": "1s" },
    }))
    .await
}

async fn send(browser: &mut Browser, path: &str, rd: &str, fields: &[(&str, &str)]) -> Page {
    let page = browser
        .open(&format!("{MAIN}/oauth2/sign_in?prompt=login&rd={rd}"))
        .await;
    let (csrf, rd) = (page.field("csrf_token"), page.field("rd"));
    let mut all = vec![("csrf_token", csrf.as_str()), ("rd", rd.as_str())];
    all.extend_from_slice(fields);
    browser.submit(MAIN, &format!("{MAIN}{path}"), &all).await
}

/// A developer in acme and globex, of the test's own.
async fn developer(running: &Running, admin: &KeystoneAdmin) -> TestUser {
    let user = admin.create_user("ways").await.expect("user");
    let role = running.env.get("ROLE_ID_K8S_DEVELOPER").expect("role");
    for project in ["PROJECT_ID_ACME", "PROJECT_ID_GLOBEX"] {
        let project = running.env.get(project).expect("project");
        admin.grant(&user.id, project, role).await.expect("granted");
    }
    user
}

async fn waits_for(browser: &mut Browser, url: &str, status: StatusCode) -> bool {
    for _ in 0..60 {
        if browser.call(Method::GET, url, "").await.status == status {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    false
}

#[tokio::test]
async fn what_is_not_offered_cannot_be_used() {
    let running = running().await;
    let mut browser = Browser::new(running.stack.address);
    let page = browser.open(&format!("{MAIN}/oauth2/sign_in")).await;
    assert!(!page.body.contains("Other ways to sign in"));
    for path in [CREDENTIAL, TOKEN] {
        let page = send(&mut browser, path, "/", &[]).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{path}");
        assert!(page.body.contains("not offered"), "{}", page.body);
    }
    // the control case
    let page = enter(&mut browser, "/", "ada", running.password()).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn an_application_credential_opens_its_project_and_no_other() {
    let running = offering().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = developer(&running, &admin).await;
    let made = admin.application_credential(&user, &running.acme, None);
    let (id, secret) = made.await.expect("credential");
    let secret = secret.expose_secret();
    let mut browser = Browser::new(running.stack.address);
    let path = format!("/projects/{}", running.acme);

    let wrong = [("credential", id.as_str()), ("secret", "wrong")];
    let page = send(&mut browser, CREDENTIAL, &path, &wrong).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    assert!(page.body.contains("details id=\"other-ways\" open"));
    assert!(page.body.contains(&format!("value=\"{id}\"")));
    assert!(!page.body.contains("value=\"wrong\""), "a secret came back");

    let right = [("credential", id.as_str()), ("secret", secret)];
    let page = send(&mut browser, CREDENTIAL, &path, &right).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    let page = browser.follow(page.location().as_str()).await;
    assert!(page.body.contains("portico-token"), "{}", page.body);
    let globex = running.env.get("PROJECT_ID_GLOBEX").expect("globex");
    let page = browser.open(&format!("{MAIN}/projects/{globex}")).await;
    assert!(!page.body.contains("portico-token"), "{}", page.body);
    let auth = format!("{MAIN}/oauth2/auth?app=prometheus");
    assert_eq!(browser.open(&auth).await.status, StatusCode::ACCEPTED);

    // a check by Keystone neither ends the session nor widens it
    running.stack.clock.advance(Duration::from_millis(1500));
    assert_eq!(browser.open(&auth).await.status, StatusCode::ACCEPTED);
    let page = browser.open(&format!("{MAIN}/projects/{globex}")).await;
    assert!(!page.body.contains("portico-token"));

    // it continues with the credential, and only with it
    let page = browser
        .open(&format!("{MAIN}/oauth2/reauthenticate?rd={path}"))
        .await;
    assert!(
        page.body.contains("application credential"),
        "{}",
        page.body
    );
    let csrf = page.field("csrf_token");
    let url = format!("{MAIN}/oauth2/reauthenticate");
    let password = user.password.expose_secret();
    let fields = [("csrf_token", csrf.as_str()), ("password", password)];
    let refused = browser.submit(MAIN, &url, &fields).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let before = browser.cookie(MAIN_HOST, "portico").map(str::to_owned);
    let fields = [
        ("csrf_token", csrf.as_str()),
        ("rd", &path),
        ("credential", &id),
        ("secret", secret),
    ];
    let page = browser.submit(MAIN, &url, &fields).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    assert_eq!(page.location().path(), path);
    assert_ne!(browser.cookie(MAIN_HOST, "portico"), before.as_deref());
    assert_eq!(browser.open(&auth).await.status, StatusCode::ACCEPTED);

    let ended = sign_out(&mut browser).await;
    assert!(ended.body.contains("revoked"), "{}", ended.body);
    admin.delete_user(&user.id).await.expect("deleted");
}

#[tokio::test]
async fn a_credential_goes_by_name_with_its_user_and_not_with_access_rules() {
    let running = offering().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = developer(&running, &admin).await;
    let rules = json!([{ "path": "/v1/clusters", "method": "GET", "service": "container-infra" }]);
    let ruled = admin.application_credential(&user, &running.acme, Some(rules));
    let (id, secret) = ruled.await.expect("credential");
    let mut browser = Browser::new(running.stack.address);
    let fields = [
        ("credential", id.as_str()),
        ("secret", secret.expose_secret()),
    ];
    let page = send(&mut browser, CREDENTIAL, "/", &fields).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(page.body.contains("access rules"), "{}", page.body);
    assert!(browser.cookie(MAIN_HOST, "portico").is_none());

    let own = admin.as_user(&admin.token_of(&user, &running.acme).await.expect("token"));
    let path = format!("/users/{}/application_credentials", user.id);
    let body =
        json!({ "application_credential": { "name": "ci", "secret": "ci-secret-of-a-test" } });
    own.post(&path, body).await.expect("credential");
    for (name, domain) in [
        (user.name.clone(), "Default"),
        (format!("{}@Default", user.name), ""),
    ] {
        let fields = [
            ("credential", "ci"),
            ("user", &name),
            ("domain", domain),
            ("secret", "ci-secret-of-a-test"),
        ];
        let page = send(&mut browser, CREDENTIAL, "/", &fields).await;
        assert_eq!(page.status, StatusCode::SEE_OTHER, "{name}: {}", page.body);
    }
    admin.delete_user(&user.id).await.expect("deleted");
}

#[tokio::test]
async fn guesses_at_a_credential_count_under_the_name_of_its_user() {
    let running = offering().await;
    let name = format!("guessed-{}", uuid::Uuid::new_v4().simple());
    let mut browser = Browser::new(running.stack.address);
    let guess = [
        ("credential", "ci"),
        ("user", name.as_str()),
        ("secret", "x"),
    ];
    for _ in 0..8 {
        let page = send(&mut browser, CREDENTIAL, "/", &guess).await;
        assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    }
    let page = send(&mut browser, CREDENTIAL, "/", &guess).await;
    assert_eq!(page.status, StatusCode::TOO_MANY_REQUESTS);
    let page = enter(&mut browser, "/", &name.to_uppercase(), "x").await;
    assert_eq!(
        page.status,
        StatusCode::TOO_MANY_REQUESTS,
        "the same counter"
    );
    let page = enter(&mut browser, "/", "ada", running.password()).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "the control case");
}

/// Signs in with a token; answers with the tokens that the session then has.
async fn with_token(
    running: &Running,
    browser: &mut Browser,
    user: &TestUser,
    token: &SecretString,
    end: &[(&str, &str)],
) -> Vec<SecretString> {
    let mut fields = vec![("token", token.expose_secret())];
    fields.extend_from_slice(end);
    let path = format!("/projects/{}", running.acme);
    let page = send(browser, TOKEN, &path, &fields).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    let page = browser.follow(page.location().as_str()).await;
    assert!(page.body.contains("portico-token"), "{}", page.body);
    let store = &running.stack.store;
    let now = jiff::Timestamp::now();
    let sessions = store.sessions().list_of_user(&user.id, now).await;
    let session = &sessions.expect("sessions")[0];
    let tokens = store.keystone_tokens().list(session.id).await;
    tokens
        .expect("tokens")
        .into_iter()
        .map(|held| held.token)
        .collect()
}

#[tokio::test]
async fn a_token_of_ones_own_is_exchanged_and_left_alone_at_sign_out() {
    let running = offering().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = developer(&running, &admin).await;
    for (end, survives) in [(&[][..], true), (&[("end_token", "1")][..], false)] {
        let token = admin.token_of(&user, &running.acme).await.expect("token");
        let mut browser = Browser::new(running.stack.address);
        let held = with_token(&running, &mut browser, &user, &token, end).await;
        let kept = held
            .iter()
            .any(|one| one.expose_secret() == token.expose_secret());
        assert_eq!(kept, !survives, "ours are {}", held.len());
        sign_out(&mut browser).await;
        for own in held
            .iter()
            .filter(|one| one.expose_secret() != token.expose_secret())
        {
            let good = admin.token_is_good(own).await;
            assert!(!good.expect("answer"), "one of ours outlives the session");
        }
        let good = admin.token_is_good(&token).await;
        assert_eq!(good.expect("answer"), survives);
    }
    admin.delete_user(&user.id).await.expect("deleted");
}

#[tokio::test]
async fn the_session_ends_with_the_token_that_it_came_from() {
    let running = offering().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = developer(&running, &admin).await;
    let token = admin.token_of(&user, &running.acme).await.expect("token");
    let mut browser = Browser::new(running.stack.address);
    with_token(&running, &mut browser, &user, &token, &[]).await;
    let auth = format!("{MAIN}/oauth2/auth");
    assert_eq!(browser.open(&auth).await.status, StatusCode::ACCEPTED);
    admin.revoke_token(&token).await.expect("revoked");
    assert!(waits_for(&mut browser, &auth, StatusCode::UNAUTHORIZED).await);
    admin.delete_user(&user.id).await.expect("deleted");
}

#[tokio::test]
async fn a_token_with_fewer_rights_or_no_user_is_refused() {
    let running = offering().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = developer(&running, &admin).await;
    let mut browser = Browser::new(running.stack.address);
    let page = send(&mut browser, TOKEN, "/", &[("token", "gAAAA-garbage")]).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    assert!(page.body.contains("openstack token issue"), "{}", page.body);
    assert!(!page.body.contains("gAAAA-garbage"), "a token came back");
    let made = admin.application_credential(&user, &running.acme, None);
    let (id, secret) = made.await.expect("credential");
    let body = json!({ "auth": { "identity": {
        "methods": ["application_credential"],
        "application_credential": { "id": id, "secret": secret.expose_secret() },
    }}});
    let token = admin.issue(&body).await.expect("token");
    let fields = [("token", token.expose_secret())];
    let page = send(&mut browser, TOKEN, "/", &fields).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(page.body.contains("credential itself"), "{}", page.body);
    assert!(browser.cookie(MAIN_HOST, "portico").is_none());
    admin.delete_user(&user.id).await.expect("deleted");
}

#[tokio::test]
async fn neither_form_is_taken_from_another_page() {
    let running = offering().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = developer(&running, &admin).await;
    let token = admin.token_of(&user, &running.acme).await.expect("token");
    let mut browser = Browser::new(running.stack.address);
    let page = browser.open(&format!("{MAIN}/oauth2/sign_in")).await;
    let csrf = page.field("csrf_token");
    let url = format!("{MAIN}{TOKEN}");
    let fields = [
        ("csrf_token", csrf.as_str()),
        ("token", token.expose_secret()),
    ];
    for origin in [APP, "https://evil.example"] {
        let page = browser.submit(origin, &url, &fields).await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{origin}");
    }
    let without = [("csrf_token", "x"), ("token", token.expose_secret())];
    let page = browser.submit(MAIN, &url, &without).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(browser.cookie(MAIN_HOST, "portico").is_none());
    let page = browser.submit(MAIN, &url, &fields).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "the control case");
    admin.delete_user(&user.id).await.expect("deleted");
}
