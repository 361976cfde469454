//! Cases 93 to 95: HTTP/2 frames that cost the server more than the client. What attack 83 proves
//! (rapid reset, heads without an end, many headers, `:authority` against `Host`, streams that
//! are not read) is not repeated here.
use std::time::Duration;

use tokio::time::timeout;

use crate::{
    frames::{
        CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, Http2, PING, PRIORITY, SETTINGS,
        StreamOutcome, WINDOW_UPDATE, block, frame, indexed_field,
    },
    http2::SignedInProgram,
};

/// RFC 7541, 2.3.3: the first entry of the dynamic table.
const NEWEST_ENTRY: u8 = 0x80 | 62;
/// The largest frame that a server accepts by default.
const MAX_FRAME_BYTES: usize = 16 * 1024;

fn refused(message: StreamOutcome) -> bool {
    matches!(
        message,
        StreamOutcome::Other | StreamOutcome::Reset | StreamOutcome::Over
    )
}

async fn hpack_bombs(tls: bool) {
    let target = SignedInProgram::open(tls).await;
    let good = block(&target.fields("/projects/x"));
    let asked = target.program.upstream.echo.asked();

    // one field of 3,900 bytes in the table, then a reference of one byte, 12,000 times: 47 MB
    let mut bomb = good.clone();
    bomb.extend(indexed_field("x-bomb", &"x".repeat(3900)));
    bomb.resize(bomb.len() + 11_000, NEWEST_ENTRY);
    assert!(bomb.len() < MAX_FRAME_BYTES);
    for _ in 0..20 {
        let mut connection = Http2::open(&target.program).await;
        let head = frame(HEADERS, END_HEADERS | END_STREAM, 1, &bomb);
        connection.send(&head).await.expect("sent");
        assert!(refused(connection.outcome_of(1).await), "a head of 43 MB");
    }
    // the same in pieces, on many streams of one connection
    let mut connection = Http2::open(&target.program).await;
    let (first, rest) = bomb.split_at(bomb.len() / 2);
    for number in 0..200 {
        let id = number * 2 + 1;
        let mut pieces = frame(HEADERS, END_STREAM, id, first);
        pieces.extend(frame(CONTINUATION, END_HEADERS, id, rest));
        if connection.send(&pieces).await.is_err() {
            break;
        }
    }
    assert!(refused(connection.outcome_of(399).await), "the last of 200");
    target.others_are_served().await;
    target.memory_is_bounded();

    // blocks that no table can be read with end the connection (RFC 9113, 4.3)
    for (what, wrong) in [
        ("an entry that is not there", vec![0x80 | 70]),
        ("an entry without a number", vec![0x80]),
        (
            "a table larger than agreed",
            vec![0x3f, 0xe1, 0xff, 0xff, 0x03],
        ),
        ("a number without an end", vec![0xff; 64]),
        (
            "a text that is longer than the block",
            vec![0x40, 0x7f, 0xff, 0x7f],
        ),
    ] {
        let mut connection = Http2::open(&target.program).await;
        let mut head = wrong;
        head.extend(&good);
        let head = frame(HEADERS, END_HEADERS | END_STREAM, 1, &head);
        connection.send(&head).await.expect("sent");
        let message = connection.outcome_of(1).await;
        assert!(
            matches!(message, StreamOutcome::Over | StreamOutcome::Reset),
            "{what}: {message:?}"
        );
    }
    assert_eq!(
        target.program.upstream.echo.asked(),
        asked + 2,
        "those of the others"
    );

    // the control case: a field from the table, three times
    let mut fields = good;
    fields.extend(indexed_field("x-table", "y"));
    fields.extend([NEWEST_ENTRY; 3]);
    let mut connection = Http2::open(&target.program).await;
    let head = frame(HEADERS, END_HEADERS | END_STREAM, 1, &fields);
    connection.send(&head).await.expect("sent");
    assert_eq!(connection.outcome_of(1).await, StreamOutcome::Ok);
}

#[tokio::test]
async fn attack_93_small_heads_that_unpack_to_large_ones_are_refused() {
    hpack_bombs(false).await;
}

#[tokio::test]
async fn attack_93_small_heads_that_unpack_to_large_ones_are_refused_over_tls() {
    hpack_bombs(true).await;
}

/// Sends a burst over and over without reading what comes back, until the server closes the
/// connection or takes no more for a while.
async fn flood(connection: &mut Http2, burst: &[u8], times: usize) {
    for _ in 0..times {
        match timeout(Duration::from_secs(2), connection.send(burst)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return,
        }
    }
}

