//! Bodies, trailers and sockets on their way through, piece by piece, and the time that they may
//! take.
use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use futures::{SinkExt as _, channel::mpsc};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::support::{
    browser::Browser,
    echo::Echo,
    pki::Pki,
    raw::{Act, Raw},
    stack::{APP, APP_HOST, Stack, Wanted},
    time::advance,
};

async fn behind(url: &str, upstream: Value) -> (Stack, Browser) {
    let stack = Stack::start(Wanted {
        app: json!({ "url": url, "upstream": upstream }),
        ..Wanted::default()
    })
    .await;
    let browser = stack.in_app().await;
    (stack, browser)
}

type Pieces = mpsc::Sender<Result<Frame<Bytes>, Infallible>>;

/// A request whose body is sent piece by piece, over HTTP/1.1 or HTTP/2.
async fn begin(
    stack: &Stack,
    browser: &Browser,
    path: &str,
    version: http::Version,
) -> (Pieces, impl Future<Output = Response<Incoming>> + use<>) {
    let (pieces, body) = mpsc::channel(0);
    let body = StreamBody::new(body);
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(format!("{APP}{path}"))
        .header(header::COOKIE, browser.cookie_line(APP_HOST))
        .header(header::ORIGIN, APP)
        .body(body)
        .expect("request");
    let stream = TcpStream::connect(stack.address).await.expect("gateway");
    let io = TokioIo::new(stream);
    let answer: std::pin::Pin<Box<dyn Future<Output = _> + Send>> =
        if version == http::Version::HTTP_2 {
            let te = HeaderValue::from_static("trailers");
            request.headers_mut().insert(header::TE, te);
            let http2 = hyper::client::conn::http2::handshake(TokioExecutor::new(), io);
            let (mut sender, connection) = http2.await.expect("handshake");
            tokio::spawn(connection);
            Box::pin(async move { sender.send_request(request).await })
        } else {
            let host = HeaderValue::from_static("prometheus.apps.localhost:8080");
            request.headers_mut().insert(header::HOST, host);
            *request.uri_mut() = path.parse().expect("path");
            let http1 = hyper::client::conn::http1::handshake(io);
            let (mut sender, connection) = http1.await.expect("handshake");
            tokio::spawn(connection);
            Box::pin(async move { sender.send_request(request).await })
        };
    let answer = tokio::spawn(answer);
    (pieces, async move {
        answer.await.expect("sent").expect("response")
    })
}

fn piece(bytes: &'static [u8]) -> Result<Frame<Bytes>, Infallible> {
    Ok(Frame::data(Bytes::from_static(bytes)))
}

async fn next(response: &mut Response<Incoming>) -> Bytes {
    let frame = tokio::time::timeout(Duration::from_secs(5), response.frame()).await;
    let frame = frame.expect("it is held back").expect("frame");
    frame.expect("frame").into_data().expect("data")
}

#[tokio::test]
async fn every_piece_is_forwarded_before_the_next_is_sent_in_both_directions() {
    let pki = Pki::new(&["localhost"]);
    let dir = tempfile::tempdir().expect("directory");
    let plain = Echo::start().await;
    let tls = Echo::over_tls(pki.server(false)).await;
    let socket = Echo::on_socket(&dir.path().join("app.sock"));
    let h2c = plain.url().replace("http://", "h2c://");
    let ca = json!({ "ca_file": pki.cert("ca") });
    for (url, upstream) in [
        (plain.url(), json!({})),
        (h2c, json!({})),
        (tls.url(), ca),
        (socket.url(), json!({})),
        (
            String::new(),
            json!({ "backends": [plain.url(), socket_url(&plain)] }),
        ),
    ] {
        let url = if url.is_empty() {
            Value::Null
        } else {
            json!(url)
        };
        let stack = Stack::start(Wanted {
            app: json!({ "url": url, "upstream": upstream }),
            ..Wanted::default()
        })
        .await;
        let browser = stack.in_app().await;
        for version in [http::Version::HTTP_11, http::Version::HTTP_2] {
            let (mut pieces, answer) = begin(&stack, &browser, "/mirror", version).await;
            pieces.send(piece(b"one")).await.expect("sent");
            let mut answer = answer.await;
            assert_eq!(answer.status(), StatusCode::OK, "{url} {version:?}");
            assert_eq!(next(&mut answer).await, "one", "{url} {version:?}");
            pieces.send(piece(b"two")).await.expect("sent");
            assert_eq!(next(&mut answer).await, "two", "{url} {version:?}");
            drop(pieces);
            let rest = answer.into_body().collect().await.expect("body");
            assert!(rest.to_bytes().is_empty(), "{url} {version:?}");
        }
    }
}

/// The same server by another name, so that there are two backends.
fn socket_url(echo: &Echo) -> String {
    format!("http://localhost:{}", echo.address.port())
}

