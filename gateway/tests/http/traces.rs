//! Traces: what a collector gets of a request, whose traces are continued, and that a collector
//! that fails affects no request.
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use opentelemetry_proto::tonic::trace::v1::Span;
use portico_runtime::traces::{Traces, TracesConfig};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::support::{
    browser::{Browser, Page},
    collector::{Collector, hex},
    stack::{MAIN, Stack, Wanted},
};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// For the whole process, as the program has it (a test is a process of its own): a span that a
/// thread of the store closes last would not be closed in a thread's subscriber.
fn trace(config: &TracesConfig) -> Traces {
    let traces = Traces::start(config).expect("configuration").expect("on");
    let subscriber = tracing_subscriber::registry().with(traces.layer());
    tracing::subscriber::set_global_default(subscriber).expect("the process's only one");
    traces
}

fn config(endpoint: String) -> TracesConfig {
    TracesConfig {
        endpoint: Some(endpoint),
        sample_ratio: 1.0,
        ..TracesConfig::default()
    }
}

/// Waits until the collector has a span of this name, then for the last ones. The answer is with
/// the client before the task that made it is over, and with it the span of the request.
async fn spans(traces: Traces, collector: &Collector, name: &str) -> Vec<Span> {
    let started = Instant::now();
    let received = &collector.received;
    while !received.spans().iter().any(|span| span.name == name) {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "no {name} in {:?}",
            received.spans()
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    traces.flush().await;
    received.spans()
}

/// A gateway behind a proxy on this machine.
async fn behind_a_proxy() -> Stack {
    Stack::start(Wanted {
        gateway: json!({ "trusted_proxies": ["127.0.0.0/8"] }),
        ..Wanted::default()
    })
    .await
}

async fn ask(browser: &mut Browser, path: &str) -> Page {
    let headers = [
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-mode", "cors"),
        ("traceparent", PARENT),
        ("tracestate", "vendor=1"),
        ("baggage", "user=ada"),
    ];
    let url = format!("{MAIN}{path}");
    let page = browser
        .send(Method::GET, &url, &headers, String::new())
        .await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    page
}

/// The value of this header in the request that the upstream received.
fn received_header(page: &Page, name: &str) -> Option<String> {
    let echo: Value = page.json();
    let headers = echo["headers"].as_array().expect("headers");
    let header = headers.iter().find(|pair| pair[0] == name);
    header.and_then(|pair| pair[1].as_str().map(str::to_owned))
}

#[tokio::test]
async fn a_collector_gets_the_request_and_what_it_asked_others_as_part_of_the_trace_of_the_proxy() {
    let collector = Collector::start().await;
    let traces = trace(&config(collector.url()));
    let stack = behind_a_proxy().await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let page = ask(&mut browser, "/projects/p1?q=confidential").await;
    let passed_on = received_header(&page, "traceparent").expect("traceparent");
    let spans = spans(traces, &collector, "request").await;
    let named = |name: &str| {
        let found: Vec<_> = spans.iter().filter(|span| span.name == name).collect();
        assert_eq!(found.len(), 1, "{name} in {spans:?}");
        found[0]
    };
    let (request, lookup, upstream) =
        (named("request"), named("session lookup"), named("upstream"));
    for span in [request, lookup, upstream] {
        assert_eq!(hex(&span.trace_id), TRACE);
    }
    assert_eq!(hex(&request.parent_span_id), "b7ad6b7169203331");
    assert_eq!(lookup.parent_span_id, request.span_id);
    assert_eq!(upstream.parent_span_id, request.span_id);
    assert_eq!(
        passed_on,
        format!("00-{TRACE}-{}-01", hex(&upstream.span_id))
    );
    let attributes = format!("{:?}", request.attributes);
    for part in ["request_id", "/projects/p1", "IntValue(200)"] {
        assert!(attributes.contains(part), "{part}: {attributes}");
    }
    assert!(!format!("{spans:?}").contains("confidential"));
    assert!(collector.received.resource().contains("portico"));
}

#[tokio::test]
async fn a_strangers_trace_is_not_continued_nor_passed_on() {
    let collector = Collector::start().await;
    let traces = trace(&config(collector.url()));
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&[]).await;
    let page = ask(&mut browser, "/projects/p1").await;
    let passed_on = received_header(&page, "traceparent").expect("our own");
    assert!(!passed_on.contains(TRACE), "{passed_on}");
    assert_eq!(received_header(&page, "tracestate"), None);
    assert_eq!(received_header(&page, "baggage"), None);
    let spans = spans(traces, &collector, "request").await;
    let request = spans.iter().find(|span| span.name == "request");
    let request = request.expect("a span");
    assert!(request.parent_span_id.is_empty());
    assert_ne!(hex(&request.trace_id), TRACE);
}

