//! 23, 60 and 61. Programs with a Keystone token, at an app that takes them.
use http::{Method, StatusCode, header};
use portico_testkit::{KeystoneAdmin, TestUser};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use crate::{
    keystone::{Running, running, running_for},
    support::{
        browser::{Browser, Page},
        form::enter,
        stack::{APP, MAIN},
    },
};

async fn taking() -> Running {
    running_for(json!({}), &["keystone"]).await
}

async fn call(running: &Running, headers: &[(&str, &str)]) -> Page {
    let mut browser = Browser::new(running.stack.address);
    let url = format!("{APP}/api/v1/query");
    browser
        .send(Method::GET, &url, headers, String::new())
        .await
}

async fn bearer(running: &Running, token: &SecretString) -> Page {
    let line = format!("Bearer {}", token.expose_secret());
    call(running, &[("authorization", &line)]).await
}

async fn member(running: &Running, admin: &KeystoneAdmin, role: &str) -> TestUser {
    let user = admin.create_user("caller").await.expect("user");
    let role = running.env.get(role).expect("role");
    let granted = admin.grant(&user.id, &running.acme, role).await;
    granted.expect("granted");
    user
}

fn challenge(page: &Page) -> &str {
    page.headers[header::WWW_AUTHENTICATE]
        .to_str()
        .expect("text")
}

#[tokio::test]
async fn a_keystone_token_opens_what_its_roles_open() {
    let running = taking().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = member(&running, &admin, "ROLE_ID_K8S_DEVELOPER").await;
    let token = admin.token_of(&user, &running.acme).await.expect("token");
    let text = token.expose_secret();
    let line = format!("Bearer {text}");
    for header in [("authorization", line.as_str()), ("x-auth-token", text)] {
        let page = call(&running, &[header]).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        assert!(page.body.contains("portico-assertion"));
        assert!(!page.body.contains(text), "the app got the token");
        assert!(page.headers.get(header::SET_COOKIE).is_none());
    }
    // a change needs no Origin where there is no cookie
    let mut program = Browser::new(running.stack.address);
    let url = format!("{APP}/api/v1/series");
    let headers = [("authorization", line.as_str())];
    let page = program
        .send(Method::POST, &url, &headers, String::new())
        .await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let url = format!("{APP}/oauth2/auth");
    let page = program
        .send(Method::GET, &url, &headers, String::new())
        .await;
    assert_eq!(page.status, StatusCode::ACCEPTED);
    assert_eq!(page.headers["x-auth-request-user"], user.id.as_str());

    let viewer = member(&running, &admin, "ROLE_ID_K8S_VIEWER").await;
    let token = admin.token_of(&viewer, &running.acme).await.expect("token");
    let page = bearer(&running, &token).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(challenge(&page).contains("insufficient_scope"));
    for user in [user, viewer] {
        admin.delete_user(&user.id).await.expect("deleted");
    }
}

#[tokio::test]
async fn no_bearer_counts_unless_the_app_takes_it() {
    let running = running().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = member(&running, &admin, "ROLE_ID_K8S_DEVELOPER").await;
    let token = admin.token_of(&user, &running.acme).await.expect("token");
    let page = bearer(&running, &token).await;
    // without Sec-Fetch headers it looks like a browser that opens a page
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    let line = format!("Bearer {}", token.expose_secret());
    let headers = [
        ("authorization", line.as_str()),
        ("accept", "application/json"),
    ];
    assert_eq!(
        call(&running, &headers).await.status,
        StatusCode::UNAUTHORIZED
    );
    let taking = taking().await;
    assert_eq!(
        bearer(&taking, &token).await.status,
        StatusCode::OK,
        "the control case"
    );
    admin.delete_user(&user.id).await.expect("deleted");
}

