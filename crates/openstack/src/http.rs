//! What the clients of all services share below their APIs: the HTTP client, and headers with
//! secrets.
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Certificate, ClientBuilder, redirect};
use secrecy::{ExposeSecret as _, SecretString};
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::{Host, Url};

/// The header with the requesting token.
pub(crate) const AUTH_TOKEN: HeaderName = HeaderName::from_static("x-auth-token");

/// The reason why a file with authorities cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuthoritiesError {
    #[error("{path}: {source}")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{path}: no certificate in PEM")]
    Empty { path: PathBuf },
    #[error(transparent)]
    Pem(#[from] reqwest::Error),
}

/// Returns the certificates of a PEM file, at least one.
///
/// # Errors
/// If the file cannot be read, or holds none.
pub(crate) fn authorities_in(path: &Path) -> Result<Vec<Certificate>, AuthoritiesError> {
    let pem = std::fs::read(path).map_err(|source| AuthoritiesError::Read {
        path: path.to_path_buf(),
        source,
    })?;
    certificates(&pem, path)
}

/// Returns the certificates of a pinned authority in PEM, at least one.
///
/// # Errors
/// If it holds none.
pub(crate) fn authorities_of(pem: &str) -> Result<Vec<Certificate>, AuthoritiesError> {
    certificates(pem.as_bytes(), Path::new("the pinned authority"))
}

fn certificates(pem: &[u8], path: &Path) -> Result<Vec<Certificate>, AuthoritiesError> {
    let certificates = Certificate::from_pem_bundle(pem)?;
    if certificates.is_empty() {
        let path = path.to_path_buf();
        return Err(AuthoritiesError::Empty { path });
    }
    Ok(certificates)
}

/// Builds the HTTP client of a service: `authorities` replace the public ones, unless empty.
///
/// # Errors
/// If TLS cannot be initialised.
pub(crate) fn build(
    builder: ClientBuilder,
    authorities: Vec<Certificate>,
    timeout: Duration,
) -> Result<reqwest::Client, reqwest::Error> {
    // fails if the process has installed one already, which is fine
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = builder
        .user_agent(concat!("portico/", env!("CARGO_PKG_VERSION")))
        // a redirect would send the token to its target
        .redirect(redirect::Policy::none())
        .timeout(timeout)
        .connect_timeout(timeout.min(Duration::from_secs(2)))
        // shorter than servers keep idle connections, so that few are found closed
        .pool_idle_timeout(Duration::from_secs(4));
    if !authorities.is_empty() {
        builder = builder.tls_built_in_root_certs(false);
    }
    for certificate in authorities {
        builder = builder.add_root_certificate(certificate);
    }
    builder.build()
}

/// Returns `None` for what Keystone never issues: empty, or with characters that no header may
/// hold.
pub(crate) fn secret_header(secret: &SecretString) -> Option<HeaderValue> {
    let text = secret.expose_secret();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Returns whether requests to a URL are encrypted, or do not leave this machine.
pub(crate) fn is_private(url: &Url) -> bool {
    url.scheme() == "https"
        || match url.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            None => false,
        }
}
