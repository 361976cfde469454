//! Checks which server listens on the addresses of this installation.
use crate::caller::GATEWAY_ONLY;
use crate::cli::doctor::context::Context;
use crate::cli::doctor::fault::Fault;
use crate::cli::doctor::finding::Finding;
use crate::cli::doctor::http;
use portico_assertion::{Signer, SigningKey};
use portico_runtime::tls::certificates;
use reqwest::StatusCode;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Checks a listener. Doctor also runs before the first start, so a closed port is only a warning.
pub(super) async fn check(
    context: &Context,
    key: &'static str,
    address: SocketAddr,
) -> Vec<Finding> {
    let reached = reachable(address);
    let connecting = tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(reached));
    let Ok(Ok(stream)) = connecting.await else {
        let seen = address.to_string();
        return vec![Finding::fault(Fault::NotListening, key, seen)];
    };
    let listener = match key {
        "admin.listen" => answers(&format!("http://{reached}/live"), StatusCode::OK, "live").await,
        "panel.listen" => {
            let url = format!("http://{reached}/");
            answers(&url, StatusCode::UNAUTHORIZED, GATEWAY_ONLY).await
        }
        "kube_auth.listen" => match context.kube_auth() {
            Some(section) => shows(stream, &section.tls_cert_file).await,
            None => Listener::Unknown,
        },
        "gateway.listen" => is_gateway(context, reached).await,
        _ => Listener::Unknown,
    };
    vec![match listener {
        Listener::Own => Finding::ok(key, format!("Portico listens on {address}")),
        Listener::Unknown => Finding::ok(key, format!("something listens on {address}")),
        Listener::Foreign => Finding::fault(Fault::PortForeign, key, address.to_string()),
    }]
}

/// The server that listens on an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listener {
    Own,
    Foreign,
    /// There is nothing to compare the server with.
    Unknown,
}

/// Returns the address to connect to: for an unspecified address, this machine's.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        });
    }
    address
}

async fn answers(url: &str, status: StatusCode, text: &str) -> Listener {
    let Ok(client) = http::builder().build() else {
        return Listener::Unknown;
    };
    let Ok(response) = client.get(url).send().await else {
        return Listener::Foreign;
    };
    let found = response.status();
    let body = http::body(response).await;
    if found == status && body.starts_with(text.as_bytes()) {
        Listener::Own
    } else {
        Listener::Foreign
    }
}

/// Returns whether this gateway listens there: a gateway publishes the key that it signs with, and
/// the file tells whether it is this installation's.
async fn is_gateway(context: &Context, address: SocketAddr) -> Listener {
    let Some(section) = context.gateway() else {
        return Listener::Unknown;
    };
    let (Some(host), Some(own)) = (
        section.public_url.host_str(),
        own_key_id(&section.assertion_key_file),
    ) else {
        return Listener::Unknown;
    };
    let tls = section.tls_files().is_some();
    // the name on the certificate is checked elsewhere
    let builder = http::builder()
        .danger_accept_invalid_certs(true)
        .resolve(host, address);
    let Ok(client) = builder.build() else {
        return Listener::Unknown;
    };
    let scheme = if tls { "https" } else { "http" };
    let url = format!("{scheme}://{host}:{}{JWKS}", address.port());
    let authority = match section.public_url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    let request = client.get(url).header(reqwest::header::HOST, authority);
    match request.send().await {
        Ok(response) => publishes(response, &own).await,
        Err(_) => Listener::Foreign,
    }
}

/// The path at which a gateway publishes its keys.
pub(super) const JWKS: &str = "/.well-known/jwks.json";

/// Returns the ID of the key in a file, in its published form.
pub(super) fn own_key_id(file: &Path) -> Option<String> {
    let key = SigningKey::read(file).ok()?;
    Some(Signer::new(key).kid().to_owned())
}

/// Returns whether the key is among those of a response.
pub(super) async fn publishes(response: reqwest::Response, own: &str) -> Listener {
    let body = http::body(response).await;
    let document: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
    let keys = document["keys"].as_array();
    let known = keys.is_some_and(|keys| keys.iter().any(|key| key["kid"] == own));
    if known {
        Listener::Own
    } else {
        Listener::Foreign
    }
}

/// Returns whether the server shows the leaf certificate of a file. It requests a client
/// certificate, which doctor does not have; the handshake still gets far enough.
async fn shows(stream: TcpStream, cert_file: &Path) -> Listener {
    let expected = std::fs::read(cert_file)
        .ok()
        .and_then(|pem| certificates(cert_file, &pem).ok())
        .and_then(|chain| chain.into_iter().next());
    let Some(expected) = expected else {
        return Listener::Unknown;
    };
    let provider = Arc::new(ring::default_provider());
    let shown = Arc::new(Shown {
        algorithms: provider.signature_verification_algorithms,
        expected,
    });
    let Ok(builder) =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()
    else {
        return Listener::Unknown;
    };
    let config = builder
        .dangerous()
        .with_custom_certificate_verifier(shown)
        .with_no_client_auth();
    let Ok(name) = ServerName::try_from("portico.invalid") else {
        return Listener::Unknown;
    };
    let handshake = TlsConnector::from(Arc::new(config)).connect(name, stream);
    match tokio::time::timeout(CONNECT_TIMEOUT, handshake).await {
        Ok(Ok(_)) => Listener::Own,
        // TLS 1.2 requests the client certificate before the handshake ends
        Ok(Err(error)) if is_alert(&error) => Listener::Own,
        _ => Listener::Foreign,
    }
}

fn is_alert(error: &std::io::Error) -> bool {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref());
    matches!(tls, Some(rustls::Error::AlertReceived(_)))
}

/// A verifier that accepts one certificate only.
#[derive(Debug)]
struct Shown {
    algorithms: WebPkiSupportedAlgorithms,
    expected: CertificateDer<'static>,
}

impl ServerCertVerifier for Shown {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if *end_entity == self.expected {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(rustls::CertificateError::UnknownIssuer.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
