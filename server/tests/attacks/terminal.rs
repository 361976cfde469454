//! Case 113: control sequences in what the running program logs.
use http::{Method, StatusCode};
use tokio::io::AsyncWriteExt as _;

use crate::{
    program::{Program, Wanted},
    wire::{exchange, read_until_quiet},
};

/// A title, a cleared screen, a C1 introducer, a line of its own, text from right to left.
const HOSTILE: &str =
    "ada\u{1b}]0;pwned\u{7}\u{1b}[2J\u{9b}31m\r\n2026-01-01T00:00:00Z ERROR forged\u{202e}";

async fn quiet_log(format: &str) {
    let sections = format!("[log]\nlevel = \"debug\"\nformat = {format:?}\n");
    let program = Program::start(Wanted {
        sections: &sections,
        ..Wanted::default()
    })
    .await;
    // names that are typed, of users and of programs
    let mut browser = program.browser();
    let url = format!("{}/oauth2/sign_in", program.main());
    let page = browser.open(&url).await;
    let csrf = page.field("csrf_token");
    for (name, domain) in [(HOSTILE, "Default"), ("ada", HOSTILE)] {
        let fields = [
            ("csrf_token", csrf.as_str()),
            ("name", name),
            ("password", "x"),
            ("domain", domain),
        ];
        let page = browser.submit(program.main(), &url, &fields).await;
        assert!(page.status.is_client_error(), "{}", page.status);
    }
    let body = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("client_id", "portico-cli")
        .append_pair("client_name", HOSTILE)
        .finish();
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let url = format!("{}/oauth2/device", program.main());
    let page = browser.send(Method::POST, &url, &headers, body).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    // what is sent in lines of a request, encoded or as bytes of Latin 1
    let encoded: String = url::form_urlencoded::byte_serialize(HOSTILE.as_bytes()).collect();
    for (target, host, agent) in [
        (
            format!("/{encoded}"),
            "localhost:8080".to_owned(),
            "curl".to_owned(),
        ),
        (
            format!("/x?y={encoded}"),
            "localhost:8080".to_owned(),
            "curl".to_owned(),
        ),
        (
            "/x".to_owned(),
            "evil\u{9b}31m.example".to_owned(),
            "curl".to_owned(),
        ),
        (
            "/x".to_owned(),
            "localhost:8080".to_owned(),
            "agent\u{9b}31m\u{202e}".to_owned(),
        ),
        (
            "/x\u{1b}[2J".to_owned(),
            "localhost:8080".to_owned(),
            "curl".to_owned(),
        ),
    ] {
        let mut stream = program.connect().await;
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {agent}\r\nConnection: close\r\n\r\n"
        );
        let answer = exchange(&mut stream, request.as_bytes()).await;
        assert!(answer.status() != 200, "{answer:?}");
    }
    let mut stream = program.connect().await;
    stream
        .write_all(b"\x1b[2J\x9b31m\r\n\r\n")
        .await
        .expect("sent");
    read_until_quiet(&mut stream, std::time::Duration::from_millis(300)).await;

    // the control case: lines are written, to the last one
    program.get("/the-last-line").await;
    program.says("the-last-line").await;
    let log = program.log();
    for character in log.chars() {
        let acts = (character.is_control() && character != '\n')
            || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        assert!(!acts, "{character:?} in the log: {log:?}");
    }
    assert!(
        !log.lines()
            .any(|line| line.starts_with("2026-01-01T00:00:00Z")),
        "a forged line: {log}"
    );
}

#[tokio::test]
async fn attack_113_no_control_character_gets_into_the_text_log() {
    quiet_log("human").await;
}

#[tokio::test]
async fn attack_113_no_control_character_gets_into_the_log_as_json() {
    quiet_log("json").await;
}
