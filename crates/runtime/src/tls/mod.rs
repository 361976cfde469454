//! TLS of Portico's listeners: certificates from files, read again when they change.
mod by_name;
mod client_authorities;
mod pem;

use crate::metrics::{KEY_CHANGES, KEYS_UNUSABLE};
use by_name::ByName;
use client_authorities::{WithOthers, is_issued};
use pem::no_pem;
use rustls::crypto::CryptoProvider;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use rustls_pki_types::CertificateDer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};

pub use client_authorities::{ClientAuthorities, ClientAuthority, InvalidAuthority};
pub use pem::{certificates, private_key};

const RELOAD_INTERVAL: Duration = Duration::from_secs(5);

static FROM_1_2: [&SupportedProtocolVersion; 2] =
    [&rustls::version::TLS13, &rustls::version::TLS12];
static FROM_1_3: [&SupportedProtocolVersion; 1] = [&rustls::version::TLS13];

/// The files of the certificates, their keys and the clients' authority.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate chain (PEM), the server's own first. Also for clients that name no host.
    pub cert_file: PathBuf,
    /// The private key (PEM).
    pub key_file: PathBuf,
    /// Certificates for other names: the first one that is valid for the requested name is
    /// presented, else that of `cert_file`.
    pub more: Vec<CertificateFiles>,
    /// The oldest accepted version.
    pub min_version: TlsVersion,
    /// The authority of client certificates (PEM), if they are requested.
    pub client_ca_file: Option<PathBuf>,
    /// Whether a client without a certificate may connect.
    pub client_auth: ClientAuth,
}

/// A further certificate, with its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CertificateFiles {
    /// Certificate chain (PEM).
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub cert_file: PathBuf,
    /// Private key (PEM) of `cert_file`.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub key_file: PathBuf,
}

/// A version of TLS. Older ones are not supported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TlsVersion {
    /// TLS 1.2 (RFC 5246), with forward secrecy and authenticated encryption only.
    #[default]
    #[serde(rename = "1.2")]
    Tls12,
    /// TLS 1.3 (RFC 8446).
    #[serde(rename = "1.3")]
    Tls13,
}

impl TlsVersion {
    fn and_newer(self) -> &'static [&'static SupportedProtocolVersion] {
        match self {
            Self::Tls12 => &FROM_1_2,
            Self::Tls13 => &FROM_1_3,
        }
    }
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

/// The reason why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    /// A file is not PEM, or lacks what is needed.
    #[error("{} holds no {what} in PEM form", path.display())]
    NoPem { path: PathBuf, what: &'static str },
    /// Certificate and key do not match or are not supported.
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
    name: &'static str,
    files: TlsFiles,
    others: Option<Arc<dyn ClientAuthorities>>,
    current: RwLock<Arc<Current>>,
    contents: RwLock<Vec<Vec<u8>>>,
}

/// What was built from the files.
#[derive(Debug)]
struct Current {
    config: Arc<ServerConfig>,
    /// Verifies certificates of the configured client authority only.
    clients: Option<Arc<dyn ClientCertVerifier>>,
}

impl ReloadingTls {
    /// Reads the files.
    ///
    /// # Errors
    /// If one is missing or cannot be used.
    pub fn load(files: TlsFiles) -> Result<Self, TlsError> {
        Self::open(files, None)
    }

    /// Reads the files; client certificates of `others` are accepted besides those of
    /// `client_ca_file`. Sessions are not resumed then, so that the certificate of each connection
    /// is verified.
    ///
    /// # Errors
    /// If a file is missing or cannot be used.
    pub fn load_with(
        files: TlsFiles,
        others: Arc<dyn ClientAuthorities>,
    ) -> Result<Self, TlsError> {
        Self::open(files, Some(others))
    }

    fn open(files: TlsFiles, others: Option<Arc<dyn ClientAuthorities>>) -> Result<Self, TlsError> {
        let contents = read_all(&files)?;
        let current = build(&files, others.as_ref(), &contents)?;
        Ok(Self {
            name: "unnamed",
            files,
            others,
            current: RwLock::new(Arc::new(current)),
            contents: RwLock::new(contents),
        })
    }

    /// Sets the listener's name in metrics.
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Returns whether clients must or may present a certificate.
    pub fn asks_for_client_certificates(&self) -> bool {
        self.files.client_ca_file.is_some()
    }

