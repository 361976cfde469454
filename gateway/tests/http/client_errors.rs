//! Errors of what the command line calls.
use http::Method;
use portico_testkit::snapshot_settings;
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::command_line::tokens;
use crate::support::{
    browser::Browser,
    stack::{MAIN, Stack, Wanted},
};

#[tokio::test]
async fn errors_for_the_command_line_have_a_code_and_a_message() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, session) = stack.signed_in(&["k8s_admin"]).await;
    let granted = tokens(&stack, &mut browser).await;
    let access = format!(
        "Bearer {}",
        granted["access_token"].as_str().expect("token")
    );
    let json = ("accept", "application/json");
    let form = ("content-type", "application/x-www-form-urlencoded");
    let bearer = ("authorization", access.as_str());
    let unknown = "/api/v1/clusters/00000000-0000-4000-8000-000000000000/token";
    let client = "client_id=portico-cli";
    let device = "grant_type=urn:ietf:params:oauth:grant-type:device_code";
    let mut answers = Vec::new();
    for (method, path, headers, body) in [
        (Method::GET, "/api/v1/clusters", vec![json], String::new()),
        // nothing listens where this gateway's Keystone is
        (
            Method::GET,
            "/api/v1/clusters",
            vec![json, ("x-auth-token", "gAAAA")],
            String::new(),
        ),
        (Method::POST, unknown, vec![json, bearer], String::new()),
        (Method::GET, "/oauth2/token", vec![json], String::new()),
        (
            Method::POST,
            "/oauth2/token",
            vec![form],
            "client_id=other".to_owned(),
        ),
        (
            Method::POST,
            "/oauth2/token",
            vec![form],
            format!("{client}&grant_type=password"),
        ),
        (
            Method::POST,
            "/oauth2/token",
            vec![form],
            format!("{client}&grant_type=authorization_code&code=x"),
        ),
        (
            Method::POST,
            "/oauth2/token",
            vec![form],
            format!("{client}&grant_type=refresh_token&refresh_token=x"),
        ),
        (
            Method::POST,
            "/oauth2/token",
            vec![form],
            format!("{client}&{device}&device_code=x"),
        ),
        (
            Method::POST,
            "/oauth2/device",
            vec![form],
            "client_id=other".to_owned(),
        ),
    ] {
        let request = format!("{method} {path} {body}");
        let answer = Browser::new(stack.address)
            .send(method, &format!("{MAIN}{path}"), &headers, body)
            .await;
        let text = &answer.body;
        for secret in [&access["Bearer ".len()..], session.csrf.expose_secret()] {
            assert!(!text.contains(secret), "{request}: {text}");
        }
        answers.push(json!({ "request": request.trim_end(), "answer": answer.json_snapshot() }));
    }
    snapshot_settings().bind(|| insta::assert_json_snapshot!("errors", answers));
}
