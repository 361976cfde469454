//! WebSockets: passed through, only from the host's own pages, closed with their session.
use std::time::Duration;

use portico_store::Session;
use secrecy::ExposeSecret as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::support::{
    browser::Browser,
    stack::{MAIN, MAIN_HOST, Stack, Wanted},
};

async fn ask(stack: &Stack, browser: &Browser, path: &str, extra: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(stack.address).await.expect("gateway");
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost:8080\r\nCookie: {}\r\n\
         Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{extra}\r\n",
        browser.cookie_line(MAIN_HOST)
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        let read = stream.read(&mut byte).await.expect("read");
        if read == 0 {
            break;
        }
        answer.push(byte[0]);
    }
    (stream, String::from_utf8_lossy(&answer).into_owned())
}

const OWN: &str = "Upgrade: websocket\r\nOrigin: http://localhost:8080\r\n";

async fn started() -> (Stack, Browser, Session) {
    let stack = Stack::start(Wanted::default()).await;
    let (browser, session) = stack.signed_in(&[]).await;
    (stack, browser, session)
}

#[tokio::test]
async fn messages_pass_both_ways_until_sign_out() {
    let (stack, mut browser, session) = started().await;
    let (mut stream, answer) = ask(&stack, &browser, "/socket", OWN).await;
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    // a masked text frame "hi", with a mask of zeros
    stream
        .write_all(&[0x81, 0x82, 0, 0, 0, 0, b'h', b'i'])
        .await
        .expect("written");
    let mut echoed = [0; 4];
    stream.read_exact(&mut echoed).await.expect("echo");
    assert_eq!(&echoed, &[0x81, 2, b'h', b'i']);

    let csrf = session.csrf.expose_secret();
    browser
        .submit(
            MAIN,
            &format!("{MAIN}/oauth2/sign_out"),
            &[("csrf_token", csrf)],
        )
        .await;
    let mut rest = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(2), stream.read_to_end(&mut rest)).await;
    assert!(closed.is_ok(), "the socket is still open");
}

#[tokio::test]
async fn other_origins_get_no_socket() {
    let (stack, browser, _) = started().await;
    for origin in [
        "Origin: https://evil.example\r\n",
        "Origin: http://prometheus.apps.localhost:8080\r\n",
        "Origin: null\r\n",
        "",
    ] {
        let extra = format!("Upgrade: websocket\r\n{origin}");
        let (_, answer) = ask(&stack, &browser, "/socket", &extra).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{origin}: {answer}");
    }
}

#[tokio::test]
async fn strangers_get_no_socket() {
    let (stack, _, _) = started().await;
    let stranger = Browser::new(stack.address);
    let (_, answer) = ask(&stack, &stranger, "/socket", OWN).await;
    assert!(answer.starts_with("HTTP/1.1 401 ") || answer.starts_with("HTTP/1.1 303 "));
}

#[tokio::test]
async fn no_other_protocol_is_switched_to() {
    let (stack, browser, _) = started().await;
    let extra = "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\nOrigin: http://localhost:8080\r\n";
    let (_, answer) = ask(&stack, &browser, "/anything", extra).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn bytes_after_the_head_wait_for_the_switch() {
    let (stack, browser, _) = started().await;
    let extra = format!("{OWN}X-Test: 1\r\n");
    let (mut stream, answer) = ask(&stack, &browser, "/refuses-upgrade", &extra).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    stream
        .write_all(b"GET /smuggled HTTP/1.1\r\nHost: localhost:8080\r\n\r\n")
        .await
        .ok();
    let mut rest = Vec::new();
    let read = stream.read_to_end(&mut rest);
    let _ = tokio::time::timeout(Duration::from_millis(500), read).await;
    let rest = String::from_utf8_lossy(&rest);
    assert!(!rest.contains("\"/smuggled\""), "{rest}");
}