#[tokio::test]
async fn without_traces_the_context_of_a_proxy_passes_and_that_of_a_client_does_not() {
    for (stack, passes) in [
        (behind_a_proxy().await, true),
        (Stack::start(Wanted::default()).await, false),
    ] {
        let (mut browser, _) = stack.signed_in(&[]).await;
        let page = ask(&mut browser, "/projects/p1").await;
        let seen = received_header(&page, "traceparent");
        assert_eq!(seen, passes.then(|| PARENT.to_owned()));
    }
}

#[tokio::test]
async fn a_call_to_keystone_has_a_span_without_what_was_sent() {
    let collector = Collector::start().await;
    let traces = trace(&config(collector.url()));
    let stack = Stack::start(Wanted::default()).await;
    let mut browser = Browser::new(stack.address);
    let url = format!("{MAIN}/oauth2/sign_in");
    let page = browser.open(&url).await;
    let csrf = page.field("csrf_token");
    let fields = [
        ("csrf_token", csrf.as_str()),
        ("name", "ada"),
        ("password", "s3cret-passw0rd"),
    ];
    browser.submit(MAIN, &url, &fields).await;
    let spans = spans(traces, &collector, "keystone").await;
    assert!(
        spans.iter().any(|span| span.name == "keystone"),
        "{spans:?}"
    );
    let text = format!("{spans:?}");
    for secret in ["s3cret-passw0rd", csrf.as_str()] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[tokio::test]
async fn the_collector_gets_the_headers_of_the_file() {
    let collector = Collector::start().await;
    let dir = tempfile::tempdir().expect("directory");
    let path = dir.path().join("headers");
    std::fs::write(&path, "Authorization: Bearer of-the-collector\n").expect("file");
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&path, mode).expect("mode");
    let traces = trace(&TracesConfig {
        headers_file: Some(path),
        ..config(collector.url())
    });
    let stack = Stack::start(Wanted::default()).await;
    Browser::new(stack.address)
        .open(&format!("{MAIN}/ping"))
        .await;
    spans(traces, &collector, "request").await;
    let headers = collector.received.headers();
    assert_eq!(headers[0]["authorization"], "Bearer of-the-collector");
    assert_eq!(headers[0]["content-type"], "application/x-protobuf");
}

#[tokio::test]
async fn a_ratio_of_zero_sends_nothing_that_no_proxy_decided() {
    let collector = Collector::start().await;
    let traces = trace(&TracesConfig {
        sample_ratio: 0.0,
        ..config(collector.url())
    });
    let stack = behind_a_proxy().await;
    let (mut browser, _) = stack.signed_in(&[]).await;
    for _ in 0..20 {
        browser.open(&format!("{MAIN}/projects/p1")).await;
    }
    ask(&mut browser, "/projects/p1").await;
    let spans = spans(traces, &collector, "request").await;
    assert!(!spans.is_empty());
    assert!(spans.iter().all(|span| hex(&span.trace_id) == TRACE));
}

#[tokio::test]
async fn a_collector_that_never_answers_slows_and_fails_no_request() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("port");
    let address = silent.local_addr().expect("address");
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Ok(connection) = silent.accept().await {
            kept.push(connection);
        }
    });
    let traces = trace(&config(format!("http://{address}/v1/traces")));
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&[]).await;
    let started = Instant::now();
    for _ in 0..300 {
        ask(&mut browser, "/projects/p1").await;
    }
    // far longer than 300 requests take, far shorter than one wait for the collector a batch
    assert!(started.elapsed() < Duration::from_secs(20));
    let started = Instant::now();
    traces.flush().await;
    assert!(started.elapsed() < Duration::from_secs(3));
    ask(&mut browser, "/projects/p1").await;
}

#[tokio::test]
async fn a_collector_that_is_away_slows_and_fails_no_request() {
    let traces = trace(&config("http://127.0.0.1:9/v1/traces".to_owned()));
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&[]).await;
    for _ in 0..50 {
        ask(&mut browser, "/projects/p1").await;
    }
    traces.flush().await;
    ask(&mut browser, "/projects/p1").await;
}
