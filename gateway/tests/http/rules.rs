//! Rules of an app: who gets access, who is redirected where, and who gets which error.
use std::time::Duration;

use http::{Method, StatusCode};
use jiff::{SignedDuration, Timestamp};
use portico_store::{NewSession, Session};
use portico_testkit::snapshot_settings;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::support::{
    browser::{Browser, Page},
    stack::{APP, MAIN, MAIN_HOST, Stack, Wanted},
};

fn admins() -> Value {
    json!([{ "role": "k8s_admin", "project": "$app" }])
}

async fn stack(app: Value) -> Stack {
    Stack::start(Wanted {
        app,
        ..Wanted::default()
    })
    .await
}

async fn call(browser: &mut Browser, method: Method, path: &str) -> Page {
    browser.call(method, &format!("{APP}{path}"), "").await
}

fn target(page: &Page) -> Value {
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    page.json()["target"].clone()
}

fn names_of(page: &Page) -> Vec<String> {
    let echo = page.json();
    let headers = echo["headers"].as_array().expect("headers");
    headers
        .iter()
        .filter_map(|pair| pair[0].as_str().map(str::to_owned))
        .collect()
}

#[tokio::test]
async fn a_deny_refuses_users_on_the_list_and_gives_the_reason() {
    let stack = stack(json!({ "rules": [{
        "name": "admin API", "effect": "deny", "paths": ["/api/v1/admin/"],
        "except": { "who": admins() },
    }] }))
    .await;
    let (_, session) = stack.signed_in(&["k8s_developer"]).await;
    let mut developer = stack.on_the_app(&session).await;
    assert_eq!(
        target(&call(&mut developer, Method::GET, "/api/v1/query?x=1").await),
        "/api/v1/query?x=1"
    );
    let asked = stack.app.asked();
    let answer = call(&mut developer, Method::POST, "/api/v1/admin/tsdb/snapshot").await;
    let page = developer.open(&format!("{APP}/api/v1/admin/")).await;
    snapshot_settings().bind(|| {
        insta::assert_json_snapshot!("refused_request", answer.json_snapshot());
        insta::assert_snapshot!("refused_page", page.snapshot());
    });
    assert_eq!(stack.app.asked(), asked, "it got through");
    let audited = stack.audited("app.open").await;
    assert!(
        audited
            .iter()
            .any(|event| event.detail["reason"] == "rule admin API")
    );

    let (_, session) = stack.signed_in_as("u2", "eve", &["k8s_admin"]).await;
    let mut admin = stack.on_the_app(&session).await;
    let answer = call(&mut admin, Method::POST, "/api/v1/admin/tsdb/snapshot").await;
    assert_eq!(target(&answer), "/api/v1/admin/tsdb/snapshot");
}

