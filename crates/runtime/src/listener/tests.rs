use super::*;
use crate::tls::{ClientAuth, TlsFiles};
use axum::routing::get;
use axum::{Extension, Router};
use http::StatusCode;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{PrivateKeyDer, ServerName};
use std::path::Path;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
        .distinguished_name
        .push(rcgen::DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn write_leaf(dir: &Path, name: &str, issuer: &CertifiedIssuer<'static, KeyPair>) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let leaf = params.signed_by(&key, issuer).unwrap();
    std::fs::write(dir.join(format!("{name}.crt")), leaf.pem()).unwrap();
    std::fs::write(dir.join(format!("{name}.key")), key.serialize_pem()).unwrap();
}

fn files(dir: &Path, client_auth: ClientAuth) -> TlsFiles {
    TlsFiles {
        cert_file: dir.join("server.crt"),
        key_file: dir.join("server.key"),
        client_ca_file: Some(dir.join("ca.crt")),
        client_auth,
        ..TlsFiles::default()
    }
}

fn client(dir: &Path, with_certificate: bool) -> TlsConnector {
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(dir.join("ca.crt")).unwrap())
        .unwrap();
    let builder = rustls::ClientConfig::builder().with_root_certificates(roots);
    let config = if with_certificate {
        let chain = vec![CertificateDer::from_pem_file(dir.join("client.crt")).unwrap()];
        let key = PrivateKeyDer::from_pem_file(dir.join("client.key")).unwrap();
        builder.with_client_auth_cert(chain, key).unwrap()
    } else {
        builder.with_no_client_auth()
    };
    TlsConnector::from(Arc::new(config))
}

