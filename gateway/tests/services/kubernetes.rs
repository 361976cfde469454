//! The real API server behind the gateway, with `kind = "cluster"`: it answers as whoever is signed
//! in, by its own RBAC.
use gateway::Cluster;
use http::{Method, StatusCode};
use portico_testkit::TestEnv;
use serde_json::{Value, json};

use crate::{
    keystone::Running,
    support::{
        browser::{Browser, Page},
        form::enter,
        stack::{APP, MAIN, Stack, Wanted},
    },
};

/// The API server as an app that viewers may open, too.
pub async fn in_front_of_the_api_server() -> Running {
    let env = TestEnv::load().expect("the stack's env file");
    let of = |name: &str| env.get(name).expect("a stack with it").to_owned();
    let acme = of("PROJECT_ID_ACME");
    let record = serde_json::from_value(json!({
        "id": of("CLUSTER_ID"), "name": "acme-prod", "owner_project": acme,
        "api_url": of("KUBE_API_URL"),
        "sealing_key_file": env.state().join("keys/kube-auth-1.pub"),
    }))
    .expect("cluster");
    let stack = Stack::start(Wanted {
        keystone: &of("KEYSTONE_URL"),
        project: &acme,
        roles: &["k8s_admin", "k8s_developer", "k8s_viewer"],
        cluster: Some(Cluster::read(record).expect("cluster")),
        app: json!({
            "url": of("KUBE_API_URL"),
            "upstream": { "ca_file": of("KUBE_CA_FILE") },
            "identity": { "kind": "cluster", "cluster": "acme-prod" },
        }),
        ..Wanted::default()
    })
    .await;
    Running { env, stack, acme }
}

/// Somebody who has signed in with their password and opened the app.
pub async fn signed_in(running: &Running, name: &str) -> Browser {
    let mut browser = Browser::new(running.stack.address);
    let page = enter(&mut browser, "/x", name, running.password()).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    let page = browser.follow(&format!("{APP}/version")).await;
    let code = page.field("code");
    let url = format!("{APP}/oauth2/handover");
    browser.submit(MAIN, &url, &[("code", &code)]).await;
    browser
}

/// Who the API server takes somebody for.
pub async fn reviewed(browser: &mut Browser, headers: &[(&str, &str)]) -> Value {
    let url = format!("{APP}/apis/authentication.k8s.io/v1/selfsubjectreviews");
    let review = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview" });
    let mut all = vec![
        ("origin", APP),
        ("content-type", "application/json"),
        ("accept", "application/json"),
    ];
    all.extend(headers);
    let answer = browser
        .send(Method::POST, &url, &all, review.to_string())
        .await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.body);
    answer.json()["status"]["userInfo"].clone()
}

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
        let user = reviewed(&mut browser, &[]).await;
        assert_eq!(user["username"], format!("{name}@Default"), "{user}");
        let groups = user["groups"].as_array().expect("groups");
        let project = json!(format!("portico:project:{}", running.acme));
        assert!(groups.contains(&project), "{user}");
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
