//! Case 83: HTTP/2 as no browser speaks it.
use std::time::{Duration, Instant};

use portico_test_support::time::eventually;

use crate::{
    frames::{
        CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, Http2, RST_STREAM, StreamOutcome,
        block, frame,
    },
    program::{Program, Wanted},
    wire::exchange,
};

/// Bounds the growth of memory under an attack, in MiB.
const MAX_GROWTH_MIB: u64 = 64;

/// The program with a signed-in user, and what memory it needed then.
pub struct SignedInProgram {
    pub program: Program,
    cookie: String,
    memory: u64,
}

impl SignedInProgram {
    pub async fn open(tls: bool) -> Self {
        let program = Program::start(Wanted {
            tls,
            ..Wanted::default()
        })
        .await;
        let cookie = program.cookie("vera").await;
        let target = Self {
            memory: 0,
            program,
            cookie,
        };
        // what the first requests need does not count as growth
        target.others_are_served().await;
        Self {
            memory: target.program.memory(),
            ..target
        }
    }

    /// The fields of a good request.
    pub fn fields<'a>(&'a self, path: &'a str) -> Vec<(&'a str, &'a str)> {
        vec![
            (":method", "GET"),
            (":scheme", if self.program.tls { "https" } else { "http" }),
            (":authority", self.program.authority_of_main()),
            (":path", path),
            ("cookie", &self.cookie),
        ]
    }

    pub async fn others_are_served(&self) {
        let started = Instant::now();
        let mut connection = Http2::open(&self.program).await;
        let message = connection.ask(1, &self.fields("/projects/x")).await;
        assert_eq!(message, StreamOutcome::Ok);
        let mut stream = self.program.connect().await;
        let head = self.program.head("GET /projects/x", &self.cookie);
        let request = format!("{head}Connection: close\r\n\r\n");
        let answer = exchange(&mut stream, request.as_bytes()).await;
        assert_eq!(answer.status(), 200, "{answer:?}");
        assert!(started.elapsed() < Duration::from_secs(3), "others wait");
    }

    pub fn memory_is_bounded(&self) {
        let now = self.program.memory();
        assert!(
            now <= self.memory + MAX_GROWTH_MIB,
            "from {} MiB to {now} MiB",
            self.memory
        );
    }
}