#[tokio::test]
async fn what_is_public_needs_no_session_and_uses_one() {
    let stack = stack(json!({ "rules": [
        { "name": "health", "effect": "public", "paths": ["/-/healthy", "/static/"] },
    ] }))
    .await;
    let mut anonymous = Browser::new(stack.address);
    let page = call(&mut anonymous, Method::GET, "/-/healthy").await;
    assert_eq!(target(&page), "/-/healthy");
    assert!(!names_of(&page).contains(&"portico-assertion".to_owned()));
    let answer = call(&mut anonymous, Method::GET, "/-/quit").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    let page = anonymous.open(&format!("{APP}/graph")).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);

    let (_, session) = stack.signed_in(&[]).await;
    let mut signed_in = stack.on_the_app(&session).await;
    let page = call(&mut signed_in, Method::GET, "/static/app.js").await;
    assert!(
        names_of(&page).contains(&"portico-assertion".to_owned()),
        "{}",
        page.body
    );
    assert!(!page.body.contains("portico="), "our cookie went on");
    let refused = call(&mut signed_in, Method::GET, "/graph").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_program_without_a_browser_may_post_to_what_is_public() {
    let stack = stack(json!({ "rules": [
        { "name": "alerts", "effect": "public", "paths": ["/api/v2/alerts"], "methods": ["POST"], "networks": ["127.0.0.0/8"] },
        { "name": "hook", "effect": "public", "paths": ["/hook"] },
    ] }))
    .await;
    let mut program = Browser::new(stack.address);
    let url = format!("{APP}/api/v2/alerts");
    let sent = program.send(Method::POST, &url, &[], "[]".to_owned()).await;
    assert_eq!(target(&sent), "/api/v2/alerts");
    assert_eq!(sent.json()["body"], "[]");
    // a page that a browser within the network shows has no more rights by it
    let evil = [
        ("origin", "https://evil.example"),
        ("sec-fetch-site", "cross-site"),
    ];
    let forged = program
        .send(Method::POST, &url, &evil, "[]".to_owned())
        .await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN);
    assert_eq!(forged.json()["error"], "foreign_origin");

    // what all clients may do everywhere a page elsewhere may too, as an anonymous client
    let (_, session) = stack.signed_in(&["k8s_admin"]).await;
    let mut signed_in = stack.on_the_app(&session).await;
    let url = format!("{APP}/hook");
    let sent = signed_in
        .send(Method::POST, &url, &evil, "x".to_owned())
        .await;
    assert_eq!(target(&sent), "/hook");
    let names = names_of(&sent);
    assert!(
        !names.contains(&"portico-assertion".to_owned()) && !names.contains(&"cookie".to_owned())
    );
    // and nothing else
    let sent = signed_in
        .send(Method::POST, &format!("{APP}/graph"), &evil, "x".to_owned())
        .await;
    assert_eq!(sent.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn an_allow_opens_a_part_to_more_users_than_the_list() {
    let stack = stack(json!({ "rules": [
        { "name": "graphs", "effect": "allow", "paths": ["/graph", "/api/v1/query"], "who": [{ "signed_in": true }] },
        { "name": "hers", "effect": "allow", "paths": ["/hers/"], "who": [{ "user_id": "u1" }, { "user": "zoe", "domain": "Default" }] },
    ] }))
    .await;
    let (mut main, session) = stack.signed_in(&["k8s_viewer"]).await;
    // the hand-over asks about the page that the user is going to
    let page = main.follow(&format!("{APP}/graph?x=1")).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("Opening Prometheus"), "{}", page.body);
    let page = main.follow(&format!("{APP}/targets")).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(page.body.contains("You may not open Prometheus"));
    let mut viewer = stack.on_the_app(&session).await;
    assert_eq!(
        target(&call(&mut viewer, Method::GET, "/graph").await),
        "/graph"
    );
    assert_eq!(
        target(&call(&mut viewer, Method::GET, "/hers/x").await),
        "/hers/x"
    );
    assert_eq!(
        call(&mut viewer, Method::GET, "/targets").await.status,
        StatusCode::FORBIDDEN
    );
    let (_, other) = stack.signed_in_as("u2", "otto", &[]).await;
    let mut other = stack.on_the_app(&other).await;
    let refused = call(&mut other, Method::GET, "/hers/x").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(
        !refused.body.contains("zoe") && !refused.body.contains("u1"),
        "names others: {}",
        refused.body
    );
}

/// A session whose user proved who they are so long ago.
async fn signed_in_ago(stack: &Stack, minutes: i64) -> (String, Session) {
    let (_, session) = stack.session(&["k8s_admin"]).await;
    let new = NewSession {
        authenticated_at: Some(Timestamp::now() - SignedDuration::from_mins(minutes)),
        ..stack.new_session(&session)
    };
    let created = stack.store.sessions().create(&new, Timestamp::now()).await;
    let (secret, session) = created.expect("session");
    stack.project_token(&session, &["k8s_admin"]).await;
    (secret.expose_secret().to_owned(), session)
}

