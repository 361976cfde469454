//! `SubjectAccessReview` as an API server sends it.
use axum::body::Body;
use axum::http::{Method, StatusCode};
use portico_test_support::webhook::{ApiServer, Reply, Webhook, closed_port, cluster};
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::Instant;
use uuid::Uuid;

const V1: &str = "authorization.k8s.io/v1";
const V1BETA1: &str = "authorization.k8s.io/v1beta1";

/// The rights of a reader as k8s-keystone-auth would write them.
const POLICY: &str = r#"[{"users": {"roles": ["k8s_viewer"], "projects": ["p1"]},
    "resource_permissions": {"!kube-system/['pods', 'services']": ["get", "list"]},
    "nonresource_permissions": {"/healthz": ["get"]}}]"#;

fn webhook(policy: Option<&Path>) -> Webhook {
    let mut with_policy = cluster(1, "p1", &[]);
    with_policy.authorization_policy_file = policy.map(Path::to_owned);
    let clusters = vec![with_policy, cluster(2, "p2", &[])];
    Webhook::new(clusters, &closed_port(), Duration::from_secs(10))
}

fn with_policy() -> (TempDir, ApiServer) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("policy.json");
    std::fs::write(&path, POLICY).unwrap();
    let api_server = webhook(Some(&path)).api_server_of(Uuid::from_u128(1));
    (dir, api_server)
}

async fn ask(api_server: &ApiServer, version: &str, attributes: serde_json::Value) -> Reply {
    let mut spec = json!({"user": "vera@Default", "uid": "u1",
        "extra": {"alpha.kubernetes.io/identity/roles": ["k8s_viewer"],
                  "alpha.kubernetes.io/identity/project/id": ["p1"]}});
    let groups = if version == V1 { "groups" } else { "group" };
    spec[groups] = json!(["r1", "system:authenticated"]);
    for (key, value) in attributes.as_object().unwrap() {
        spec[key] = value.clone();
    }
    let body = json!({"kind": "SubjectAccessReview", "apiVersion": version,
        "metadata": {"creationTimestamp": null}, "spec": spec, "status": {"allowed": false}});
    post(api_server, body.to_string()).await
}

async fn post(api_server: &ApiServer, body: String) -> Reply {
    let path = format!(
        "/clusters/{}/subjectaccessreview?timeout=30s",
        api_server.cluster
    );
    api_server
        .send(Method::POST, &path, "application/json", Body::from(body))
        .await
}

fn pods(namespace: &str, verb: &str) -> serde_json::Value {
    json!({"resourceAttributes": {"verb": verb, "version": "v1", "resource": "pods", "namespace": namespace}})
}

#[tokio::test]
async fn what_the_policy_allows_is_allowed_in_the_version_that_asked() {
    let (_dir, api_server) = with_policy();
    for version in [V1, V1BETA1] {
        let path = json!({"nonResourceAttributes": {"verb": "get", "path": "/healthz"}});
        for attributes in [pods("shop", "list"), path] {
            let reply = ask(&api_server, version, attributes).await;
            assert_eq!(
                reply.body,
                json!({"apiVersion": version, "kind": "SubjectAccessReview", "status": {"allowed": true}})
            );
        }
    }
}

#[tokio::test]
async fn what_it_does_not_allow_is_left_to_others_and_never_denied() {
    let (_dir, api_server) = with_policy();
    for attributes in [
        pods("kube-system", "list"),
        pods("shop", "delete"),
        pods("", "list"),
        json!({"nonResourceAttributes": {"verb": "get", "path": "/metrics"}}),
        // not a user of ours
        json!({"resourceAttributes": {"verb": "list", "resource": "pods", "namespace": "shop"}, "extra": null}),
    ] {
        let reply = ask(&api_server, V1, attributes).await;
        let status = &reply.body["status"];
        assert_eq!(
            (reply.status, &status["allowed"]),
            (StatusCode::OK, &json!(false))
        );
        assert!(
            status.get("denied").is_none() && status["reason"].is_string(),
            "{}",
            reply.text
        );
        for secret in ["k8s_viewer", "p1", "rule 1"] {
            assert!(!reply.text.contains(secret), "{}", reply.text);
        }
    }
}

