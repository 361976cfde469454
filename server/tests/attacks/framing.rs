//! Case 79: requests that two readers could take apart differently.
use crate::{
    program::{Program, Wanted},
    wire::exchange,
};

const HIDDEN: &str = "/projects/x/hidden";

/// A request of a signed-in user, to be hidden in another's body.
fn hidden(program: &Program, cookie: &str) -> String {
    let head = program.head(&format!("GET {HIDDEN}"), cookie);
    format!("{head}\r\n")
}

/// Heads whose bodies end in one place for one reader and elsewhere for another. `LENGTH` is the
/// length of all that follows the head.
const TWO_READINGS: &[(&str, &str, &str)] = &[
    (
        "CL.TE",
        "Content-Length: LENGTH\r\nTransfer-Encoding: chunked\r\n",
        "0\r\n\r\n",
    ),
    (
        "TE.CL",
        "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
        "0\r\n\r\n",
    ),
    (
        "two lengths",
        "Content-Length: 0\r\nContent-Length: LENGTH\r\n",
        "",
    ),
    ("two lengths in one", "Content-Length: 0, LENGTH\r\n", ""),
    ("a length with a sign", "Content-Length: +0\r\n", ""),
    (
        "xchunked",
        "Content-Length: LENGTH\r\nTransfer-Encoding: xchunked\r\n",
        "0\r\n\r\n",
    ),
    (
        "xchunked alone",
        "Transfer-Encoding: xchunked\r\n",
        "0\r\n\r\n",
    ),
    (
        "chunked, identity",
        "Transfer-Encoding: chunked, identity\r\n",
        "0\r\n\r\n",
    ),
    (
        "identity, then chunked",
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
        "0\r\n\r\n",
    ),
    (
        "a folded line",
        "Transfer-Encoding:\r\n chunked\r\n",
        "0\r\n\r\n",
    ),
    (
        "a folded line of another",
        "X: a\r\n\tContent-Length: 0\r\n",
        "",
    ),
    (
        "a space before the colon",
        "Transfer-Encoding : chunked\r\n",
        "0\r\n\r\n",
    ),
    ("a tab before the colon", "Content-Length\t: 0\r\n", ""),
    (
        "a bare LF",
        "X: a\nTransfer-Encoding: chunked\r\n",
        "0\r\n\r\n",
    ),
    (
        "a bare CR",
        "X: a\rTransfer-Encoding: chunked\r\n",
        "0\r\n\r\n",
    ),
    ("a NUL", "X: a\0b\r\n", ""),
    ("no name", ": chunked\r\n", ""),
    ("no colon", "Transfer-Encoding chunked\r\n", ""),
    (
        "a vertical tab",
        "Transfer-Encoding: \x0bchunked\r\n",
        "0\r\n\r\n",
    ),
    (
        "a chunk size after LF",
        "Transfer-Encoding: chunked\r\n",
        "0\n\n",
    ),
    (
        "a chunk size with 0x",
        "Transfer-Encoding: chunked\r\n",
        "0x0\r\n\r\n",
    ),
    (
        "a chunk size with a sign",
        "Transfer-Encoding: chunked\r\n",
        "-0\r\n\r\n",
    ),
    (
        "a chunk size beyond 64 bits",
        "Transfer-Encoding: chunked\r\n",
        "10000000000000000\r\n\r\n",
    ),
    (
        "a chunk that continues",
        "Transfer-Encoding: chunked\r\n",
        "1\r\nab\r\n0\r\n\r\n",
    ),
];