#[tokio::test]
async fn attack_94_floods_of_frames_that_ask_for_nothing_hold_up_no_other_client() {
    let target = SignedInProgram::open(true).await;
    let fields = target.fields("/slow");
    let begun = frame(HEADERS, 0, 1, &block(&fields));
    let post: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| (*name, if *name == ":method" { "POST" } else { *value }))
        .chain([("origin", target.program.main())])
        .collect();
    let open = frame(HEADERS, END_HEADERS, 1, &block(&post));
    let setting = [0, 4, 0, 0, 0xff, 0xff].repeat(8);
    let mut weight = 0_u32.to_be_bytes().to_vec();
    weight.push(16);
    for (what, first, one) in [
        // CVE-2019-9512 and -9515: each has to be acknowledged
        ("pings", Vec::new(), frame(PING, 0, 0, &[7; 8])),
        ("settings", Vec::new(), frame(SETTINGS, 0, 0, &setting)),
        ("empty settings", Vec::new(), frame(SETTINGS, 0, 0, &[])),
        // CVE-2019-9518: frames without anything in them
        ("empty data", open.clone(), frame(DATA, 0, 1, &[])),
        ("empty continuations", begun, frame(CONTINUATION, 0, 1, &[])),
        // CVE-2019-9513
        ("priorities", Vec::new(), frame(PRIORITY, 0, 3, &weight)),
        (
            "small windows",
            open,
            frame(WINDOW_UPDATE, 0, 1, &1_u32.to_be_bytes()),
        ),
        // RFC 9113, 5.5: frames of unknown types are ignored
        ("unknown frames", Vec::new(), frame(0xbe, 0xff, 0, &[1; 16])),
    ] {
        let mut connection = Http2::open(&target.program).await;
        connection.send(&first).await.expect("sent");
        let burst = one.repeat(1000);
        tokio::join!(
            flood(&mut connection, &burst, 100),
            target.others_are_served()
        );
        target.others_are_served().await;
        let before = std::time::Instant::now();
        drop(connection);
        target.others_are_served().await;
        assert!(before.elapsed() < Duration::from_secs(5), "{what}");
        target.memory_is_bounded();
    }
    // the control case: some of each in good measure, and an answer
    let mut connection = Http2::open(&target.program).await;
    let mut some = frame(PING, 0, 0, &[7; 8]);
    some.extend(frame(SETTINGS, 0, 0, &setting));
    some.extend(frame(PRIORITY, 0, 3, &weight));
    some.extend(frame(0xbe, 0xff, 0, &[1; 16]));
    connection.send(&some).await.expect("sent");
    let message = connection.ask(1, &target.fields("/projects/x")).await;
    assert_eq!(message, StreamOutcome::Ok);
}

#[tokio::test]
async fn attack_95_a_client_that_makes_the_server_reset_is_cut() {
    // CVE-2025-8671: the client breaks a rule about each stream, so that the server takes its own
    // requests back, of which the limit on open streams knows nothing
    let target = SignedInProgram::open(false).await;
    let head = block(&target.fields("/slow"));
    let too_much = 0x7fff_ffff_u32.to_be_bytes();
    for (what, wrong) in [
        (
            "a window beyond its limit",
            (WINDOW_UPDATE, too_much.to_vec()),
        ),
        (
            "a window that grows by nothing",
            (WINDOW_UPDATE, vec![0; 4]),
        ),
        ("data after the end", (DATA, b"more".to_vec())),
    ] {
        let mut connection = Http2::open(&target.program).await;
        let mut cut = false;
        'flood: for round in 0..200_u32 {
            let mut burst = Vec::new();
            for number in 0..100 {
                let id = (round * 100 + number) * 2 + 1;
                burst.extend(frame(HEADERS, END_HEADERS | END_STREAM, id, &head));
                burst.extend(frame(wrong.0, 0, id, &wrong.1));
            }
            let sent = timeout(Duration::from_secs(5), connection.send(&burst)).await;
            if !matches!(sent, Ok(Ok(()))) {
                cut = true;
                break 'flood;
            }
        }
        let cut = cut || connection.is_over_within(Duration::from_secs(5)).await;
        assert!(cut, "{what}: not cut after 20,000 requests were reset");
        target.others_are_served().await;
        target.memory_is_bounded();
    }
    // the control case: a few mistakes end their streams and no more
    let mut connection = Http2::open(&target.program).await;
    for id in [1, 3, 5] {
        let mut pair = frame(HEADERS, END_HEADERS | END_STREAM, id, &head);
        pair.extend(frame(WINDOW_UPDATE, 0, id, &too_much));
        connection.send(&pair).await.expect("sent");
    }
    assert_eq!(
        connection.ask(7, &target.fields("/projects/x")).await,
        StreamOutcome::Ok
    );
}
