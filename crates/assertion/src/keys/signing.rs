//! The Ed25519 key with which the gateway signs assertions.
use super::{InvalidKey, KeyError, file};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::VerifyingKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{
    DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _,
};
use rand::RngCore as _;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::path::Path;
use zeroize::Zeroizing;

/// A signing key with its ID.
#[derive(Clone)]
pub struct SigningKey(pub(crate) ed25519_dalek::SigningKey);

impl SigningKey {
    /// Returns a new key.
    pub fn generate() -> Self {
        let mut seed = Zeroizing::new([0; 32]);
        rand::rng().fill_bytes(&mut *seed);
        Self(ed25519_dalek::SigningKey::from_bytes(&seed))
    }

    /// Parses PKCS#8 in PEM.
    ///
    /// # Errors
    /// If the text is not such a key.
    pub fn from_pem(pem: &str) -> Result<Self, InvalidKey> {
        ed25519_dalek::SigningKey::from_pkcs8_pem(pem)
            .map(Self)
            .map_err(|_| InvalidKey::Signing)
    }

    /// Reads a PEM file, which other users must not be able to read.
    ///
    /// # Errors
    /// If the file cannot be read, other users can read it, or it holds no key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        file::read(path, true, Self::from_pem)
    }

    /// Writes a PEM file (mode 600) that must not exist yet.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn write_new(&self, path: &Path) -> Result<(), KeyError> {
        let pem = self
            .0
            .to_pkcs8_pem(LineEnding::LF)
            .map_err(|_| KeyError::Content {
                path: path.to_owned(),
                source: InvalidKey::Signing,
            })?;
        file::write_new(path, true, &pem)
    }

    /// Returns the public half as SPKI in PEM.
    ///
    /// # Errors
    /// Never for an existing key; the encoder's signature requires it.
    pub fn public_pem(&self) -> Result<String, InvalidKey> {
        self.0
            .verifying_key()
            .to_public_key_pem(LineEnding::LF)
            .map_err(|_| InvalidKey::Signing)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", thumbprint(&self.0.verifying_key()))
    }
}

/// Reads a public key: SPKI in PEM.
pub(crate) fn read_public(path: &Path) -> Result<VerifyingKey, KeyError> {
    file::read(path, false, public_from_pem)
}

/// Parses a public key: SPKI in PEM.
pub(crate) fn public_from_pem(pem: &str) -> Result<VerifyingKey, InvalidKey> {
    VerifyingKey::from_public_key_pem(pem).map_err(|_| InvalidKey::Signing)
}

/// Returns the key's `x` of RFC 8037.
pub(crate) fn jwk_x(key: &VerifyingKey) -> String {
    URL_SAFE_NO_PAD.encode(key.as_bytes())
}

/// Returns the key's ID: its JWK thumbprint (RFC 7638).
pub(crate) fn thumbprint(key: &VerifyingKey) -> String {
    let canonical = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, jwk_x(key));
    URL_SAFE_NO_PAD.encode(Sha256::digest(canonical))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_brings_the_same_key_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("assertion.pem");
        let key = SigningKey::generate();
        key.write_new(&path).unwrap();
        let read = SigningKey::read(&path).unwrap();
        assert_eq!(read.0.to_bytes(), key.0.to_bytes());
        let public = public_from_pem(&key.public_pem().unwrap()).unwrap();
        assert_eq!(public, key.0.verifying_key());
    }

    #[test]
    fn the_thumbprint_is_that_of_rfc_8037() {
        // RFC 8037, appendix A.3
        let x = URL_SAFE_NO_PAD
            .decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
            .unwrap();
        let key = VerifyingKey::from_bytes(&x.try_into().unwrap()).unwrap();
        assert_eq!(
            thumbprint(&key),
            "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
        );
    }

    #[test]
    fn other_pem_is_refused() {
        assert!(SigningKey::from_pem("-----BEGIN X-----\nAAAA\n-----END X-----\n").is_err());
        assert!(SigningKey::from_pem("").is_err());
    }
}
