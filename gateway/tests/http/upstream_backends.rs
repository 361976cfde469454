//! Several servers of one app: who gets a request, who gets it next, and when no server does.
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{
    browser::{Browser, Page},
    echo::Echo,
    raw::{Act, Raw},
    stack::{APP, Stack, Wanted},
    time::eventually,
};

/// Nothing listens at this address.
const UNREACHABLE: &str = "http://127.0.0.1:9";

async fn among(backends: &[&str], more: Value) -> (Stack, Browser) {
    let mut upstream = more;
    upstream["backends"] = json!(backends);
    let stack = Stack::start(Wanted {
        app: json!({ "url": null, "upstream": upstream }),
        ..Wanted::default()
    })
    .await;
    let browser = stack.in_app().await;
    (stack, browser)
}

async fn send(browser: &mut Browser, method: Method, body: &str) -> Page {
    browser.call(method, &format!("{APP}/x"), body).await
}

#[tokio::test]
async fn requests_go_round() {
    let (one, two) = (Echo::start().await, Echo::start().await);
    let (_stack, mut browser) = among(&[&one.url(), &two.url()], json!({})).await;
    for _ in 0..6 {
        let page = send(&mut browser, Method::GET, "").await;
        assert_eq!(page.status, StatusCode::OK);
    }
    assert_eq!((one.asked(), two.asked()), (3, 3));
}

#[tokio::test]
async fn a_server_that_takes_no_connection_is_passed_over_with_whatever_was_sent() {
    let echo = Echo::start().await;
    let (_stack, mut browser) = among(&[UNREACHABLE, &echo.url()], json!({})).await;
    for (method, body) in [
        (Method::POST, "a body"),
        (Method::GET, ""),
        (Method::DELETE, ""),
        (Method::PUT, "another"),
    ] {
        let page = send(&mut browser, method.clone(), body).await;
        assert_eq!(page.status, StatusCode::OK, "{method}: {}", page.body);
        assert_eq!(page.json()["body"], body);
    }
    assert_eq!(echo.asked(), 4);
}

