//! Case 84: clients that take their time.
use std::time::{Duration, Instant};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};

use crate::{
    frames::{HEADERS, Http2, StreamOutcome, block, frame},
    program::{Program, Wanted, raise_file_limit},
    wire::{Raw, exchange, is_closed_within, read_until_quiet},
};

const QUICK: &str = "[gateway.connections]\nhead_timeout = \"1s\"\nbody_timeout = \"1s\"\n\
                     send_timeout = \"1s\"\n";
/// One second of the configuration, and some for a busy machine.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

async fn program(tls: bool) -> (Program, String) {
    let program = Program::start(Wanted {
        tls,
        sections: QUICK,
        ..Wanted::default()
    })
    .await;
    let cookie = program.cookie("vera").await;
    (program, cookie)
}

async fn others_are_served(program: &Program, cookie: &str) {
    let started = Instant::now();
    let mut stream = program.connect().await;
    let head = program.head("GET /projects/x", cookie);
    let request = format!("{head}Connection: close\r\n\r\n");
    let answer = exchange(&mut stream, request.as_bytes()).await;
    assert_eq!(answer.status(), 200, "{answer:?}");
    assert!(started.elapsed() < Duration::from_secs(2), "others wait");
}

async fn slow_heads(tls: bool) {
    raise_file_limit();
    let (program, cookie) = program(tls).await;
    let mut streams: Vec<Raw> = Vec::new();
    for number in 0..200 {
        let mut stream = program.connect().await;
        let begun: &[u8] = match number % 4 {
            0 => b"",
            1 => b"GET /projects/x HTTP/1.1\r\nHost: local",
            2 => b"G",
            // the beginning of HTTP/2's preface, which is not HTTP/1.1 yet either
            _ => b"PRI * HTTP/2.0\r\n\r\nSM",
        };
        stream.write_all(begun).await.expect("sent");
        streams.push(stream);
    }
    // a byte now and then does not help
    let drip = program.connect().await;
    let (mut from, mut to) = tokio::io::split(drip);
    let dripping = tokio::spawn(async move {
        let _ = to.write_all(b"GET / HTTP/1.1\r\nX: ").await;
        while to.write_all(b"x").await.is_ok() && to.flush().await.is_ok() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    });
    others_are_served(&program, &cookie).await;
    let started = Instant::now();
    for stream in &mut streams {
        let left = CLOSE_TIMEOUT.saturating_sub(started.elapsed());
        assert!(is_closed_within(stream, left).await, "one is still open");
    }
    let mut rest = Vec::new();
    let cut = timeout(CLOSE_TIMEOUT, from.read_to_end(&mut rest)).await;
    assert!(cut.is_ok(), "the dripping one is still open");
    dripping.abort();

    // HTTP/2: a head that is begun and not ended; pings may not stand in between
    let mut connection = Http2::open(&program).await;
    let begun = frame(HEADERS, 0, 1, &block(&[(":method", "GET")]));
    connection.send(&begun).await.expect("sent");
    others_are_served(&program, &cookie).await;

    // the control case: slow, and within the time
    let mut stream = program.connect().await;
    let head = program.head("GET /projects/x", &cookie);
    for piece in format!("{head}\r\n").as_bytes().chunks(head.len() / 4 + 1) {
        stream.write_all(piece).await.expect("sent");
        stream.flush().await.expect("sent");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let answer = read_until_quiet(&mut stream, Duration::from_millis(500)).await;
    assert_eq!(answer.status(), 200, "{answer:?}");
}

#[tokio::test]
async fn attack_84_slow_heads_are_cut_and_others_served() {
    slow_heads(false).await;
}

#[tokio::test]
async fn attack_84_slow_heads_are_cut_over_tls() {
    slow_heads(true).await;
}

#[tokio::test]
async fn attack_84_bodies_that_stop_are_not_waited_for() {
    let (program, cookie) = program(false).await;
    for path in ["/projects/x/upload", "/oauth2/sign_in"] {
        let head = program.head(&format!("POST {path}"), &cookie);
        let begun = format!(
            "{head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nname=a"
        );
        let mut stream = program.connect().await;
        stream.write_all(begun.as_bytes()).await.expect("sent");
        let answer = timeout(CLOSE_TIMEOUT, async {
            read_until_quiet(&mut stream, CLOSE_TIMEOUT).await
        });
        let answer = answer.await.expect("still waited for");
        assert!(matches!(answer.status(), 400 | 408), "{path}: {answer:?}");
        assert!(answer.closed, "{path}: {answer:?}");
    }
    // over HTTP/2 the stream is over, and the connection stays open
    let mut connection = Http2::open(&program).await;
    let authority = program.authority_of_main();
    let fields = [
        (":method", "POST"),
        (":scheme", "http"),
        (":authority", authority),
        (":path", "/projects/x/upload"),
        ("origin", program.main()),
        ("cookie", &cookie),
    ];
    let head = frame(HEADERS, crate::frames::END_HEADERS, 1, &block(&fields));
    connection.send(&head).await.expect("sent");
    let message = connection.outcome_of(1).await;
    assert!(
        matches!(message, StreamOutcome::Other | StreamOutcome::Reset),
        "{message:?}"
    );
    others_are_served(&program, &cookie).await;

    // the control case: for longer than the limit, but never silent for so long
    let mut stream = program.connect().await;
    let head = program.head("POST /projects/x/upload", &cookie);
    let head = format!("{head}Content-Length: 50\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("sent");
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_millis(400)).await;
        stream.write_all(b"0123456789").await.expect("sent");
    }
    let answer = read_until_quiet(&mut stream, Duration::from_millis(800)).await;
    assert_eq!(answer.status(), 200, "{answer:?}");
}

async fn slow_readers(tls: bool) {
    let (program, cookie) = program(tls).await;
    let head = program.head("GET /large", &cookie);
    let request = format!("{head}\r\n");
    others_are_served(&program, &cookie).await;
    let before = program.memory();
    let mut streams = Vec::new();
    for _ in 0..10 {
        let mut stream = program.connect().await;
        stream.write_all(request.as_bytes()).await.expect("sent");
        stream.flush().await.expect("sent");
        streams.push(stream);
    }
    // nothing is read, until they are cut
    others_are_served(&program, &cookie).await;
    program.has_connections(0).await;
    let now = program.memory();
    assert!(now < before + 64, "from {before} MiB to {now} MiB");
    for stream in &mut streams {
        let mut whole = 0;
        let mut buffer = vec![0; 256 << 10];
        while let Ok(Ok(read @ 1..)) = timeout(CLOSE_TIMEOUT, stream.read(&mut buffer)).await {
            whole += read;
        }
        assert!(whole < 64 << 20, "everything came");
    }

    // the control case: a client that reads gets everything, with pauses too
    let mut stream = program.connect().await;
    let request = format!("{head}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let (mut whole, mut buffer) = (0_usize, vec![0; 1 << 20]);
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        let before = whole >> 20;
        whole += read;
        if whole >> 20 != before && whole < 8 << 20 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    assert!(whole > 64 << 20, "{whole} bytes");
}

#[tokio::test]
async fn attack_84_who_does_not_read_is_cut_and_others_served() {
    slow_readers(false).await;
}

#[tokio::test]
async fn attack_84_who_does_not_read_is_cut_over_tls() {
    slow_readers(true).await;
}
