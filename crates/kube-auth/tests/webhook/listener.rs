//! Through a real TLS listener: the certificate comes from the handshake.
use axum::http::StatusCode;
use portico_runtime::lifecycle::Lifecycle;
use portico_runtime::listener::Listener;
use portico_runtime::tls::{ClientAuth, ReloadingTls, TlsFiles};
use portico_test_support::webhook::{Webhook, closed_port, cluster};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    SanType,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use uuid::Uuid;

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Certificate and key, in PEM.
    fn issue(&self, usage: ExtendedKeyUsagePurpose, uri: Option<&str>) -> (String, String) {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.extended_key_usages = vec![usage];
        if let Some(uri) = uri {
            params
                .subject_alt_names
                .push(SanType::URI(uri.try_into().unwrap()));
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}

fn listener_files(dir: &Path, authority: &Authority) -> TlsFiles {
    let (certificate, key) = authority.issue(ExtendedKeyUsagePurpose::ServerAuth, None);
    let files = TlsFiles {
        cert_file: dir.join("s.crt"),
        key_file: dir.join("s.key"),
        client_ca_file: Some(dir.join("ca.crt")),
        client_auth: ClientAuth::Required,
        ..TlsFiles::default()
    };
    std::fs::write(&files.cert_file, certificate).unwrap();
    std::fs::write(&files.key_file, key).unwrap();
    std::fs::write(dir.join("ca.crt"), authority.0.pem()).unwrap();
    files
}

/// The status of one review, or `None` when the connection was refused.
async fn status(
    address: SocketAddr,
    authority: &Authority,
    client: Option<(String, String)>,
    cluster: Uuid,
) -> Option<StatusCode> {
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(authority.0.pem().as_bytes()).unwrap())
        .unwrap();
    let builder = rustls::ClientConfig::builder().with_root_certificates(roots);
    let config = match client {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => builder
            .with_client_auth_cert(
                vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()],
                PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
            )
            .unwrap(),
    };
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let mut stream = connector.connect(name, stream).await.ok()?;
    let body =
        r#"{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"x"}}"#;
    let request = format!(
        "POST /clusters/{cluster}/tokenreview HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    // with TLS 1.3 a missing certificate shows only here
    let _ = stream.read_to_end(&mut answer).await;
    let line = String::from_utf8(answer).unwrap();
    line.split(' ').nth(1)?.parse().ok()
}

#[tokio::test]
async fn only_the_clusters_own_api_server_is_heard() {
    portico_runtime::install_crypto_provider();
    let dir = tempfile::tempdir().unwrap();
    let (authority, stranger) = (Authority::new(), Authority::new());
    let webhook = Webhook::new(
        vec![cluster(1, "acme", &[]), cluster(2, "globex", &[])],
        &closed_port(),
        Duration::from_secs(10),
    );
    let lifecycle = Lifecycle::new(Duration::from_secs(1));
    let tls = ReloadingTls::load(listener_files(dir.path(), &authority)).unwrap();
    let any = "127.0.0.1:0".parse().unwrap();
    let listener = Listener::bind(any).await.unwrap().with_tls(tls);
    let address = listener.address();
    listener.serve(webhook.service.router(), &lifecycle);

    let id = Uuid::from_u128;
    let uri = format!("portico:cluster:{}", id(1));
    let client = |by: &Authority, usage| Some(by.issue(usage, Some(&uri)));
    let cases = [
        (
            "own",
            client(&authority, ExtendedKeyUsagePurpose::ClientAuth),
            1,
            Some(StatusCode::OK),
        ),
        (
            "own, at the other cluster",
            client(&authority, ExtendedKeyUsagePurpose::ClientAuth),
            2,
            Some(StatusCode::FORBIDDEN),
        ),
        ("none", None, 1, None),
        (
            "other authority",
            client(&stranger, ExtendedKeyUsagePurpose::ClientAuth),
            1,
            None,
        ),
        (
            "a server's",
            client(&authority, ExtendedKeyUsagePurpose::ServerAuth),
            1,
            None,
        ),
    ];
    for (what, client, cluster, expected) in cases {
        let status = status(address, &authority, client, id(cluster)).await;
        assert_eq!(status, expected, "{what}");
    }
    lifecycle.stop();
}
