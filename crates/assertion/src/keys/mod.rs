//! Key pairs and their files: X25519 for sealing, Ed25519 for signing.
pub(crate) mod file;
mod published;
mod sealing;
pub(crate) mod signing;

use std::path::PathBuf;

pub use published::{PublishedKey, PublishedKeys};
pub(crate) use sealing::Kem;
pub use sealing::{PrivateKey, PublicKey};
pub use signing::SigningKey;

/// The reason why a key is not available. Never holds key material.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("{path}: {source}")]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{path}: readable by others (mode {mode:o}); a private key file must have mode 600")]
    Exposed { path: PathBuf, mode: u32 },
    #[error("{path}: {source}")]
    Content { path: PathBuf, source: InvalidKey },
}

/// The reason why a text is not a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    #[error("not one line of base64 with 32 bytes")]
    Sealing,
    #[error("not an Ed25519 key in PEM (PKCS#8 for a private key, SPKI for a public one)")]
    Signing,
}
