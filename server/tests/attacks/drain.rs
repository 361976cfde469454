//! Case 91: a stop loses nothing.
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use http::{Request, StatusCode, header};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::{
    program::{Program, Wanted},
    wire::Raw,
};

const REQUESTS_OVER_HTTP_1: usize = 70;
const REQUESTS_OVER_HTTP_2: usize = 30;
const SOCKETS: usize = 20;

/// An answer under way: its head and its first part are there.
async fn under_way(program: &Program, cookie: &str, path: &str, until: &str) -> Raw {
    let mut stream = program.connect().await;
    let head = program.head(&format!("GET {path}"), cookie);
    let request = format!("{head}\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains(until) {
        let mut buffer = [0; 4096];
        let read = stream.read(&mut buffer).await.expect("an answer");
        assert_ne!(read, 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&buffer[..read]);
    }
    assert!(seen.starts_with(b"HTTP/1.1 200"), "{seen:?}");
    stream
}

async fn socket(program: &Program, cookie: &str) -> Raw {
    let mut stream = program.connect().await;
    let head = program.head("GET /socket", cookie);
    let request = format!(
        "{head}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(stream.read_u8().await.expect("a head"));
    }
    assert!(answer.starts_with(b"HTTP/1.1 101 "), "no WebSocket");
    stream
}

/// Sends a masked text frame and expects it back.
async fn echoes(stream: &mut Raw) {
    let hi = [0x81, 0x82, 0, 0, 0, 0, b'h', b'i'];
    stream.write_all(&hi).await.expect("sent");
    let mut back = [0; 4];
    stream.read_exact(&mut back).await.expect("an echo");
    assert_eq!(&back, b"\x81\x02hi");
}

async fn rest(mut stream: Raw) -> Vec<u8> {
    let mut rest = Vec::new();
    let read = timeout(Duration::from_secs(15), stream.read_to_end(&mut rest)).await;
    // what a TLS peer leaves out at the end of an upgraded connection is not a loss
    let _ = read.expect("it continues");
    rest
}

