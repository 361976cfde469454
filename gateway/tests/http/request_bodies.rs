//! Bodies where servers do not expect any: of GET and HEAD.
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::support::{
    stack::{APP_HOST, Stack, Wanted},
    wire::exchange,
};

const FILTER: &str = r#"{"query":{"term":{"tenant":"acme"}}}"#;

/// An upstream that writes down what arrives on each of its connections, byte for byte. It answers
/// each request and never announces that it closes a connection.
struct Recording {
    address: SocketAddr,
    connections: Arc<Mutex<Vec<String>>>,
}

impl Recording {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("port");
        let address = listener.local_addr().expect("address");
        let connections: Arc<Mutex<Vec<String>>> = Arc::default();
        let all = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(record(stream, Arc::clone(&all)));
            }
        });
        Self {
            address,
            connections,
        }
    }

    /// What has arrived, a text for each connection.
    fn taken(&self) -> Vec<String> {
        self.connections.lock().expect("bytes").clone()
    }
}

async fn record(mut stream: TcpStream, all: Arc<Mutex<Vec<String>>>) {
    let index = {
        let mut all = all.lock().expect("bytes");
        all.push(String::new());
        all.len() - 1
    };
    let (mut pending, mut piece) = (String::new(), vec![0; 16 << 10]);
    while let Ok(read @ 1..) = stream.read(&mut piece).await {
        let text = String::from_utf8_lossy(&piece[..read]);
        all.lock().expect("bytes")[index].push_str(&text);
        pending.push_str(&text);
        if is_whole(&pending) {
            let head = pending.starts_with("HEAD ");
            pending.clear();
            let body = if head { "" } else { "ok" };
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{body}");
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    }
}

/// The one request that has arrived between two looks, and the number of its connection.
fn arrived<'t>(before: &[String], after: &'t [String]) -> (usize, &'t str) {
    let known = |index: usize| before.get(index).map_or(0, String::len);
    let mut new = after
        .iter()
        .enumerate()
        .map(|(index, text)| (index, &text[known(index)..]))
        .filter(|(_, text)| !text.is_empty());
    let first = new.next().expect("nothing arrived");
    assert!(new.next().is_none(), "on several connections");
    first
}

/// Whether a request has arrived to its end.
fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else {
        return false;
    };
    let head = head.to_ascii_lowercase();
    if head.contains("transfer-encoding: chunked") {
        return body.ends_with("0\r\n\r\n");
    }
    let length = head.split("content-length: ").nth(1);
    let length = length.and_then(|rest| rest.split("\r\n").next()?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

/// The body in chunks of at most seven bytes.
fn chunked(body: &str) -> String {
    let chunks = body.as_bytes().chunks(7).map(|chunk| {
        let text = std::str::from_utf8(chunk).expect("ASCII");
        format!("{:x}\r\n{text}\r\n", chunk.len())
    });
    chunks.collect::<String>() + "0\r\n\r\n"
}

/// The body of a request as its framing gives it.
fn unframed(request: &str) -> String {
    let (head, body) = request.split_once("\r\n\r\n").expect("a head");
    if !head.to_ascii_lowercase().contains("transfer-encoding") {
        return body.to_owned();
    }
    let (mut rest, mut whole) = (body, String::new());
    loop {
        let (size, after) = rest.split_once("\r\n").expect("a size");
        let size = usize::from_str_radix(size, 16).expect("a size");
        if size == 0 {
            assert_eq!(after, "\r\n", "more after the body");
            return whole;
        }
        whole.push_str(&after[..size]);
        rest = after[size..].strip_prefix("\r\n").expect("a chunk's end");
    }
}

#[tokio::test]
async fn finding_s7_the_body_of_a_get_or_head_arrives_framed() {
    let upstream = Recording::start().await;
    let stack = Stack::start(Wanted {
        app: json!({ "url": format!("http://{}", upstream.address) }),
        ..Wanted::default()
    })
    .await;
    let browser = stack.in_app().await;
    let cookie = browser.cookie_line(APP_HOST);
    let head = |method: &str, more: &str| {
        format!(
            "{method} /_search HTTP/1.1\r\nHost: {APP_HOST}:8080\r\nCookie: {cookie}\r\n\
             Content-Type: application/json\r\nConnection: close\r\n{more}\r\n"
        )
    };
    let hidden = format!("GET /hidden HTTP/1.1\r\nHost: a\r\nX: {FILTER}\r\n\r\n");
    for method in ["GET", "HEAD"] {
        for body in [FILTER, hidden.as_str()] {
            let length = format!("Content-Length: {}\r\n", body.len());
            for (more, sent) in [
                ("Transfer-Encoding: chunked\r\n", chunked(body)),
                (length.as_str(), body.to_owned()),
            ] {
                let before = upstream.taken();
                let request = head(method, more) + &sent;
                let answer = exchange(stack.address, request.as_bytes()).await;
                assert!(answer.starts_with("HTTP/1.1 200 "), "{method}: {answer}");
                let after = upstream.taken();
                let (index, arrived) = arrived(&before, &after);
                assert!(arrived.starts_with(&format!("{method} /_search ")));
                assert_eq!(unframed(arrived), body, "{method} {more}");
                let lower = arrived.to_ascii_lowercase();
                assert!(lower.contains("\r\nconnection: close\r\n"), "{arrived}");
                // the next request does not use that connection, though the server keeps it open
                let answer = exchange(stack.address, head_only(&cookie).as_bytes()).await;
                assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
                assert_eq!(upstream.taken()[index], after[index], "{method} {more}");
            }
        }
    }
    // the control case: a connection without such a body serves the next request too
    let used = upstream.taken().len();
    for _ in 0..3 {
        exchange(stack.address, head_only(&cookie).as_bytes()).await;
    }
    assert_eq!(upstream.taken().len(), used, "no connection is kept");
}

fn head_only(cookie: &str) -> String {
    format!(
        "GET /next HTTP/1.1\r\nHost: {APP_HOST}:8080\r\nCookie: {cookie}\r\n\
         Connection: close\r\n\r\n"
    )
}

#[tokio::test]
async fn finding_s7_forward_auth_answers_a_question_that_brings_a_body() {
    let stack = Stack::start(Wanted::default()).await;
    let browser = stack.in_app().await;
    let cookie = browser.cookie_line(APP_HOST);
    for path in ["/oauth2/auth", "/oauth2/auth/redirect"] {
        for (more, sent) in [
            ("Transfer-Encoding: chunked\r\n", chunked(FILTER)),
            ("", String::new()),
        ] {
            let request = format!(
                "GET {path} HTTP/1.1\r\nHost: {APP_HOST}:8080\r\nCookie: {cookie}\r\n\
                 Connection: close\r\n{more}\r\n{sent}"
            );
            let asked = tokio::time::timeout(
                Duration::from_secs(5),
                exchange(stack.address, request.as_bytes()),
            );
            let answer = asked.await.expect("an answer in time");
            assert!(answer.starts_with("HTTP/1.1 20"), "{path} {more}: {answer}");
        }
    }
    assert_eq!(stack.app.asked(), 0);
}
