//! The TLS of an upstream: trusted authorities and client certificate, from files that are read
//! again when they change.
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use portico_runtime::tls::{TlsError, certificates, private_key};
use rustls::{ClientConfig, RootCertStore};

use crate::config::{Protocol, UpstreamConfig};

/// The files that an upstream's TLS uses.
#[derive(Clone, Debug)]
pub(crate) struct TlsFiles {
    ca: Option<PathBuf>,
    /// Certificate chain and private key.
    identity: Option<(PathBuf, PathBuf)>,
    protocol: Protocol,
}

/// The contents of the files, to detect changes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Contents(Vec<Vec<u8>>);

/// Why the TLS of an upstream cannot be configured.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamTlsError {
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(transparent)]
    NoPem(#[from] TlsError),
    #[error("{} cannot be used: {source}", path.display())]
    Unusable {
        path: PathBuf,
        source: rustls::Error,
    },
    #[error("TLS cannot be used: {0}")]
    Tls(#[from] rustls::Error),
}

/// The TLS configurations with the same trust and identity, for requests and for WebSockets.
#[derive(Clone, Debug)]
pub(crate) struct Configs {
    pub primary: Arc<ClientConfig>,
    /// HTTP/1.1 only; `None` where only HTTP/2 is permitted.
    pub sockets: Option<Arc<ClientConfig>>,
}

impl TlsFiles {
    pub fn of(config: &UpstreamConfig) -> Self {
        let key = config.client_key_file.clone();
        Self {
            ca: config.ca_file.clone(),
            identity: config.client_cert_file.clone().zip(key),
            protocol: config.protocol,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.ca.is_none() && self.identity.is_none()
    }

    pub fn read(&self) -> Result<Contents, UpstreamTlsError> {
        let identity = self.identity.iter().flat_map(|(chain, key)| [chain, key]);
        let paths = self.ca.iter().chain(identity);
        let contents: Result<_, _> = paths
            .map(|path| {
                std::fs::read(path).map_err(|source| UpstreamTlsError::Unreadable {
                    path: path.clone(),
                    source,
                })
            })
            .collect();
        contents.map(Contents)
    }

    pub fn build(&self, contents: &Contents) -> Result<Configs, UpstreamTlsError> {
        let mut contents = contents.0.iter();
        let mut roots = RootCertStore::empty();
        match (&self.ca, self.ca.as_ref().and_then(|_| contents.next())) {
            (Some(path), Some(pem)) => {
                for authority in certificates(path, pem)? {
                    roots
                        .add(authority)
                        .map_err(|source| unusable(path, source))?;
                }
            }
            _ => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        let mut primary = match (&self.identity, contents.next(), contents.next()) {
            (Some((chain_file, key_file)), Some(chain), Some(key)) => {
                let chain = certificates(chain_file, chain)?;
                let key = private_key(key_file, key)?;
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|source| unusable(chain_file, source))?
            }
            _ => builder.with_no_client_auth(),
        };
        let http2 = b"h2".to_vec();
        let http1 = b"http/1.1".to_vec();
        let mut sockets = primary.clone();
        sockets.alpn_protocols = vec![http1.clone()];
        primary.alpn_protocols = match self.protocol {
            Protocol::Auto => vec![http2, http1],
            Protocol::Http1 => vec![http1],
            Protocol::Http2 => vec![http2],
        };
        Ok(Configs {
            primary: Arc::new(primary),
            sockets: (self.protocol != Protocol::Http2).then(|| Arc::new(sockets)),
        })
    }
}

fn unusable(path: &Path, source: rustls::Error) -> UpstreamTlsError {
    UpstreamTlsError::Unusable {
        path: path.to_owned(),
        source,
    }
}
