//! 31, 80 to 82, 84, 86 and 88. Between the gateway and what is behind it: paths that are
//! rewritten, upgrades, answers that say too much or never end, and addresses that were never
//! configured. No sign-in is involved, so nothing asks Keystone.
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::support::{
    browser::{Browser, Page},
    echo::Echo,
    raw::{Act, Raw, Script},
    stack::{APP, APP_HOST, Stack, Wanted},
};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const HOST: &str = "prometheus.apps.localhost:8080";

async fn behind(url: &str, upstream: Value) -> (Stack, Browser) {
    let stack = Stack::start(Wanted {
        app: json!({ "url": url, "upstream": upstream }),
        ..Wanted::default()
    })
    .await;
    let browser = stack.in_app().await;
    (stack, browser)
}

async fn get(browser: &mut Browser, path: &str) -> Page {
    browser.call(Method::GET, &format!("{APP}{path}"), "").await
}

/// Sends these bytes with the browser's cookie in place of `{cookie}`, and reads until the gateway
/// closes, or for a second.
async fn exchange(stack: &Stack, browser: &Browser, text: &str) -> String {
    let mut stream = TcpStream::connect(stack.address).await.expect("gateway");
    let text = text.replace("{cookie}", &browser.cookie_line(APP_HOST));
    stream.write_all(text.as_bytes()).await.expect("written");
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let _ = tokio::time::timeout(Duration::from_secs(1), read).await;
    String::from_utf8_lossy(&answer).into_owned()
}

fn raw_get(target: &str, more: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: {HOST}\r\nCookie: {{cookie}}\r\n{more}\r\n")
}

