//! One line a decision: who, what, which rule, and nothing that is secret.
use std::time::Duration;

use http::{Method, StatusCode};
use secrecy::ExposeSecret as _;

use crate::support::{
    browser::Browser,
    log::Log,
    stack::{APP, APP_HOST, MAIN, Stack, Wanted},
    time::eventually,
};

#[tokio::test]
async fn an_allowed_request_is_one_line_with_user_session_and_rule() {
    let log = Log::start();
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, session) = stack.signed_in(&["k8s_admin"]).await;
    let url = format!("{MAIN}/projects/p1/clusters?search=confidential");
    let page = browser.call(Method::GET, &url, "").await;
    assert_eq!(page.status, StatusCode::OK);
    let line = log.decision("/projects/p1/clusters");
    assert_eq!(line["decision"], "allowed");
    assert_eq!(line["rule"], "session");
    assert_eq!(line["route"], "panel");
    assert_eq!(line["method"], "GET");
    assert_eq!(line["host"], "localhost:8080");
    assert_eq!(line["client"], "127.0.0.1");
    assert_eq!(line["status"], 200);
    assert_eq!(line["user_id"], "u1");
    assert_eq!(line["session_id"], session.id.to_string());
    assert_eq!(
        line["request_id"],
        page.headers["x-request-id"].to_str().expect("id")
    );
    assert!(line["duration_ms"].is_u64());
    assert!(!log.text().contains("confidential"));
}

#[tokio::test]
async fn every_refusal_names_its_rule() {
    let log = Log::start();
    let stack = Stack::start(Wanted::default()).await;
    let mut anonymous = Browser::new(stack.address);
    anonymous.open(&format!("{MAIN}/projects/p1")).await;
    let line = log.decision("/projects/p1");
    assert_eq!(
        (&line["decision"], &line["rule"]),
        (&"redirected".into(), &"no_session".into())
    );
    assert!(line["user_id"].is_null());

    anonymous
        .call(Method::GET, &format!("{MAIN}/api/x"), "")
        .await;
    let line = log.decision("/api/x");
    assert_eq!(
        (&line["decision"], &line["rule"]),
        (&"refused".into(), &"signed_out".into())
    );

    anonymous.open("http://elsewhere.example/lost").await;
    let line = log.decision("/lost");
    assert_eq!(
        (&line["decision"], &line["rule"]),
        (&"refused".into(), &"unknown_host".into())
    );
    assert_eq!(line["host"], "elsewhere.example");

    let form = [("origin", "https://evil.example")];
    let url = format!("{MAIN}/oauth2/sign_out");
    anonymous
        .send(Method::POST, &url, &form, String::new())
        .await;
    let line = log.decision("/oauth2/sign_out");
    assert_eq!(
        (&line["decision"], &line["rule"]),
        (&"refused".into(), &"foreign_origin".into())
    );
}

/// Opens the app on its own host, with a session there.
async fn open_app(stack: &Stack, roles: &[&str], path: &str) -> StatusCode {
    let (secret, session) = stack.session(roles).await;
    let child = portico_store::NewChild {
        parent: session.id,
        kind: portico_store::ChildKind::App("prometheus".to_owned()),
        user_agent: String::new(),
        address: String::new(),
    };
    let now = jiff::Timestamp::now();
    let child = stack.store.sessions().create_child(&child, now).await;
    let (cookie, _) = child.expect("store").expect("child");
    let mut browser = Browser::new(stack.address);
    browser.set_cookie(APP_HOST, "portico", cookie.expose_secret());
    drop(secret);
    browser
        .call(Method::GET, &format!("{APP}{path}"), "")
        .await
        .status
}

#[tokio::test]
async fn an_apps_rule_is_named_when_it_fits_and_its_refusal_when_none_does() {
    let log = Log::start();
    let stack = Stack::start(Wanted::default()).await;
    assert_eq!(
        open_app(&stack, &["k8s_developer"], "/graph").await,
        StatusCode::OK
    );
    let line = log.decision("/graph");
    assert_eq!(line["decision"], "allowed");
    assert_eq!(line["rule"], "k8s_developer in p1");
    assert_eq!(line["route"], "prometheus");

    assert_eq!(
        open_app(&stack, &["reader"], "/targets").await,
        StatusCode::FORBIDDEN
    );
    let line = log.decision("/targets");
    assert_eq!(line["decision"], "refused");
    assert_eq!(line["rule"], "app_refused");
    assert_eq!(line["user_id"], "u1");
}

#[tokio::test]
async fn static_files_and_probes_are_for_debugging_only_unless_refused() {
    let log = Log::start();
    let stack = Stack::start(Wanted::default()).await;
    let mut browser = Browser::new(stack.address);
    for path in ["/ping", "/oauth2/static/portico.css", "/oauth2/sign_in"] {
        browser.open(&format!("{MAIN}{path}")).await;
    }
    browser.open("http://elsewhere.example/ping").await;
    let levels: Vec<(String, String)> = log
        .decisions()
        .into_iter()
        .map(|(level, line)| (level, line["path"].as_str().expect("path").to_owned()))
        .collect();
    let pair = |level: &str, path: &str| (level.to_owned(), path.to_owned());
    assert_eq!(
        levels,
        [
            pair("DEBUG", "/ping"),
            pair("DEBUG", "/oauth2/static/portico.css"),
            pair("INFO", "/oauth2/sign_in"),
            pair("INFO", "/ping"),
        ]
    );
}

#[tokio::test]
async fn the_access_log_is_readable_as_text_too() {
    let log = Log::for_people();
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, session) = stack.signed_in(&[]).await;
    let url = format!("{MAIN}/projects/p1");
    browser.call(Method::GET, &url, "").await;
    let text = log.text();
    let line = text.lines().find(|line| line.contains("portico::access"));
    let line = line.expect("a line");
    for part in [
        "allowed",
        "path=\"/projects/p1\"",
        "rule=\"session\"",
        "status=200",
        &session.id.to_string(),
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
}

#[tokio::test]
async fn a_host_name_cannot_write_lines_of_its_own() {
    let log = Log::for_people();
    let stack = Stack::start(Wanted::default()).await;
    let mut browser = Browser::new(stack.address);
    let headers = [("host", "a\tdecision=\"allowed\"")];
    browser
        .send(Method::GET, &format!("{MAIN}/x"), &headers, String::new())
        .await;
    let text = log.text();
    let line = text.lines().find(|line| line.contains("portico::access"));
    assert!(
        !line.unwrap_or_default().contains("decision=\"allowed\""),
        "{text}"
    );
}

#[tokio::test]
async fn a_client_that_goes_away_before_the_answer_is_in_the_log_all_the_same() {
    let log = Log::start();
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, session) = stack.signed_in(&[]).await;
    let url = format!("{MAIN}/slow");
    let asked = browser.call(Method::GET, &url, "");
    let left = tokio::time::timeout(Duration::from_millis(300), asked).await;
    assert!(left.is_err(), "the upstream takes 30 s");
    eventually("an entry in the access log", async || {
        log.decisions()
            .iter()
            .any(|(_, fields)| fields["path"] == "/slow")
    })
    .await;
    let line = log.decision("/slow");
    assert_eq!(line["decision"], "abandoned");
    assert_eq!(line["rule"], "session");
    assert_eq!(line["session_id"], session.id.to_string());
    assert!(line["status"].is_null());
}
