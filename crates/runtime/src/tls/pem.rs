//! Certificates and keys in PEM files.
use super::TlsError;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;

/// Returns the certificates in the contents of a file.
///
/// # Errors
/// If it is not PEM, or holds none.
pub fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(no_pem(path, "certificate")),
    }
}

/// Returns the private key in the contents of a file.
///
/// # Errors
/// If it is not PEM, or holds none.
pub fn private_key(path: &Path, pem: &[u8]) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|_| no_pem(path, "private key"))
}

pub(super) fn no_pem(path: &Path, what: &'static str) -> TlsError {
    TlsError::NoPem {
        path: path.to_owned(),
        what,
    }
}
