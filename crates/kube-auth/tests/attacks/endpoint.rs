//! 28 to 37: the webhook as a target.
use crate::reviews::{CLUSTER, review_of, seal, webhook_at};
use crate::stand_in::{StandIn, json_answer, not_found, token};
use crate::webhook_server::{Authority, WebhookServer, request, status};
use axum::body::Body;
use axum::http::{Method, Response};
use portico_openstack::KeystoneConfig;
use portico_openstack::config::InvalidConfig;
use portico_runtime::metrics::Metrics;
use portico_test_support::log::Log;
use portico_test_support::time::advance;
use portico_test_support::webhook::{ApiServer, V1, Webhook, closed_port, cluster};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use uuid::Uuid;

const JSON: &str = "content-type: application/json\r\n";

fn path() -> String {
    format!("/clusters/{CLUSTER}/tokenreview?timeout=30s")
}

fn review(token: &str) -> String {
    json!({"apiVersion": V1, "kind": "TokenReview", "spec": {"token": token}}).to_string()
}

fn own_review() -> Vec<u8> {
    request("POST", &path(), JSON, &review("garbage"))
}

fn webhook() -> Webhook {
    webhook_at(&closed_port())
}

#[tokio::test]
async fn attack_28_no_client_gets_in_without_the_clusters_own_certificate() {
    let served = WebhookServer::open(&webhook()).await;
    let stranger = Authority::new();
    let other = Uuid::from_u128(9);
    for (what, identity, expected) in [
        ("none", None, 0),
        ("another authority", Some(stranger.api_server(CLUSTER)), 0),
        ("expired", Some(served.authority.expired(CLUSTER)), 0),
        ("a server's", Some(served.authority.server()), 0),
        (
            "no cluster",
            Some(served.authority.client_without_cluster()),
            403,
        ),
        (
            "another cluster",
            Some(served.authority.api_server(other)),
            403,
        ),
        ("its own", Some(served.authority.api_server(CLUSTER)), 200),
    ] {
        let answer = served.answer_to(identity.as_ref(), &own_review()).await;
        assert_eq!(status(&answer), expected, "{what}: {answer}");
    }
    // 403 comes before the body
    let identity = served.authority.api_server(other);
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: x\r\n{JSON}content-length: 100\r\nconnection: close\r\n\r\n",
        path()
    );
    let started = Instant::now();
    let mut stream = served.connect(Some(&identity)).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 403");
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn attack_29_the_oracle_is_closed_to_strangers_and_slow_for_one_cluster() {
    let keystone = StandIn::start(|_| not_found()).await;
    let clusters = vec![cluster(1, "p1", &[]), cluster(2, "p2", &[])];
    let webhook = Webhook::configured(clusters, keystone.url(), |config| {
        config.keystone_calls_per_second = 5.try_into().unwrap();
    });
    let served = WebhookServer::open(&webhook).await;
    let guess = seal(webhook.current.public(), CLUSTER, &"gAAAA-guess".into());
    let body = review(&guess);
    let answer = served
        .answer_to(None, &request("POST", &path(), JSON, &body))
        .await;
    assert_eq!((status(&answer), keystone.calls()), (0, 0));
    let identity = served.authority.api_server(CLUSTER);
    let answer = served
        .answer_to(Some(&identity), &request("POST", &path(), JSON, &body))
        .await;
    assert_eq!((status(&answer), keystone.calls()), (200, 1));

    let api_server = webhook.api_server_of(CLUSTER);
    let mut counts = [0, 0];
    for n in 0..200 {
        let guess = format!("gAAAA-guess-{n}");
        let sealed = seal(webhook.current.public(), CLUSTER, &guess.into());
        let reply = api_server.review(V1, &sealed).await;
        assert!(
            reply.is_refusal(V1) || reply.is_undecided(),
            "{}",
            reply.text
        );
        counts[usize::from(reply.is_undecided())] += 1;
    }
    assert!(counts[0] >= 4 && counts[1] > 100, "{counts:?}");
    assert!(keystone.calls() < 60, "{}", keystone.calls());
    // the other cluster has its own share
    let id = Uuid::from_u128(2);
    let sealed = seal(webhook.current.public(), id, &"gAAAA-other".into());
    let reply = webhook.api_server_of(id).review(V1, &sealed).await;
    reply.assert_refused("the other cluster's guess");
}

