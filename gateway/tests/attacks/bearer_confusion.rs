//! 105 to 107: bearers that are not for an app, and what a bearer cannot do.
use http::{Method, StatusCode, header};
use portico_testkit::{KeystoneAdmin, TestEnv};
use secrecy::ExposeSecret as _;
use serde_json::json;

use crate::{
    keystone::Running,
    log::command_line,
    support::{
        browser::{Browser, Page},
        form::enter,
        handover::open_app,
        stack::{APP, APP_HOST, CLUSTER, MAIN, MAIN_HOST, Stack, Wanted},
    },
};

const OTHER: &str = "http://grafana.apps.localhost:8080";

/// An app that takes Keystone's tokens, and one that takes no bearers.
async fn taking() -> Running {
    let env = TestEnv::load().expect("the stack's env file");
    let acme = env.get("PROJECT_ID_ACME").expect("acme").to_owned();
    let role = |name| json!({ "role": name, "project": acme });
    let stack = Stack::start(Wanted {
        keystone: env.get("KEYSTONE_URL").expect("address"),
        project: &acme,
        bearer: &["keystone"],
        apps: vec![json!({
            "id": "grafana", "name": "Grafana", "project": acme, "url": "http://127.0.0.1:9",
            "allow": [role("k8s_admin"), role("k8s_developer")],
        })],
        ..Wanted::default()
    })
    .await;
    Running { env, stack, acme }
}

async fn call(running: &Running, base: &str, headers: &[(&str, &str)]) -> Page {
    let mut all = vec![("accept", "application/json")];
    all.extend_from_slice(headers);
    Browser::new(running.stack.address)
        .send(Method::GET, &format!("{base}/api"), &all, String::new())
        .await
}

/// A Keystone token that opens the first app, with its user's ID.
async fn token(running: &Running, admin: &KeystoneAdmin) -> (String, String) {
    let user = admin.create_user("caller").await.expect("user");
    let role = running.env.get("ROLE_ID_K8S_DEVELOPER").expect("role");
    let granted = admin.grant(&user.id, &running.acme, role).await;
    granted.expect("granted");
    let token = admin.token_of(&user, &running.acme).await.expect("token");
    (token.expose_secret().to_owned(), user.id)
}

#[tokio::test]
async fn attack_105_no_token_of_ours_is_a_bearer_at_an_app() {
    let running = taking().await;
    let mut browser = Browser::new(running.stack.address);
    let page = enter(&mut browser, "/", "ada", running.password()).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    // everything that Portico gives to a browser, a command line, the panel and an app
    let mut secrets = Vec::new();
    let access = command_line(&running, &mut browser, &mut secrets).await;
    let authorization = format!("Bearer {access}");
    let url = format!("{MAIN}/api/v1/clusters/{CLUSTER}/token");
    let page = Browser::new(running.stack.address)
        .send(
            Method::POST,
            &url,
            &[("authorization", &authorization)],
            String::new(),
        )
        .await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let cluster = page.json()["token"].as_str().expect("token").to_owned();
    open_app(&mut browser, APP, "/").await;
    let cookie = |host: &str| browser.cookie(host, "portico").expect("cookie").to_owned();
    let mut ours = vec![
        ("access token", access),
        ("cluster token", cluster),
        ("session", cookie(MAIN_HOST)),
        ("app's session", cookie(APP_HOST)),
        ("refresh token", secrets[3].clone()),
    ];
    let page = browser
        .call(
            Method::GET,
            &format!("{MAIN}/projects/{}", running.acme),
            "",
        )
        .await;
    for pair in page.json()["headers"].as_array().expect("headers") {
        if pair[0] == "portico-assertion" || pair[0] == "portico-token" {
            let value = pair[1].as_str().expect("text").to_owned();
            ours.push(("of the panel", value));
        }
    }
    let page = browser.call(Method::GET, &format!("{APP}/x"), "").await;
    let asked = running.stack.app.asked();
    for pair in page.json()["headers"].as_array().expect("headers") {
        if pair[0] == "portico-assertion" {
            let value = pair[1].as_str().expect("text").to_owned();
            ours.push(("of the app", value));
        }
    }
    assert!(ours.len() >= 8, "{}", ours.len());
    for (what, secret) in &ours {
        let line = format!("Bearer {secret}");
        for header in [("authorization", line.as_str()), ("x-auth-token", secret)] {
            let page = call(&running, APP, &[header]).await;
            assert_eq!(
                page.status,
                StatusCode::UNAUTHORIZED,
                "{what}: {}",
                page.body
            );
            assert_eq!(page.json()["error"], "invalid_bearer", "{what}");
            assert!(
                !page.body.contains(secret.as_str()),
                "{what} is in the page"
            );
        }
    }
    assert_eq!(running.stack.app.asked(), asked, "the app was asked");
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let (token, user) = token(&running, &admin).await;
    let page = call(&running, APP, &[("x-auth-token", &token)]).await;
    assert_eq!(page.status, StatusCode::OK, "the control case");
    admin.delete_user(&user).await.expect("deleted");
}

