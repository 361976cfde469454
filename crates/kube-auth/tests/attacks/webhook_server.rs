//! A real listener with mutual TLS in front of a webhook, and raw bytes through it.
use portico_runtime::lifecycle::Lifecycle;
use portico_runtime::listener::Listener;
use portico_runtime::tls::{ClientAuth, ReloadingTls, TlsFiles};
use portico_test_support::webhook::Webhook;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    SanType, date_time_ymd,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use uuid::Uuid;

/// Bounds how long a response may take.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// Certificate and key, in PEM.
pub type Identity = (String, String);

pub struct WebhookServer {
    pub address: SocketAddr,
    pub authority: Authority,
    dir: TempDir,
    lifecycle: Lifecycle,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn issue(&self, usage: ExtendedKeyUsagePurpose, uri: Option<&str>, old: bool) -> Identity {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).unwrap();
        params.extended_key_usages = vec![usage];
        if old {
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2021, 1, 1);
        }
        if let Some(uri) = uri {
            let name = SanType::URI(uri.try_into().unwrap());
            params.subject_alt_names.push(name);
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// Of an API server of this cluster.
    pub fn api_server(&self, cluster: Uuid) -> Identity {
        let uri = format!("portico:cluster:{cluster}");
        self.issue(ExtendedKeyUsagePurpose::ClientAuth, Some(&uri), false)
    }

    /// Issues the same certificate, expired years ago.
    pub fn expired(&self, cluster: Uuid) -> Identity {
        let uri = format!("portico:cluster:{cluster}");
        self.issue(ExtendedKeyUsagePurpose::ClientAuth, Some(&uri), true)
    }

    /// Issues the certificate of a client that is not an API server.
    pub fn client_without_cluster(&self) -> Identity {
        self.issue(ExtendedKeyUsagePurpose::ClientAuth, None, false)
    }

    pub fn server(&self) -> Identity {
        self.issue(ExtendedKeyUsagePurpose::ServerAuth, None, false)
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }
}

impl WebhookServer {
    pub async fn open(webhook: &Webhook) -> Self {
        portico_runtime::install_crypto_provider();
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::new();
        let files = TlsFiles {
            cert_file: dir.path().join("server.crt"),
            key_file: dir.path().join("server.key"),
            client_ca_file: Some(dir.path().join("ca.crt")),
            client_auth: ClientAuth::Required,
            ..TlsFiles::default()
        };
        let (certificate, key) = authority.server();
        std::fs::write(&files.cert_file, certificate).unwrap();
        std::fs::write(&files.key_file, key).unwrap();
        std::fs::write(dir.path().join("ca.crt"), authority.pem()).unwrap();
        let tls = ReloadingTls::load(files).unwrap();
        let any = "127.0.0.1:0".parse().unwrap();
        let listener = Listener::bind(any).await.unwrap().with_tls(tls);
        let address = listener.address();
        let lifecycle = Lifecycle::new(Duration::from_secs(5));
        listener.serve(webhook.service.router(), &lifecycle);
        Self {
            address,
            authority,
            dir,
            lifecycle,
        }
    }

    /// A connection; with TLS 1.3 a refused certificate shows only at the first read.
    pub async fn connect(&self, identity: Option<&Identity>) -> io::Result<TlsStream<TcpStream>> {
        self.connect_with(identity, &[]).await
    }

    pub async fn connect_with(
        &self,
        identity: Option<&Identity>,
        protocols: &[&[u8]],
    ) -> io::Result<TlsStream<TcpStream>> {
        let mut roots = rustls::RootCertStore::empty();
        let authority = self.authority.pem();
        let authority = CertificateDer::from_pem_slice(authority.as_bytes()).unwrap();
        roots.add(authority).unwrap();
        let builder = rustls::ClientConfig::builder().with_root_certificates(roots);
        let mut config = match identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
                builder.with_client_auth_cert(chain, key).unwrap()
            }
        };
        config.alpn_protocols = protocols.iter().map(|one| one.to_vec()).collect();
        let stream = TcpStream::connect(self.address).await?;
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await
    }

    /// What comes back for these bytes until the other side closes; nothing when it refuses.
    pub async fn answer_to(&self, identity: Option<&Identity>, request: &[u8]) -> String {
        let exchange = async {
            match self.connect(identity).await {
                Ok(stream) => Self::answer_on(stream, request).await,
                Err(_) => String::new(),
            }
        };
        tokio::time::timeout(RESPONSE_TIMEOUT, exchange)
            .await
            .unwrap()
    }

    /// The same on a connection that is there.
    pub async fn answer_on(mut stream: TlsStream<TcpStream>, request: &[u8]) -> String {
        let mut answer = Vec::new();
        // the other side may answer and close before it has all of it
        let _ = stream.write_all(request).await;
        // what is written may still lie in the TLS session
        let _ = stream.flush().await;
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8(answer).unwrap()
    }

    /// Replaces certificate and key on disk, as whatever renews them does.
    pub fn renew_certificate(&self) {
        let (certificate, key) = self.authority.server();
        std::fs::write(self.dir.path().join("server.key"), key).unwrap();
        std::fs::write(self.dir.path().join("server.crt"), certificate).unwrap();
    }

    /// Starts the stop.
    pub fn stop(&self) {
        self.lifecycle.stop();
    }
}

impl Drop for WebhookServer {
    fn drop(&mut self) {
        self.lifecycle.stop();
    }
}

/// The status line's number; 0 when nothing came back.
pub fn status(answer: &str) -> u16 {
    let line = answer.lines().next().unwrap_or("");
    line.split(' ')
        .nth(1)
        .map_or(0, |number| number.parse().unwrap())
}

/// A request that ends its connection, as HTTP/1.1 has it.
pub fn request(method: &str, path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-length: {length}\r\n{headers}\r\n{body}"
    )
    .into_bytes()
}
