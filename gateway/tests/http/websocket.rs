//! WebSockets: passed through, only from the host's own pages, closed with their session.
use std::time::Duration;

use portico_store::{EndReason, Session};
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
    assert_eq!(rest(&mut stream).await, close_frame(1008, "signed_out"));
}

/// A close frame as a server sends it (RFC 6455, 5.5.1).
fn close_frame(code: u16, reason: &str) -> Vec<u8> {
    let length = u8::try_from(2 + reason.len()).expect("short");
    [&[0x88, length][..], &code.to_be_bytes(), reason.as_bytes()].concat()
}

/// What still comes until the socket is closed, which it must be within a second.
async fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(1), stream.read_to_end(&mut rest)).await;
    assert!(closed.is_ok(), "the socket is still open");
    rest
}

async fn end(stack: &Stack, session: &Session) {
    let now = jiff::Timestamp::now();
    let end = stack
        .store
        .sessions()
        .end(session.id, EndReason::Revoked, now);
    end.await.expect("ended");
}

#[tokio::test]
async fn a_close_frame_waits_for_the_end_of_the_frame_under_way() {
    let (stack, browser, session) = started().await;
    tokio::spawn(run(&stack));
    let (mut stream, answer) = ask(&stack, &browser, "/half-a-frame", OWN).await;
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    let mut begun = [0; 4];
    stream.read_exact(&mut begun).await.expect("begun");
    let (mut other, _) = ask(&stack, &browser, "/socket", OWN).await;
    end(&stack, &session).await;
    // another socket shows that the gateway has learnt of it
    let mut head = [0; 2];
    other.read_exact(&mut head).await.expect("a close frame");
    stack.panel.go_on.notify_one();
    let expected = [b"llo".to_vec(), close_frame(1008, "revoked")].concat();
    assert_eq!(rest(&mut stream).await, expected);
}

#[tokio::test]
async fn a_frame_that_is_never_finished_is_cut_off() {
    let (stack, browser, session) = started().await;
    tokio::spawn(run(&stack));
    let (mut stream, _) = ask(&stack, &browser, "/half-a-frame", OWN).await;
    let mut begun = [0; 4];
    stream.read_exact(&mut begun).await.expect("begun");
    end(&stack, &session).await;
    assert_eq!(rest(&mut stream).await, b"");
}

#[tokio::test]
async fn nothing_of_an_ended_sessions_client_reaches_the_upstream() {
    let (stack, browser, session) = started().await;
    tokio::spawn(run(&stack));
    let (mut stream, _) = ask(&stack, &browser, "/socket", OWN).await;
    end(&stack, &session).await;
    let mut head = [0; 2];
    stream.read_exact(&mut head).await.expect("a close frame");
    stream
        .write_all(&[0x81, 0x82, 0, 0, 0, 0, b'h', b'i'])
        .await
        .ok();
    let left = rest(&mut stream).await;
    assert_eq!(left, close_frame(1008, "revoked")[2..]);
}

#[tokio::test]
async fn a_stopping_process_closes_websockets_with_the_reason() {
    let (stack, browser, _) = started().await;
    let stop = tokio_util::sync::CancellationToken::new();
    let (gateway, until) = (stack.gateway.clone(), stop.clone());
    tokio::spawn(async move { gateway.run(until).await });
    let (mut stream, _) = ask(&stack, &browser, "/socket", OWN).await;
    stop.cancel();
    assert_eq!(rest(&mut stream).await, close_frame(1001, "restarting"));
}

#[tokio::test]
async fn a_stopping_process_ends_event_streams_with_a_last_event() {
    let (stack, mut browser, _) = started().await;
    let stop = tokio_util::sync::CancellationToken::new();
    let (gateway, until) = (stack.gateway.clone(), stop.clone());
    tokio::spawn(async move { gateway.run(until).await });
    let url = format!("{MAIN}/events");
    let answer = browser.start(http::Method::GET, &url, &[], String::new());
    let answer = answer.await;
    stop.cancel();
    let body = http_body_util::BodyExt::collect(answer.into_body());
    let body = body.await.expect("a whole body").to_bytes();
    assert_eq!(
        body,
        "data: one\n\nevent: portico-closed\ndata: restarting\n\n"
    );
}

#[tokio::test]
async fn a_renewed_session_asks_its_sockets_back() {
    let (stack, browser, session) = started().await;
    tokio::spawn(run(&stack));
    let (mut stream, _) = ask(&stack, &browser, "/socket", OWN).await;
    // as a reauthentication at another replica does
    let other = stack.another_process().await;
    let renewal = portico_store::Renewal {
        auth_methods: session.auth_methods.clone(),
        idle_expires_at: session.idle_expires_at,
        absolute_expires_at: session.absolute_expires_at,
        keystone_expires_at: session.keystone_expires_at,
        authenticated_at: None,
    };
    let now = jiff::Timestamp::now();
    let renewed = other.sessions().renew(session.id, &renewal, now).await;
    assert!(renewed.expect("renewed").is_some());
    assert_eq!(rest(&mut stream).await, close_frame(1012, "renewed"));
}

/// The gateway's background work, for as long as the test.
fn run(stack: &Stack) -> impl Future<Output = ()> + use<> {
    let gateway = stack.gateway.clone();
    async move {
        gateway
            .run(tokio_util::sync::CancellationToken::new())
            .await
    }
}

async fn events_until_the_end(path: &str) -> (String, bool) {
    let (stack, mut browser, session) = started().await;
    tokio::spawn(run(&stack));
    let url = format!("{MAIN}{path}");
    let answer = browser.start(http::Method::GET, &url, &[], String::new());
    let mut answer = answer.await;
    end(&stack, &session).await;
    let (mut text, mut whole) = (String::new(), true);
    while let Some(frame) = http_body_util::BodyExt::frame(&mut answer).await {
        match frame {
            Ok(frame) => text += &String::from_utf8_lossy(frame.data_ref().expect("data")),
            Err(_) => whole = false,
        }
        if !whole {
            break;
        }
    }
    (text, whole)
}

#[tokio::test]
async fn an_event_stream_gets_the_reason_why_it_ends() {
    let (text, whole) = events_until_the_end("/events").await;
    assert_eq!(
        text,
        "data: one\n\nevent: portico-closed\ndata: revoked\n\n"
    );
    assert!(whole);
}

#[tokio::test]
async fn half_an_event_is_not_made_to_look_whole() {
    let (text, whole) = events_until_the_end("/half-event").await;
    assert_eq!(text, "data: one\n\ndata: tw");
    assert!(!whole, "the stream must look broken");
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
