//! The shipped rules in front of the running Prometheus and Alertmanager.
use http::{Method, StatusCode};
use portico_testkit::TestEnv;
use serde_json::{Value, json};

use crate::support::{
    browser::{Browser, Page},
    stack::{APP, Stack, Wanted},
};

/// A gateway in front of a service, with the rules that are shipped for it.
async fn in_front_of(variable: &str, rules: &str) -> Stack {
    let env = TestEnv::load().expect("the stack's env file");
    let url = env.get(variable).expect("the service's address");
    let file = format!(
        "{}/../deploy/rules/{rules}.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    Stack::start(Wanted {
        app: json!({ "url": url, "rules_file": file }),
        ..Wanted::default()
    })
    .await
}

/// A developer's browser and an administrator's.
async fn both(stack: &Stack) -> (Browser, Browser) {
    let (_, developer) = stack.signed_in(&["k8s_developer"]).await;
    let (_, admin) = stack.signed_in_as("u2", "eve", &["k8s_admin"]).await;
    (
        stack.on_the_app(&developer).await,
        stack.on_the_app(&admin).await,
    )
}

async fn call(browser: &mut Browser, method: Method, path: &str, body: &str) -> Page {
    browser.call(method, &format!("{APP}{path}"), body).await
}

fn refused_by(answer: &Page) -> Option<String> {
    let body: Value = serde_json::from_str(&answer.body).ok()?;
    (answer.status == StatusCode::FORBIDDEN)
        .then(|| body["rule"].as_str().map(str::to_owned))
        .flatten()
}

#[tokio::test]
async fn prometheus_answers_questions_and_only_an_administrator_changes_it() {
    let stack = in_front_of("PROMETHEUS_DIRECT_URL", "prometheus").await;
    let (mut developer, mut admin) = both(&stack).await;
    for path in ["/api/v1/query?query=up", "/-/healthy", "/api/v1/targets"] {
        let answer = call(&mut developer, Method::GET, path, "").await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
    }
    for (method, path, rule) in [
        (
            Method::POST,
            "/api/v1/admin/tsdb/clean_tombstones",
            "admin API",
        ),
        (
            Method::PUT,
            "/api/v1/admin/tsdb/clean_tombstones",
            "admin API",
        ),
        (
            Method::POST,
            "/api/v1/%61dmin/tsdb/clean_tombstones",
            "admin API",
        ),
        (
            Method::POST,
            "/api//v1/admin/tsdb/clean_tombstones",
            "admin API",
        ),
        (Method::POST, "/-/quit", "lifecycle"),
        (Method::POST, "/-/reload", "lifecycle"),
        (Method::POST, "/-/reload/", "lifecycle"),
        (Method::POST, "/api/v1/write", "samples from elsewhere"),
        (Method::GET, "/debug/pprof/cmdline", "profiles"),
    ] {
        let answer = call(&mut developer, method, path, "").await;
        assert_eq!(
            refused_by(&answer).as_deref(),
            Some(rule),
            "{path}: {}",
            answer.body
        );
    }
    // Prometheus itself shows an administrator that it is switched off
    for (path, says) in [
        ("/api/v1/admin/tsdb/clean_tombstones", "admin APIs disabled"),
        ("/-/reload", "not enabled"),
    ] {
        let answer = call(&mut admin, Method::POST, path, "").await;
        assert!(
            answer.body.contains(says),
            "{path}: {} {}",
            answer.status,
            answer.body
        );
    }
    let answer = call(&mut admin, Method::GET, "/debug/pprof/cmdline", "").await;
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test]
async fn alertmanager_shows_its_alerts_and_only_an_administrator_silences_them() {
    let stack = in_front_of("ALERTMANAGER_DIRECT_URL", "alertmanager").await;
    let (mut developer, mut admin) = both(&stack).await;
    for path in ["/api/v2/alerts", "/api/v2/silences", "/api/v2/status"] {
        let answer = call(&mut developer, Method::GET, path, "").await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
    }
    let now = jiff::Timestamp::now();
    let silence = json!({
        "matchers": [{ "name": "alertname", "value": "NoSuchAlert", "isRegex": false, "isEqual": true }],
        "startsAt": now.to_string(),
        "endsAt": (now + jiff::SignedDuration::from_secs(60)).to_string(),
        "createdBy": "a test", "comment": "of the shipped rules",
    })
    .to_string();
    for (method, path) in [
        (Method::POST, "/api/v2/silences"),
        (Method::POST, "/api/v2/alerts"),
        (Method::POST, "/-/reload"),
        (
            Method::DELETE,
            "/api/v2/silence/00000000-0000-0000-0000-000000000000",
        ),
    ] {
        let answer = call(&mut developer, method, path, &silence).await;
        assert_eq!(
            refused_by(&answer).as_deref(),
            Some("writes"),
            "{path}: {}",
            answer.body
        );
    }
    let made = call(&mut admin, Method::POST, "/api/v2/silences", &silence).await;
    assert_eq!(made.status, StatusCode::OK, "{}", made.body);
    let path = format!(
        "/api/v2/silence/{}",
        made.json()["silenceID"].as_str().expect("ID")
    );
    let answer = call(&mut developer, Method::GET, &path, "").await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let answer = call(&mut developer, Method::DELETE, &path, "").await;
    assert_eq!(refused_by(&answer).as_deref(), Some("writes"));
    let answer = call(&mut admin, Method::DELETE, &path, "").await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
}
