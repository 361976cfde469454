//! Connections of attackers: raw bytes, over TCP or TLS.
use std::{net::SocketAddr, sync::Arc, time::Duration};

use rustls_pki_types::{CertificateDer, ServerName};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

pub type Raw = Box<dyn Stream>;

/// What came back, and whether the connection was closed.
#[derive(Debug)]
pub struct Answer {
    pub text: String,
    pub closed: bool,
}

impl Answer {
    /// The status of the first answer; 0 without any.
    pub fn status(&self) -> u16 {
        let line = self.text.lines().next().unwrap_or_default();
        let status = line.split(' ').nth(1).and_then(|text| text.parse().ok());
        status.unwrap_or_default()
    }

    /// How many answers came.
    pub fn answers(&self) -> usize {
        self.text.matches("HTTP/1.1 ").count()
    }
}

/// Sends bytes and reads until the connection is closed or nothing more comes for a while.
pub async fn exchange(stream: &mut Raw, bytes: &[u8]) -> Answer {
    // it may be closed before everything was sent
    let _ = stream.write_all(bytes).await;
    let _ = stream.flush().await;
    read_until_quiet(stream, Duration::from_millis(800)).await
}

pub async fn read_until_quiet(stream: &mut Raw, quiet: Duration) -> Answer {
    let (mut text, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    let closed = loop {
        match timeout(quiet, stream.read(&mut buffer)).await {
            Ok(Ok(read @ 1..)) => text.extend_from_slice(&buffer[..read]),
            Ok(_) => break true,
            Err(_) => break false,
        }
    };
    Answer {
        text: String::from_utf8_lossy(&text).into_owned(),
        closed,
    }
}

/// Whether the server closes the connection in time, whatever it sends before.
pub async fn is_closed_within(stream: &mut Raw, time: Duration) -> bool {
    let mut buffer = vec![0; 64 << 10];
    let closed = async { while let Ok(1..) = stream.read(&mut buffer).await {} };
    timeout(time, closed).await.is_ok()
}

/// A TLS handshake that trusts one authority.
pub async fn tls(
    address: SocketAddr,
    name: &'static str,
    authority: &str,
    protocol: &[u8],
) -> std::io::Result<TlsStream<TcpStream>> {
    let config = client(authority, protocol, rustls::ALL_VERSIONS);
    handshake(address, name, config).await
}

pub async fn handshake(
    address: SocketAddr,
    name: &'static str,
    config: rustls::ClientConfig,
) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from(name).expect("name");
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

pub fn client(
    authority: &str,
    protocol: &[u8],
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> rustls::ClientConfig {
    use rustls_pki_types::pem::PemObject as _;
    let mut roots = rustls::RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(authority.as_bytes()).expect("PEM");
    roots.add(authority).expect("an authority");
    let mut config = rustls::ClientConfig::builder_with_protocol_versions(versions)
        .with_root_certificates(roots)
        .with_no_client_auth();
    if !protocol.is_empty() {
        config.alpn_protocols = vec![protocol.to_vec()];
    }
    config
}

/// A plain address whose connections are encrypted on the way: for clients that speak no TLS.
pub async fn plain_way_to(address: SocketAddr, name: &'static str, authority: &str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("port");
    let way = listener.local_addr().expect("address");
    let authority = authority.to_owned();
    tokio::spawn(async move {
        while let Ok((mut plain, _)) = listener.accept().await {
            let authority = authority.clone();
            tokio::spawn(async move {
                if let Ok(mut encrypted) = tls(address, name, &authority, b"http/1.1").await {
                    let _ = copy_bidirectional(&mut plain, &mut encrypted).await;
                }
            });
        }
    });
    way
}
