//! TLS of our own listeners: certificates from files, read again when they change.
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

const RELOAD_INTERVAL: Duration = Duration::from_secs(5);

/// Where the certificate, its key and the clients' authority are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate chain (PEM), our own first.
    pub cert_file: PathBuf,
    /// The private key (PEM).
    pub key_file: PathBuf,
    /// The authority of client certificates (PEM), where they are asked for.
    pub client_ca_file: Option<PathBuf>,
    /// Whether a client without a certificate may connect.
    pub client_auth: ClientAuth,
}

/// Whether a client without a certificate may connect; only with a client authority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientAuth {
    /// The handshake fails without a certificate of the authority.
    #[default]
    Required,
    /// The request decides; see [`crate::listener::PeerCertificates`].
    Optional,
}

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    /// A file is no PEM, or holds nothing of what is needed.
    #[error("{} holds no {what} in PEM form", path.display())]
    NoPem { path: PathBuf, what: &'static str },
    /// Certificate and key do not fit each other or are not supported.
    #[error("the certificate {} cannot be used with its key: {source}", path.display())]
    Unusable {
        path: PathBuf,
        source: rustls::Error,
    },
    /// The client authority cannot be used.
    #[error("the client authority {} cannot be used: {reason}", path.display())]
    ClientAuthority { path: PathBuf, reason: String },
}

/// The current TLS configuration of a listener.
#[derive(Debug)]
pub struct ReloadingTls {
    files: TlsFiles,
    current: RwLock<Arc<ServerConfig>>,
    contents: RwLock<Vec<Vec<u8>>>,
}

impl ReloadingTls {
    /// Reads the files.
    ///
    /// # Errors
    /// When one is missing or cannot be used.
    pub fn load(files: TlsFiles) -> Result<Self, TlsError> {
        let contents = read_all(&files)?;
        let config = build(&files, &contents)?;
        Ok(Self {
            files,
            current: RwLock::new(Arc::new(config)),
            contents: RwLock::new(contents),
        })
    }

    /// The configuration for the next connection.
    pub fn current(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the files again and takes them over when they changed; says whether they did.
    /// Connections that are open keep what they have.
    ///
    /// # Errors
    /// When the new files cannot be used; the old configuration stays.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let contents = read_all(&self.files)?;
        let unchanged = *self.contents.read().unwrap_or_else(PoisonError::into_inner) == contents;
        if unchanged {
            return Ok(false);
        }
        let config = build(&self.files, &contents)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
        *self
            .contents
            .write()
            .unwrap_or_else(PoisonError::into_inner) = contents;
        Ok(true)
    }

    /// Looks for changed files every few seconds; runs until dropped.
    pub async fn watch(self: Arc<Self>) {
        let mut failing = false;
        loop {
            tokio::time::sleep(RELOAD_INTERVAL).await;
            match self.reload() {
                Ok(changed) => {
                    if changed {
                        tracing::info!(file = %self.files.cert_file.display(), "certificate read again");
                    }
                    failing = false;
                }
                Err(error) => {
                    // certificate and key are often replaced one after the other: say it once
                    if !failing {
                        tracing::warn!(%error, "new certificate not usable, the old one stays");
                    }
                    failing = true;
                }
            }
        }
    }
}

fn read_all(files: &TlsFiles) -> Result<Vec<Vec<u8>>, TlsError> {
    [
        Some(&files.cert_file),
        Some(&files.key_file),
        files.client_ca_file.as_ref(),
    ]
    .into_iter()
    .flatten()
    .map(|path| {
        std::fs::read(path).map_err(|source| TlsError::Unreadable {
            path: path.clone(),
            source,
        })
    })
    .collect()
}

fn build(files: &TlsFiles, contents: &[Vec<u8>]) -> Result<ServerConfig, TlsError> {
    let (Some(certificate), Some(key)) = (contents.first(), contents.get(1)) else {
        return Err(no_pem(&files.cert_file, "certificate"));
    };
    let chain = certificates(&files.cert_file, certificate)?;
    let key =
        PrivateKeyDer::from_pem_slice(key).map_err(|_| no_pem(&files.key_file, "private key"))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let unusable = |source| TlsError::Unusable {
        path: files.cert_file.clone(),
        source,
    };
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let builder = match (&files.client_ca_file, contents.get(2)) {
        (Some(path), Some(pem)) => {
            let refused = |reason: String| TlsError::ClientAuthority {
                path: path.clone(),
                reason,
            };
            let mut roots = RootCertStore::empty();
            for authority in certificates(path, pem)? {
                roots
                    .add(authority)
                    .map_err(|error| refused(error.to_string()))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            let verifier = match files.client_auth {
                ClientAuth::Required => verifier,
                ClientAuth::Optional => verifier.allow_unauthenticated(),
            };
            let verifier = verifier
                .build()
                .map_err(|error| refused(error.to_string()))?;
            builder.with_client_cert_verifier(verifier)
        }
        _ => builder.with_no_client_auth(),
    };
    let mut config = builder.with_single_cert(chain, key).map_err(unusable)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(no_pem(path, "certificate")),
    }
}

fn no_pem(path: &Path, what: &'static str) -> TlsError {
    TlsError::NoPem {
        path: path.to_owned(),
        what,
    }
}
