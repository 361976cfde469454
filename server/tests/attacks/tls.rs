//! Cases 96 to 98: the TLS port: what is not TLS or too old, names of the handshake against names
//! of the request, renegotiation, and certificates that take the place of others.
use std::time::Duration;

use http::StatusCode;
use rustls::{HandshakeKind, version::TLS12};
use rustls_pki_types::{IpAddr, ServerName};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    process::Command,
    time::timeout,
};
use tokio_rustls::TlsConnector;

use crate::{
    certificates::Authority,
    program::{HOST, Program, Wanted},
    wire::{self, Raw, exchange},
};

const TWO_APPS: &str = r#"
[[apps]]
id = "prometheus"
name = "Prometheus"
project = "ACME"
url = "UPSTREAM"
allow = [{ role = "k8s_admin", project = "ACME" }, { role = "k8s_developer", project = "ACME" }]

[[apps]]
id = "grafana"
name = "Grafana"
project = "ACME"
url = "UPSTREAM"
allow = [{ role = "nobody_has_this", project = "ACME" }]
"#;

async fn over_tls(sections: &str) -> Program {
    Program::start(Wanted {
        tls: true,
        sections,
        ..Wanted::default()
    })
    .await
}

/// The fatal alert of an answer that is one alert in clear and nothing else (RFC 8446, 5.1 and 6).
fn alert(answer: &[u8]) -> Option<u8> {
    match answer {
        [21, 3, _, 0, 2, 2, description] => Some(*description),
        _ => None,
    }
}

/// A TLS record with a handshake message.
fn record(version: [u8; 2], message: &[u8]) -> Vec<u8> {
    let length = u16::try_from(message.len()).expect("short").to_be_bytes();
    [&[22][..], &version, &length, message].concat()
}

/// A client hello for no newer version than this, with cipher suites that such clients offer.
fn old_hello(version: [u8; 2]) -> Vec<u8> {
    let suites = [0xc0, 0x13, 0xc0, 0x14, 0x00, 0x2f, 0x00, 0x35];
    let body = [
        &version[..],
        &[7; 32],
        &[0],
        &[0, 8],
        &suites,
        &[1, 0],
        // no extensions
        &[0, 0],
    ]
    .concat();
    let length = u32::try_from(body.len()).expect("short").to_be_bytes();
    record([3, 1], &[&[1][..], &length[1..], &body].concat())
}

async fn answer_to(program: &Program, bytes: &[u8], time: Duration) -> Vec<u8> {
    let mut stream = TcpStream::connect(program.address)
        .await
        .expect("connected");
    // it may be closed before everything was sent
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let ended = timeout(time, stream.read_to_end(&mut answer)).await;
    assert!(ended.is_ok(), "still open after {time:?}: {bytes:?}");
    answer
}

#[tokio::test]
async fn attack_96_what_is_not_a_hello_of_a_good_version_gets_an_alert_and_nothing_else() {
    let program = over_tls("").await;
    let in_time = Duration::from_secs(20);
    let plain = b"GET /ping HTTP/1.1\r\nHost: localhost:8443\r\n\r\n";
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let good = old_hello([3, 3]);
    for (what, bytes) in [
        ("plain HTTP", plain.to_vec()),
        ("plain HTTP/2", preface.to_vec()),
        (
            "a hello of SSL 2",
            [&[0x80, 0x2e, 1, 0, 2][..], &[0; 43]].concat(),
        ),
        ("a hello of SSL 3", old_hello([3, 0])),
        ("a hello of TLS 1.0", old_hello([3, 1])),
        ("a hello of TLS 1.1", old_hello([3, 2])),
        ("old cipher suites", good.clone()),
        ("an empty handshake", record([3, 1], &[])),
        (
            "a hello of 16 MB",
            record([3, 1], &[1, 0xff, 0xff, 0xff, 3, 3]),
        ),
        (
            "a record beyond its limit",
            [&[22, 3, 1, 0xff, 0xff][..], &[1; 70_000]].concat(),
        ),
        (
            "data before the handshake",
            [23, 3, 3, 0, 4, 1, 2, 3, 4].to_vec(),
        ),
        ("an alert", vec![21, 3, 3, 0, 2, 2, 40]),
        ("noise", (0..=255).cycle().skip(100).take(4000).collect()),
        ("a hello cut off", good[..20].to_vec()),
    ] {
        let answer = answer_to(&program, &bytes, in_time).await;
        assert!(
            answer.is_empty() || alert(&answer).is_some(),
            "{what}: {answer:?}"
        );
        if what.contains("TLS 1.") {
            assert!(alert(&answer).is_some(), "{what}: no alert");
        }
    }
    assert_eq!(program.upstream.echo.asked(), 0);
    // the control case
    let mut stream = program.connect().await;
    assert_eq!(exchange(&mut stream, plain).await.status(), 200);
}

/// A connection whose handshake names this host, or none, whatever certificate is shown.
async fn named(program: &Program, name: Option<&'static str>) -> std::io::Result<Raw> {
    let config = wire::client(&program.authority.pem(), b"http/1.1", rustls::ALL_VERSIONS);
    let stream = TcpStream::connect(program.address).await?;
    let name = match name {
        Some(name) => ServerName::try_from(name).expect("name"),
        // an address is not sent
        None => ServerName::IpAddress(IpAddr::from(std::net::Ipv4Addr::LOCALHOST)),
    };
    let connector = TlsConnector::from(std::sync::Arc::new(config));
    Ok(Box::new(connector.connect(name, stream).await?))
}

