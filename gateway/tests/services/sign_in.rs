//! Signing in and out with the demo's people.
use http::{Method, StatusCode};
use portico_testkit::KeystoneAdmin;
use secrecy::SecretString;

pub use crate::support::form::{enter, sign_out};
use crate::{
    keystone::{Running, running, totp},
    support::{
        browser::Browser,
        stack::{APP, MAIN, MAIN_HOST},
    },
};

async fn signed_in(running: &Running, name: &str) -> Browser {
    let mut browser = Browser::new(running.stack.address);
    let page = enter(&mut browser, "/projects/x", name, running.password()).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    browser
}

#[tokio::test]
async fn a_password_opens_the_panel_with_the_projects_token() {
    let running = running().await;
    let mut browser = Browser::new(running.stack.address);
    let path = format!("/projects/{}", running.acme);
    let before = browser.cookie(MAIN_HOST, "portico").map(str::to_owned);
    assert_eq!(before, None);
    let page = enter(&mut browser, &path, "ada@Default", running.password()).await;
    assert_eq!(page.location().path(), path);
    let page = browser.follow(page.location().as_str()).await;
    assert_eq!(page.json()["target"], path.as_str());
    assert!(page.body.contains("portico-token"));
    let first = browser
        .cookie(MAIN_HOST, "portico")
        .expect("session")
        .to_owned();
    let page = browser
        .open(&format!("{MAIN}/oauth2/sign_in?prompt=login"))
        .await;
    assert_eq!(page.status, StatusCode::OK);
    enter(&mut browser, "/", "ada", running.password()).await;
    let second = browser
        .cookie(MAIN_HOST, "portico")
        .expect("session")
        .to_owned();
    assert_ne!(first, second);
    browser.set_cookie(MAIN_HOST, "portico", &first);
    let answer = browser.call(Method::GET, &format!("{MAIN}/"), "").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_wrong_password_keeps_the_name() {
    let running = running().await;
    let mut browser = Browser::new(running.stack.address);
    let page = enter(&mut browser, "/", "vera", "wrong-password").await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    assert!(page.body.contains("value=\"vera\""));
    assert!(page.body.contains("password"));
    assert!(browser.cookie(MAIN_HOST, "portico").is_none());
    for _ in 0..8 {
        enter(&mut browser, "/", "nobody-of-this-name", "x").await;
    }
    let page = enter(&mut browser, "/", "nobody-of-this-name", "x").await;
    assert_eq!(page.status, StatusCode::TOO_MANY_REQUESTS);
    let page = enter(&mut browser, "/", "vera", running.password()).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn finding_o10_a_failed_sign_in_carries_domain_and_provider() {
    let running = running().await;
    let mut browser = Browser::new(running.stack.address);
    enter(&mut browser, "/", "vera", "wrong-password").await;
    let events = running.stack.audited("session.sign_in").await;
    let [event] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(event.user_name.as_deref(), Some("vera"));
    assert_eq!(event.detail["domain"], "Default");
    assert_eq!(event.detail["provider"], "keystone");
}

#[tokio::test]
async fn mia_needs_her_code_which_counts_once() {
    let running = running().await;
    let secret = running
        .env
        .get("TOTP_SECRET_MIA")
        .expect("secret")
        .to_owned();
    let mut browser = Browser::new(running.stack.address);
    let path = format!("/projects/{}", running.acme);
    let page = enter(&mut browser, &path, "mia", running.password()).await;
    assert_eq!(page.location().path(), "/oauth2/totp");
    let submit = async |browser: &mut Browser, code: &str| {
        let page = browser.open(&format!("{MAIN}/oauth2/totp")).await;
        let csrf = page.field("csrf_token");
        let fields = [("csrf_token", csrf.as_str()), ("passcode", code)];
        browser
            .submit(MAIN, &format!("{MAIN}/oauth2/totp"), &fields)
            .await
    };
    let page = submit(&mut browser, "000000").await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    let code = totp(&secret);
    let page = submit(&mut browser, &code).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    assert_eq!(page.location().path(), path);

    let mut other = Browser::new(running.stack.address);
    enter(&mut other, &path, "mia", running.password()).await;
    let page = submit(&mut other, &code).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    assert!(page.body.contains("used before"), "{}", page.body);
}

#[tokio::test]
async fn devi_chooses_and_the_choice_is_remembered() {
    let running = running().await;
    let globex = running
        .env
        .get("PROJECT_ID_GLOBEX")
        .expect("globex")
        .to_owned();
    let mut browser = Browser::new(running.stack.address);
    let page = enter(&mut browser, "/", "devi", running.password()).await;
    assert_eq!(page.location().path(), "/oauth2/project");
    let page = browser.follow(page.location().as_str()).await;
    assert!(page.body.contains("acme") && page.body.contains("globex"));
    let csrf = page.field("csrf_token");
    let fields = [("csrf_token", csrf.as_str()), ("project", &globex)];
    let page = browser
        .submit(MAIN, &format!("{MAIN}/oauth2/project"), &fields)
        .await;
    assert_eq!(page.location().path(), format!("/projects/{globex}"));
    let page = browser.open(&format!("{MAIN}/oauth2/project")).await;
    let (first, second) = (page.body.find("globex"), page.body.find("acme"));
    assert!(first < second, "the last one is not the first");
}

#[tokio::test]
async fn acmes_prometheus_opens_by_role_in_project() {
    let running = running().await;
    for (name, opens) in [
        ("ada", true),
        ("devi", true),
        ("vera", false),
        ("otto", false),
        ("nora", false),
    ] {
        let mut browser = signed_in(&running, name).await;
        let page = browser.follow(&format!("{APP}/graph")).await;
        if opens {
            let fields = [("code", &*page.field("code"))];
            let page = browser
                .submit(MAIN, &format!("{APP}/oauth2/handover"), &fields)
                .await;
            let page = browser.open(page.location().as_str()).await;
            assert_eq!(page.json()["target"], "/graph", "{name}");
        } else {
            assert_eq!(page.status, StatusCode::FORBIDDEN, "{name}");
            assert!(page.body.contains("k8s_developer"), "{name}");
        }
    }
}

async fn tokens_of_all_sessions(running: &Running, user: &str) -> Vec<SecretString> {
    let now = jiff::Timestamp::now();
    let store = &running.stack.store;
    let sessions = store
        .sessions()
        .list_of_user(user, now)
        .await
        .expect("sessions");
    let mut tokens = Vec::new();
    for session in sessions {
        let listed = store
            .keystone_tokens()
            .list(session.id)
            .await
            .expect("tokens");
        tokens.extend(listed.into_iter().map(|token| token.token));
    }
    tokens
}

#[tokio::test]
async fn sign_out_revokes_every_token() {
    let running = running().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let mut browser = signed_in(&running, "devi").await;
    for name in ["PROJECT_ID_ACME", "PROJECT_ID_GLOBEX"] {
        let project = running.env.get(name).expect("project");
        browser.open(&format!("{MAIN}/projects/{project}")).await;
    }
    let user = running.env.get("USER_ID_DEVI").expect("devi");
    let tokens = tokens_of_all_sessions(&running, user).await;
    assert_eq!(tokens.len(), 3, "unscoped, acme, globex");
    for token in &tokens {
        assert!(admin.token_is_good(token).await.expect("answer"));
    }
    let page = sign_out(&mut browser).await;
    assert!(
        page.body.contains("3 Keystone tokens have"),
        "{}",
        page.body
    );
    for token in &tokens {
        assert!(!admin.token_is_good(token).await.expect("answer"));
    }
}

#[tokio::test]
async fn reauthentication_keeps_the_session_and_replaces_its_tokens() {
    let running = running().await;
    let mut browser = signed_in(&running, "vera").await;
    browser
        .open(&format!("{MAIN}/projects/{}", running.acme))
        .await;
    let user = running.env.get("USER_ID_VERA").expect("vera");
    let old = tokens_of_all_sessions(&running, user).await;
    let page = browser.open(&format!("{MAIN}/oauth2/sign_out")).await;
    let csrf = page.field("csrf_token");
    let url = format!("{MAIN}/oauth2/reauthenticate");
    let wrong = serde_json::json!({ "csrf_token": csrf, "password": "wrong" }).to_string();
    let answer = browser.call(Method::POST, &url, &wrong).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.body);
    assert_eq!(answer.json()["error"], "refused");
    let cookie = browser
        .cookie(MAIN_HOST, "portico")
        .expect("cookie")
        .to_owned();
    let right =
        serde_json::json!({ "csrf_token": csrf, "password": running.password() }).to_string();
    let answer = browser.call(Method::POST, &url, &right).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    assert!(answer.json()["session_expires_at"].is_number());
    assert_ne!(browser.cookie(MAIN_HOST, "portico"), Some(cookie.as_str()));
    let page = browser
        .open(&format!("{MAIN}/projects/{}", running.acme))
        .await;
    assert!(page.body.contains("portico-token"));
    let new = tokens_of_all_sessions(&running, user).await;
    assert_eq!(
        new.len(),
        old.len() + 2,
        "old ones wait for their revocation"
    );
}
