//! 102 and 103: tokens that a browser brings from Keystone's single sign-on, or says that it does.
use futures::future::join_all;
use http::{Method, StatusCode};
use portico_testkit::{KeystoneAdmin, TestEnv};
use secrecy::ExposeSecret as _;
use serde_json::json;

use crate::{
    keystone::{Running, running_at},
    support::{
        browser::{Browser, Page},
        database::{Database, own_prefix, own_schema},
        stack::{APP, MAIN, MAIN_HOST},
        wire,
    },
};

async fn offering() -> (Running, String) {
    offering_at(Database::FromEnvironment).await
}

async fn offering_at(database: Database<'_>) -> (Running, String) {
    let env = TestEnv::load().expect("the stack's env file");
    let keystone = env.get("KEYSTONE_URL").expect("address");
    let origin = url::Url::parse(keystone).expect("address").origin();
    let settings = json!({ "keystone": { "websso": [
        { "id": "company", "label": "the company account", "url": keystone },
    ]}});
    let running = running_at(database, settings, &[]).await;
    (running, origin.ascii_serialization())
}

/// Begins single sign-on in this browser.
async fn start(browser: &mut Browser) {
    let page = browser
        .open(&format!("{MAIN}/oauth2/sign_in?prompt=login&rd=/"))
        .await;
    let (csrf, rd) = (page.field("csrf_token"), page.field("rd"));
    let fields = [
        ("csrf_token", csrf.as_str()),
        ("rd", &rd),
        ("way", "company"),
    ];
    let url = format!("{MAIN}/oauth2/websso/start");
    let page = browser.submit(MAIN, &url, &fields).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
}

async fn arrive(running: &Running, origin: &str, token: &str) -> Page {
    Browser::new(running.stack.address)
        .submit(
            origin,
            &format!("{MAIN}/oauth2/websso"),
            &[("token", token)],
        )
        .await
}

async fn finish(browser: &mut Browser, code: &str) -> Page {
    let url = format!("{MAIN}/oauth2/websso/finish");
    browser.submit(MAIN, &url, &[("code", code)]).await
}