#[tokio::test]
async fn attack_60_an_invalid_bearer_gets_401_and_is_never_redirected_to_a_page() {
    let running = taking().await;
    let cluster = "portico_v1.AAAA.BBBB";
    for token in [
        "gAAAA-garbage",
        "eyJhbGciOiJub25lIn0.eyJpc3MiOiJ4In0.",
        cluster,
    ] {
        let line = format!("Bearer {token}");
        for headers in [
            &[("authorization", line.as_str())][..],
            &[("x-auth-token", token)],
            &[
                ("authorization", line.as_str()),
                ("sec-fetch-mode", "navigate"),
                ("accept", "text/html"),
            ],
        ] {
            let page = call(&running, headers).await;
            assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{headers:?}");
            assert!(challenge(&page).starts_with("Bearer realm=\"portico\""));
            assert_eq!(page.json()["error"], "invalid_bearer");
            assert!(!page.body.contains(token));
        }
    }
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = member(&running, &admin, "ROLE_ID_K8S_DEVELOPER").await;
    let unscoped = admin.token_with_scope(&user, json!("unscoped")).await;
    let page = bearer(&running, &unscoped.expect("token")).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    assert!(page.body.contains("no project"), "{}", page.body);
    let rules = json!([{ "path": "/v1/clusters", "method": "GET", "service": "container-infra" }]);
    let ruled = admin.application_credential(&user, &running.acme, Some(rules));
    let (id, secret) = ruled.await.expect("credential");
    let body = json!({ "auth": { "identity": {
        "methods": ["application_credential"],
        "application_credential": { "id": id, "secret": secret.expose_secret() },
    }}});
    let page = bearer(&running, &admin.issue(&body).await.expect("token")).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    assert!(page.body.contains("access rules"), "{}", page.body);
    let token = admin.token_of(&user, &running.acme).await.expect("token");
    assert_eq!(
        bearer(&running, &token).await.status,
        StatusCode::OK,
        "the control case"
    );
    admin.delete_user(&user.id).await.expect("deleted");
}

#[tokio::test]
async fn attack_23_a_session_and_a_bearer_of_two_users_are_refused_together() {
    let running = taking().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = member(&running, &admin, "ROLE_ID_K8S_DEVELOPER").await;
    let token = admin.token_of(&user, &running.acme).await.expect("token");
    let line = format!("Bearer {}", token.expose_secret());
    let mut people = Vec::new();
    for (name, password) in [
        ("ada", running.password()),
        (user.name.as_str(), user.password.expose_secret()),
    ] {
        let mut browser = Browser::new(running.stack.address);
        enter(&mut browser, "/x", name, password).await;
        let page = browser.follow(&format!("{APP}/graph")).await;
        let code = page.field("code");
        let url = format!("{APP}/oauth2/handover");
        browser.submit(MAIN, &url, &[("code", &code)]).await;
        people.push(browser);
    }
    let url = format!("{APP}/graph");
    for (browser, status) in people
        .iter_mut()
        .zip([StatusCode::BAD_REQUEST, StatusCode::OK])
    {
        assert_eq!(browser.open(&url).await.status, StatusCode::OK);
        let headers = [("authorization", line.as_str())];
        let page = browser
            .send(Method::GET, &url, &headers, String::new())
            .await;
        assert_eq!(page.status, status, "{}", page.body);
        // and a bad bearer is not made good by the session
        let headers = [("authorization", "Bearer gAAAA-garbage")];
        let page = browser
            .send(Method::GET, &url, &headers, String::new())
            .await;
        assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    }
    let headers = [
        ("authorization", line.as_str()),
        ("x-auth-token", token.expose_secret()),
    ];
    assert_eq!(
        call(&running, &headers).await.status,
        StatusCode::BAD_REQUEST
    );
    admin.delete_user(&user.id).await.expect("deleted");
}

#[tokio::test]
async fn attack_61_a_revoked_token_stops_counting_within_seconds() {
    let running = taking().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = member(&running, &admin, "ROLE_ID_K8S_DEVELOPER").await;
    let token = admin.token_of(&user, &running.acme).await.expect("token");
    assert_eq!(bearer(&running, &token).await.status, StatusCode::OK);
    admin.revoke_token(&token).await.expect("revoked");
    let started = std::time::Instant::now();
    while bearer(&running, &token).await.status != StatusCode::UNAUTHORIZED {
        assert!(started.elapsed().as_secs() < 15, "it still counts");
        tokio::time::sleep(std::time::Duration::from_millis(250)).await;
    }
    admin.delete_user(&user.id).await.expect("deleted");
}

#[tokio::test]
async fn guesses_at_bearers_are_slowed_down() {
    let running = taking().await;
    for n in 0..30 {
        let page = bearer(&running, &SecretString::from(format!("gAAAA-{n}"))).await;
        assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{n}");
    }
    let page = bearer(&running, &SecretString::from("gAAAA-one-more")).await;
    assert_eq!(page.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(page.headers.contains_key(header::RETRY_AFTER));
}
