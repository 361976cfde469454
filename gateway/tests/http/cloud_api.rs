//! What a command line calls by the panel: with a bearer token only, in a project of the user.
use http::{Method, StatusCode};
use jiff::Timestamp;
use portico_assertion::panel_token;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::command_line::{bearer, tokens};
use crate::support::{
    browser::{Browser, Page},
    received_identity::{claims, header},
    stack::{MAIN, MAIN_HOST, Stack, Wanted},
};

const CLUSTERS: &str = "/projects/p1/cloud/container-infra/v1/clusters";

/// Returns a gateway, a browser with a session, and the access token of a command line.
async fn started() -> (Stack, Browser, Value) {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let granted = tokens(&stack, &mut browser).await;
    let access = granted["access_token"].clone();
    (stack, browser, access)
}

/// Sends a request as the command line does, whose errors are JSON.
async fn get(stack: &Stack, path: &str, access: &Value) -> Page {
    let authorization = format!("Bearer {}", access.as_str().unwrap_or_default());
    let headers = [
        ("authorization", authorization.as_str()),
        ("accept", "application/json"),
    ];
    Browser::new(stack.address)
        .send(
            Method::GET,
            &format!("{MAIN}{path}"),
            &headers,
            String::new(),
        )
        .await
}

async fn send(stack: &Stack, path: &str, headers: &[(&str, &str)]) -> Page {
    Browser::new(stack.address)
        .send(
            Method::POST,
            &format!("{MAIN}{path}"),
            headers,
            "{}".to_owned(),
        )
        .await
}

#[tokio::test]
async fn the_panel_gets_the_users_token_in_the_project_of_the_url() {
    let (stack, _, access) = started().await;
    let page = get(&stack, CLUSTERS, &access).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let echo = page.json();
    assert_eq!(echo["target"], CLUSTERS);
    assert_eq!(header(&echo, "portico-client"), ["command-line"]);
    assert!(header(&echo, "authorization").is_empty());
    let claims = claims(header(&echo, "portico-assertion")[0]);
    assert_eq!(claims["aud"], "panel");
    assert_eq!(claims["project"]["id"], "p1");
    let keys = [stack.panel_key.clone()];
    let jti = claims["jti"].as_str().expect("jti");
    let sealed = header(&echo, "portico-token")[0];
    let opened = panel_token::open(&keys, jti, sealed, Timestamp::now()).expect("opens");
    assert_eq!(opened.token.expose_secret(), "keystone-token-of-p1");
}

#[tokio::test]
async fn attack_114_a_cookie_opens_nothing_here() {
    let (stack, browser, _) = started().await;
    let cookie = browser.cookie_line(MAIN_HOST);
    let headers = [("cookie", cookie.as_str()), ("origin", MAIN)];
    let page = send(&stack, CLUSTERS, &headers).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    assert_eq!(page.json()["error"], "signed_out");
    // the control case: the same session opens the pages of the panel
    let mut browser = browser;
    let page = browser
        .call(Method::GET, &format!("{MAIN}/projects/p1/clusters"), "")
        .await;
    assert_eq!(page.status, StatusCode::OK);
}

#[tokio::test]
async fn the_bearer_of_a_command_line_opens_no_page_of_the_panel() {
    let (stack, _, access) = started().await;
    for path in [
        "/projects/p1/clusters",
        "/projects/p1/managed-clusters/x/journal.jsonl",
        "/projects/p1/cloud",
    ] {
        let page = bearer(&stack, Method::POST, path, &access).await;
        assert!(page.status.is_client_error(), "{path}: {}", page.status);
    }
}

#[tokio::test]
async fn attack_115_a_project_without_a_role_is_refused() {
    let (stack, _, access) = started().await;
    for path in [
        "/projects/p2/cloud/container-infra/v1/clusters",
        "/projects/p2/cloud/container-infra/v1/clusters?project=p1",
        "/projects/none/cloud/compute/v2.1/limits",
    ] {
        let page = get(&stack, path, &access).await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{path}");
        assert_eq!(page.json()["error"], "no_project", "{path}");
    }
}

#[tokio::test]
async fn attack_116_a_path_that_leaves_the_project_is_refused() {
    let (stack, _, access) = started().await;
    for path in [
        "/projects/p1/cloud/../../p2/cloud/compute",
        "/projects/p1/cloud/%2e%2e/clusters",
        "/projects/p1/cloud/compute%2fv2.1",
    ] {
        let page = get(&stack, path, &access).await;
        assert!(
            page.status.is_client_error() || page.status.is_redirection(),
            "{path}: {} {}",
            page.status,
            page.body
        );
    }
}

#[tokio::test]
async fn attack_118_no_header_of_the_client_is_taken_for_the_gateways() {
    let (stack, browser, access) = started().await;
    let authorization = format!("Bearer {}", access.as_str().unwrap_or_default());
    let cookie = browser.cookie_line(MAIN_HOST);
    let headers = [
        ("authorization", authorization.as_str()),
        ("cookie", cookie.as_str()),
        ("portico-client", "browser"),
        ("portico-assertion", "forged"),
        ("x-auth-token", "forged"),
        ("portico-reason", "CHG-12"),
        ("openstack-api-version", "container-infra 1.14"),
    ];
    let page = send(&stack, CLUSTERS, &headers).await;
    let echo = page.json();
    assert_eq!(header(&echo, "portico-client"), ["command-line"]);
    assert_eq!(header(&echo, "portico-assertion").len(), 1);
    assert_ne!(header(&echo, "portico-assertion"), ["forged"]);
    assert!(header(&echo, "x-auth-token").is_empty());
    assert!(header(&echo, "cookie").is_empty());
    assert_eq!(header(&echo, "portico-reason"), ["CHG-12"]);
    assert_eq!(
        header(&echo, "openstack-api-version"),
        ["container-infra 1.14"]
    );
}

#[tokio::test]
async fn attack_118_the_panel_gets_the_mark_of_a_command_line_from_the_gateway_only() {
    let (stack, mut browser, _) = started().await;
    let cookie = browser.cookie_line(MAIN_HOST);
    let page = browser
        .send(
            Method::GET,
            &format!("{MAIN}/projects/p1/clusters"),
            &[
                ("cookie", &cookie),
                ("portico-client", "command-line"),
                ("portico-reason", "forged"),
            ],
            String::new(),
        )
        .await;
    let echo = page.json();
    assert!(header(&echo, "portico-client").is_empty());
    assert!(header(&echo, "portico-reason").is_empty());
    assert_eq!(echo["target"], json!("/projects/p1/clusters"));
    drop(stack);
}

#[tokio::test]
async fn a_token_that_is_not_a_command_lines_opens_nothing() {
    let (stack, _, access) = started().await;
    let access = access.as_str().unwrap_or_default();
    let first = if access.starts_with('a') { "b" } else { "a" };
    let other = format!("{first}{}", &access[1..]);
    for token in [json!(other), json!("keystone-token-of-p1"), json!("")] {
        let page = get(&stack, CLUSTERS, &token).await;
        assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{token}");
    }
}