#[tokio::test]
async fn attack_97_the_host_of_the_request_decides_whatever_the_handshake_names() {
    let program = over_tls(TWO_APPS).await;
    let (main, app, other) = (
        "localhost:8443",
        "prometheus.apps.localhost:8443",
        "grafana.apps.localhost:8443",
    );
    // a user who may open one app and not the other
    let mut browser = program.sign_in("devi").await;
    let origin = format!("https://{app}");
    let offered = browser.follow(&format!("{origin}/graph")).await;
    let fields = [("code", &*offered.field("code"))];
    let page = browser
        .submit(
            program.main(),
            &format!("{origin}/oauth2/handover"),
            &fields,
        )
        .await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    let cookie = browser.cookie_line("prometheus.apps.localhost");
    let main_cookie = browser.cookie_line(HOST);
    let asked = program.upstream.echo.asked();
    let mut opened = 0;
    for sni in [
        "localhost",
        "prometheus.apps.localhost",
        "grafana.apps.localhost",
    ] {
        for (host, cookie, status) in [
            (app, cookie.as_str(), 200),
            (other, &cookie, 401),
            (main, &cookie, 401),
            (app, &main_cookie, 401),
            (other, &main_cookie, 401),
            (app, "", 401),
            ("evil.example", &cookie, 421),
            ("", &cookie, 400),
        ] {
            let mut stream = named(&program, Some(sni)).await.expect("handshake");
            let request = format!(
                "GET /projects/x HTTP/1.1\r\nHost: {host}\r\nSec-Fetch-Mode: cors\r\n\
                 Sec-Fetch-Site: same-origin\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
            );
            let answer = exchange(&mut stream, request.as_bytes()).await;
            if host.is_empty() {
                assert!(matches!(answer.status(), 400 | 421), "{sni}: {answer:?}");
            } else {
                assert_eq!(answer.status(), status, "{sni} {host}: {answer:?}");
            }
            opened += usize::from(answer.status() == 200);
        }
    }
    // the control case is among them: the app's own host with its own cookie, by every name
    assert_eq!(opened, 3);
    assert_eq!(program.upstream.echo.asked(), asked + 3);
    // names that no certificate is for, and none: the default certificate, which fits neither
    for name in [Some("evil.example"), None] {
        let refused = named(&program, name).await;
        let error = refused.err().expect("the certificate was believed");
        assert!(error.to_string().contains("certificate"), "{error}");
    }
}

#[tokio::test]
async fn attack_97_no_client_renegotiates() {
    let program = over_tls("").await;
    let client = async |input: &str| {
        let mut child = Command::new("openssl")
            .args([
                "s_client",
                "-tls1_2",
                "-connect",
                &program.address.to_string(),
            ])
            .args(["-servername", HOST, "-legacy_renegotiation"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("openssl");
        let mut stdin = child.stdin.take().expect("input");
        stdin.write_all(input.as_bytes()).await.expect("written");
        let done = timeout(Duration::from_secs(20), child.wait_with_output()).await;
        let done = done.expect("openssl ends").expect("output");
        drop(stdin);
        let both = [done.stdout, done.stderr].concat();
        String::from_utf8_lossy(&both).into_owned()
    };
    let request = "GET /ping HTTP/1.1\nHost: localhost:8443\nConnection: close\n\n";
    let output = client(&format!("R\n{request}")).await;
    assert!(output.contains("RENEGOTIATING"), "{output}");
    assert!(!output.contains("HTTP/1.1 200"), "{output}");
    // the control case
    let output = client(&request.replace('\n', "\r\n")).await;
    assert!(output.contains("HTTP/1.1 200"), "{output}");
}

/// Returns whether a second handshake resumes a client's session, and both responses.
async fn resumed(program: &Program, connector: &TlsConnector) -> bool {
    let mut last = None;
    for _ in 0..2 {
        let stream = TcpStream::connect(program.address)
            .await
            .expect("connected");
        let name = ServerName::try_from(HOST).expect("name");
        let mut stream = connector.connect(name, stream).await.expect("handshake");
        let request = b"GET /ping HTTP/1.1\r\nHost: localhost:8443\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.expect("sent");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{answer:?}");
        last = stream.get_ref().1.handshake_kind();
    }
    last == Some(HandshakeKind::Resumed)
}

#[tokio::test]
async fn attack_98_no_session_of_a_replaced_certificate_is_resumed() {
    let program = over_tls("").await;
    for versions in [rustls::ALL_VERSIONS, &[&TLS12][..]] {
        let config = wire::client(&program.authority.pem(), b"http/1.1", versions);
        let connector = TlsConnector::from(std::sync::Arc::new(config));
        // the control case: with the same certificate sessions are resumed
        assert!(resumed(&program, &connector).await, "no session is resumed");
        let before = program.log().matches("certificate reloaded").count();
        program
            .authority
            .write(program.directory.path(), "target", &[HOST]);
        for _ in 0..300 {
            if program.log().matches("certificate reloaded").count() > before {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let stream = TcpStream::connect(program.address)
            .await
            .expect("connected");
        let name = ServerName::try_from(HOST).expect("name");
        let stream = connector.connect(name, stream).await.expect("handshake");
        let kind = stream.get_ref().1.handshake_kind();
        assert_eq!(
            kind,
            Some(HandshakeKind::Full),
            "the old certificate lives on"
        );
    }
    // a certificate of another authority is shown, and not believed by who trusts the first
    let before = program.log().matches("certificate reloaded").count();
    Authority::new().write(program.directory.path(), "target", &[HOST]);
    for _ in 0..300 {
        if program.log().matches("certificate reloaded").count() > before {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let pem = program.authority.pem();
    let refused = wire::tls(program.address, HOST, &pem, b"http/1.1").await;
    assert!(refused.is_err(), "another authority's certificate");
}
