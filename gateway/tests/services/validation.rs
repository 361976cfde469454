//! What changes in Keystone while a user is signed in.
use http::{Method, StatusCode};
use portico_assertion::cluster_token;
use portico_testkit::KeystoneAdmin;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use std::time::Duration;

use crate::{
    keystone::{Running, running_with},
    sign_in::{enter, sign_out},
    support::{
        browser::{Browser, Page},
        stack::{APP, CLUSTER, MAIN},
    },
};

/// Keystone is asked every second, so that no test has to wait for a minute.
async fn running() -> Running {
    running_with(json!({ "session": { "validate_every": "1s" } })).await
}

#[tokio::test]
async fn a_role_taken_away_ends_what_it_opened_and_comes_back_with_it() {
    let running = running().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = admin.create_user("gateway").await.expect("user");
    let developer = running.env.get("ROLE_ID_K8S_DEVELOPER").expect("role");
    let member = running.env.get("ROLE_ID_MEMBER").expect("role");
    for role in [developer, member] {
        admin
            .grant(&user.id, &running.acme, role)
            .await
            .expect("granted");
    }
    let mut browser = Browser::new(running.stack.address);
    enter(&mut browser, "/", &user.name, user.password.expose_secret()).await;
    let auth = format!("{MAIN}/oauth2/auth?app=prometheus");
    assert_eq!(browser.open(&auth).await.status, StatusCode::ACCEPTED);

    admin
        .revoke(&user.id, &running.acme, developer)
        .await
        .expect("revoked");
    wait_for(&mut browser, &auth, StatusCode::FORBIDDEN).await;
    let page = browser.follow(APP).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);

    admin
        .grant(&user.id, &running.acme, developer)
        .await
        .expect("granted");
    wait_for(&mut browser, &auth, StatusCode::ACCEPTED).await;

    admin.delete_user(&user.id).await.expect("deleted");
    wait_for(&mut browser, &auth, StatusCode::UNAUTHORIZED).await;
    let page = browser.open(MAIN).await;
    assert!(
        page.location()
            .as_str()
            .ends_with("&reason=refused_by_keystone")
    );
}