#[tokio::test]
async fn attack_31_what_is_left_of_a_rewritten_path_is_authorized_like_the_original() {
    let echo = Echo::start().await;
    let (stack, browser) = behind(&echo.url(), json!({ "strip_prefix": "/app" })).await;
    for (target, status) in [
        ("/app//evil.example/x", 400),
        ("/app/../admin", 400),
        ("/app/%2e%2e/admin", 400),
        ("/app%2fadmin", 400),
        ("/app;/admin", 404),
        ("/apple/admin", 404),
        ("/APP/admin", 404),
        ("/%61pp/admin", 404),
        ("/admin", 404),
        ("/?/app/admin", 404),
    ] {
        let answer = exchange(&stack, &browser, &raw_get(target, "Connection: close\r\n")).await;
        let expected = format!("HTTP/1.1 {status} ");
        assert!(answer.starts_with(&expected), "{target}: {answer}");
    }
    assert_eq!(echo.asked(), 0);
    let answer = exchange(
        &stack,
        &browser,
        &raw_get("/app/ok", "Connection: close\r\n"),
    )
    .await;
    assert!(answer.contains(r#""target":"/ok""#), "{answer}");
}

const UPGRADE: &str = "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[tokio::test]
async fn attack_80_a_request_behind_an_upgrade_stays_with_the_gateway() {
    let raw = Raw::start(|_, _| Act::Answer(OK)).await;
    let (stack, browser) = behind(&raw.url(), json!({})).await;
    for upgrade in ["websocket", "foo", "h2c"] {
        let before = raw.seen().len();
        let head = format!("{UPGRADE}Upgrade: {upgrade}\r\nOrigin: {APP}\r\n");
        let smuggled = "GET /smuggled HTTP/1.1\r\nHost: internal\r\n\r\n";
        let text = format!("{}{smuggled}", raw_get("/first", &head));
        let answer = exchange(&stack, &browser, &text).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{upgrade}: {answer}");
        let seen = raw.seen()[before..].concat();
        assert!(seen.starts_with("GET /first "), "{upgrade}: {seen}");
        assert!(!seen.contains("smuggled"), "{upgrade}: {seen}");
        assert!(!seen.contains("internal"), "{upgrade}: {seen}");
    }
    // the control case: what follows a plain request is a request, and is authorized as one
    let twice = raw_get("/first", "") + &raw_get("/second", "Connection: close\r\n");
    let answer = exchange(&stack, &browser, &twice).await;
    assert_eq!(answer.matches("HTTP/1.1 200 ").count(), 2, "{answer}");
    assert!(raw.seen().concat().contains("GET /second "));
}

#[tokio::test]
async fn attack_81_no_other_protocol_is_asked_of_an_upstream_or_taken_from_it() {
    let raw = Raw::start(|_, _| Act::Answer(OK)).await;
    let (stack, browser) = behind(&raw.url(), json!({})).await;
    let head = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\
                HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n";
    let answer = exchange(&stack, &browser, &raw_get("/", head)).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let seen = raw.seen().concat().to_ascii_lowercase();
    for word in ["upgrade", "h2c", "http2-settings"] {
        assert!(!seen.contains(word), "{word}: {seen}");
    }
    for (head, script) in [
        // an upstream that switches to something else, or without being asked
        (
            format!("{UPGRADE}Upgrade: websocket\r\nOrigin: {APP}\r\n"),
            (|_, _| {
                Act::Answer(
                    b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
                )
            }) as Script,
        ),
        (String::new(), |_, _| {
            Act::Answer(
                b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
            )
        }),
    ] {
        let raw = Raw::start(script).await;
        let (stack, browser) = behind(&raw.url(), json!({})).await;
        let answer = exchange(&stack, &browser, &raw_get("/", &head)).await;
        assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    }
}

#[tokio::test]
async fn attack_82_a_websocket_opens_from_the_apps_own_pages_only() {
    let echo = Echo::start().await;
    let (stack, browser) = behind(&echo.url(), json!({})).await;
    for origin in [
        "Origin: https://evil.example\r\n",
        "Origin: http://localhost:8080\r\n",
        "Origin: http://other.apps.localhost:8080\r\n",
        "Origin: http://prometheus.apps.localhost\r\n",
        "Origin: https://prometheus.apps.localhost:8080\r\n",
        "Origin: null\r\n",
        "",
    ] {
        let head = format!("{UPGRADE}Upgrade: websocket\r\n{origin}");
        let answer = exchange(&stack, &browser, &raw_get("/socket", &head)).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{origin}: {answer}");
    }
    assert_eq!(echo.asked(), 0);
    let head = format!("{UPGRADE}Upgrade: websocket\r\nOrigin: {APP}\r\n");
    let answer = exchange(&stack, &browser, &raw_get("/socket", &head)).await;
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
}

#[tokio::test]
async fn attack_84_slow_upstreams_hold_up_no_other_request() {
    // connects and says nothing
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("port");
    let url = format!("http://{}", silent.local_addr().expect("address"));
    let (stack, mut browser) = behind(&url, json!({ "response": "3s" })).await;
    let mut waiting = Vec::new();
    for _ in 0..50 {
        let head = raw_get("/", "Connection: close\r\n");
        let (address, cookie) = (stack.address, browser.cookie_line(APP_HOST));
        waiting.push(tokio::spawn(async move {
            let mut stream = TcpStream::connect(address).await.expect("gateway");
            let head = head.replace("{cookie}", &cookie);
            stream.write_all(head.as_bytes()).await.expect("written");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.expect("answer");
            answer
        }));
    }
    let (mut other, _) = stack.signed_in(&[]).await;
    let page = other.call(Method::GET, "http://localhost:8080/", "").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(waiting.iter().all(|one| !one.is_finished()), "held up");
    for answer in waiting {
        let answer = tokio::time::timeout(Duration::from_secs(10), answer).await;
        let answer = answer.expect("it waits for ever").expect("answer");
        assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");
    }
    assert_eq!(
        get(&mut browser, "/").await.status,
        StatusCode::GATEWAY_TIMEOUT
    );
}

#[tokio::test]
async fn attack_84_what_a_slow_reader_has_not_taken_is_not_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("port");
    let url = format!("http://{}", listener.local_addr().expect("address"));
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("gateway");
        let mut head = [0; 4096];
        let _ = stream.read(&mut head).await.expect("request");
        stream
            .write_all(b"HTTP/1.1 200 OK\r\n\r\n")
            .await
            .expect("written");
        let piece = vec![b'x'; 64 << 10];
        while stream.write_all(&piece).await.is_ok() {
            counted.fetch_add(piece.len(), Ordering::SeqCst);
        }
    });
    let (stack, mut browser) = behind(&url, json!({})).await;
    let url = format!("{APP}/");
    let mut slow = browser.start(Method::GET, &url, &[], String::new()).await;
    assert!(slow.frame().await.is_some());
    // until the buffers in between are full; whether more is fetched shows after a pause only
    let mut before = 0;
    let stops = async {
        while sent.load(Ordering::SeqCst) == 0 || sent.load(Ordering::SeqCst) != before {
            before = sent.load(Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(10), stops).await;
    assert!(in_time.is_ok(), "it is fetched, although nothing is read");
    let (mut other, _) = stack.signed_in(&[]).await;
    let page = other.call(Method::GET, "http://localhost:8080/", "").await;
    assert_eq!(page.status, StatusCode::OK);
    // the control case: a client that reads on gets more
    let mut taken = 0;
    while taken <= before {
        let frame = slow.frame().await.expect("frame").expect("frame");
        taken += frame.data_ref().map_or(0, |data| data.len());
    }
    assert!(sent.load(Ordering::SeqCst) > before);
}

#[tokio::test]
async fn attack_86_an_upstream_sends_nothing_in_our_name() {
    let script: Script = |_, _| {
        Act::Answer(
            b"HTTP/1.1 200 OK\r\nSet-Cookie: portico=stolen; Path=/\r\n\
              Set-Cookie: __Host-portico=stolen; Path=/; Secure\r\n\
              Set-Cookie: portico-handover=stolen\r\nSet-Cookie: own=1; Domain=localhost\r\n\
              Portico-Assertion: forged\r\nX-Accel-Redirect: /etc/passwd\r\n\
              Clear-Site-Data: \"*\"\r\nStrict-Transport-Security: max-age=0\r\n\
              Service-Worker-Allowed: /\r\nContent-Length: 2\r\n\r\nok",
        )
    };
    let raw = Raw::start(script).await;
    let (_stack, mut browser) = behind(&raw.url(), json!({})).await;
    let before = browser.cookie_line(APP_HOST);
    let page = get(&mut browser, "/").await;
    assert_eq!((page.status, &*page.body), (StatusCode::OK, "ok"));
    let lines: Vec<_> = page.headers.get_all("set-cookie").iter().collect();
    assert_eq!(lines, ["own=1"]);
    browser.forget_cookie(APP_HOST, "own");
    assert_eq!(browser.cookie_line(APP_HOST), before);
    for name in [
        "portico-assertion",
        "x-accel-redirect",
        "clear-site-data",
        "strict-transport-security",
        "service-worker-allowed",
    ] {
        assert!(!page.headers.contains_key(name), "{name}");
    }
}

#[tokio::test]
async fn attack_86_answers_without_end_or_measure_are_failures_without_internals() {
    for script in [
        (|_, _| Act::Forever(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")) as Script,
        |_, _| Act::Forever(b"X-Long: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n"),
        |_, _| Act::Last(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        |_, _| {
            Act::Last(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\nX: \x01\r\n\r\n0\r\n\r\n")
        },
        |_, _| Act::Last(b"no HTTP at all, but /a/path and 10.0.0.1"),
    ] {
        let raw = Raw::start(script).await;
        let (_stack, mut browser) = behind(&raw.url(), json!({ "response": "700ms" })).await;
        let page = get(&mut browser, "/").await;
        let limited = [StatusCode::BAD_GATEWAY, StatusCode::GATEWAY_TIMEOUT];
        assert!(
            limited.contains(&page.status),
            "{} {}",
            page.status,
            page.body
        );
        let body = page.body.to_ascii_lowercase();
        for word in [
            "hyper",
            "parse",
            "127.0.0.1",
            "10.0.0.1",
            "error(",
            "early hints",
        ] {
            assert!(!body.contains(word), "{word}: {body}");
        }
        assert!(body.contains("prometheus"), "{body}");
    }
    // more headers than the limit, but no more than a parser would take
    let long: Script = |_, _| Act::Answer(with_a_long_header());
    let raw = Raw::start(long).await;
    for (limit, status) in [(1000, StatusCode::BAD_GATEWAY), (4000, StatusCode::OK)] {
        let (_stack, mut browser) = behind(&raw.url(), json!({ "headers": limit })).await;
        assert_eq!(get(&mut browser, "/").await.status, status, "{limit}");
    }
}

/// An answer with 2,000 bytes of one header.
fn with_a_long_header() -> &'static [u8] {
    static ANSWER: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    ANSWER.get_or_init(|| {
        let long = "x".repeat(2000);
        format!("HTTP/1.1 200 OK\r\nX-Long: {long}\r\nContent-Length: 2\r\n\r\nok").into_bytes()
    })
}

#[tokio::test]
async fn attack_88_only_configured_servers_are_asked_whatever_a_request_names() {
    let inside = Echo::start().await;
    let configured = Echo::start().await;
    let (stack, browser) = behind(&configured.url(), json!({})).await;
    let internal = inside.address.to_string();
    for (target, host, more) in [
        (
            format!("http://{internal}/"),
            HOST.to_owned(),
            String::new(),
        ),
        (
            format!("http://{internal}/"),
            internal.clone(),
            String::new(),
        ),
        ("/".to_owned(), internal.clone(), String::new()),
        ("/".to_owned(), format!("{HOST}@{internal}"), String::new()),
        (format!("@{internal}/"), HOST.to_owned(), String::new()),
        (format!("//{internal}/"), HOST.to_owned(), String::new()),
        (
            "/".to_owned(),
            HOST.to_owned(),
            format!(
                "X-Forwarded-Host: {internal}\r\nForwarded: host={internal}\r\n\
                     X-Original-URL: http://{internal}/\r\nX-Rewrite-URL: http://{internal}/\r\n"
            ),
        ),
    ] {
        let text = format!(
            "GET {target} HTTP/1.1\r\nHost: {host}\r\nCookie: {{cookie}}\r\nConnection: close\r\n{more}\r\n"
        );
        let answer = exchange(&stack, &browser, &text).await;
        assert!(!answer.contains(&internal), "{target} {host}: {answer}");
    }
    assert_eq!(inside.asked(), 0);
    assert_eq!(
        configured.asked(),
        1,
        "only the last one is a request for the app"
    );
}

#[tokio::test]
async fn attack_88_a_redirect_of_an_upstream_is_the_browsers_to_follow() {
    let script: Script = |_, _| {
        Act::Answer(
            b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:9/latest/meta-data\r\n\
              Content-Length: 0\r\n\r\n",
        )
    };
    let raw = Raw::start(script).await;
    let (_stack, mut browser) = behind(&raw.url(), json!({})).await;
    let page = get(&mut browser, "/").await;
    assert_eq!(page.status, StatusCode::TEMPORARY_REDIRECT);
    assert_eq!(raw.seen().len(), 1);
}