#[tokio::test]
async fn a_sign_in_that_is_too_long_ago_is_confirmed_on_the_way() {
    let stack = stack(json!({ "rules": [{
        "name": "fresh", "effect": "deny", "paths": ["/-/"], "except": { "who": admins(), "signed_in_within": "5m" },
    }] }))
    .await;
    let (_, fresh) = signed_in_ago(&stack, 4).await;
    let mut browser = stack.on_the_app(&fresh).await;
    assert_eq!(
        target(&call(&mut browser, Method::GET, "/-/reload").await),
        "/-/reload"
    );

    let (cookie, old) = signed_in_ago(&stack, 6).await;
    let mut browser = stack.on_the_app(&old).await;
    assert_eq!(
        target(&call(&mut browser, Method::GET, "/graph").await),
        "/graph"
    );
    let answer = call(&mut browser, Method::POST, "/-/reload").await;
    snapshot_settings().bind(|| {
        insta::assert_json_snapshot!("request_after_an_old_sign_in", answer.json_snapshot());
    });

    // a person at a page is led to the main host, and from there to the confirmation
    browser.set_cookie(MAIN_HOST, "portico", &cookie);
    let page = browser.open(&format!("{APP}/-/reload")).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    let handover = page.location();
    assert!(
        handover
            .as_str()
            .starts_with(&format!("{MAIN}/oauth2/handover?"))
    );
    let page = browser.open(handover.as_str()).await;
    let confirm = page.location();
    assert_eq!(confirm.path(), "/oauth2/reauthenticate");
    let page = browser.open(confirm.as_str()).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("password"));
    // a user who returns without it sees an error page and is not redirected again
    let back = page.field("rd");
    assert!(back.starts_with("/oauth2/handover?"), "{back}");
    let page = browser.open(&format!("{MAIN}{back}")).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(
        page.body.contains("confirm who you are again"),
        "{}",
        page.body
    );

    // and who has confirmed arrives
    let renewal = portico_store::Renewal {
        auth_methods: old.auth_methods.clone(),
        idle_expires_at: old.idle_expires_at,
        absolute_expires_at: old.absolute_expires_at,
        keystone_expires_at: old.keystone_expires_at,
        authenticated_at: Some(Timestamp::now()),
    };
    let renewed = stack
        .store
        .sessions()
        .renew(old.id, &renewal, Timestamp::now())
        .await;
    let secret = renewed.expect("renewed").expect("live");
    browser.set_cookie(MAIN_HOST, "portico", secret.expose_secret());
    let page = browser.open(&format!("{MAIN}{back}")).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let code = page.field("code");
    let page = browser
        .submit(MAIN, &format!("{APP}/oauth2/handover"), &[("code", &code)])
        .await;
    assert_eq!(page.location().as_str(), format!("{APP}/-/reload"));
    let page = browser.open(page.location().as_str()).await;
    assert_eq!(target(&page), "/-/reload");
}

#[tokio::test]
async fn a_factor_that_was_not_used_refuses() {
    let stack = stack(json!({ "rules": [{
        "name": "two factors", "effect": "deny", "paths": ["/-/"], "except": { "factors": ["totp"] },
    }] }))
    .await;
    let (_, session) = stack.signed_in(&["k8s_admin"]).await;
    let mut browser = stack.on_the_app(&session).await;
    let refused = call(&mut browser, Method::POST, "/-/reload").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(
        refused.body.contains("signed in with totp"),
        "{}",
        refused.body
    );
    let new = NewSession {
        auth_methods: vec!["password".to_owned(), "totp".to_owned()],
        ..stack.new_session(&session)
    };
    let created = stack.store.sessions().create(&new, Timestamp::now()).await;
    let (_, session) = created.expect("session");
    stack.project_token(&session, &["k8s_admin"]).await;
    let mut browser = stack.on_the_app(&session).await;
    assert_eq!(
        target(&call(&mut browser, Method::POST, "/-/reload").await),
        "/-/reload"
    );
}

const RULES: &str = r#"
[[rules]]
name = "quit"
effect = "deny"
paths = ["/-/quit"]

[[tests]]
name = "nobody stops it"
request = "POST /-/quit"
user = { roles = [{ role = "k8s_admin", project = "$app" }] }
expect = "refused"
rule = "quit"
"#;

/// Writes a file that looks as if it had been lying there for a while.
fn write(path: &std::path::Path, text: &str) {
    std::fs::write(path, text).expect("written");
    let file = std::fs::File::options()
        .write(true)
        .open(path)
        .expect("file");
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(60);
    file.set_modified(long_ago).expect("time");
}