#[tokio::test]
async fn trailers_pass_through_http_2_both_ways_without_any_identity() {
    let echo = Echo::start().await;
    let h2c = echo.url().replace("http://", "h2c://");
    let (stack, browser) = behind(&h2c, json!({})).await;
    let (mut pieces, answer) = begin(&stack, &browser, "/mirror", http::Version::HTTP_2).await;
    pieces.send(piece(b"message")).await.expect("sent");
    let mut trailers = HeaderMap::new();
    for name in ["grpc-status", "portico-assertion", "x-forwarded-user"] {
        trailers.insert(name, HeaderValue::from_static("0"));
    }
    pieces
        .send(Ok(Frame::trailers(trailers)))
        .await
        .expect("sent");
    drop(pieces);
    let answer = answer.await;
    assert_eq!(answer.headers()["x-te"], "trailers");
    let got = answer.into_body().collect().await.expect("body");
    let names: Vec<_> = got.trailers().expect("trailers").keys().collect();
    assert_eq!(names, ["grpc-status"]);
    assert_eq!(got.to_bytes(), "message");
}

async fn socket(stack: &Stack, browser: &Browser) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(stack.address).await.expect("gateway");
    let head = format!(
        "GET /socket HTTP/1.1\r\nHost: prometheus.apps.localhost:8080\r\nCookie: {}\r\n\
         Connection: Upgrade\r\nUpgrade: websocket\r\nOrigin: {APP}\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        browser.cookie_line(APP_HOST)
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(stream.read_u8().await.expect("answer"));
    }
    (stream, String::from_utf8_lossy(&answer).into_owned())
}

async fn echoes(stream: &mut TcpStream) {
    stream
        .write_all(&[0x81, 0x82, 0, 0, 0, 0, b'h', b'i'])
        .await
        .expect("written");
    let mut echoed = [0; 4];
    stream.read_exact(&mut echoed).await.expect("echo");
    assert_eq!(&echoed, &[0x81, 2, b'h', b'i']);
}

#[tokio::test]
async fn websockets_pass_over_tls_and_unix_sockets_whatever_else_is_spoken() {
    let pki = Pki::new(&["localhost"]);
    let tls = Echo::over_tls(pki.server(false)).await;
    let dir = tempfile::tempdir().expect("directory");
    let unix = Echo::on_socket(&dir.path().join("app.sock"));
    for (url, upstream) in [
        (tls.url(), json!({ "ca_file": pki.cert("ca") })),
        (unix.url(), json!({})),
    ] {
        let (stack, browser) = behind(&url, upstream).await;
        let (mut stream, answer) = socket(&stack, &browser).await;
        assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
        echoes(&mut stream).await;
    }
}

#[tokio::test]
async fn an_upstream_of_http_2_alone_takes_no_websocket_and_gives_the_reason() {
    let echo = Echo::start().await;
    let h2c = echo.url().replace("http://", "h2c://");
    let (stack, browser) = behind(&h2c, json!({})).await;
    let (_, answer) = socket(&stack, &browser).await;
    assert!(answer.starts_with("HTTP/1.1 501 "), "{answer}");
    assert_eq!(echo.asked(), 0);
}

#[tokio::test]
async fn a_silent_socket_is_closed_where_the_app_is_configured_so() {
    let echo = Echo::start().await;
    let (stack, browser) = behind(&echo.url(), json!({ "stream_idle": "600ms" })).await;
    let (mut stream, _) = socket(&stack, &browser).await;
    for _ in 0..3 {
        advance(Duration::from_millis(400)).await;
        echoes(&mut stream).await;
    }
    let mut rest = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(3), stream.read_to_end(&mut rest)).await;
    assert!(closed.is_ok(), "it is still open");
    assert_eq!(rest, [&[0x88, 6, 0x03, 0xe9][..], b"idle"].concat());
}

#[tokio::test]
async fn a_response_that_pauses_too_long_is_broken_off_and_an_event_stream_is_not() {
    let echo = Echo::start().await;
    let (_stack, mut browser) = behind(&echo.url(), json!({ "idle": "300ms" })).await;
    let mut paused = get(&mut browser, "/pauses").await;
    assert_eq!(next(&mut paused).await, "one");
    let broken = tokio::time::timeout(Duration::from_secs(3), paused.frame()).await;
    assert!(matches!(broken, Ok(Some(Err(_)))), "{broken:?}");
    let mut events = get(&mut browser, "/events").await;
    assert_eq!(next(&mut events).await, "data: one\n\n");
    let more = tokio::time::timeout(Duration::from_millis(900), events.frame()).await;
    assert!(more.is_err(), "{more:?}");
}