async fn two_readings(tls: bool) {
    let program = Program::start(Wanted {
        tls,
        ..Wanted::default()
    })
    .await;
    let cookie = program.cookie("vera").await;
    for (name, lines, start) in TWO_READINGS {
        let body = format!("{start}{}", hidden(&program, &cookie));
        let head = program.head("POST /projects/x/first", &cookie);
        let lines = lines.replace("LENGTH", &body.len().to_string());
        let mut stream = program.connect().await;
        let answer = exchange(&mut stream, format!("{head}{lines}\r\n{body}").as_bytes()).await;
        assert!(
            answer.closed,
            "{name}: the connection stays open: {answer:?}"
        );
        // once the head is over an answer may be under way, and there is nothing to say between
        if lines == "Transfer-Encoding: chunked\r\n" {
            assert!(matches!(answer.status(), 0 | 400), "{name}: {answer:?}");
        } else {
            assert_eq!(answer.status(), 400, "{name}: {answer:?}");
        }
        assert!(answer.answers() <= 1, "{name}: {answer:?}");
    }
    assert_eq!(
        program.upstream.count("HTTP/1.1\r\n"),
        0,
        "something arrived"
    );

    // HTTP/1.0 has no chunks
    let old = format!(
        "POST /projects/x/first HTTP/1.0\r\nHost: {}\r\nCookie: {cookie}\r\nOrigin: {}\r\n\
         Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n{}",
        program.authority_of_main(),
        program.main(),
        hidden(&program, &cookie)
    );
    let mut stream = program.connect().await;
    let answer = exchange(&mut stream, old.as_bytes()).await;
    assert!(
        answer.closed && matches!(answer.status(), 0 | 400),
        "{answer:?}"
    );
    assert_eq!(program.upstream.count(HIDDEN), 0);
    let (_, metrics) = program.admin("/metrics").await.expect("metrics");
    assert!(
        !metrics.contains("portico_listener_malformed_requests_total 0"),
        "they are not counted"
    );

    // the control case: two plain requests on one connection are two, and what is recorded shows it
    let first = program.head("POST /projects/x/first", &cookie);
    let two = format!(
        "{first}Content-Length: 5\r\n\r\na\nb\rc{}",
        hidden(&program, &cookie)
    );
    let mut stream = program.connect().await;
    let answer = exchange(&mut stream, two.as_bytes()).await;
    assert_eq!(answer.answers(), 2, "{answer:?}");
    assert_eq!(answer.text.matches("HTTP/1.1 200").count(), 2, "{answer:?}");
    assert_eq!(program.upstream.count(HIDDEN), 1);
    assert_eq!(program.upstream.echo.asked(), 2);
    let chunked = format!(
        "{first}Transfer-Encoding: chunked\r\n\r\n5;x=y\r\na\nb\rc\r\n0\r\n\r\n{}",
        hidden(&program, &cookie)
    );
    let mut stream = program.connect().await;
    let answer = exchange(&mut stream, chunked.as_bytes()).await;
    assert_eq!(answer.text.matches("HTTP/1.1 200").count(), 2, "{answer:?}");
    assert_eq!(program.upstream.count(HIDDEN), 2);
}

#[tokio::test]
async fn attack_79_what_can_be_read_in_two_ways_is_cut_and_nothing_reaches_the_upstream() {
    two_readings(false).await;
}

#[tokio::test]
async fn attack_79_what_can_be_read_in_two_ways_is_cut_over_tls() {
    two_readings(true).await;
}

#[tokio::test]
async fn attack_79_a_request_in_the_body_of_a_get_stays_a_body() {
    let program = Program::start(Wanted::default()).await;
    let cookie = program.cookie("vera").await;
    let body = hidden(&program, &cookie);
    let head = program.head("GET /projects/x/first", &cookie);
    let length = body.len();
    let mut stream = program.connect().await;
    let request = format!("{head}Content-Length: {length}\r\n\r\n{body}");
    let answer = exchange(&mut stream, request.as_bytes()).await;
    assert_eq!(answer.answers(), 1, "{answer:?}");
    assert_eq!(answer.status(), 200, "{answer:?}");
    assert!(
        answer.text.contains("\"target\":\"/projects/x/first\""),
        "{answer:?}"
    );
    assert_eq!(program.upstream.echo.asked(), 1);

    // in chunks as well, each as long as it says
    let request =
        format!("{head}Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n0\r\n\r\n");
    let mut stream = program.connect().await;
    let answer = exchange(&mut stream, request.as_bytes()).await;
    assert_eq!(answer.answers(), 1, "{answer:?}");
    assert_eq!(program.upstream.echo.asked(), 2);
}