#[tokio::test]
async fn attack_106_a_bearer_that_counts_at_one_app_counts_at_no_other() {
    let running = taking().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let (token, user) = token(&running, &admin).await;
    let line = format!("Bearer {token}");
    for header in [("authorization", line.as_str()), ("x-auth-token", &token)] {
        // the control case: verified, and remembered for some seconds
        for _ in 0..2 {
            assert_eq!(call(&running, APP, &[header]).await.status, StatusCode::OK);
        }
        // where no bearer counts, neither it nor what is remembered does
        for base in [OTHER, MAIN] {
            let page = call(&running, base, &[header]).await;
            assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{base}");
        }
        let page = Browser::new(running.stack.address)
            .send(
                Method::GET,
                &format!("{MAIN}/oauth2/userinfo"),
                &[header],
                String::new(),
            )
            .await;
        assert_ne!(page.status, StatusCode::OK, "{}", page.body);
    }
    // with a letter more or less it is another one
    for other in [format!("{token}A"), token[..token.len() - 1].to_owned()] {
        let page = call(&running, APP, &[("x-auth-token", &other)]).await;
        assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{}", page.body);
    }
    admin.delete_user(&user).await.expect("deleted");
}

#[tokio::test]
async fn attack_107_a_bearer_neither_replaces_a_forms_token_nor_excuses_an_origin() {
    let running = taking().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let (token, user) = token(&running, &admin).await;
    let line = format!("Bearer {token}");
    let mut victim = Browser::new(running.stack.address);
    enter(&mut victim, "/", "ada", running.password()).await;
    open_app(&mut victim, APP, "/").await;
    let session = victim.cookie_line(MAIN_HOST);
    let form = ("content-type", "application/x-www-form-urlencoded");
    // forms of ours: with a session and a bearer, and with a bearer alone
    for path in [
        "/oauth2/sign_out",
        "/oauth2/project",
        "/oauth2/sessions/end",
    ] {
        let url = format!("{MAIN}{path}");
        for cookies in [session.as_str(), ""] {
            let mut headers = vec![form, ("origin", MAIN), ("authorization", line.as_str())];
            if !cookies.is_empty() {
                headers.push(("cookie", cookies));
            }
            let body = format!("csrf_token={token}&project={}&session=x", running.acme);
            let page = Browser::new(running.stack.address)
                .send(Method::POST, &url, &headers, body)
                .await;
            assert!(!page.status.is_server_error(), "{path}: {}", page.body);
            let cookies_set = page.headers.get_all(header::SET_COOKIE).iter();
            let begun = cookies_set
                .filter_map(|line| line.to_str().ok())
                .any(|line| line.starts_with("portico=") && !line.contains("Max-Age=0"));
            assert!(!begun, "{path}: a session began");
        }
    }
    let userinfo = format!("{MAIN}/oauth2/userinfo");
    let page = victim.call(Method::GET, &userinfo, "").await;
    assert_eq!(page.status, StatusCode::OK, "the session was ended");
    // an app: a page of another origin may add a bearer of its own to the victim's cookie
    let asked = running.stack.app.asked();
    let cookies = victim.cookie_line(APP_HOST);
    for origin in ["https://evil.example", "null", OTHER, MAIN] {
        let headers = [
            ("origin", origin),
            ("cookie", cookies.as_str()),
            ("authorization", &line),
        ];
        let page = Browser::new(running.stack.address)
            .send(Method::POST, &format!("{APP}/api"), &headers, String::new())
            .await;
        assert_eq!(
            page.status,
            StatusCode::FORBIDDEN,
            "{origin}: {}",
            page.body
        );
    }
    assert_eq!(running.stack.app.asked(), asked);
    // the control case: a program without a cookie has no origin to be asked about
    let page = Browser::new(running.stack.address)
        .send(
            Method::POST,
            &format!("{APP}/api"),
            &[("authorization", &line)],
            String::new(),
        )
        .await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    admin.delete_user(&user).await.expect("deleted");
}