async fn odd_heads(tls: bool) {
    let target = SignedInProgram::open(tls).await;
    let asked = target.program.upstream.echo.asked();
    let good = target.fields("/projects/x");
    let without = |name: &str| -> Vec<_> {
        let fields = good.iter().copied();
        fields.filter(|(other, _)| *other != name).collect()
    };
    let with = |more: &[(&'static str, &'static str)]| -> Vec<_> {
        good.iter().copied().chain(more.iter().copied()).collect()
    };
    let instead = |name: &'static str, value: &'static str| -> Vec<_> {
        let fields = good.iter().copied();
        fields
            .map(|field| {
                if field.0 == name {
                    (name, value)
                } else {
                    field
                }
            })
            .collect()
    };
    let late = {
        let mut fields = good.clone();
        fields.rotate_left(1);
        fields
    };
    for (what, fields) in [
        ("no method", without(":method")),
        ("no scheme", without(":scheme")),
        ("no path", without(":path")),
        ("no authority at all", without(":authority")),
        ("two methods", with(&[(":method", "GET")])),
        ("two paths", with(&[(":path", "/projects/y")])),
        ("two authorities", with(&[(":authority", "localhost:8080")])),
        ("a pseudo-header after a header", late),
        ("an unknown pseudo-header", {
            let mut fields = good.clone();
            fields.insert(0, (":portico", "x"));
            fields
        }),
        ("a pseudo-header of answers", {
            let mut fields = good.clone();
            fields.insert(0, (":status", "200"));
            fields
        }),
        ("an empty path", instead(":path", "")),
        ("a path without a slash", instead(":path", "projects/x")),
        ("a path with a blank", instead(":path", "/projects/x y")),
        (
            "a path with a line break",
            instead(":path", "/projects/x\r\nX: y"),
        ),
        (
            "a whole address as the path",
            instead(":path", "http://other/projects/x"),
        ),
        (
            "a method with a line break",
            instead(":method", "GET / HTTP/1.1\r\nX: y\r\n\r\nGET"),
        ),
        (
            "another authority than the host",
            with(&[("host", "other.example")]),
        ),
        (
            "another host of ours",
            with(&[("host", "prometheus.apps.localhost:8080")]),
        ),
        (
            "two hosts",
            with(&[("host", "localhost:8080"), ("host", "localhost")]),
        ),
        (
            "a user in the authority",
            instead(":authority", "ada@localhost:8080"),
        ),
        ("a name in capitals", with(&[("X-Capital", "x")])),
        ("a name with a blank", with(&[("x y", "x")])),
        ("a name with a colon", with(&[("x:y", "x")])),
        ("an empty name", with(&[("", "x")])),
        (
            "a value with a line break",
            with(&[("x", "a\r\nContent-Length: 5")]),
        ),
        ("a value with LF", with(&[("x", "a\nb")])),
        ("a value with NUL", with(&[("x", "a\0b")])),
        ("Connection", with(&[("connection", "close")])),
        (
            "Transfer-Encoding",
            with(&[("transfer-encoding", "chunked")]),
        ),
        ("Upgrade", with(&[("upgrade", "websocket")])),
        ("Keep-Alive", with(&[("keep-alive", "5")])),
        ("Proxy-Connection", with(&[("proxy-connection", "close")])),
        ("TE that is not trailers", with(&[("te", "gzip")])),
        (
            "a length of a body that is not there",
            with(&[("content-length", "5")]),
        ),
        (
            "two lengths",
            with(&[("content-length", "0"), ("content-length", "5")]),
        ),
        ("CONNECT", instead(":method", "CONNECT")),
        ("a WebSocket by extended CONNECT", {
            let mut fields = instead(":method", "CONNECT");
            fields.insert(1, (":protocol", "websocket"));
            fields
        }),
    ] {
        let mut connection = Http2::open(&target.program).await;
        let message = connection.ask(1, &fields).await;
        assert!(
            matches!(
                message,
                StreamOutcome::Other | StreamOutcome::Reset | StreamOutcome::Over
            ),
            "{what}: {message:?}"
        );
    }
    assert_eq!(
        target.program.upstream.echo.asked(),
        asked,
        "something arrived"
    );

    // a body that is longer than it says
    let mut connection = Http2::open(&target.program).await;
    let origin = target.program.main();
    let mut fields = instead(":method", "POST");
    fields.extend([("content-length", "1"), ("origin", origin)]);
    let head = frame(HEADERS, END_HEADERS, 1, &block(&fields));
    connection.send(&head).await.expect("sent");
    let data = frame(
        DATA,
        END_STREAM,
        1,
        b"GET /projects/x/hidden HTTP/1.1\r\n\r\n",
    );
    connection.send(&data).await.expect("sent");
    let message = connection.outcome_of(1).await;
    assert!(
        matches!(
            message,
            StreamOutcome::Other | StreamOutcome::Reset | StreamOutcome::Over
        ),
        "{message:?}"
    );
    assert_eq!(target.program.upstream.count("hidden"), 0);

    // the control cases: the same frames by hand with a good head, a good Host beside, a good length
    let host = target.program.authority_of_main();
    let mut fields = good.clone();
    fields.push(("host", host));
    let mut connection = Http2::open(&target.program).await;
    assert_eq!(connection.ask(1, &good).await, StreamOutcome::Ok);
    assert_eq!(connection.ask(3, &fields).await, StreamOutcome::Ok);
    let mut fields = instead(":method", "POST");
    fields.extend([("content-length", "2"), ("origin", origin)]);
    let head = frame(HEADERS, END_HEADERS, 5, &block(&fields));
    connection.send(&head).await.expect("sent");
    let data = frame(DATA, END_STREAM, 5, b"hi");
    connection.send(&data).await.expect("sent");
    assert_eq!(connection.outcome_of(5).await, StreamOutcome::Ok);
}

#[tokio::test]
async fn attack_83_odd_heads_of_http_2_are_refused_and_reach_no_upstream() {
    odd_heads(false).await;
}

#[tokio::test]
async fn attack_83_odd_heads_of_http_2_are_refused_over_tls() {
    odd_heads(true).await;
}