#[tokio::test]
async fn a_body_that_is_not_a_review_is_a_bad_request() {
    let (_dir, api_server) = with_policy();
    for body in [
        String::new(),
        "[]".to_owned(),
        json!({"kind": "TokenReview", "apiVersion": V1, "spec": {}}).to_string(),
        json!({"kind": "SubjectAccessReview", "apiVersion": V1, "spec": {"user": "x"}}).to_string(),
    ] {
        let reply = post(&api_server, body).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{}", reply.text);
    }
}

#[tokio::test]
async fn what_newer_or_careless_api_servers_send_is_understood() {
    let (_dir, api_server) = with_policy();
    let mut with_selectors = pods("shop", "list");
    with_selectors["resourceAttributes"]["fieldSelector"] = json!({"requirements": [
        {"key": "spec.nodeName", "operator": "In", "values": ["n1"]}
    ]});
    with_selectors["resourceAttributes"]["labelSelector"] = json!({"rawSelector": "a=b"});
    let mut long = pods("shop", "list");
    long["groups"] = (0..400)
        .map(|n| json!(format!("portico:project:{n:032x}")))
        .collect::<Vec<_>>()
        .into();
    for attributes in [with_selectors, long] {
        let reply = ask(&api_server, V1, attributes).await;
        assert_eq!(reply.body["status"]["allowed"], true, "{}", reply.text);
    }
    // not a user of ours, and so nothing allowed; the reference crashes on these
    for missing in ["groups", "extra", "uid"] {
        let mut attributes = pods("shop", "list");
        attributes[missing] = json!(null);
        let reply = ask(&api_server, V1, attributes).await;
        assert_eq!(reply.status, StatusCode::OK, "{missing}: {}", reply.text);
        let allowed = reply.body["status"]["allowed"] == true;
        assert_eq!(allowed, missing != "extra", "{missing}");
    }
    let both = json!({
        "resourceAttributes": {"verb": "list", "resource": "pods", "namespace": "shop"},
        "nonResourceAttributes": {"verb": "get", "path": "/healthz"},
    });
    for attributes in [both, json!({})] {
        let reply = ask(&api_server, V1, attributes).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{}", reply.text);
    }
}

