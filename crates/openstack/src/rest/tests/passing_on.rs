use super::*;
use crate::keystone::error::Unavailable;
use crate::rest::test_server::{Reply, TOKEN, TestServer};
use reqwest::{Method, StatusCode};

fn call(method: Method, path: &str) -> PassedCall {
    PassedCall {
        service: SERVICE,
        operation: "test",
        method,
        path: PassedPath::Api(path.to_owned()),
        query: vec![("marker", "a&b".to_owned())],
        version: Some("container-infra 1.14".to_owned()),
        body: None,
    }
}

fn through_gateway(reason: Option<&str>) -> RestClient {
    RestClient::new(ServiceOptions {
        authentication: Authentication::Gateway {
            reason: reason.map(str::to_owned),
        },
        ..ServiceOptions::default()
    })
    .unwrap()
}

#[tokio::test]
async fn every_status_of_a_passed_on_call_is_an_answer() {
    let server = TestServer::start(|_| Reply::Json(409, errors(409, "It is busy."))).await;
    let call = call(Method::DELETE, "clusters/1");
    let answer = TestServer::client()
        .pass_on(&server.token(), call)
        .await
        .unwrap();
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert_eq!(answer.fault.as_deref(), Some("It is busy."));
    assert_eq!(answer.request_id.as_deref(), Some("req-1"));
    let received = server.received();
    assert_eq!(received[0].target, "/magnum/v1/clusters/1?marker=a%26b");
    assert_eq!(received[0].headers["x-auth-token"], TOKEN);
    assert_eq!(
        received[0].headers["openstack-api-version"],
        "container-infra 1.14"
    );
}

#[tokio::test]
async fn the_versions_are_read_without_the_token() {
    let server = TestServer::start(|_| Reply::Json(200, json!({"versions": []}))).await;
    let versions = PassedCall {
        path: PassedPath::Versions,
        ..call(Method::GET, "")
    };
    let answer = TestServer::client()
        .pass_on(&server.token(), versions)
        .await
        .unwrap();
    assert_eq!(answer.fault, None);
    let received = server.received();
    assert_eq!(received[0].path(), "/magnum/");
    assert!(!received[0].headers.contains_key("x-auth-token"));
}

#[tokio::test]
async fn a_lost_answer_is_an_error_whose_effect_is_unknown() {
    let server = TestServer::start(|_| Reply::Close).await;
    let call = call(Method::DELETE, "clusters/1");
    let error = TestServer::client()
        .pass_on(&server.token(), call)
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable(Unavailable::Broken));
    assert_eq!(error.effect, Effect::Unknown);
}

#[tokio::test]
async fn the_gateway_gets_the_bearer_and_the_reason_of_changes_only() {
    let server = TestServer::start(|_| Reply::Json(200, json!({}))).await;
    let client = through_gateway(Some("Störung, CHG-12"));
    for method in [Method::GET, Method::POST] {
        let call = Call::new("test", method, "things");
        client
            .run(SERVICE, &server.token(), call, |answer| {
                answer.expect(&[StatusCode::OK])
            })
            .await
            .unwrap();
    }
    let received = server.received();
    for one in &received {
        assert_eq!(one.headers["authorization"], format!("Bearer {TOKEN}"));
        assert!(!one.headers.contains_key("x-auth-token"));
    }
    assert!(!received[0].headers.contains_key("portico-reason"));
    assert_eq!(
        received[1].headers["portico-reason"],
        "St%C3%B6rung%2C+CHG-12"
    );
}

#[tokio::test]
async fn the_gateway_answers_nothing_without_a_token() {
    let server = TestServer::start(|_| Reply::Json(200, json!({}))).await;
    let token = server.token();
    let of_gateway = through_gateway(None);
    assert!(of_gateway.token_of_public_call(&token).is_some());
    let direct = TestServer::client();
    assert!(direct.token_of_public_call(&token).is_none());
}