#[tokio::test]
async fn a_file_of_rules_is_read_again_and_a_bad_one_changes_nothing() {
    let dir = tempfile::tempdir().expect("directory");
    let path = dir.path().join("rules.toml");
    write(&path, RULES);
    let stack = stack(json!({ "rules_file": path })).await;
    let (_, session) = stack.signed_in(&["k8s_admin"]).await;
    let mut browser = stack.on_the_app(&session).await;
    let mut status = async |path: &str| call(&mut browser, Method::POST, path).await.status;
    assert_eq!(status("/-/quit").await, StatusCode::FORBIDDEN);
    assert_eq!(status("/-/reload").await, StatusCode::OK);
    let reload = || {
        let mut all = stack.gateway.reload_rules();
        assert_eq!(all.len(), 1);
        all.remove(0).outcome.map_err(|error| error.to_string())
    };
    assert_eq!(reload(), Ok(false), "nothing has changed");

    for (text, place, why) in [
        ("", "rules.toml:", "no [[rules]]"),
        (
            "[[rules]]\nname = \"x\"\neffect = \"allow\"\n",
            "rules.toml:1:",
            "name whom the rule allows",
        ),
        (
            "[[rules]]\nname = \"x\"\neffect = \"deny\"\npath = [\"/x\"]\n",
            "rules.toml:4:",
            "unknown field",
        ),
        ("[[rules]\n", "rules.toml:1:", ""),
        (
            "\n[[rules]]\nname = \"x\"\neffect = \"deny\"\npaths = [\"x\"]\n",
            "rules.toml:2:",
            "must begin with /",
        ),
        (
            &RULES.replace("\"/-/quit\"]", "\"/-/quite\"]"),
            "rules.toml:7:",
            "nobody stops it",
        ),
        (
            "[[rules]]\nname = \"x\"\neffect = \"deny\"\nwho = [{ group = \"g\", provider = \"nobody\" }]\n",
            "rules.toml:1:",
            "nobody",
        ),
    ] {
        write(&path, text);
        let error = reload().expect_err(text);
        assert!(error.contains(place) && error.contains(why), "{error}");
        assert_eq!(status("/-/quit").await, StatusCode::FORBIDDEN, "{text}");
    }
    std::fs::remove_file(&path).expect("removed");
    assert!(reload().is_err());
    assert_eq!(status("/-/quit").await, StatusCode::FORBIDDEN);

    let stream = browser
        .start(
            Method::GET,
            &format!("{APP}/events"),
            &[("origin", APP), ("accept", "text/event-stream")],
            String::new(),
        )
        .await;
    assert_eq!(stream.status(), StatusCode::OK);
    write(&path, &RULES.replace("/-/quit", "/-/reload"));
    assert_eq!(reload(), Ok(true));
    let mut status = async |path: &str| call(&mut browser, Method::POST, path).await.status;
    assert_eq!(status("/-/quit").await, StatusCode::OK);
    assert_eq!(status("/-/reload").await, StatusCode::FORBIDDEN);
    // what was opened under the rules of before comes back and is asked again
    let ended = tokio::time::timeout(
        Duration::from_secs(5),
        http_body_util::BodyExt::collect(stream.into_body()),
    );
    assert!(ended.await.is_ok(), "the stream went on");
    // half of a file may look like all of it
    std::fs::write(&path, RULES).expect("written");
    assert_eq!(reload(), Ok(false), "not yet");
}

#[tokio::test]
async fn a_bad_file_stops_the_start() {
    let dir = tempfile::tempdir().expect("directory");
    let path = dir.path().join("rules.toml");
    for text in [
        "",
        &RULES.replace("expect = \"refused\"", "expect = \"open\""),
    ] {
        write(&path, text);
        let result = Stack::build(Wanted {
            app: json!({ "rules_file": path }),
            ..Wanted::default()
        })
        .await;
        assert!(
            result.is_err_and(|error| error.to_string().contains("rules.toml")),
            "{text}"
        );
    }
}