#[tokio::test]
async fn only_the_clusters_own_api_server_may_ask() {
    let (_dir, mut api_server) = with_policy();
    api_server.certificate = Some(portico_test_support::webhook::certificate(&[format!(
        "portico:cluster:{}",
        Uuid::from_u128(2)
    )]));
    let reply = ask(&api_server, V1, pods("shop", "list")).await;
    assert_eq!(reply.status, StatusCode::FORBIDDEN);
    api_server.certificate = None;
    let reply = ask(&api_server, V1, pods("shop", "list")).await;
    assert_eq!(reply.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn without_a_policy_there_is_nothing_to_ask() {
    let api_server = webhook(None).api_server_of(Uuid::from_u128(1));
    let reply = ask(&api_server, V1, pods("shop", "list")).await;
    assert_eq!(reply.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_policy_from_a_config_map_counts_from_the_first_good_one_on() {
    let mut record = cluster(1, "p1", &[]);
    record.authorization_policy_config_map =
        Some(serde_json::from_value(json!({"kubeconfig_file": "unused"})).unwrap());
    let webhook = Webhook::new(vec![record], &closed_port(), Duration::from_secs(10));
    let (id, api_server) = (
        Uuid::from_u128(1),
        webhook.api_server_of(Uuid::from_u128(1)),
    );
    let service = &webhook.service;
    let list = || ask(&api_server, V1, pods("shop", "list"));
    // it cannot be decided, and nothing is cached
    service.policy_is_missing(id, "deleted").unwrap();
    assert!(service.set_policy(id, "[{").await.is_err());
    let reply = list().await;
    assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(!reply.headers.contains_key("retry-after"));
    service.set_policy(id, POLICY).await.unwrap();
    assert_eq!(list().await.body["status"], json!({"allowed": true}));
    assert!(service.set_policy(id, "[{").await.is_err());
    service.policy_is_missing(id, "deleted").unwrap();
    assert_eq!(list().await.body["status"], json!({"allowed": true}));
    service.set_policy(id, "[]").await.unwrap();
    assert_eq!(list().await.body["status"]["allowed"], json!(false));
    let elsewhere = Uuid::from_u128(2);
    assert!(service.set_policy(elsewhere, POLICY).await.is_err());
}

/// The two documents that once kept the process busy for minutes, or ended it.
fn hostile_policies() -> [String; 2] {
    let head = "apiVersion: kube-auth.portico.dev/v1\nkind: Policy\nrules:";
    let list = format!("[{}]", ["x"; 1_000].join(","));
    let resources = "  - {groups: *g, resources: *g, namespaces: *g, verbs: *g}\n".repeat(1_300);
    let rules = "- {name: a, subjects: {roleIDs: *g}, resources: *r}\n".repeat(1_800);
    let aliases = format!(
        "{head}\n- name: a\n  subjects: {{roleIDs: &g {list}}}\n  resources: &r\n{resources}{rules}"
    );
    [aliases, format!("{head} {}", "[".repeat(200_000))]
}

#[tokio::test]
async fn finding_s1_a_refused_policy_leaves_its_own_and_other_clusters_as_they_were() {
    let of = |n: u128| {
        let mut record = cluster(n, "p1", &[]);
        record.authorization_policy_config_map =
            Some(serde_json::from_value(json!({"kubeconfig_file": "unused"})).unwrap());
        record
    };
    let webhook = Webhook::new(vec![of(1), of(2)], &closed_port(), Duration::from_secs(10));
    let (hostile, neighbour) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let service = &webhook.service;
    for id in [hostile, neighbour] {
        service.set_policy(id, POLICY).await.unwrap();
    }
    let asking = webhook.api_server_of(neighbour);
    for text in hostile_policies() {
        let started = Instant::now();
        // the test has one worker: the neighbour is answered while the text is parsed elsewhere
        let (pushed, reply) = tokio::join!(
            service.set_policy(hostile, &text),
            ask(&asking, V1, pods("shop", "list"))
        );
        let error = pushed.unwrap_err().to_string();
        assert!(
            error.contains("aliases") || error.contains("16 levels"),
            "{error}"
        );
        assert_eq!(reply.body["status"], json!({"allowed": true}));
        assert!(started.elapsed() < Duration::from_secs(5));
    }
    let large = format!("{POLICY}{}", " ".repeat(256 * 1024));
    let error = service.set_policy(hostile, &large).await.unwrap_err();
    assert!(error.to_string().contains("256 KiB"), "{error}");
    for id in [hostile, neighbour] {
        let reply = ask(&webhook.api_server_of(id), V1, pods("shop", "list")).await;
        assert_eq!(reply.body["status"], json!({"allowed": true}), "{id}");
    }
}

#[tokio::test]
async fn one_address_takes_both_reviews_of_the_cluster_that_the_certificate_names() {
    let (_dir, api_server) = with_policy();
    let send = |api_server: ApiServer, body: serde_json::Value| async move {
        let body = Body::from(body.to_string());
        api_server
            .send(Method::POST, "/webhook", "application/json", body)
            .await
    };
    let access = json!({"kind": "SubjectAccessReview", "apiVersion": V1, "spec": {
        "nonResourceAttributes": {"verb": "get", "path": "/healthz"}, "user": "vera@Default",
        "extra": {"alpha.kubernetes.io/identity/roles": ["k8s_viewer"],
                  "alpha.kubernetes.io/identity/project/id": ["p1"]}}});
    let token = json!({"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1",
        "spec": {"token": "nothing of ours"}});
    let reply = send(api_server.clone(), access.clone()).await;
    assert_eq!(reply.body["status"], json!({"allowed": true}));
    let reply = send(api_server.clone(), token.clone()).await;
    assert!(
        reply.is_refusal("authentication.k8s.io/v1"),
        "{}",
        reply.text
    );
    let pod = json!({"kind": "Pod", "apiVersion": "v1"});
    let reply = send(api_server.clone(), pod).await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);

    let mut elsewhere = api_server.clone();
    let other = format!("portico:cluster:{}", Uuid::from_u128(2));
    elsewhere.certificate = Some(portico_test_support::webhook::certificate(&[other]));
    // the same question, at a cluster that has no policy
    let reply = send(elsewhere.clone(), access.clone()).await;
    assert_eq!(reply.status, StatusCode::NOT_FOUND);
    for certificate in [None, Some(portico_test_support::webhook::certificate(&[]))] {
        elsewhere.certificate = certificate;
        for body in [&access, &token] {
            let reply = send(elsewhere.clone(), body.clone()).await;
            assert_eq!(reply.status, StatusCode::FORBIDDEN);
        }
    }
}
