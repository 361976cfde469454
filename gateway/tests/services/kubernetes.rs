//! The real API server behind the gateway, with `kind = "cluster"`: it answers as the signed-in
//! user, by its own RBAC.
use http::{Method, StatusCode};
use serde_json::json;

use crate::{
    api_server::{SECRET, in_front_of_the_api_server, signed_in, taken_for},
    support::{
        browser::{Browser, Page},
        stack::APP,
    },
};

/// Tries, without doing it, to make a ConfigMap.
async fn writes(browser: &mut Browser) -> Page {
    let url = format!("{APP}/api/v1/namespaces/default/configmaps?dryRun=All");
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "generateName": "tried-" },
    });
    browser.call(Method::POST, &url, &map.to_string()).await
}

#[tokio::test]
async fn the_api_server_answers_as_the_signed_in_user() {
    let running = in_front_of_the_api_server().await;
    let mut vera = signed_in(&running, "vera").await;
    assert_eq!(taken_for(&mut vera, &[]).await, "vera@Default");
    let refused = writes(&mut vera).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.body);
    assert!(refused.body.contains("vera@Default"), "{}", refused.body);

    let mut ada = signed_in(&running, "ada").await;
    let url = format!("{APP}{SECRET}");
    let missing = ada.call(Method::GET, &url, "").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND, "{}", missing.body);
    let written = writes(&mut ada).await;
    assert_eq!(written.status, StatusCode::CREATED, "{}", written.body);

    let events = running.stack.audited("cluster.token").await;
    assert_eq!(events.len(), 2, "one token a person");
}