#[tokio::test]
async fn where_no_server_takes_a_connection_each_request_tries() {
    let (_stack, mut browser) = among(&[UNREACHABLE, "http://127.0.0.1:10"], json!({})).await;
    for _ in 0..3 {
        let page = send(&mut browser, Method::POST, "x").await;
        assert_eq!(page.status, StatusCode::BAD_GATEWAY);
        assert_eq!(page.json()["error"], "upstream_unreachable");
    }
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Answers the first request of its first connection, and closes it on the second.
async fn tires_of_waiting() -> Raw {
    Raw::start(|connection, request| match (connection, request) {
        (0, 0) | (1.., _) => Act::Answer(OK),
        _ => Act::Last(b""),
    })
    .await
}

async fn behind(url: &str) -> (Stack, Browser) {
    let stack = Stack::start(Wanted {
        app: json!({ "url": url }),
        ..Wanted::default()
    })
    .await;
    let browser = stack.in_app().await;
    (stack, browser)
}

#[tokio::test]
async fn a_lost_reused_connection_costs_a_reader_nothing() {
    let raw = tires_of_waiting().await;
    let (_stack, mut browser) = behind(&raw.url()).await;
    for _ in 0..2 {
        let page = send(&mut browser, Method::GET, "").await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    }
    assert_eq!(raw.seen().len(), 3, "{:?}", raw.seen());
}

#[tokio::test]
async fn what_may_have_been_acted_on_is_not_sent_again() {
    for (method, body) in [
        (Method::POST, ""),
        (Method::POST, "x"),
        (Method::DELETE, ""),
        (Method::GET, "a body"),
    ] {
        let raw = tires_of_waiting().await;
        let (_stack, mut browser) = behind(&raw.url()).await;
        let page = send(&mut browser, Method::GET, "").await;
        assert_eq!(page.status, StatusCode::OK);
        let page = send(&mut browser, method.clone(), body).await;
        assert_eq!(page.status, StatusCode::BAD_GATEWAY, "{method} {body}");
        let heads = raw
            .seen()
            .into_iter()
            .filter(|text| text.contains(" HTTP/1.1\r\n"));
        assert_eq!(heads.count(), 2, "{method} {body}");
    }
}

#[tokio::test]
async fn nothing_is_sent_again_on_a_fresh_connection_or_after_an_answer_began() {
    for script in [
        // each connection is closed at its first request
        (|_, _| Act::Last(b"")) as crate::support::raw::Script,
        |connection, request| match (connection, request) {
            (0, 0) => Act::Answer(OK),
            _ => Act::Last(b"HTTP/1.1 200 OK\r\nContent-"),
        },
        |connection, request| match (connection, request) {
            (0, 0) => Act::Answer(OK),
            _ => Act::Last(b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        },
    ] {
        let raw = Raw::start(script).await;
        let (_stack, mut browser) = behind(&raw.url()).await;
        let mut sent = 0;
        loop {
            sent += 1;
            let page = send(&mut browser, Method::GET, "").await;
            if page.status != StatusCode::OK {
                assert_eq!(page.status, StatusCode::BAD_GATEWAY);
                assert_eq!(page.json()["error"], "upstream_broken");
                break;
            }
        }
        assert_eq!(raw.seen().len(), sent, "{:?}", raw.seen());
    }
}

fn checks() -> Value {
    json!({ "path": "/healthy", "every": "100ms", "timeout": "200ms", "healthy": 2, "unhealthy": 2 })
}

/// Refuses every health check; whatever else it is asked, it answers.
async fn ill() -> Raw {
    Raw::start(|_, _| Act::Answer(b"HTTP/1.1 500 no\r\nContent-Length: 2\r\n\r\nno")).await
}

/// Runs the gateway's tasks until the outcome of two health checks is known, which is so once there is
/// a third one.
async fn run(stack: &Stack, checked: &Raw) {
    let gateway = stack.gateway.clone();
    tokio::spawn(async move { gateway.run(CancellationToken::new()).await });
    eventually("three health checks", async || checked.seen().len() >= 3).await;
}

#[tokio::test]
async fn a_server_that_fails_its_checks_gets_no_requests() {
    let (well, ill) = (Echo::start().await, ill().await);
    let backends = [&*well.url(), &*ill.url()];
    let (stack, mut browser) = among(&backends, json!({ "health": checks() })).await;
    run(&stack, &ill).await;
    for _ in 0..6 {
        let page = send(&mut browser, Method::GET, "").await;
        assert_eq!(page.status, StatusCode::OK);
    }
    let seen = ill.seen();
    assert!(seen.iter().all(|text| text.starts_with("GET /healthy ")));
    assert!(seen.iter().all(|text| text.contains("portico-health")));
    assert!(!seen.concat().contains("portico-assertion"));
}

#[tokio::test]
async fn where_no_server_is_healthy_users_get_a_page_and_no_server_is_asked() {
    let ill = ill().await;
    let stack = Stack::start(Wanted {
        app: json!({ "url": ill.url(), "upstream": { "health": checks() } }),
        ..Wanted::default()
    })
    .await;
    let mut browser = stack.in_app().await;
    run(&stack, &ill).await;
    let page = send(&mut browser, Method::GET, "").await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(page.json()["error"], "upstream_unhealthy");
    assert!(page.body.contains("Prometheus"), "{}", page.body);
    assert!(page.headers.contains_key("retry-after"));
    assert!(!ill.seen().concat().contains("GET /x "));
}

#[tokio::test]
async fn a_server_that_is_well_again_gets_requests_again() {
    let raw = Raw::start(|connection, _| match connection {
        // each answer closes, so that a connection is a check
        0..6 => Act::Last(b"HTTP/1.1 500 no\r\nContent-Length: 0\r\n\r\n"),
        _ => Act::Last(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"),
    })
    .await;
    let stack = Stack::start(Wanted {
        app: json!({ "url": raw.url(), "upstream": { "health": checks() } }),
        ..Wanted::default()
    })
    .await;
    let mut browser = stack.in_app().await;
    run(&stack, &raw).await;
    let page = send(&mut browser, Method::GET, "").await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    eventually("requests again", async || {
        send(&mut browser, Method::GET, "").await.status == StatusCode::OK
    })
    .await;
}