#[tokio::test]
async fn attack_102_a_token_arrives_from_keystones_own_pages_only() {
    let (running, keystone) = offering().await;
    let with_port = url::Url::parse(&keystone).expect("origin");
    let port = with_port.port_or_known_default().expect("port");
    let host = with_port.host_str().expect("host");
    for origin in [
        "https://evil.example",
        "null",
        "",
        MAIN,
        APP,
        &format!("{keystone}.evil.example"),
        &format!("{keystone}/"),
        &format!("ftp://{host}:{port}"),
        &format!("{}://{host}:{}", with_port.scheme(), port ^ 1),
        &format!("{keystone}, https://evil.example"),
    ] {
        let page = arrive(&running, origin, "gAAAA-garbage").await;
        assert_eq!(
            page.status,
            StatusCode::FORBIDDEN,
            "{origin}: {}",
            page.body
        );
        assert!(!page.body.contains("name=\"code\""), "{origin}");
    }
    // no origin, two of them, and other methods
    let body = "token=gAAAA-garbage";
    let head = |method: &str, more: &str| {
        format!(
            "{method} /oauth2/websso HTTP/1.1\r\nHost: localhost:8080\r\n{more}\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let ours = format!("Origin: {keystone}\r\n");
    for (method, more, status) in [
        ("POST", String::new(), "403"),
        (
            "POST",
            format!("{ours}Origin: https://evil.example\r\n"),
            "403",
        ),
        ("POST", format!("{ours}{ours}"), "403"),
        ("PUT", ours.clone(), "4"),
        ("GET", ours.clone(), "4"),
    ] {
        let answer = wire::exchange(running.stack.address, head(method, &more).as_bytes()).await;
        let expected = format!("HTTP/1.1 {status}");
        assert!(answer.starts_with(&expected), "{method} {more}: {answer}");
    }
    let tall = "a".repeat(9 * 1024);
    let page = arrive(&running, &keystone, &tall).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    // the control case: it is put away, and decides nothing yet
    let page = arrive(&running, &keystone, "gAAAA-garbage").await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    assert!(!page.field("code").is_empty());
    assert!(page.headers.get("set-cookie").is_none());
}

#[tokio::test]
async fn attack_103_no_other_token_and_no_other_browser_begins_a_session() {
    let (running, keystone) = offering().await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = admin.create_user("websso").await.expect("user");
    let role = running.env.get("ROLE_ID_K8S_DEVELOPER").expect("role");
    let granted = admin.grant(&user.id, &running.acme, role).await;
    granted.expect("granted");
    let scoped = admin.token_of(&user, &running.acme).await.expect("token");
    let (id, secret) = admin
        .application_credential(&user, &running.acme, None)
        .await
        .expect("credential");
    let body = json!({ "auth": { "identity": {
        "methods": ["application_credential"],
        "application_credential": { "id": id, "secret": secret.expose_secret() },
    }}});
    let credential = admin.issue(&body).await.expect("token");
    for (what, token) in [
        ("a token of a project", scoped.expose_secret()),
        ("an application credential's", credential.expose_secret()),
        ("the administrator's", admin.token().expose_secret()),
        ("a token of no user", "gAAAAAB-unknown"),
        ("one of ours", "portico_v1.AAAA.BBBB"),
        ("a JWT", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0."),
    ] {
        let mut browser = Browser::new(running.stack.address);
        start(&mut browser).await;
        let code = arrive(&running, &keystone, token).await.field("code");
        let page = finish(&mut browser, &code).await;
        assert_eq!(
            page.status,
            StatusCode::UNAUTHORIZED,
            "{what}: {}",
            page.body
        );
        assert!(browser.cookie(MAIN_HOST, "portico").is_none(), "{what}");
        assert!(!page.body.contains(token), "{what} is shown");
    }
    let unscoped = async || {
        let token = admin.token_with_scope(&user, json!("unscoped")).await;
        token.expect("token")
    };
    // login CSRF: what the attacker's token became, in a browser that has begun nothing
    let token = unscoped().await;
    let code = arrive(&running, &keystone, token.expose_secret()).await;
    let code = code.field("code");
    let mut victim = Browser::new(running.stack.address);
    let page = finish(&mut victim, &code).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN, "{}", page.body);
    assert!(victim.cookie(MAIN_HOST, "portico").is_none());
    let good = admin.token_is_good(&token).await.expect("answer");
    assert!(!good, "the token is still good");
    // and a second time in one that has: the code was for once
    start(&mut victim).await;
    let page = finish(&mut victim, &code).await;
    assert!(page.location().as_str().contains("reason=ended"));
    // a code in a link: a safe method changes nothing
    let code = arrive(&running, &keystone, unscoped().await.expose_secret()).await;
    let code = code.field("code");
    let link = format!("{MAIN}/oauth2/websso/finish?code={code}");
    let page = victim
        .send(
            Method::GET,
            &link,
            &[("sec-fetch-mode", "navigate")],
            String::new(),
        )
        .await;
    assert_eq!(page.status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(victim.cookie(MAIN_HOST, "portico").is_none());
    // the control case
    let page = finish(&mut victim, &code).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    assert!(victim.cookie(MAIN_HOST, "portico").is_some());
    admin.delete_user(&user.id).await.expect("deleted");
}

#[tokio::test]
async fn attack_103_one_start_is_good_for_one_of_the_tokens_that_arrive_at_once() {
    // SQLite, with one writer, is not enough: there one request was always the first
    one_start_is_good_once(Database::FromEnvironment).await;
    one_start_is_good_once(Database::At(&own_schema().await)).await;
    one_start_is_good_once(Database::At(&own_prefix())).await;
}

async fn one_start_is_good_once(database: Database<'_>) {
    let (running, keystone) = offering_at(database).await;
    let admin = KeystoneAdmin::sign_in(&running.env).await.expect("admin");
    let user = admin.create_user("websso-race").await.expect("user");
    let role = running.env.get("ROLE_ID_K8S_DEVELOPER").expect("role");
    let granted = admin.grant(&user.id, &running.acme, role).await;
    granted.expect("granted");
    let mut browser = Browser::new(running.stack.address);
    start(&mut browser).await;
    let mut arrived = Vec::new();
    for _ in 0..8 {
        let token = admin.token_with_scope(&user, json!("unscoped")).await;
        let token = token.expect("token");
        let page = arrive(&running, &keystone, token.expose_secret()).await;
        arrived.push((page.field("code"), token));
    }
    let finishing = arrived.iter().map(|(code, _)| {
        let mut tab = browser.clone();
        async move {
            let page = finish(&mut tab, code).await;
            (page.status, tab.cookie(MAIN_HOST, "portico").is_some())
        }
    });
    let mut outcomes = join_all(finishing).await;
    outcomes.sort();
    let mut expected = vec![(StatusCode::FORBIDDEN, false); 7];
    expected.insert(0, (StatusCode::SEE_OTHER, true));
    assert_eq!(outcomes, expected);
    let mut good = 0;
    for (_, token) in &arrived {
        good += usize::from(admin.token_is_good(token).await.expect("answer"));
    }
    assert!(good <= 1, "{good} tokens are still good");
    admin.delete_user(&user.id).await.expect("deleted");
}
