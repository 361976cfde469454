//! What the panel learns about the apps of a project: which are open to the user, by their
//! rules.
use http::Method;
use jiff::{SignedDuration, Timestamp};
use portico_store::NewSession;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::support::{
    browser::Browser,
    received_identity::{claims, header},
    stack::{MAIN, MAIN_HOST, Stack, Wanted},
};

/// An app of the project p1 that its developers open, as far as its rules say nothing else.
fn app(id: &str, kind: &str, rules: &Value) -> Value {
    json!({
        "id": id, "name": id, "project": "p1", "kind": kind, "url": "http://127.0.0.1:9",
        "allow": [{ "role": "k8s_developer", "project": "p1" }], "rules": rules,
    })
}

/// Returns the apps that the assertion for the panel names when a user opens a page.
async fn apps_at(browser: &mut Browser, path: &str) -> Value {
    let page = browser
        .call(Method::GET, &format!("{MAIN}{path}"), "")
        .await;
    let assertion = header(&page.json(), "portico-assertion")[0].to_owned();
    claims(&assertion)["apps"].clone()
}

#[tokio::test]
async fn the_panel_gets_the_apps_that_are_open_to_the_user() {
    let developers = json!([{ "role": "k8s_developer", "project": "$app" }]);
    let admins = json!([{ "role": "k8s_admin", "project": "$app" }]);
    let all_users = json!([{ "signed_in": true }]);
    let mut elsewhere = app("elsewhere", "web", &json!([]));
    elsewhere["project"] = json!("p2");
    let stack = Stack::start(Wanted {
        roles: &["k8s_developer"],
        apps: vec![
            app("alerts", "alertmanager", &json!([])),
            app(
                "quiet",
                "alertmanager",
                &json!([{ "name": "q", "effect": "deny", "paths": ["/api/"], "who": developers }]),
            ),
            app("images", "registry", &json!([])),
            app(
                "layers",
                "registry",
                &json!([{ "name": "l", "effect": "deny", "paths": ["/v2/secret/"], "except": { "who": admins } }]),
            ),
            app(
                "pushed",
                "registry",
                &json!([{ "name": "p", "effect": "deny", "methods": ["PUT", "DELETE"], "paths": ["/v2/secret/"] }]),
            ),
            app(
                "wiki",
                "web",
                &json!([{ "name": "w", "effect": "allow", "paths": ["exact:/"], "who": all_users }]),
            ),
            app(
                "vault",
                "web",
                &json!([{ "name": "v", "effect": "deny", "except": { "signed_in_within": "5m" } }]),
            ),
            app(
                "office",
                "web",
                &json!([{ "name": "o", "effect": "deny", "except": { "networks": ["192.0.2.0/24"] } }]),
            ),
            elsewhere,
        ],
        ..Wanted::default()
    })
    .await;

    let (mut developer, session) = stack.signed_in(&["k8s_developer"]).await;
    let mut open = json!({
        "prometheus": "open", "alerts": "open", "images": "open", "layers": "in_part",
        "pushed": "open", "wiki": "open", "vault": "open",
    });
    assert_eq!(apps_at(&mut developer, "/projects/p1").await, open);
    // a request without a project gets nothing about any project
    assert_eq!(apps_at(&mut developer, "/projects").await, Value::Null);

    // the same user later: the assertion of before says too much
    let new = NewSession {
        authenticated_at: Some(Timestamp::now() - SignedDuration::from_mins(6)),
        ..stack.new_session(&session)
    };
    let created = stack.store.sessions().create(&new, Timestamp::now()).await;
    let (secret, later) = created.expect("session");
    stack.project_token(&later, &["k8s_developer"]).await;
    developer.set_cookie(MAIN_HOST, "portico", secret.expose_secret());
    open["vault"] = json!("sign_in_again");
    assert_eq!(apps_at(&mut developer, "/projects/p1").await, open);

    let (mut other, _) = stack.signed_in_as("u2", "otto", &["member"]).await;
    assert_eq!(
        apps_at(&mut other, "/projects/p1").await,
        json!({ "wiki": "open" })
    );
}

#[tokio::test]
async fn where_keystone_does_not_answer_no_app_is_shown_as_closed() {
    let mut shared = app("shared", "web", &json!([]));
    shared["allow"] = json!([{ "role": "k8s_developer", "project": "p2" }]);
    let stack = Stack::start(Wanted {
        apps: vec![shared],
        ..Wanted::default()
    })
    .await;
    let (_, like) = stack.session(&[]).await;
    let mut second = like.projects[0].clone();
    second.id = "p2".to_owned();
    let new = NewSession {
        projects: vec![like.projects[0].clone(), second],
        ..stack.new_session(&like)
    };
    let created = stack.store.sessions().create(&new, Timestamp::now()).await;
    let (secret, session) = created.expect("session");
    stack.project_token(&session, &["k8s_admin"]).await;
    let mut browser = Browser::new(stack.address);
    browser.set_cookie(MAIN_HOST, "portico", secret.expose_secret());
    assert_eq!(
        apps_at(&mut browser, "/projects/p1").await,
        json!({ "prometheus": "open", "shared": "unknown" })
    );
}

#[tokio::test]
async fn changed_rules_count_for_the_panel_at_once() {
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("rules.toml");
    let settled = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let write = |text: &str| {
        std::fs::write(&file, text).expect("written");
        let opened = std::fs::File::options().write(true).open(&file);
        opened.expect("a file").set_modified(settled).expect("time");
    };
    write("[[rules]]\nname = \"quit\"\neffect = \"deny\"\npaths = [\"/-/quit\"]\n");
    let stack = Stack::start(Wanted {
        app: json!({ "rules_file": file }),
        ..Wanted::default()
    })
    .await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    assert_eq!(
        apps_at(&mut browser, "/projects/p1").await,
        json!({ "prometheus": "open" })
    );
    write("[[rules]]\nname = \"closed\"\neffect = \"deny\"\n");
    let reloaded = stack.gateway.reload_rules();
    assert!(matches!(reloaded[0].outcome, Ok(true)), "{reloaded:?}");
    assert_eq!(apps_at(&mut browser, "/projects/p1").await, Value::Null);
}
