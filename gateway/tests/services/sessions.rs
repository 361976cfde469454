//! Ending sessions from the list, at the real Keystone.
use http::StatusCode;
use portico_testkit::KeystoneAdmin;
use serde_json::json;

use crate::{
    keystone::{Running, running, running_with},
    sign_in::enter,
    support::{
        browser::Browser,
        stack::{MAIN, MAIN_HOST},
    },
};

async fn signed_in(running: &Running, name: &str) -> Browser {
    let mut browser = Browser::new(running.stack.address);
    let page = enter(&mut browser, "/projects/x", name, running.password()).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    let page = browser.follow(page.location().as_str()).await;
    assert_eq!(page.status, StatusCode::OK);
    browser
}

#[tokio::test]
async fn ending_all_others_revokes_their_tokens_at_keystone() {
    let running = running().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let mut lost = signed_in(&running, "vera").await;
    let mut browser = signed_in(&running, "vera").await;
    let (now, store) = (jiff::Timestamp::now(), &running.stack.store);
    let user = running.env.get("USER_ID_VERA").expect("vera");
    let sessions = store.sessions().list_of_user(user, now).await;
    let sessions = sessions.expect("sessions");
    assert_eq!(sessions.len(), 2);
    let mut tokens = Vec::new();
    for session in &sessions {
        let listed = store.keystone_tokens().list(session.id).await;
        tokens.extend(listed.expect("tokens"));
    }

    let page = browser.open(&format!("{MAIN}/oauth2/sessions/end")).await;
    let csrf = page.field("csrf_token");
    let fields = [("csrf_token", csrf.as_str()), ("which", "others")];
    let page = browser
        .submit(MAIN, &format!("{MAIN}/oauth2/sessions/end"), &fields)
        .await;
    assert!(page.body.contains("The session has ended"), "{}", page.body);
    assert!(!page.body.contains("could not be revoked yet"));

    let page = lost.open(&format!("{MAIN}/projects/x")).await;
    assert!(page.location().as_str().ends_with("&reason=revoked"));
    let own = store
        .sessions()
        .list_of_user(user, jiff::Timestamp::now())
        .await
        .expect("sessions");
    assert_eq!(own.len(), 1);
    for token in tokens {
        let good = admin.token_is_good(&token.token).await.expect("answer");
        assert_eq!(good, token.session == own[0].id);
    }
    let page = browser.open(&format!("{MAIN}/projects/x")).await;
    assert_eq!(page.status, StatusCode::OK);
}

#[tokio::test]
async fn a_role_in_a_project_makes_an_administrator_of_sessions() {
    let acme = running().await.acme;
    let running = running_with(json!({
        "session": { "admins": [{ "role": "k8s_admin", "project": acme }] }
    }))
    .await;
    let mut vera = signed_in(&running, "vera").await;
    let mut ada = signed_in(&running, "ada").await;
    // otto is k8s_admin elsewhere
    let mut otto = signed_in(&running, "otto").await;
    let url = format!("{MAIN}/oauth2/sessions?user=vera");
    assert_eq!(otto.open(&url).await.status, StatusCode::FORBIDDEN);
    assert_eq!(vera.open(&url).await.status, StatusCode::FORBIDDEN);
    let page = ada.open(&url).await;
    assert_eq!(page.status, StatusCode::OK);
    let fields = [
        ("csrf_token", &*page.field("csrf_token")),
        ("session", &*page.field("session")),
        ("user", &*page.field("user")),
    ];
    let page = ada
        .submit(MAIN, &format!("{MAIN}/oauth2/sessions/end"), &fields)
        .await;
    assert!(page.body.contains("The session has ended"), "{}", page.body);
    let page = vera.open(&format!("{MAIN}/projects/x")).await;
    assert!(
        page.location()
            .as_str()
            .ends_with("&reason=ended_by_administrator")
    );
}

#[tokio::test]
async fn a_client_that_signs_in_but_keeps_no_cookie_gets_an_error_page_immediately() {
    let running = running().await;
    let mut browser = Browser::new(running.stack.address);
    let page = enter(&mut browser, "/projects/x", "vera", running.password()).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    let mut forgetful = Browser::new(running.stack.address);
    let lost = forgetful.open(page.location().as_str()).await;
    assert_eq!(lost.status, StatusCode::FORBIDDEN);
    assert!(lost.body.contains("Your browser did not keep the cookie"));
    let page = browser.follow(page.location().as_str()).await;
    assert_eq!(
        page.status,
        StatusCode::OK,
        "the control case that keeps it"
    );
}

#[tokio::test]
async fn a_sign_in_that_leads_nowhere_again_and_again_is_stopped() {
    let running = running().await;
    let mut browser = Browser::new(running.stack.address);
    for _ in 0..5 {
        let page = enter(&mut browser, "/projects/x", "vera", running.password()).await;
        assert_eq!(page.status, StatusCode::SEE_OTHER);
        browser.forget_cookie(MAIN_HOST, "portico");
    }
    let page = browser.open(&format!("{MAIN}/projects/x")).await;
    assert_eq!(page.status, StatusCode::LOOP_DETECTED);
    assert!(page.body.contains("Sign-in loop detected"));
    let page = enter(&mut browser, "/projects/x", "vera", running.password()).await;
    let page = browser.follow(page.location().as_str()).await;
    assert_eq!(page.status, StatusCode::OK);
}