#[tokio::test]
async fn attack_30_keystone_is_at_the_configured_address_only() {
    let canary = StandIn::saying(200, token()).await;
    for status in [301, 302, 303, 307, 308, 300] {
        let elsewhere = format!("{}/auth/tokens", canary.url());
        let keystone = StandIn::start(move |_| {
            Response::builder()
                .status(status)
                .header("location", &elsewhere)
                .body(Body::empty())
                .unwrap()
        });
        let keystone = keystone.await;
        let reply = review_of(&webhook_at(keystone.url()), "gAAAA-redirected").await;
        reply.assert_undecided(&status.to_string());
        assert_eq!(keystone.calls(), 1);
    }
    assert_eq!(canary.calls(), 0);
    // nothing that is sent names a URL that is asked
    let sent = json!({"apiVersion": V1, "kind": "TokenReview",
        "spec": {"token": "garbage", "auth_url": canary.url(), "server": canary.url()}});
    let api_server = webhook_at(canary.url()).api_server_of(CLUSTER);
    api_server.post(sent.to_string().into()).await;
    assert_eq!(canary.calls(), 0);
    let config = |url: &str| KeystoneConfig::new(url.parse().unwrap()).validate();
    for url in [
        "http://169.254.169.254/v3",
        "http://keystone.example.org:5000/v3",
    ] {
        assert_eq!(config(url), Err(InvalidConfig::PlainHttp), "{url}");
    }
    assert_eq!(config("https://keystone.example.org/v3"), Ok(()));
    let reply = review_of(&webhook_at(canary.url()), "gAAAA-direct").await;
    reply.assert_authenticated("where the configuration says");
}

#[tokio::test]
async fn attack_31_no_answer_is_a_redirect() {
    let served = WebhookServer::open(&webhook()).await;
    let identity = served.authority.api_server(CLUSTER);
    let own = format!("/clusters/{CLUSTER}/tokenreview");
    for (path, expected) in [
        (own.clone(), 200),
        (format!("{own}/"), 404),
        (format!("/{own}"), 404),
        (format!("/clusters//{CLUSTER}/tokenreview"), 404),
        (format!("/clusters/{CLUSTER}/../{CLUSTER}/tokenreview"), 404),
        (own.to_uppercase(), 404),
        ("/webhook".to_owned(), 200),
        ("/webhook/".to_owned(), 404),
        ("/".to_owned(), 404),
        ("/v1/tokenreview".to_owned(), 404),
        (format!("http://evil.example/{own}"), 404),
    ] {
        let bytes = request("POST", &path, JSON, &review("garbage"));
        let answer = served.answer_to(Some(&identity), &bytes).await;
        assert_eq!(status(&answer), expected, "{path}: {answer}");
        assert!(!answer.to_lowercase().contains("\r\nlocation:"), "{answer}");
    }
}

#[tokio::test]
async fn attack_32_large_slow_endless_and_packed_bodies_are_turned_away() {
    let served = WebhookServer::open(&webhook()).await;
    let identity = served.authority.api_server(CLUSTER);
    let path = path();
    let large = review(&"x".repeat(64 * 1024));
    let answer = served
        .answer_to(Some(&identity), &request("POST", &path, JSON, &large))
        .await;
    assert_eq!(status(&answer), 413);
    let just_small = review(&"x".repeat(63 * 1024));
    let bytes = request("POST", &path, JSON, &just_small);
    assert_eq!(
        status(&served.answer_to(Some(&identity), &bytes).await),
        200
    );

    // in chunks, without a length that says so
    let chunk = format!("{:x}\r\n{}\r\n", 32 * 1024, "x".repeat(32 * 1024));
    let chunked = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{JSON}transfer-encoding: chunked\r\n\r\n{}0\r\n\r\n",
        chunk.repeat(4)
    );
    let answer = served.answer_to(Some(&identity), chunked.as_bytes()).await;
    assert_eq!(status(&answer), 413);

    // packed: it is not decompressed, and so is not JSON
    let packed = format!("{JSON}content-encoding: gzip\r\n");
    let bytes = request("POST", &path, &packed, "\u{1f}\u{8b}\u{8}\0\0\0\0\0");
    assert_eq!(
        status(&served.answer_to(Some(&identity), &bytes).await),
        400
    );

    // a body that does not come
    let started = Instant::now();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{JSON}content-length: 1000\r\n\r\n{{"
    );
    let answer = served.answer_to(Some(&identity), head.as_bytes()).await;
    assert_eq!(status(&answer), 408);
    assert!(started.elapsed() < Duration::from_secs(10));

    // a head without an end
    let mut endless = format!("POST {path} HTTP/1.1\r\nhost: x\r\n").into_bytes();
    for n in 0..4000 {
        endless.extend(format!("x-{n}: {}\r\n", "y".repeat(50)).bytes());
    }
    let answer = served.answer_to(Some(&identity), &endless).await;
    assert!(matches!(status(&answer), 0 | 431), "{answer}");
    let answer = served.answer_to(Some(&identity), &own_review()).await;
    assert_eq!(status(&answer), 200);
}

