use super::*;
use crate::KeystoneConfig;
use crate::keystone::error::Unavailable;
use crate::keystone::{self, Catalog};
use crate::rest::test_server::{Reply, TOKEN, TestServer};
use portico_clock::Clock;
use reqwest::{Method, StatusCode};
use std::sync::atomic::{AtomicUsize, Ordering};

async fn send(server: &TestServer, method: Method) -> Result<Value, Error> {
    let call = Call::new("test", method, "things/1");
    TestServer::client()
        .run(SERVICE, &server.token(), call, |answer| {
            answer.json(&[StatusCode::OK])
        })
        .await
}

async fn error_of(method: Method, reply: Reply) -> Error {
    let server = TestServer::start(move |_| reply.clone()).await;
    send(&server, method).await.unwrap_err()
}

#[tokio::test]
async fn a_call_carries_the_token_and_its_path_below_the_endpoint() {
    let server = TestServer::start(|_| Reply::Json(200, json!({"a": 1}))).await;
    assert_eq!(send(&server, Method::GET).await.unwrap(), json!({"a": 1}));
    let received = server.received();
    assert_eq!(received[0].path(), "/magnum/v1/things/1");
    assert_eq!(received[0].body, Value::Null);
    assert_eq!(received[0].headers["x-auth-token"], TOKEN);
}

#[tokio::test]
async fn both_formats_of_errors_have_the_whole_text_and_the_request_id() {
    let text = "Cluster 1.2.3 could not be found.";
    for body in [
        errors(404, text),
        json!({"faultcode": "Client", "faultstring": text, "debuginfo": null}),
        json!({"error_message": json!({"faultstring": text}).to_string()}),
    ] {
        let error = error_of(Method::GET, Reply::Json(404, body)).await;
        assert_eq!(error.kind, ErrorKind::NotFound(text.to_owned()));
        assert_eq!(error.request_id.as_deref(), Some("req-1"));
        assert_eq!(
            error.to_string(),
            format!("Magnum: not found: {text} (request req-1)")
        );
    }
}

#[tokio::test]
async fn a_status_means_the_same_in_every_call() {
    let invalid = |text: &str| ErrorKind::Invalid(text.to_owned());
    let challenge = "WWW-Authenticate: Keystone uri=\"http://k/v3\"";
    let middleware = json!({"error": {"code": 401, "title": "Unauthorized", "message": "m"}});
    let limit = "Resource limit exceeded: You have reached the maximum clusters per project, 3.";
    let neutron = json!({"NeutronError": {"type": "OverQuota", "detail": "",
                                          "message": "Quota exceeded for resources: ['port']."}});
    for (reply, kind) in [
        (Reply::Json(401, middleware), ErrorKind::InvalidToken),
        (
            Reply::Raw(401, challenge, String::new()),
            ErrorKind::InvalidToken,
        ),
        (
            Reply::Raw(401, "x: y", "<html>".to_owned()),
            ErrorKind::Malformed("an error that is not the service's"),
        ),
        (
            Reply::Raw(404, "x: y", "<html>".to_owned()),
            ErrorKind::Malformed("an error that is not the service's"),
        ),
        (
            Reply::Json(403, errors(403, "no")),
            ErrorKind::Forbidden("no".to_owned()),
        ),
        (
            Reply::Json(403, errors(403, limit)),
            ErrorKind::QuotaExceeded(limit.to_owned()),
        ),
        (
            Reply::Json(409, neutron),
            ErrorKind::QuotaExceeded("Quota exceeded for resources: ['port'].".to_owned()),
        ),
        (
            Reply::Json(409, errors(409, "busy")),
            ErrorKind::Conflict("busy".to_owned()),
        ),
        (Reply::Json(400, errors(400, "bad")), invalid("bad")),
        (
            Reply::Json(406, errors(406, "")),
            invalid("this version does not have the call"),
        ),
        (Reply::Raw(400, "x: y", "<html>".to_owned()), invalid("")),
        (
            Reply::Json(500, errors(500, "boom")),
            ErrorKind::Fault {
                status: 500,
                message: "boom".to_owned(),
            },
        ),
        (
            Reply::Raw(500, "x: y", "oops".to_owned()),
            ErrorKind::Unavailable(Unavailable::Status(500)),
        ),
        (
            Reply::Json(503, json!({})),
            ErrorKind::Unavailable(Unavailable::Status(503)),
        ),
        (
            Reply::Raw(302, "location: http://other/", String::new()),
            ErrorKind::Malformed("unexpected status"),
        ),
        (
            Reply::Raw(200, "x: y", "<html>".to_owned()),
            ErrorKind::Malformed("unexpected content"),
        ),
    ] {
        let error = error_of(Method::GET, reply.clone()).await;
        assert_eq!(error.kind, kind, "{reply:?}");
        assert_eq!(error.effect, Effect::None);
    }
}

#[test]
fn a_limit_on_concurrent_requests_is_named() {
    let text = |status| Unavailable::Status(status).to_string();
    assert_eq!(text(429), "status 429, too many requests at the same time");
    assert_eq!(text(503), "status 503");
}

