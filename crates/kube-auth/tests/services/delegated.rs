use crate::keystone::Stack;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use portico_openstack::keystone::{ApplicationCredential, IssuedToken};
use portico_test_support::webhook::V1;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use std::time::Duration;
use uuid::Uuid;

/// An application credential of the token's user, and a token made with it.
async fn with_credential(stack: &Stack, owner: &IssuedToken, about: &Value) -> IssuedToken {
    let user = &owner.details.identity.user.id;
    let mut credential = json!({ "name": format!("test-{}", Uuid::new_v4()) });
    credential
        .as_object_mut()
        .unwrap()
        .extend(about.as_object().unwrap().clone());
    let body = json!({ "application_credential": credential }).to_string();
    let url = stack.value("KEYSTONE_URL");
    let request = Request::post(format!("{url}/users/{user}/application_credentials"))
        .header("x-auth-token", owner.token.expose_secret())
        .header("content-type", "application/json")
        .body(Body::from(body))
        .unwrap();
    let client = Client::builder(TokioExecutor::new()).build_http();
    let response = client.request(request).await.unwrap();
    assert_eq!(response.status(), 201);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let made: Value = serde_json::from_slice(&body).unwrap();
    let text = |name: &str| {
        let value = &made["application_credential"][name];
        value.as_str().unwrap().to_owned()
    };
    let credential = ApplicationCredential::Id {
        id: text("id"),
        secret: text("secret").into(),
    };
    let issued = stack
        .client
        .authenticate_application_credential(&credential)
        .await;
    issued.unwrap()
}

#[tokio::test]
async fn an_application_credential_counts_unless_it_is_for_some_calls_only() {
    let stack = Stack::new(Duration::from_secs(10));
    let owner = stack.sign_in_to("devi", "acme").await;
    let api_server = stack.webhook.api_server_of(Uuid::from_u128(1));

    let plain = with_credential(&stack, &owner, &json!({})).await;
    let reply = api_server.review(V1, &stack.sealed(&plain, 1)).await;
    assert_eq!(reply.body["status"]["user"]["username"], "devi@Default");
    let used = plain.details.application_credential.unwrap();
    let shown = &reply.body["status"]["user"]["extra"]["portico.dev/application-credential-id"];
    assert_eq!(shown, &json!([used.id]));

    let rules = json!({"access_rules": [
        {"service": "container-infra", "method": "GET", "path": "/v1/clusters"}
    ]});
    let ruled = with_credential(&stack, &owner, &rules).await;
    let reply = api_server.review(V1, &stack.sealed(&ruled, 1)).await;
    assert!(reply.is_refusal(V1), "{}", reply.text);
}

#[tokio::test]
async fn a_bare_token_is_weighed_like_a_sealed_one_where_it_counts() {
    let stack = Stack::new(Duration::from_secs(10));
    let at = |cluster| stack.webhook.api_server_of(Uuid::from_u128(cluster));
    let devi = stack.sign_in_to("devi", "acme").await;
    let bare = devi.token.expose_secret();
    let reply = at(4).review(V1, bare).await;
    assert_eq!(reply.body["status"]["user"]["username"], "devi@Default");
    assert!(at(1).review(V1, bare).await.is_refusal(V1));

    // of a project that the cluster does not accept, and of none
    let elsewhere = stack.sign_in_to("devi", "globex").await;
    let reply = at(4).review(V1, elsewhere.token.expose_secret()).await;
    assert!(reply.is_refusal(V1), "{}", reply.text);
    let unscoped = stack.client.unscope(&devi.token).await.unwrap();
    let reply = at(4).review(V1, unscoped.token.expose_secret()).await;
    assert!(reply.is_refusal(V1), "{}", reply.text);
}
