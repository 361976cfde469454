//! 13, 14 and 25: who is believed as a proxy in front, and what a broken cookie in its question is.
use axum::Router;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, UnixListener, UnixStream},
};

use crate::{
    forwarded::{AUTH, app_client, ask, exchange, two_apps},
    support::stack::{APP, APP_HOST, MAIN_HOST, Stack},
};

#[tokio::test]
async fn attack_13_no_peer_is_a_trusted_proxy_unless_configured() {
    let sent = [
        ("x-forwarded-host", APP_HOST),
        ("x-forwarded-uri", "/graph"),
    ];
    for (trusted, status) in [
        (json!(null), 421),
        (json!([]), 421),
        (json!(["192.0.2.0/24"]), 421),
        (json!(["127.0.0.1/32"]), 202),
        (json!(["::ffff:127.0.0.1/128"]), 421),
    ] {
        let gateway = match &trusted {
            Value::Null => json!({}),
            networks => json!({ "trusted_proxies": networks }),
        };
        let stack = Stack::start(two_apps(gateway)).await;
        let client = app_client(&stack).await;
        let answer = ask(&client, AUTH, "portico.internal", &sent).await;
        assert_eq!(answer.status.as_u16(), status, "{trusted}");
    }
}

#[tokio::test]
async fn attack_14_a_peer_without_an_address_is_not_a_trusted_proxy() {
    let stack = Stack::start(two_apps(
        json!({ "trusted_proxies": ["0.0.0.0/0", "::/0"] }),
    ))
    .await;
    let client = app_client(&stack).await;
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("socket");
    let listener = UnixListener::bind(&path).expect("socket");
    let router = Router::new().fallback_service(stack.gateway.service());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let head = |host: &str, more: &str| {
        format!(
            "GET /oauth2/auth HTTP/1.1\r\nHost: {host}\r\nCookie: {}\r\n{more}Connection: close\r\n\r\n",
            client.cookie_line(APP_HOST)
        )
    };
    let sent = format!(
        "X-Forwarded-Host: {APP_HOST}\r\nX-Forwarded-Uri: /graph\r\nSec-Portico-Forward-Auth: 1\r\n"
    );
    for (host, more, start) in [
        ("portico.internal", sent.as_str(), "HTTP/1.1 421"),
        (APP_HOST, "X-Forwarded-Uri: /a/%2e%2e/b\r\n", "HTTP/1.1 202"),
    ] {
        let stream = UnixStream::connect(&path).await.expect("connected");
        let answer = exchange(stream, &head(host, more)).await;
        assert!(answer.starts_with(start), "{answer}");
        assert!(!answer.contains("portico-assertion"), "{answer}");
    }
    // the control case: the same over TCP, from a network that is trusted
    let stream = TcpStream::connect(stack.address).await.expect("gateway");
    let answer = exchange(stream, &head("portico.internal", &sent)).await;
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
    assert!(answer.contains("portico-assertion"), "{answer}");
}

#[tokio::test]
async fn attack_25_a_broken_cookie_is_401_and_never_a_user() {
    let stack = Stack::start(two_apps(json!({ "trusted_proxies": ["127.0.0.0/8"] }))).await;
    let mut client = app_client(&stack).await;
    let good = client
        .cookie(APP_HOST, "portico")
        .expect("cookie")
        .to_owned();
    let main = client
        .cookie(MAIN_HOST, "portico")
        .expect("cookie")
        .to_owned();
    let huge = format!("portico={}", "x".repeat(20_000));
    let many = "a=b; ".repeat(2_000);
    let mut lines: Vec<Vec<u8>> = [
        "portico",
        "portico=",
        "portico=;",
        ";;;;;",
        "=",
        "=portico",
        "portico=\"\"",
        huge.as_str(),
        many.as_str(),
    ]
    .iter()
    .map(|line| line.as_bytes().to_vec())
    .collect();
    for value in [
        format!("portico={good}; portico={good}"),
        format!("portico={good}; portico=x"),
        format!("portico=x; portico={good}"),
        format!("portico={good}x"),
        format!("portico={}", &good[1..]),
        format!("portico=\"{good}\""),
        format!("portico={good}\t; x=y").replace('\t', "\u{b}"),
        format!("Portico={good}"),
        format!("__Host-portico={good}"),
        format!("portico ={good} ,"),
        format!("a=b, portico={good}"),
        format!("portico={main}"),
        format!("portico={}", good.to_uppercase()),
        format!("portico={}%00", &good[..40]),
    ] {
        lines.push(value.into_bytes());
    }
    lines.push([b"portico=".as_slice(), &[0xff, 0xfe], good.as_bytes()].concat());
    lines.push([format!("portico={good}; x=").as_bytes(), &[0x80, 0xff]].concat());
    for endpoint in [
        "/oauth2/auth",
        "/oauth2/auth/redirect",
        "/oauth2/ext_authz/graph",
    ] {
        for line in &lines {
            let mut head = format!(
                "GET {endpoint} HTTP/1.1\r\nHost: {APP_HOST}\r\nSec-Fetch-Mode: cors\r\n\
                 Sec-Fetch-Site: same-origin\r\nConnection: close\r\nCookie: "
            )
            .into_bytes();
            head.extend_from_slice(line);
            head.extend_from_slice(b"\r\n\r\n");
            let mut stream = TcpStream::connect(stack.address).await.expect("gateway");
            stream.write_all(&head).await.expect("written");
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).await.expect("an answer");
            let answer = String::from_utf8_lossy(&answer);
            let shown = String::from_utf8_lossy(line);
            let shown = shown.get(..80).unwrap_or(&shown);
            // a control character is not HTTP: the listener refuses it before any of ours
            assert!(
                answer.starts_with("HTTP/1.1 401") || answer.starts_with("HTTP/1.1 400"),
                "{endpoint} {shown}: {answer}"
            );
            assert!(!answer.contains("x-auth-request"), "{endpoint} {shown}");
        }
    }
    let answer = client.open(&format!("{APP}/oauth2/auth")).await;
    assert_eq!(
        answer.status,
        http::StatusCode::ACCEPTED,
        "the control case"
    );
}