#[tokio::test]
async fn a_change_is_sent_once_and_a_lost_answer_leaves_its_effect_unknown() {
    for method in [Method::POST, Method::PATCH, Method::DELETE] {
        for (reply, effect) in [
            (Reply::Close, Effect::Unknown),
            (Reply::Silence, Effect::Unknown),
            (Reply::Json(504, json!({})), Effect::Unknown),
            (Reply::Json(500, errors(500, "boom")), Effect::Unknown),
            (
                Reply::Raw(200, "x: y", "<html>".to_owned()),
                Effect::Unknown,
            ),
            (Reply::Json(503, json!({})), Effect::None),
            (Reply::Json(409, errors(409, "busy")), Effect::None),
        ] {
            let sent = reply.clone();
            let server = TestServer::start(move |_| sent.clone()).await;
            let error = send(&server, method.clone()).await.unwrap_err();
            assert_eq!(error.effect, effect, "{method} {reply:?} {error}");
            assert_eq!(server.calls().len(), 1, "{method} {reply:?}");
        }
    }
}

#[tokio::test]
async fn a_read_is_repeated_once_when_its_connection_breaks() {
    let count = AtomicUsize::new(0);
    let server = TestServer::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::Close,
        _ => Reply::Json(200, json!({})),
    })
    .await;
    assert!(send(&server, Method::GET).await.is_ok());
    assert_eq!(server.calls().len(), 2);
    let error = error_of(Method::GET, Reply::Close).await;
    assert_eq!(error.kind, ErrorKind::Unavailable(Unavailable::Broken));
}

#[tokio::test]
async fn without_a_listener_there_was_no_effect() {
    let server = TestServer::start(|_| Reply::Close).await;
    let mut token = server.token();
    let mut catalog = (*token.catalog).clone();
    for endpoint in &mut catalog.endpoints {
        endpoint.url = "http://127.0.0.1:1/".parse().unwrap();
    }
    token.catalog = catalog.into();
    let call = Call::new("test", Method::POST, "x");
    let client = TestServer::client();
    let result: Result<(), _> = client.run(SERVICE, &token, call, |_| Ok(())).await;
    let error = result.unwrap_err();
    assert!(matches!(
        error.kind,
        ErrorKind::Unavailable(Unavailable::Connect(_))
    ));
    assert_eq!(error.effect, Effect::None);
}

#[tokio::test]
async fn a_message_that_quotes_the_token_is_shown_without_it() {
    let text = format!("Token {TOKEN} is bad.");
    let error = error_of(Method::POST, Reply::Json(400, errors(400, &text))).await;
    assert_eq!(
        error.kind,
        ErrorKind::Invalid("Token [token] is bad.".to_owned())
    );
    assert!(!format!("{error:?}").contains(TOKEN));
}

#[tokio::test]
async fn answers_and_requests_have_a_maximum_size() {
    let long = format!("\"{}\"", "x".repeat(5 * 1024 * 1024));
    let error = error_of(Method::GET, Reply::Raw(200, "x: y", long)).await;
    assert_eq!(error.kind, ErrorKind::Malformed("it is longer than 4 MiB"));
    let server = TestServer::start(|_| Reply::Json(200, json!({}))).await;
    let body = json!({"csr": "x".repeat(70_000)});
    let call = Call::new("test", Method::POST, "x").with_body(body);
    let client = TestServer::client();
    let result = client.run(SERVICE, &server.token(), call, |_| Ok(())).await;
    assert!(matches!(result.unwrap_err().kind, ErrorKind::Invalid(_)));
    assert!(server.calls().is_empty());
}

#[tokio::test]
async fn a_cloud_without_the_service_is_a_typed_error() {
    let server = TestServer::start(|_| Reply::Close).await;
    let mut token = server.token();
    token.catalog = Catalog::default().into();
    let client = TestServer::client();
    let call = Call::get("test", "x");
    let result: Result<(), _> = client.run(SERVICE, &token, call, |_| Ok(())).await;
    let error = result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Endpoint(EndpointError::NotInCatalog));
    assert_eq!(error.to_string(), "Magnum: this cloud does not offer it");
}

#[tokio::test]
async fn a_scoped_token_has_the_catalogue_of_its_project() {
    let server = TestServer::start(|request| {
        assert_eq!(request.target, "/v3/auth/catalog");
        match request.headers["x-auth-token"].as_str() {
            TOKEN => Reply::Json(
                200,
                json!({"catalog": [{"type": "container-infra", "name": "magnum", "endpoints": [
                    {"id": "e", "interface": "public", "region_id": "one", "region": "one",
                     "url": "http://127.0.0.1:9511/v1"}]}]}),
            ),
            _ => Reply::Json(
                401,
                json!({"error": {"code": 401, "message": "m", "title": "t"}}),
            ),
        }
    })
    .await;
    let config = KeystoneConfig::new(server.url("/v3"));
    let keystone = keystone::Client::new(&config, Clock::system()).unwrap();
    let scoped = ScopedToken::with_catalog(&keystone, TOKEN.into(), "p").await;
    let scoped = scoped.unwrap();
    let options = ServiceOptions::default();
    let endpoint = options.endpoint(SERVICE, &scoped.catalog, &scoped.project_id);
    assert_eq!(endpoint.unwrap().as_str(), "http://127.0.0.1:9511/v1");
    let refused = ScopedToken::with_catalog(&keystone, "gAAAA-other".into(), "p").await;
    assert_eq!(refused.unwrap_err(), keystone::Error::InvalidToken);
}