async fn request<S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin>(
    mut stream: S,
) -> std::io::Result<String> {
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

fn router() -> Router {
    Router::new().route(
        "/",
        get(
            |Extension(PeerAddr(peer)): Extension<PeerAddr>,
             certificates: Option<Extension<PeerCertificates>>| async move {
                let shown =
                    certificates.map_or(0, |Extension(PeerCertificates(chain))| chain.len());
                format!("peer={} certificates={shown}", peer.ip())
            },
        ),
    )
}

struct Fixture {
    dir: tempfile::TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

fn fixture() -> Fixture {
    crate::install_crypto_provider();
    let dir = tempfile::tempdir().unwrap();
    let issuer = authority("test authority");
    std::fs::write(dir.path().join("ca.crt"), issuer.pem()).unwrap();
    write_leaf(dir.path(), "server", &issuer);
    write_leaf(dir.path(), "client", &issuer);
    Fixture { dir, issuer }
}

async fn listen(lifecycle: &Lifecycle, tls: Option<ReloadingTls>) -> SocketAddr {
    let mut listener = Listener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    if let Some(tls) = tls {
        listener = listener.with_tls(tls);
    }
    let address = listener.address();
    listener.serve(router(), lifecycle);
    address
}

async fn tls_request(
    dir: &Path,
    address: SocketAddr,
    certificate: bool,
) -> std::io::Result<String> {
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    request(client(dir, certificate).connect(name, stream).await?).await
}

#[tokio::test]
async fn plain_requests_know_their_peer() {
    let lifecycle = Lifecycle::new(Duration::from_secs(5));
    let address = listen(&lifecycle, None).await;
    let answer = request(TcpStream::connect(address).await.unwrap())
        .await
        .unwrap();
    assert!(
        answer.ends_with("peer=127.0.0.1 certificates=0"),
        "{answer}"
    );
    lifecycle.stop();
    lifecycle.drain().await;
    assert!(!lifecycle.hard_stop().is_cancelled());
}

#[tokio::test]
async fn a_client_certificate_reaches_the_request() {
    let fixture = fixture();
    let dir = fixture.dir.path();
    let lifecycle = Lifecycle::new(Duration::from_secs(5));
    let tls = ReloadingTls::load(files(dir, ClientAuth::Optional)).unwrap();
    let address = listen(&lifecycle, Some(tls)).await;
    let with = tls_request(dir, address, true).await.unwrap();
    assert!(with.ends_with("certificates=1"), "{with}");
    let without = tls_request(dir, address, false).await.unwrap();
    assert!(without.ends_with("certificates=0"), "{without}");
}

#[tokio::test]
async fn a_required_client_certificate_is_required() {
    let fixture = fixture();
    let dir = fixture.dir.path();
    let lifecycle = Lifecycle::new(Duration::from_secs(5));
    let tls = ReloadingTls::load(files(dir, ClientAuth::Required)).unwrap();
    let address = listen(&lifecycle, Some(tls)).await;
    assert!(tls_request(dir, address, false).await.is_err());
    assert!(tls_request(dir, address, true).await.is_ok());
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused() {
    let fixture = fixture();
    let dir = fixture.dir.path();
    let lifecycle = Lifecycle::new(Duration::from_secs(5));
    let tls = ReloadingTls::load(files(dir, ClientAuth::Optional)).unwrap();
    let address = listen(&lifecycle, Some(tls)).await;
    write_leaf(dir, "client", &authority("stranger"));
    assert!(tls_request(dir, address, true).await.is_err());
}

/// What is logged while it exists, by tasks of this thread.
#[derive(Clone, Default)]
struct LogLines(Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        std::io::Write::write(&mut *self.0.lock().unwrap(), bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl LogLines {
    fn capture(&self) -> tracing::subscriber::DefaultGuard {
        let lines = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(tracing::Level::INFO)
            .with_writer(move || lines.clone())
            .finish();
        tracing::subscriber::set_default(subscriber)
    }

    /// The lines, once there are this many. The server logs after the client has seen the end.
    async fn once(&self, count: usize) -> Vec<String> {
        let read = || {
            let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let enough = async {
            while read().len() < count {
                tokio::task::yield_now().await;
            }
        };
        let _ = tokio::time::timeout(Duration::from_secs(10), enough).await;
        read()
    }
}

#[tokio::test]
async fn finding_o7_a_refused_client_certificate_is_logged_with_peer_and_reason() {
    let log = LogLines::default();
    let _guard = log.capture();
    let fixture = fixture();
    let dir = fixture.dir.path();
    let lifecycle = Lifecycle::new(Duration::from_secs(5));
    let required = || ReloadingTls::load(files(dir, ClientAuth::Required)).unwrap();
    // the control case: a good certificate is not an event
    let address = listen(&lifecycle, Some(required())).await;
    tls_request(dir, address, true).await.unwrap();
    assert!(log.once(0).await.is_empty());

    write_leaf(dir, "client", &authority("stranger"));
    assert!(tls_request(dir, address, true).await.is_err());
    let lines = log.once(1).await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    for part in [
        "WARN",
        "TLS handshake failed",
        "peer=127.0.0.1:",
        "the client's certificate was refused",
        "UnknownIssuer",
    ] {
        assert!(lines[0].contains(part), "{part}: {lines:?}");
    }
    // the same client again within the minute is only counted; other listeners have lines of their own
    assert!(tls_request(dir, address, true).await.is_err());
    let without = listen(&lifecycle, Some(required())).await;
    assert!(tls_request(dir, without, false).await.is_err());
    let lines = log.once(2).await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[1].contains("showed no certificate"), "{lines:?}");

    // a client that does not trust the listener's certificate
    let distrusted = listen(&lifecycle, Some(required())).await;
    std::fs::write(dir.join("ca.crt"), authority("another").pem()).unwrap();
    assert!(tls_request(dir, distrusted, true).await.is_err());
    let lines = log.once(3).await;
    assert!(
        lines[2].contains("refused this server's certificate: UnknownCA"),
        "{lines:?}"
    );
}

#[tokio::test]
async fn a_changed_certificate_is_taken_over_and_a_broken_one_is_not() {
    let fixture = fixture();
    let dir = fixture.dir.path();
    let tls = ReloadingTls::load(files(dir, ClientAuth::Required)).unwrap();
    assert!(!tls.reload().unwrap());
    write_leaf(dir, "server", &fixture.issuer);
    assert!(tls.reload().unwrap());
    let kept = tls.current();
    std::fs::write(dir.join("server.crt"), "nonsense").unwrap();
    assert!(tls.reload().is_err());
    assert!(Arc::ptr_eq(&kept, &tls.current()));
}

#[tokio::test]
async fn a_taken_port_is_named() {
    let first = Listener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let error = Listener::bind(first.address()).await.unwrap_err();
    assert!(matches!(error, ListenError::InUse { .. }), "{error}");
    assert!(error.to_string().contains(&first.address().to_string()));
}

#[tokio::test]
async fn a_running_request_is_finished_at_the_stop() {
    let lifecycle = Lifecycle::new(Duration::from_secs(5));
    let (entered, mut entries) = tokio::sync::mpsc::channel::<()>(1);
    let (release, released) = tokio::sync::watch::channel(false);
    let slow = Router::new().route(
        "/",
        get(move || {
            let (entered, mut released) = (entered.clone(), released.clone());
            async move {
                entered.send(()).await.unwrap();
                released.wait_for(|done| *done).await.unwrap();
                "finished"
            }
        }),
    );
    let listener = Listener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let address = listener.address();
    listener.serve(slow, &lifecycle);
    let stream = TcpStream::connect(address).await.unwrap();
    let answer = tokio::spawn(request(stream));
    entries.recv().await.unwrap();
    lifecycle.stop();
    release.send(true).unwrap();
    lifecycle.drain().await;
    assert!(answer.await.unwrap().unwrap().ends_with("finished"));
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn what_is_behind_another_listener_stops_after_it() {
    let lifecycle = Lifecycle::new(Duration::from_secs(10));
    let behind = CancellationToken::new();
    let inner = Listener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let (inner_address, inner) = (inner.address(), inner.until(behind.clone()));
    inner.serve(router(), &lifecycle);
    let (release, released) = tokio::sync::watch::channel(false);
    let outer = Router::new().route(
        "/",
        get(move || {
            let mut released = released.clone();
            async move {
                released.wait_for(|done| *done).await.unwrap();
                // as a proxy does for a request that came in just before the stop
                request(TcpStream::connect(inner_address).await.unwrap())
                    .await
                    .unwrap()
            }
        }),
    );
    let front = Listener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let address = front.address();
    front
        .notify_when_closed(behind.drop_guard())
        .serve(outer, &lifecycle);
    let answer = tokio::spawn(request(TcpStream::connect(address).await.unwrap()));
    lifecycle.stop();
    while TcpStream::connect(address).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    release.send(true).unwrap();
    let answer = answer.await.unwrap().unwrap();
    assert!(answer.contains("peer=127.0.0.1"), "{answer}");
    lifecycle.drain().await;
    assert!(!lifecycle.hard_stop().is_cancelled());
    assert!(TcpStream::connect(inner_address).await.is_err());
}

#[tokio::test]
async fn answers_ask_to_connect_anew_once_a_stop_is_announced() {
    let lifecycle = Lifecycle::new(Duration::from_secs(5));
    let address = listen(&lifecycle, None).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let ask = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut head = [0; 1024];
    stream.write_all(ask).await.unwrap();
    let read = stream.read(&mut head).await.unwrap();
    assert!(!String::from_utf8_lossy(&head[..read]).contains("connection: close"));
    lifecycle.announced().cancel();
    // until the connection's task knows of it, which shows nowhere
    tokio::time::sleep(Duration::from_millis(50)).await;
    stream.write_all(ask).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("connection: close"), "{answer}");
    assert!(TcpStream::connect(address).await.is_ok());
}

#[tokio::test]
async fn an_ambiguous_request_gets_400_unless_an_answer_may_be_under_way() {
    let lifecycle = Lifecycle::new(Duration::from_secs(5));
    let address = listen(&lifecycle, None).await;
    let answer_to = async |sent: &str| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let unclear = "GET / HTTP/1.1\r\nHost: localhost\r\nX : y\r\n\r\n";
    let answer = answer_to(unclear).await;
    let (head, text) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(
        head.contains(&format!("content-length: {}", text.len())),
        "{answer}"
    );
    assert!(text.contains("without a plain name"), "{answer}");
    // a client that sends the next request before the first is answered hears nothing about it
    let first = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let answer = answer_to(&format!("{first}{unclear}")).await;
    assert!(!answer.contains(" 400 "), "{answer}");
}

/// Writes twice with a pause: the first write to a closed socket is what resets it.
async fn sends_on(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    stream.write_all(bytes).await?;
    tokio::time::sleep(Duration::from_millis(50)).await;
    stream.write_all(bytes).await
}

/// Begins a request that is answered before its body has come.
async fn begin_upload(lifecycle: &Lifecycle, length: u32) -> TcpStream {
    let listener = Listener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let address = listener.address();
    let too_large = axum::routing::post(async || StatusCode::PAYLOAD_TOO_LARGE);
    listener.serve(router().route("/early", too_large), lifecycle);
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head =
        format!("POST /early HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn a_client_that_still_sends_a_body_is_not_cut_off_from_the_answer() {
    let lifecycle = Lifecycle::new(Duration::from_secs(5));
    let mut stream = begin_upload(&lifecycle, 100_000).await;
    // until the answer is there, which must not be read yet
    tokio::time::sleep(Duration::from_millis(50)).await;
    sends_on(&mut stream, &[b'x'; 20_000]).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[tokio::test]
async fn frames_that_cross_the_goaway_do_not_reset_the_connection() {
    const PING: &[u8] = b"\0\0\x08\x06\0\0\0\0\0portico!";
    let lifecycle = Lifecycle::new(Duration::from_secs(5));
    let address = listen(&lifecycle, None).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let empty_settings = b"\0\0\0\x04\0\0\0\0\0";
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .await
        .unwrap();
    stream.write_all(empty_settings).await.unwrap();
    stream.write_all(PING).await.unwrap();
    // until the listener has read it
    tokio::time::sleep(Duration::from_millis(50)).await;
    lifecycle.stop();
    // a GOAWAY with a PING that asks whether it has come, RFC 9113, 6.8
    let mut seen = Vec::new();
    let asked = loop {
        let mut buffer = [0; 256];
        let read = stream.read(&mut buffer).await.unwrap();
        assert_ne!(read, 0, "{seen:?}");
        seen.extend_from_slice(&buffer[..read]);
        let head = b"\0\0\x08\x06\0\0\0\0\0";
        let last = seen.windows(17).rev().find(|frame| frame.starts_with(head));
        if let Some(ping) = last {
            break ping[9..].to_vec();
        }
    };
    let mut yes = b"\0\0\x08\x06\x01\0\0\0\0".to_vec();
    yes.extend_from_slice(&asked);
    stream.write_all(&yes).await.unwrap();
    // until the listener has read that, and closes
    tokio::time::sleep(Duration::from_millis(50)).await;
    sends_on(&mut stream, PING).await.unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest.get(3), Some(&7), "no GOAWAY: {rest:?}");
}

#[tokio::test]
async fn a_client_that_sends_on_and_on_is_cut_off() {
    let lifecycle = Lifecycle::new(Duration::from_secs(5));
    let mut stream = begin_upload(&lifecycle, 999_999_999).await;
    let piece = vec![b'x'; 1024 * 1024];
    let mut taken = 0;
    while taken < 100 && stream.write_all(&piece).await.is_ok() {
        taken += 1;
    }
    assert!(taken < 100, "100 MB for an answer that has been given");
}

#[tokio::test]
async fn a_client_that_never_closes_is_let_go_after_a_second() {
    let lifecycle = Lifecycle::new(Duration::from_secs(5));
    let address = listen(&lifecycle, None).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let ask = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(ask).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let started = tokio::time::Instant::now();
    lifecycle.stop();
    lifecycle.drain().await;
    assert!(!lifecycle.hard_stop().is_cancelled());
    assert!(started.elapsed() < Duration::from_secs(3));
}
