//! What an API server gets that sends what is not answered with a review.
use axum::body::Body;
use axum::http::Method;
use jiff::Timestamp;
use portico_test_support::webhook::{ApiServer, V1, certificate};
use portico_testkit::snapshot_settings;
use serde_json::json;

use super::reviews::{id, sealed, webhook};

#[tokio::test]
async fn every_rejection_is_a_status_of_kubernetes_with_its_reason() {
    let webhook = webhook();
    let own = webhook.api_server_of(id(1));
    let removed = ApiServer {
        certificate: Some(certificate(&[format!("portico:cluster:{}", id(9))])),
        ..webhook.api_server_of(id(1))
    };
    let path = |n: u128, kind: &str| format!("/clusters/{}/{kind}", id(n));
    let token = sealed(webhook.current.public(), 1, Timestamp::now());
    let review = json!({"apiVersion": V1, "kind": "TokenReview", "spec": {"token": token}});
    let access = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {"nonResourceAttributes": {"verb": "get", "path": "/healthz"}, "user": "vera"}});
    let (review, access) = (review.to_string(), access.to_string());
    let (json, tokens) = ("application/json", "tokenreview");
    let mut replies = Vec::new();
    for (what, api_server, path, content_type, body) in [
        (
            "an object of another kind",
            &own,
            path(1, tokens),
            json,
            "{}".to_owned(),
        ),
        (
            "another content type",
            &own,
            path(1, tokens),
            "text/plain",
            review.clone(),
        ),
        (
            "a large body",
            &own,
            path(1, tokens),
            json,
            " ".repeat(64 * 1024 + 1),
        ),
        (
            "another cluster",
            &own,
            path(2, tokens),
            json,
            review.clone(),
        ),
        (
            "a removed cluster",
            &removed,
            path(9, tokens),
            json,
            review.clone(),
        ),
        (
            "another path",
            &own,
            "/tokenreview".to_owned(),
            json,
            review.clone(),
        ),
        (
            "no policy",
            &own,
            path(1, "subjectaccessreview"),
            json,
            access,
        ),
        ("no Keystone", &own, path(1, tokens), json, review),
    ] {
        let body = Body::from(body);
        let reply = api_server.send(Method::POST, &path, content_type, body);
        let reply = reply.await;
        assert!(!reply.text.contains(&token), "{}", reply.text);
        let status = reply.status.as_u16();
        replies.push(json!({ "request": what, "status": status, "body": reply.body }));
    }
    snapshot_settings().bind(|| insta::assert_json_snapshot!("rejections", replies));
}
