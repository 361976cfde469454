//! How much one client may have: connections, requests, bodies. Others continue.
use std::time::Duration;

use http::{Method, StatusCode};
use portico_test_support::time::eventually;
use tokio::io::AsyncWriteExt as _;

use crate::{
    browser::Browser,
    program::{Program, Wanted},
    wire::{exchange, read_until_quiet},
};

const APP: &str = "http://prometheus.apps.localhost:8080";

async fn with_app(keys: &str) -> Program {
    let sections = format!(
        "[[apps]]\nid = \"prometheus\"\nname = \"Prometheus\"\nproject = \"ACME\"\n\
         url = \"UPSTREAM\"\nallow = [\n{{ role = \"k8s_admin\", project = \"ACME\" }},\n\
         {{ role = \"k8s_developer\", project = \"ACME\" }},\n]\n{keys}\n"
    );
    Program::start(Wanted {
        sections: &sections,
        ..Wanted::default()
    })
    .await
}

/// A browser that is signed in to the app, with its cookie.
async fn at_the_app(program: &Program, name: &str) -> Browser {
    let mut browser = program.sign_in(name).await;
    let offered = browser.follow(&format!("{APP}/graph")).await;
    let url = format!("{APP}/oauth2/handover");
    let code = offered.field("code");
    let page = browser
        .submit(program.main(), &url, &[("code", &code)])
        .await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    browser
}

