//! The door's certificates while it is open: replaced, broken, several, and how old TLS may be.
use std::time::{Duration, Instant};

use portico_test_support::time::eventually;
use rustls::version::{TLS12, TLS13};
use tokio::{io::AsyncReadExt as _, io::AsyncWriteExt as _};

use crate::{
    certificates::Authority,
    program::{HOST, Program, Wanted},
    wire::{self, exchange},
};

/// The certificate that a client sees.
async fn shown(program: &Program, name: &'static str) -> Vec<u8> {
    let stream = wire::tls(program.address, name, &program.authority.pem(), b"").await;
    let stream = stream.expect("handshake");
    let chain = stream
        .get_ref()
        .1
        .peer_certificates()
        .expect("certificates");
    chain[0].to_vec()
}

async fn is_shown_within(program: &Program, time: Duration, other: &[u8]) -> Vec<u8> {
    let started = Instant::now();
    loop {
        let now = shown(program, HOST).await;
        if now != other {
            return now;
        }
        assert!(
            started.elapsed() < time,
            "the old certificate is still shown"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test]
async fn a_replaced_certificate_is_shown_to_new_connections_and_a_broken_one_is_not() {
    let program = Program::start(Wanted {
        tls: true,
        ..Wanted::default()
    })
    .await;
    let first = shown(&program, HOST).await;
    let mut old = program.connect().await;
    let request = format!(
        "GET /ping HTTP/1.1\r\nHost: {}\r\n\r\n",
        program.authority_of_main()
    );
    assert_eq!(exchange(&mut old, request.as_bytes()).await.status(), 200);

    let directory = program.directory.path();
    program.authority.write(directory, "target", &[HOST]);
    let second = is_shown_within(&program, Duration::from_secs(15), &first).await;
    // existing connections stay open
    assert_eq!(exchange(&mut old, request.as_bytes()).await.status(), 200);
    program.says("certificate reloaded").await;

    // a file that cannot be used changes nothing, and is reported
    std::fs::write(directory.join("target.crt"), "no certificate").expect("written");
    program
        .says("new certificate not usable, the old one stays")
        .await;
    assert_eq!(shown(&program, HOST).await, second);
    let unusable = "portico_keys_unusable{keys=\"tls-gateway\"} 1";
    let (_, metrics) = program.admin("/metrics").await.expect("metrics");
    assert!(metrics.contains(unusable), "{metrics}");
    // nor does a certificate of another key
    Authority::new().write(directory, "other", &[HOST]);
    let refusal = "cannot be used with its key";
    let before = program.log().matches(refusal).count();
    std::fs::copy(directory.join("other.crt"), directory.join("target.crt")).expect("copied");
    eventually("the other certificate is read", async || {
        program.log().matches(refusal).count() > before
    })
    .await;
    assert_eq!(shown(&program, HOST).await, second);

    // until it is right
    program.authority.write(directory, "target", &[HOST]);
    is_shown_within(&program, Duration::from_secs(15), &second).await;
    let (_, metrics) = program.admin("/metrics").await.expect("metrics");
    assert!(!metrics.contains(unusable), "{metrics}");
}

#[tokio::test]
async fn each_host_has_its_certificate_and_old_tls_is_refused() {
    let apps = Authority::new();
    let directory = tempfile::tempdir().expect("directory");
    let (cert_file, key_file) = apps.write(directory.path(), "apps", &["*.tools.localhost"]);
    let sections = format!(
        "[[gateway.tls_certificates]]\ncert_file = {cert_file:?}\nkey_file = {key_file:?}\n"
    );
    let program = Program::start(Wanted {
        tls: true,
        gateway: "tls_min_version = \"1.3\"",
        sections: &sections,
        ..Wanted::default()
    })
    .await;
    let main = program.authority.pem();
    let trusted = async |name, authority: &str, versions: &[_]| {
        let config = wire::client(authority, b"", versions);
        wire::handshake(program.address, name, config).await.is_ok()
    };
    let both = [&TLS12, &TLS13];
    for (name, by_main, by_apps) in [
        ("localhost", true, false),
        ("prometheus.apps.localhost", true, false),
        ("prometheus.tools.localhost", false, true),
    ] {
        assert_eq!(trusted(name, &main, &both).await, by_main, "{name}");
        assert_eq!(trusted(name, &apps.pem(), &both).await, by_apps, "{name}");
    }
    assert!(
        !trusted("localhost", &main, &[&TLS12]).await,
        "TLS 1.2 is spoken"
    );
    assert!(trusted("localhost", &main, &[&TLS13]).await);

    // TLS 1.2 unless configured
    let program = Program::start(Wanted {
        tls: true,
        ..Wanted::default()
    })
    .await;
    let config = wire::client(&program.authority.pem(), b"", &[&TLS12]);
    assert!(wire::handshake(program.address, HOST, config).await.is_ok());
}

#[tokio::test]
async fn http_2_is_agreed_on_by_tls_and_spoken_in_clear_by_who_knows() {
    for tls in [false, true] {
        let program = Program::start(Wanted {
            tls,
            ..Wanted::default()
        })
        .await;
        let cookie = program.cookie("vera").await;
        let connection = program.connect_for(b"h2").await;
        let (mut client, driver) = h2::client::handshake(connection).await.expect("HTTP/2");
        tokio::spawn(driver);
        for _ in 0..2 {
            let request = http::Request::get(format!("{}/projects/x", program.main()))
                .header("cookie", &cookie)
                .body(())
                .expect("request");
            let (response, _) = client.send_request(request, true).expect("sent");
            assert_eq!(response.await.expect("an answer").status(), 200);
        }
    }
    let program = Program::start(Wanted {
        tls: true,
        ..Wanted::default()
    })
    .await;
    let offered = |protocols: &[&[u8]]| {
        let mut config = wire::client(&program.authority.pem(), b"", rustls::ALL_VERSIONS);
        config.alpn_protocols = protocols.iter().map(|one| one.to_vec()).collect();
        wire::handshake(program.address, HOST, config)
    };
    let stream = offered(&[b"http/1.1", b"h2"]).await.expect("handshake");
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let stream = offered(&[b"http/1.1"]).await.expect("handshake");
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    // plain HTTP to it gets a TLS alert or nothing
    let mut plain = tokio::net::TcpStream::connect(program.address)
        .await
        .expect("connected");
    plain
        .write_all(b"GET /ping HTTP/1.1\r\nHost: localhost:8443\r\n\r\n")
        .await
        .expect("sent");
    let mut answer = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(10), plain.read_to_end(&mut answer));
    // a reset is an end as well
    let _ = ended.await.expect("the connection is closed");
    assert!(answer.is_empty() || is_alert(&answer), "{answer:?}");
}

/// Whether bytes are one alert of TLS and nothing else (RFC 8446, 5.1 and 6).
fn is_alert(bytes: &[u8]) -> bool {
    matches!(bytes, [21, 3, _, 0, 2, _, _])
}