async fn floods(tls: bool) {
    let target = SignedInProgram::open(tls).await;

    // rapid reset (CVE-2023-44487): requests that are taken back at once, to a slow upstream
    let fields = target.fields("/slow");
    let head = block(&fields);
    let mut connection = Http2::open(&target.program).await;
    let mut cut = false;
    'flood: for round in 0..200_u32 {
        let mut burst = Vec::new();
        for number in 0..100 {
            let id = (round * 100 + number) * 2 + 1;
            burst.extend(frame(HEADERS, END_HEADERS | END_STREAM, id, &head));
            burst.extend(frame(RST_STREAM, 0, id, &[0, 0, 0, 8]));
        }
        if connection.send(&burst).await.is_err() {
            cut = true;
            break 'flood;
        }
    }
    let cut = cut || connection.is_over_within(Duration::from_secs(5)).await;
    assert!(cut, "not cut after 20,000 requests were taken back");
    target.others_are_served().await;
    target.memory_is_bounded();

    // a head without an end (CVE-2024-27316)
    let mut connection = Http2::open(&target.program).await;
    let begun = frame(HEADERS, END_STREAM, 1, &block(&fields));
    connection.send(&begun).await.expect("sent");
    let filler = vec!["x".repeat(1000); 16];
    let pairs: Vec<_> = filler
        .iter()
        .map(|value| ("x-filler", value.as_str()))
        .collect();
    let piece = frame(CONTINUATION, 0, 1, &block(&pairs));
    let mut sent = 0;
    while sent < 20_000 && connection.send(&piece).await.is_ok() {
        sent += 1;
    }
    assert!(sent < 20_000, "300 MB of one head were taken");
    target.others_are_served().await;
    target.memory_is_bounded();

    // 100,000 tiny headers, over both protocols
    let mut connection = Http2::open(&target.program).await;
    connection.send(&begun).await.expect("sent");
    let tiny = vec![("a", "b"); 2000];
    let mut pieces = 0;
    for last in (0..50).map(|n| n == 49) {
        let flags = if last { END_HEADERS } else { 0 };
        if connection
            .send(&frame(CONTINUATION, flags, 1, &block(&tiny)))
            .await
            .is_err()
        {
            break;
        }
        pieces += 1;
    }
    if pieces == 50 {
        let message = connection.outcome_of(1).await;
        assert!(
            matches!(
                message,
                StreamOutcome::Other | StreamOutcome::Reset | StreamOutcome::Over
            ),
            "{message:?}"
        );
    }
    let mut stream = target.program.connect().await;
    let head = target.program.head("GET /projects/x", &target.cookie);
    let many = format!("{head}{}\r\n", "a:b\r\n".repeat(100_000));
    let answer = exchange(&mut stream, many.as_bytes()).await;
    assert!(matches!(answer.status(), 0 | 400 | 431), "{answer:?}");
    assert!(answer.closed);
    let mut stream = target.program.connect().await;
    let many = format!("{head}{}\r\n", "a:b\r\n".repeat(101));
    let answer = exchange(&mut stream, many.as_bytes()).await;
    assert!(matches!(answer.status(), 0 | 400 | 431), "{answer:?}");
    target.others_are_served().await;
    target.memory_is_bounded();

    // the control case: as many headers as one may send
    let mut stream = target.program.connect().await;
    let many = format!("{head}{}Connection: close\r\n\r\n", "a: b\r\n".repeat(80));
    assert_eq!(exchange(&mut stream, many.as_bytes()).await.status(), 200);
    let mut fields = target.fields("/projects/x");
    fields.extend([("a", "b"); 80]);
    let mut connection = Http2::open(&target.program).await;
    assert_eq!(connection.ask(1, &fields).await, StreamOutcome::Ok);
}

#[tokio::test]
async fn attack_83_floods_of_resets_and_headers_are_cut_and_others_served() {
    floods(false).await;
}

#[tokio::test]
async fn attack_83_floods_of_resets_and_headers_are_cut_over_tls() {
    floods(true).await;
}

#[tokio::test]
async fn attack_83_streams_that_are_not_read_fill_no_memory() {
    let target = SignedInProgram::open(false).await;
    // each stream may get one byte, and there is a lot for each
    let mut connection = Http2::open_with_window(&target.program, 1).await;
    let head = block(&target.fields("/large?mib=1"));
    for number in 0..200_u32 {
        let request = frame(HEADERS, END_HEADERS | END_STREAM, number * 2 + 1, &head);
        connection.send(&request).await.expect("sent");
    }
    eventually("the upstream is asked", async || {
        target.program.upstream.echo.asked() > 100
    })
    .await;
    // what is sent to no client must not gather meanwhile
    tokio::time::sleep(Duration::from_millis(500)).await;
    target.others_are_served().await;
    target.memory_is_bounded();
}