#[tokio::test]
async fn one_user_has_a_rate_and_others_have_theirs() {
    let program = with_app("limits = { requests_per_second = 1, burst = 5 }").await;
    let mut ada = at_the_app(&program, "ada").await;
    let mut devi = at_the_app(&program, "devi").await;
    let mut refused = None;
    for number in 1..=20 {
        let page = ada.call(Method::GET, &format!("{APP}/api"), "").await;
        if page.status != StatusCode::OK {
            refused = Some((number, page));
            break;
        }
    }
    let (number, page) = refused.expect("20 requests passed");
    assert!(number > 5, "the burst is 5, not {}", number - 1);
    assert_eq!(page.status, StatusCode::TOO_MANY_REQUESTS, "{}", page.body);
    let wait: u64 = page.headers["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!((1..=2).contains(&wait), "{wait}");
    assert_eq!(page.json()["error"], "rate_limited");
    let page = ada.open(&format!("{APP}/graph")).await;
    assert!(page.body.contains("Too many requests"), "{}", page.body);
    // the session is the same, and so are others and other places
    assert_eq!(
        devi.call(Method::GET, &format!("{APP}/api"), "")
            .await
            .status,
        StatusCode::OK
    );
    let panel = format!("{}/projects/x", program.main());
    assert_eq!(ada.open(&panel).await.status, StatusCode::OK);
    let (_, metrics) = program.admin("/metrics").await.expect("metrics");
    let counted = "portico_gateway_problems_total{code=\"rate_limited\",source=\"downstream\"}";
    assert!(metrics.contains(counted), "{metrics}");
    // the program has a clock of its own
    tokio::time::sleep(Duration::from_secs(wait)).await;
    assert_eq!(
        ada.call(Method::GET, &format!("{APP}/api"), "")
            .await
            .status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn who_is_not_signed_in_has_a_rate_by_address() {
    let program = with_app("limits = { requests_per_second = 1, burst = 3 }").await;
    let mut ada = at_the_app(&program, "ada").await;
    let mut stranger = program.browser();
    let mut statuses = Vec::new();
    for _ in 0..10 {
        statuses.push(
            stranger
                .call(Method::GET, &format!("{APP}/api"), "")
                .await
                .status,
        );
    }
    assert!(
        statuses.contains(&StatusCode::TOO_MANY_REQUESTS),
        "{statuses:?}"
    );
    assert_eq!(statuses[0], StatusCode::UNAUTHORIZED);
    // who is signed in at the same address is counted apart
    assert_eq!(
        ada.call(Method::GET, &format!("{APP}/api"), "")
            .await
            .status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn an_app_takes_bodies_up_to_its_limit() {
    let program = with_app("upstream = { body = 1000 }").await;
    let browser = at_the_app(&program, "ada").await;
    let cookie = browser.cookie_line("prometheus.apps.localhost");
    let head = format!(
        "POST /api HTTP/1.1\r\nHost: prometheus.apps.localhost:8080\r\nOrigin: {APP}\r\n\
         Cookie: {cookie}\r\nConnection: close\r\n"
    );
    for (what, rest, expected) in [
        (
            "at the limit",
            format!("Content-Length: 1000\r\n\r\n{}", "x".repeat(1000)),
            200,
        ),
        (
            "beyond it",
            format!("Content-Length: 1001\r\n\r\n{}", "x".repeat(1001)),
            413,
        ),
        (
            "beyond it without saying so",
            format!(
                "Transfer-Encoding: chunked\r\n\r\n7d0\r\n{}\r\n0\r\n\r\n",
                "x".repeat(2000)
            ),
            413,
        ),
    ] {
        let mut stream = program.connect().await;
        let answer = exchange(&mut stream, format!("{head}{rest}").as_bytes()).await;
        assert_eq!(answer.status(), expected, "{what}: {answer:?}");
    }
    // the panel has the limit of all
    let mut browser = browser;
    let page = browser
        .call(
            Method::POST,
            &format!("{}/projects/x", program.main()),
            &"x".repeat(5000),
        )
        .await;
    assert_eq!(page.status, StatusCode::OK);
}

#[tokio::test]
async fn connections_beyond_the_limit_are_turned_away_at_once() {
    let program = Program::start(Wanted {
        sections: "[gateway.connections]\nmax = 20\nmax_per_address = 10\n",
        ..Wanted::default()
    })
    .await;
    // that of the first look whether it is ready
    program.has_connections(0).await;
    let mut held = Vec::new();
    for _ in 0..10 {
        let mut stream = program.connect().await;
        stream.write_all(b"G").await.expect("sent");
        held.push(stream);
    }
    program.has_connections(10).await;
    let mut stream = program.connect().await;
    let answer = read_until_quiet(&mut stream, Duration::from_secs(10)).await;
    assert!(answer.closed, "{answer:?}");
    assert_eq!(answer.status(), 503, "{answer:?}");
    assert!(answer.text.contains("retry-after: 5"), "{answer:?}");
    let (_, metrics) = program.admin("/metrics").await.expect("metrics");
    let refused =
        "portico_listener_refused_connections_total{listener=\"gateway\",reason=\"address\"} 1";
    assert!(metrics.contains(refused), "{metrics}");
    assert!(
        metrics.contains("portico_listener_connections{listener=\"gateway\"} 10"),
        "{metrics}"
    );
    // a client from elsewhere gets in, and so does every client when there is room again
    let socket = tokio::net::TcpSocket::new_v4().expect("socket");
    socket
        .bind("127.0.0.2:0".parse().expect("address"))
        .expect("bound");
    let elsewhere = socket.connect(program.address).await.expect("connected");
    let mut elsewhere: crate::wire::Raw = Box::new(elsewhere);
    let ping = b"GET /ping HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\n\r\n";
    assert_eq!(exchange(&mut elsewhere, ping).await.status(), 200);
    drop(held);
    program.has_connections(0).await;
    assert_eq!(program.get("/ping").await, StatusCode::OK);
}

#[tokio::test]
async fn requests_beyond_the_limit_are_refused_immediately() {
    let program = Program::start(Wanted {
        sections: "[gateway.connections]\nrequests = 5\n",
        ..Wanted::default()
    })
    .await;
    let cookie = program.cookie("vera").await;
    let before = program.upstream.echo.asked();
    let mut held = Vec::new();
    for _ in 0..5 {
        let mut stream = program.connect().await;
        let head = program.head("GET /slow", &cookie);
        stream
            .write_all(format!("{head}\r\n").as_bytes())
            .await
            .expect("sent");
        held.push(stream);
    }
    eventually("all five are with the upstream", async || {
        program.upstream.echo.asked() >= before + 5
    })
    .await;
    let mut stream = program.connect().await;
    let head = program.head("GET /projects/x", &cookie);
    let request = format!("{head}Connection: close\r\n\r\n");
    let answer = exchange(&mut stream, request.as_bytes()).await;
    assert_eq!(answer.status(), 503, "{answer:?}");
    assert!(answer.text.contains("retry-after: 1"), "{answer:?}");
    assert!(
        answer.text.contains("Portico is overloaded") || answer.text.contains("\"busy\""),
        "{answer:?}"
    );
    assert_eq!(program.get("/ready").await, StatusCode::OK);
    drop(held);
    eventually("requests are served again", async || {
        let mut stream = program.connect().await;
        exchange(&mut stream, request.as_bytes()).await.status() == 200
    })
    .await;
}