/// A client that sends requests, each on a new connection, until the listener is closed.
async fn send_requests(program: Arc<Program>, cookie: String, stop: Arc<AtomicBool>) -> usize {
    let mut answered = 0;
    while !stop.load(Ordering::Relaxed) {
        let Ok(mut stream) = TcpStream::connect(program.address).await else {
            return answered;
        };
        let head = program.head("GET /projects/x", &cookie);
        let request = format!("{head}\r\n");
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = vec![0; 12];
        let read = timeout(Duration::from_secs(10), stream.read_exact(&mut answer)).await;
        read.expect("in time").expect("an answer");
        assert_eq!(answer, b"HTTP/1.1 200");
        answered += 1;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    answered
}

async fn stops_without_loss(tls: bool) {
    let program = Program::start(Wanted {
        tls,
        notice: Some("2s"),
        ..Wanted::default()
    })
    .await;
    let mut program = Arc::new(program);
    let cookie = program.cookie("vera").await;
    let mut running = Vec::new();
    for _ in 0..REQUESTS_OVER_HTTP_1 {
        running.push(under_way(&program, &cookie, "/stream", "\r\none\r\n").await);
    }
    let connection = program.connect_for(b"h2").await;
    let (mut client, driver) = h2::client::handshake(connection).await.expect("HTTP/2");
    let driver = tokio::spawn(driver);
    let mut streams = Vec::new();
    for _ in 0..REQUESTS_OVER_HTTP_2 {
        let request = Request::get(format!("{}/stream", program.main()))
            .header(header::COOKIE, &cookie)
            .body(())
            .expect("request");
        let (response, _) = client.send_request(request, true).expect("sent");
        let response = response.await.expect("an answer");
        assert_eq!(response.status(), StatusCode::OK);
        streams.push(response.into_body());
    }
    let mut sockets = Vec::new();
    for _ in 0..SOCKETS {
        let mut stream = socket(&program, &cookie).await;
        echoes(&mut stream).await;
        sockets.push(stream);
    }
    let events = under_way(&program, &cookie, "/events", "data: one").await;
    let stop = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..if tls { 0 } else { 3 })
        .map(|_| {
            let (program, cookie) = (Arc::clone(&program), cookie.clone());
            tokio::spawn(send_requests(program, cookie, Arc::clone(&stop)))
        })
        .collect();
    assert_eq!(program.get("/ready").await, StatusCode::OK);

    let started = Instant::now();
    program.terminate();
    // first it says so, publicly and on the admin port, and serves on
    while program.get("/ready").await != StatusCode::SERVICE_UNAVAILABLE {
        assert!(started.elapsed() < Duration::from_secs(1), "still ready");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (status, message) = program.admin("/ready").await.expect("the admin port");
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(message.contains("stopping"), "{message}");
    let mut late = program.connect().await;
    let request = format!("{}\r\n", program.head("GET /projects/x", &cookie));
    late.write_all(request.as_bytes()).await.expect("sent");
    let answer = String::from_utf8(rest(late).await).expect("text");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(
        answer.to_lowercase().contains("\r\nconnection: close\r\n"),
        "{answer}"
    );
    for stream in &mut sockets {
        echoes(stream).await;
    }
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "the machine is too slow"
    );

    // then the listener closes, and streams that would never end get the notice
    let events_text = rest(events).await;
    assert!(
        started.elapsed() >= Duration::from_millis(1900),
        "without notice"
    );
    let events_text = String::from_utf8_lossy(&events_text);
    assert!(
        events_text.contains("event: portico-closed\ndata: restarting"),
        "{events_text}"
    );
    for stream in sockets {
        assert_eq!(rest(stream).await, b"\x88\x0c\x03\xe9restarting");
    }
    assert!(
        TcpStream::connect(program.address).await.is_err(),
        "still open"
    );
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        assert!(client.await.expect("no request was lost") > 10);
    }

    // and what runs is finished
    program.upstream.echo.go_on.notify_waiters();
    for stream in running {
        let rest = rest(stream).await;
        assert!(rest.ends_with(b"two\r\n0\r\n\r\n"), "{rest:?}");
    }
    for mut stream in streams {
        let mut text = Vec::new();
        while let Some(data) = stream.data().await {
            let data = data.expect("no request was lost");
            stream
                .flow_control()
                .release_capacity(data.len())
                .expect("capacity");
            text.extend_from_slice(&data);
        }
        assert_eq!(text, b"onetwo");
    }
    let over = timeout(Duration::from_secs(5), driver).await;
    let over = over.expect("the connection stays open").expect("driven");
    assert!(over.is_ok(), "no GOAWAY but {over:?}");
    let ended = Arc::get_mut(&mut program)
        .expect("all others are gone")
        .ended()
        .await;
    assert!(ended.success(), "{ended}: {}", program.log());
    assert!(
        started.elapsed() < Duration::from_secs(9),
        "{:?}",
        started.elapsed()
    );

    // the log is complete, to its last line
    let log = program.log();
    let of_streams = log.lines().filter(|line| line.contains("path=\"/stream\""));
    let entries = of_streams.count();
    assert_eq!(
        entries,
        REQUESTS_OVER_HTTP_1 + REQUESTS_OVER_HTTP_2,
        "{log}"
    );
    assert!(log.ends_with(" stopped\n"), "{log}");
}

#[tokio::test]
async fn attack_91_a_stop_during_100_requests_and_20_sockets_loses_nothing() {
    stops_without_loss(false).await;
}

#[tokio::test]
async fn attack_91_a_stop_loses_nothing_over_tls() {
    stops_without_loss(true).await;
}

#[tokio::test]
async fn attack_91_a_second_signal_stops_at_once() {
    let mut program = Program::start(Wanted {
        notice: Some("30s"),
        ..Wanted::default()
    })
    .await;
    let cookie = program.cookie("vera").await;
    let running = under_way(&program, &cookie, "/stream", "\r\none\r\n").await;
    program.terminate();
    program.says("SIGTERM received, stopping").await;
    // the notice alone would last half a minute
    assert_eq!(program.get("/ready").await, StatusCode::SERVICE_UNAVAILABLE);
    program.terminate();
    let started = Instant::now();
    program.ended().await;
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    assert!(
        !rest(running).await.ends_with(b"0\r\n\r\n"),
        "who could have finished it?"
    );
}

#[tokio::test]
async fn attack_91_a_request_that_never_ends_is_dropped_at_the_deadline() {
    let mut program = Program::start(Wanted::default()).await;
    let cookie = program.cookie("vera").await;
    let running = under_way(&program, &cookie, "/stream", "\r\none\r\n").await;
    let started = Instant::now();
    program.terminate();
    assert!(program.ended().await.success());
    let took = started.elapsed();
    assert!(
        took >= Duration::from_secs(5) && took < Duration::from_secs(9),
        "{took:?}"
    );
    assert!(!rest(running).await.ends_with(b"0\r\n\r\n"));
}
