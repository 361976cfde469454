//! The real API server behind the gateway, with `kind = "cluster"`: it answers as whoever is signed
//! in, by its own RBAC.
use http::{Method, StatusCode};
use serde_json::json;

use crate::{
    api_server::{in_front_of_the_api_server, signed_in, taken_for},
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
async fn the_api_server_answers_as_whoever_is_signed_in() {
    let running = in_front_of_the_api_server().await;
    for (name, status) in [
        ("ada", StatusCode::CREATED),
        ("devi", StatusCode::CREATED),
        ("vera", StatusCode::FORBIDDEN),
    ] {
        let mut browser = signed_in(&running, name).await;
        let user = taken_for(&mut browser, &[]).await;
        assert_eq!(user, format!("{name}@Default"));
        let url = format!("{APP}/api/v1/namespaces/default/pods?limit=1");
        let list = browser.call(Method::GET, &url, "").await;
        assert_eq!(list.status, StatusCode::OK, "{}", list.body);
        assert_eq!(list.json()["kind"], "PodList");
        let answer = writes(&mut browser).await;
        assert_eq!(answer.status, status, "{name}: {}", answer.body);
        if status == StatusCode::FORBIDDEN {
            // the API server's own words
            assert!(answer.body.contains("vera@Default"), "{}", answer.body);
        }
    }
    let events = running.stack.audited("cluster.token").await;
    assert_eq!(events.len(), 3, "one token a person");
}