    /// Returns the configuration for the next connection.
    pub fn current(&self) -> Arc<ServerConfig> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current.config)
    }

    /// Returns whether the configured client authority issued the certificate of a client that has
    /// completed its handshake. Without further authorities, no other can have.
    pub(crate) fn is_of_configured_authority(&self, chain: &[CertificateDer<'_>]) -> bool {
        if self.others.is_none() {
            return true;
        }
        let current = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
        let clients = current.clients.as_deref();
        clients.is_some_and(|clients| is_issued(clients, chain))
    }

    /// Reads the files again and applies them if they have changed; returns whether they have. Open
    /// connections keep their configuration.
    ///
    /// # Errors
    /// If the new files cannot be used; the old configuration stays in use.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let contents = read_all(&self.files)?;
        let unchanged = *self.contents.read().unwrap_or_else(PoisonError::into_inner) == contents;
        if unchanged {
            return Ok(false);
        }
        let current = build(&self.files, self.others.as_ref(), &contents)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(current);
        *self
            .contents
            .write()
            .unwrap_or_else(PoisonError::into_inner) = contents;
        Ok(true)
    }

    /// Checks for changed files every few seconds, and at once on SIGHUP; runs until dropped.
    pub async fn watch(self: Arc<Self>) {
        let keys = format!("tls-{}", self.name);
        let unusable = metrics::gauge!(KEYS_UNUSABLE, "keys" => keys.clone());
        let changes = metrics::counter!(KEY_CHANGES, "keys" => keys);
        unusable.set(0.0);
        // without the signal the files are still followed
        let mut hangup = signal(SignalKind::hangup()).ok();
        let mut failing: Option<String> = None;
        loop {
            let asked = tokio::select! {
                () = tokio::time::sleep(RELOAD_INTERVAL) => false,
                true = received(&mut hangup) => true,
            };
            let tls = Arc::clone(&self);
            let Ok(outcome) = tokio::task::spawn_blocking(move || tls.reload()).await else {
                tracing::error!("certificates are not read again any more: a task failed");
                return;
            };
            self.report(&outcome, asked, &mut failing);
            if matches!(outcome, Ok(true)) {
                changes.increment(1);
            }
            unusable.set(if failing.is_some() { 1.0 } else { 0.0 });
        }
    }

    fn report(&self, outcome: &Result<bool, TlsError>, asked: bool, failing: &mut Option<String>) {
        let file = self.files.cert_file.display();
        match outcome {
            Ok(changed) => {
                if *changed {
                    tracing::info!(listener = self.name, %file, "certificate reloaded");
                } else if asked {
                    tracing::info!(listener = self.name, %file, "certificate is unchanged");
                }
                *failing = None;
            }
            Err(error) => {
                let text = error.to_string();
                // certificate and key are often replaced one after the other: each fault is logged
                // once, and again after each SIGHUP
                if asked || failing.as_ref() != Some(&text) {
                    tracing::warn!(listener = self.name, %error, "new certificate not usable, the old one stays");
                }
                *failing = Some(text);
            }
        }
    }
}

async fn received(signal: &mut Option<Signal>) -> bool {
    match signal {
        Some(signal) => signal.recv().await.is_some(),
        None => false,
    }
}

impl TlsFiles {
    /// Certificates with their keys, the default one first.
    fn pairs(&self) -> impl Iterator<Item = (&Path, &Path)> {
        std::iter::once((self.cert_file.as_path(), self.key_file.as_path())).chain(
            self.more
                .iter()
                .map(|one| (one.cert_file.as_path(), one.key_file.as_path())),
        )
    }
}

/// Returns the contents of the files, in the order of [`TlsFiles::pairs`], then the client
/// authority.
fn read_all(files: &TlsFiles) -> Result<Vec<Vec<u8>>, TlsError> {
    files
        .pairs()
        .flat_map(|(certificate, key)| [certificate, key])
        .chain(files.client_ca_file.as_deref())
        .map(|path| {
            std::fs::read(path).map_err(|source| TlsError::Unreadable {
                path: path.to_owned(),
                source,
            })
        })
        .collect()
}

fn build(
    files: &TlsFiles,
    others: Option<&Arc<dyn ClientAuthorities>>,
    contents: &[Vec<u8>],
) -> Result<Current, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut rest = contents.iter();
    let mut certified = Vec::new();
    for (cert_file, key_file) in files.pairs() {
        let (Some(certificate), Some(key)) = (rest.next(), rest.next()) else {
            return Err(no_pem(cert_file, "certificate"));
        };
        certified.push(certified_key(
            (cert_file, certificate),
            (key_file, key),
            &provider,
        )?);
    }
    let unusable = |source| TlsError::Unusable {
        path: files.cert_file.clone(),
        source,
    };
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(files.min_version.and_newer())
        .map_err(unusable)?;
    let mut clients = None;
    let builder = match (&files.client_ca_file, rest.next()) {
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
            clients = Some(Arc::clone(&verifier));
            builder.with_client_cert_verifier(match others {
                None => verifier,
                Some(others) => Arc::new(WithOthers {
                    configured: verifier,
                    others: Arc::clone(others),
                }),
            })
        }
        _ => builder.with_no_client_auth(),
    };
    let mut config = builder.with_cert_resolver(Arc::new(ByName(certified)));
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    if others.is_some() {
        // a resumed session brings the certificate of its first handshake, unverified
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
    }
    Ok(Current {
        config: Arc::new(config),
        clients,
    })
}

fn certified_key(
    (cert_file, certificate): (&Path, &[u8]),
    (key_file, key): (&Path, &[u8]),
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>, TlsError> {
    let chain = certificates(cert_file, certificate)?;
    let key = private_key(key_file, key)?;
    CertifiedKey::from_der(chain, key, provider)
        .map(Arc::new)
        .map_err(|source| TlsError::Unusable {
            path: cert_file.to_owned(),
            source,
        })
}