async fn posted(api_server: &ApiServer, body: &str) -> u16 {
    api_server
        .post(body.to_owned().into())
        .await
        .status
        .as_u16()
}

#[tokio::test]
async fn attack_33_malformed_json_is_a_bad_request_and_crashes_nothing() {
    let webhook = webhook();
    let api_server = webhook.api_server_of(CLUSTER);
    let good = review("garbage");
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    let spec =
        |spec: &str| format!(r#"{{"apiVersion":"{V1}","kind":"TokenReview","spec":{spec}}}"#);
    for body in [
        "",
        "null",
        "[]",
        "\"\"",
        "0",
        "{",
        "{}",
        "not json",
        &deep,
        &good[..good.len() - 1],
        &format!("{good}{good}"),
        &format!("{good}x"),
        &format!("{{\"x\":{deep}}}"),
        &spec("null"),
        &spec("{}"),
        &spec("[]"),
        &spec("\"\""),
        &spec("7"),
        &spec(r#"{"token":null}"#),
        &spec(r#"{"token":7}"#),
        &spec(r#"{"token":["x"]}"#),
        &spec(r#"{"token":{"a":1}}"#),
        &spec(r#"{"token":"x","audiences":"y"}"#),
        &spec(r#"{"token":"x","audiences":[7]}"#),
        r#"{"kind":"TokenReview","spec":{"token":"x"}}"#,
        &format!(r#"{{"apiVersion":"{V1}","spec":{{"token":"x"}}}}"#),
        // twice the same: which one counts would depend on who reads it
        &format!(
            r#"{{"apiVersion":"{V1}","kind":"TokenReview","kind":"TokenReview","spec":{{"token":"x"}}}}"#
        ),
        &spec(r#"{"token":"x","token":"y"}"#),
        "{\"apiVersion\":\"\u{fffd}",
    ] {
        assert_eq!(
            posted(&api_server, body).await,
            400,
            "{}",
            &body[..body.len().min(80)]
        );
    }
    let invalid = api_server.post(Body::from(vec![b'{', 0xff, 0xfe])).await;
    assert_eq!(invalid.status, 400);
    for body in [
        &good,
        &spec(r#"{"token":""}"#),
        &spec(r#"{"token":"x","unknown":1}"#),
    ] {
        assert_eq!(posted(&api_server, body).await, 200, "{body}");
    }
}

#[tokio::test]
async fn attack_34_wrong_kinds_versions_methods_and_types_are_reported_as_such() {
    let webhook = webhook();
    let api_server = webhook.api_server_of(CLUSTER);
    let of = |version: &str, kind: &str| {
        json!({"apiVersion": version, "kind": kind, "spec": {"token": "x", "user": "y"}})
            .to_string()
    };
    for (version, kind, expected) in [
        (V1, "TokenReview", 200),
        ("authentication.k8s.io/v1beta1", "TokenReview", 200),
        ("authentication.k8s.io/v2", "TokenReview", 400),
        ("authentication.k8s.io/v1alpha1", "TokenReview", 400),
        ("authorization.k8s.io/v1", "TokenReview", 400),
        ("v1", "TokenReview", 400),
        ("authorization.k8s.io/v1", "SubjectAccessReview", 400),
        (V1, "SubjectAccessReview", 400),
        (V1, "tokenreview", 400),
    ] {
        let found = posted(&api_server, &of(version, kind)).await;
        assert_eq!(found, expected, "{version} {kind}");
    }
    let send = async |method: Method, content_type: &str| {
        let body = Body::from(review("garbage"));
        api_server.send(method, &path(), content_type, body).await
    };
    for method in [
        Method::GET,
        Method::PUT,
        Method::DELETE,
        Method::HEAD,
        Method::PATCH,
    ] {
        let reply = send(method.clone(), "application/json").await;
        assert_eq!(reply.status, 405, "{method}");
        assert_eq!(reply.headers["allow"], "POST");
    }
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "",
    ] {
        let reply = send(Method::POST, content_type).await;
        assert_eq!(reply.status, 415, "{content_type}");
    }
    for content_type in ["application/json", "Application/JSON; charset=utf-8"] {
        assert_eq!(send(Method::POST, content_type).await.status, 200);
    }
}

const CANARY: &str = "gAAAAABcanary-token-of-somebody";

/// Reviews the canary at a Keystone that gives this answer; checks all that the response contains.
async fn reply_to_the_canary(answer: Response<Body>, expected: u16) -> String {
    let (parts, body) = answer.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let keystone =
        StandIn::start(move |_| Response::from_parts(parts.clone(), Body::from(body.clone())));
    let keystone = keystone.await;
    let webhook = webhook_at(keystone.url());
    let sealed = seal(webhook.current.public(), CLUSTER, &CANARY.into());
    let reply = webhook.api_server_of(CLUSTER).review(V1, &sealed).await;
    assert_eq!(reply.status, expected, "{}", reply.text);
    let output = format!("{} {:?}", reply.text, reply.headers);
    assert!(
        !output.contains(CANARY) && !output.contains(&sealed),
        "{output}"
    );
    sealed
}

#[tokio::test]
async fn attack_35_no_token_is_ever_disclosed() {
    let log = Log::start();
    let metrics = Metrics::install(jiff::Timestamp::UNIX_EPOCH).unwrap();
    let sealed = [
        reply_to_the_canary(json_answer(200, &token()), 200).await,
        reply_to_the_canary(not_found(), 200).await,
        reply_to_the_canary(json_answer(500, &json!({})), 503).await,
    ];
    // bad requests with it
    let webhook = webhook();
    let api_server = webhook.api_server_of(CLUSTER);
    for body in [
        review(CANARY),
        format!("{{\"token\": \"{CANARY}\""),
        format!("\"{CANARY}\""),
    ] {
        let reply = api_server.post(body.into()).await;
        assert!(!reply.text.contains(CANARY), "{}", reply.text);
    }
    let output = log.text() + &metrics.render();
    // the control case: the decision itself is logged and counted
    assert!(output.contains("token_review") && output.contains("portico_token_reviews_total"));
    for secret in sealed.iter().map(String::as_str).chain([CANARY]) {
        assert!(!output.contains(secret));
    }
}

#[tokio::test]
async fn attack_36_the_text_of_a_keystone_error_is_not_passed_on() {
    let log = Log::start();
    let echo = |status: u16| {
        let message = format!("Could not find token: {CANARY}.");
        json_answer(
            status,
            &json!({"error": {"code": status, "title": CANARY, "message": message}}),
        )
    };
    for (status, expected) in [
        (404, 200),
        (401, 200),
        (400, 503),
        (403, 503),
        (418, 503),
        (429, 503),
        (500, 503),
        (503, 503),
    ] {
        reply_to_the_canary(echo(status), expected).await;
    }
    reply_to_the_canary(json_answer(200, &Value::String(CANARY.to_owned())), 503).await;
    reply_to_the_canary(json_answer(200, &token()), 200).await;
    let output = log.text();
    assert!(output.contains("token_review"));
    assert!(!output.contains(CANARY));
}

#[tokio::test]
async fn attack_37_no_answer_makes_an_api_server_try_for_half_a_minute() {
    for status in [429, 503] {
        let keystone = StandIn::start(move |_| {
            let mut answer = json_answer(status, &json!({}));
            answer
                .headers_mut()
                .insert("retry-after", "1".parse().unwrap());
            answer
        });
        let keystone = keystone.await;
        let webhook = webhook_at(keystone.url());
        for n in 0..20 {
            let reply = review_of(&webhook, &format!("gAAAA-{n}")).await;
            // asserts that there is no Retry-After
            reply.assert_undecided(&status.to_string());
            assert_eq!(reply.status, 503);
        }
        // the wait that Keystone asked for is kept inside
        assert!(keystone.calls() <= 3, "{status}: {}", keystone.calls());
        advance(Duration::from_millis(1100)).await;
        review_of(&webhook, "gAAAA-later")
            .await
            .assert_undecided("later");
        assert!(keystone.calls() >= 2, "{status}: {}", keystone.calls());
    }
}
