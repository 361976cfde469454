//! Case 85: what a long path costs.
use std::time::{Duration, Instant};

use crate::{
    program::{Program, Wanted},
    wire::exchange,
};

#[tokio::test]
async fn attack_85_a_path_of_100_kb_is_refused_and_a_long_one_costs_little() {
    let program = Program::start(Wanted::default()).await;
    let cookie = program.cookie("vera").await;
    let ask = async |path: &str| {
        let head = program.head(&format!("GET {path}"), &cookie);
        let request = format!("{head}Connection: close\r\n\r\n");
        let mut stream = program.connect().await;
        let started = Instant::now();
        let answer = exchange(&mut stream, request.as_bytes()).await;
        (answer, started.elapsed())
    };
    for long in [
        "a".repeat(100_000),
        "a/".repeat(50_000),
        "%61".repeat(33_334),
        "../".repeat(33_334),
    ] {
        let (answer, took) = ask(&format!("/projects/x/{long}")).await;
        assert!(
            matches!(answer.status(), 0 | 400 | 414 | 431),
            "{}",
            answer.status()
        );
        assert!(answer.closed && took < Duration::from_secs(2), "{took:?}");
    }
    assert_eq!(program.upstream.echo.asked(), 0);
    // what is short enough to be looked at; patterns that backtrack would take for ever
    for long in [
        "a".repeat(30_000),
        "a/".repeat(15_000),
        "%61".repeat(10_000),
        "a".repeat(29_999) + "!",
        "%2e".repeat(10_000),
        ";a=b".repeat(7_500),
    ] {
        let (answer, took) = ask(&format!("/projects/x/{long}")).await;
        assert!(answer.status() >= 200, "{answer:?}");
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
    // the control case: long, plain, and passed on whole
    let plain = format!("/projects/x/{}", "b".repeat(20_000));
    let (answer, _) = ask(&plain).await;
    assert_eq!(answer.status(), 200);
    assert!(answer.text.contains(&plain));
}