#[tokio::test]
async fn a_silent_event_stream_gets_a_last_event_where_the_app_is_configured_so() {
    let echo = Echo::start().await;
    let (_stack, mut browser) = behind(&echo.url(), json!({ "stream_idle": "300ms" })).await;
    let events = get(&mut browser, "/events").await;
    let all = tokio::time::timeout(Duration::from_secs(3), events.into_body().collect()).await;
    let text = all.expect("it is still open").expect("whole").to_bytes();
    assert_eq!(text, "data: one\n\nevent: portico-closed\ndata: idle\n\n");
}

async fn get(browser: &mut Browser, path: &str) -> Response<Incoming> {
    let url = format!("{APP}{path}");
    let headers = [("sec-fetch-site", "same-origin")];
    browser
        .start(Method::GET, &url, &headers, String::new())
        .await
}

#[tokio::test]
async fn an_upload_may_take_longer_than_an_answer_but_must_not_stall() {
    let echo = Echo::start().await;
    let (stack, browser) = behind(&echo.url(), json!({ "response": "500ms" })).await;
    let (mut pieces, answer) = begin(&stack, &browser, "/anything", http::Version::HTTP_11).await;
    // in real time, as bytes pass through sockets: a second in all, and half the limit for each piece
    for _ in 0..4 {
        pieces.send(piece(b"x")).await.expect("sent");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    drop(pieces);
    assert_eq!(answer.await.status(), StatusCode::OK);

    let (mut pieces, answer) = begin(&stack, &browser, "/anything", http::Version::HTTP_11).await;
    pieces.send(piece(b"x")).await.expect("sent");
    let answer = tokio::time::timeout(Duration::from_secs(3), answer).await;
    let status = answer.expect("it waits for ever").status();
    assert_eq!(status, StatusCode::REQUEST_TIMEOUT);
}

#[tokio::test]
async fn an_app_has_limits_of_its_own() {
    let echo = Echo::start().await;
    let limits = json!({ "response": "300ms", "body": 10, "headers": 2000 });
    let (stack, mut browser) = behind(&echo.url(), limits).await;
    let slow = get(&mut browser, "/slow").await;
    assert_eq!(slow.status(), StatusCode::GATEWAY_TIMEOUT);
    for (body, status) in [
        ("x".repeat(10), StatusCode::OK),
        ("x".repeat(11), StatusCode::PAYLOAD_TOO_LARGE),
    ] {
        let page = browser.call(Method::POST, &format!("{APP}/x"), &body).await;
        assert_eq!(page.status, status);
    }
    // and where the client does not say beforehand how much will come
    let (mut pieces, answer) = begin(&stack, &browser, "/x", http::Version::HTTP_11).await;
    for _ in 0..3 {
        pieces.send(piece(b"12345")).await.ok();
    }
    drop(pieces);
    assert_eq!(answer.await.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let long = "x".repeat(2000);
    let headers = [("x-long", long.as_str())];
    let url = format!("{APP}/x");
    let page = browser
        .send(Method::GET, &url, &headers, String::new())
        .await;
    assert_eq!(page.status, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
}

#[tokio::test]
async fn an_unused_connection_is_kept_as_long_as_the_app_is_configured_to() {
    for (keep_alive, connections) in [("30s", 1), ("100ms", 2)] {
        let raw = Raw::start(|connection, _| match connection {
            0 => Act::Answer(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"),
            _ => Act::Answer(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2"),
        })
        .await;
        let (_stack, mut browser) = behind(&raw.url(), json!({ "keep_alive": keep_alive })).await;
        browser.call(Method::GET, &format!("{APP}/"), "").await;
        // in real time: the connection is unused only some time after its answer
        tokio::time::sleep(Duration::from_millis(400)).await;
        let page = browser.call(Method::GET, &format!("{APP}/"), "").await;
        assert_eq!(page.body, connections.to_string(), "{keep_alive}");
    }
}

const CHUNK: usize = 64 << 10;

/// What this process, which is gateway, upstream and client at once, holds in memory.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("status");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    kilobytes.expect("VmRSS").parse::<usize>().expect("number") << 10
}

#[tokio::test]
async fn a_large_body_takes_no_memory_in_either_direction() {
    let echo = Echo::start().await;
    let (stack, browser) = behind(&echo.url(), json!({})).await;
    let (mut pieces, answer) = begin(&stack, &browser, "/mirror", http::Version::HTTP_11).await;
    let many = (128 << 20) / CHUNK;
    let writer = tokio::spawn(async move {
        static PIECE: [u8; CHUNK] = [b'x'; CHUNK];
        for _ in 0..many {
            pieces.send(piece(&PIECE)).await.expect("sent");
        }
    });
    let mut answer = answer.await;
    let (mut taken, mut most, before) = (0, 0, resident());
    while let Some(frame) = answer.frame().await {
        taken += frame.expect("frame").data_ref().map_or(0, Bytes::len);
        most = most.max(resident());
    }
    writer.await.expect("written");
    assert_eq!(taken, many * CHUNK);
    assert!(
        most < before + (24 << 20),
        "grew by {} bytes",
        most - before
    );
}