async fn wait_for(browser: &mut Browser, url: &str, status: StatusCode) {
    for _ in 0..60 {
        if browser.open(url).await.status == status {
            return;
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    panic!("{url} never answered {status}");
}

pub async fn post(running: &Running, path: &str, fields: &[(&str, &str)]) -> Value {
    let body = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    Browser::new(running.stack.address)
        .send(Method::POST, &format!("{MAIN}{path}"), &kind, body)
        .await
        .json()
}

pub async fn cluster_token_of(running: &Running, access: &str) -> Page {
    let authorization = format!("Bearer {access}");
    Browser::new(running.stack.address)
        .send(
            Method::POST,
            &format!("{MAIN}/api/v1/clusters/{CLUSTER}/token"),
            &[("authorization", &authorization)],
            String::new(),
        )
        .await
}

#[tokio::test]
async fn a_terminals_cluster_token_ends_with_the_browsers_session() {
    let running = running().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let mut browser = Browser::new(running.stack.address);
    enter(&mut browser, "/projects/x", "ada", running.password()).await;
    let device = post(&running, "/oauth2/device", &[("client_id", "portico-cli")]).await;
    let page = browser
        .open(
            device["verification_uri_complete"]
                .as_str()
                .expect("address"),
        )
        .await;
    let (csrf, code) = (page.field("csrf_token"), page.field("user_code"));
    let fields = [
        ("csrf_token", csrf.as_str()),
        ("user_code", &code),
        ("decision", "approve"),
    ];
    browser
        .submit(MAIN, &format!("{MAIN}/oauth2/device/decision"), &fields)
        .await;
    let fields = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("client_id", "portico-cli"),
        ("device_code", device["device_code"].as_str().expect("code")),
    ];
    let granted = post(&running, "/oauth2/token", &fields).await;
    let access = granted["access_token"].as_str().expect("access token");
    let answer = cluster_token_of(&running, access).await.json();
    let sealed = answer["token"].as_str().expect("token");
    let keys = [running.stack.cluster_key.clone()];
    let now = jiff::Timestamp::now();
    let opened = cluster_token::open(&keys, CLUSTER, sealed, now).expect("opens");
    assert!(
        admin
            .token_is_good(&opened.keystone_token)
            .await
            .expect("answer")
    );

    let page = sign_out(&mut browser).await;
    assert!(
        page.body.contains("1 command-line session"),
        "{}",
        page.body
    );
    assert!(
        !admin
            .token_is_good(&opened.keystone_token)
            .await
            .expect("answer")
    );
    let after = cluster_token_of(&running, access).await;
    assert_eq!(after.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_keystone_token_lists_the_clusters_that_take_it() {
    let running = running().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = admin.create_user("direct").await.expect("user");
    let role = running.env.get("ROLE_ID_K8S_VIEWER").expect("role");
    let globex = running.env.get("PROJECT_ID_GLOBEX").expect("project");
    for project in [&running.acme, globex] {
        admin.grant(&user.id, project, role).await.expect("granted");
    }
    let list = async |token: &str| {
        let headers = [("accept", "application/json"), ("x-auth-token", token)];
        let url = format!("{MAIN}/api/v1/clusters");
        Browser::new(running.stack.address)
            .send(Method::GET, &url, &headers, String::new())
            .await
    };
    let names = |page: Page| -> Vec<Value> {
        let clusters = page.json()["clusters"].as_array().cloned();
        let clusters = clusters.expect("a list");
        clusters
            .iter()
            .map(|cluster| cluster["name"].clone())
            .collect()
    };
    let of_acme = admin.token_of(&user, &running.acme).await.expect("token");
    let listed = list(of_acme.expose_secret()).await;
    assert_eq!(listed.status, StatusCode::OK, "{}", listed.body);
    let kid = running.stack.cluster_key.kid().to_owned();
    assert_eq!(listed.json()["clusters"][0]["sealing_key"]["kid"], kid);
    assert_eq!(names(listed), ["acme-prod"]);
    let of_globex = admin.token_of(&user, globex).await.expect("token");
    assert!(names(list(of_globex.expose_secret()).await).is_empty());

    // an access-ruled credential, a dead token, garbage and a cluster token are refused
    let rules = json!([{ "service": "compute", "method": "GET", "path": "/" }]);
    let made = admin.application_credential(&user, &running.acme, Some(rules));
    let (id, secret) = made.await.expect("credential");
    let ruled = token_of_credential(&running, &id, secret.expose_secret()).await;
    let refused = list(&ruled).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    assert!(refused.body.contains("access rules"), "{}", refused.body);
    admin.delete_user(&user.id).await.expect("deleted");
    for dead in [of_acme.expose_secret(), "gAAAA-garbage", "portico_v1.x.y"] {
        assert_eq!(list(dead).await.status, StatusCode::UNAUTHORIZED);
    }
    // garbage is borne so often from one address, and good tokens then too
    let mut last = StatusCode::UNAUTHORIZED;
    for _ in 0..40 {
        last = list("gAAAA-garbage").await.status;
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
}

async fn token_of_credential(running: &Running, id: &str, secret: &str) -> String {
    use portico_clock::Clock;
    use portico_openstack::{KeystoneConfig, keystone};
    let url = running.env.get("KEYSTONE_URL").expect("address");
    let config = KeystoneConfig::new(url.parse().expect("url"));
    let credential = keystone::ApplicationCredential::Id {
        id: id.to_owned(),
        secret: secret.to_owned().into(),
    };
    let client = keystone::Client::new(&config, Clock::system()).expect("client");
    let issued = client
        .authenticate_application_credential(&credential)
        .await;
    issued.expect("token").token.expose_secret().to_owned()
}
