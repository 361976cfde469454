//! The webhook over its real listener: both versions of HTTP, many connections, a certificate that
//! changes, a stop in the middle.
use crate::reviews::{CLUSTER, seal};
use crate::stand_in::{StandIn, json_answer, token};
use crate::webhook_server::{WebhookServer, request, status};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use portico_test_support::time::eventually;
use portico_test_support::webhook::{V1, Webhook, cluster};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const JSON: &str = "content-type: application/json\r\n";

fn path() -> String {
    format!("/clusters/{CLUSTER}/tokenreview?timeout=30s")
}

/// A webhook whose Keystone takes its time, and a review that it answers.
async fn slow_webhook(delay: Duration) -> (StandIn, Webhook, String) {
    // in Keystone's place, because a real one is not slow when a test wants it to be
    let keystone = StandIn::start(move |_| {
        std::thread::sleep(delay);
        json_answer(200, &token())
    });
    let keystone = keystone.await;
    let webhook = Webhook::new(
        vec![cluster(1, "p1", &[])],
        keystone.url(),
        Duration::from_secs(10),
    );
    let sealed = seal(webhook.current.public(), CLUSTER, &"gAAAA-any".into());
    let review = json!({"apiVersion": V1, "kind": "TokenReview", "spec": {"token": sealed}});
    (keystone, webhook, review.to_string())
}

fn body_of(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

#[tokio::test]
async fn both_versions_of_http_and_a_hundred_connections_get_the_same_answer() {
    let (_keystone, webhook, review) = slow_webhook(Duration::ZERO).await;
    let served = WebhookServer::open(&webhook).await;
    let identity = served.authority.api_server(CLUSTER);
    let bytes = request("POST", &path(), JSON, &review);
    let by_http1 = body_of(&served.answer_to(Some(&identity), &bytes).await);
    assert_eq!(by_http1["status"]["authenticated"], true);

    let stream = served
        .connect_with(Some(&identity), &[b"h2"])
        .await
        .unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let handshake = http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (sender, connection) = handshake.await.unwrap();
    let connection = tokio::spawn(connection);
    let mut streams = JoinSet::new();
    for _ in 0..100 {
        let mut sender = sender.clone();
        let request = http::Request::post(format!("https://localhost{}", path()))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(review.clone())))
            .unwrap();
        streams.spawn(async move {
            let answer = sender.send_request(request).await.unwrap();
            answer.into_body().collect().await.unwrap().to_bytes()
        });
    }
    for answer in streams.join_all().await {
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(answer, by_http1);
    }
    drop(sender);
    connection.abort();

    let answers = (0..100).map(|_| served.answer_to(Some(&identity), &bytes));
    for answer in futures::future::join_all(answers).await {
        assert_eq!(body_of(&answer), by_http1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_lets_running_reviews_finish_and_takes_no_new_ones() {
    let (keystone, webhook, review) = slow_webhook(Duration::from_secs(1)).await;
    let served = std::sync::Arc::new(WebhookServer::open(&webhook).await);
    let identity = served.authority.api_server(CLUSTER);
    let running = {
        let (served, identity) = (std::sync::Arc::clone(&served), identity.clone());
        let bytes = request("POST", &path(), JSON, &review);
        tokio::spawn(async move { served.answer_to(Some(&identity), &bytes).await })
    };
    eventually("Keystone is asked", async || keystone.calls() > 0).await;
    served.stop();
    let answer = running.await.unwrap();
    assert_eq!(body_of(&answer)["status"]["authenticated"], true);
    // the review may have ended before the listener has noticed the stop
    eventually("no new connection is taken", async || {
        served.connect(Some(&identity)).await.is_err()
    })
    .await;
}

#[tokio::test]
async fn a_new_certificate_counts_within_seconds_and_cuts_no_client_off() {
    let (_keystone, webhook, review) = slow_webhook(Duration::ZERO).await;
    let served = WebhookServer::open(&webhook).await;
    let identity = served.authority.api_server(CLUSTER);
    let bytes = request("POST", &path(), JSON, &review);
    let kept = served.connect(Some(&identity)).await.unwrap();
    let shown = |stream: &tokio_rustls::client::TlsStream<tokio::net::TcpStream>| {
        stream.get_ref().1.peer_certificates().unwrap()[0].clone()
    };
    let before = shown(&kept);
    served.renew_certificate();
    let renewed = Instant::now();
    loop {
        let stream = served.connect(Some(&identity)).await.unwrap();
        if shown(&stream) != before {
            break;
        }
        assert!(renewed.elapsed() < Duration::from_secs(15));
        // no client is turned away meanwhile
        assert_eq!(
            status(&served.answer_to(Some(&identity), &bytes).await),
            200
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    // an existing connection stays open
    let answer = WebhookServer::answer_on(kept, &bytes).await;
    assert_eq!(status(&answer), 200);
}
