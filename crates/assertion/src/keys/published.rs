//! The sealing keys in the format in which kube-auth and the gateway publish them
//! (`/.well-known/portico-cluster-keys`).
use super::{InvalidKey, PublicKey};
use serde::{Deserialize, Serialize};

/// The suite of RFC 9180 with which cluster tokens are sealed; there is no other.
pub const SUITE: &str = "DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM";

/// Public keys, the current one first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedKeys {
    pub keys: Vec<PublishedKey>,
}

/// One public key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedKey {
    pub kid: String,
    pub suite: String,
    /// Standard base64.
    pub public_key: String,
}

impl PublishedKeys {
    /// Returns the document for these keys, the current one first.
    pub fn new<'a>(keys: impl IntoIterator<Item = &'a PublicKey>) -> Self {
        Self {
            keys: keys.into_iter().map(PublishedKey::new).collect(),
        }
    }

    /// Returns the key to seal to.
    ///
    /// # Errors
    /// If there is none, or it is of another suite or does not match its ID.
    pub fn current(&self) -> Result<PublicKey, InvalidKey> {
        self.keys.first().ok_or(InvalidKey::Sealing)?.key()
    }
}

impl PublishedKey {
    /// Returns the published form of a key.
    pub fn new(key: &PublicKey) -> Self {
        Self {
            kid: key.kid().to_owned(),
            suite: SUITE.to_owned(),
            public_key: key.to_base64(),
        }
    }

    /// Returns the key.
    ///
    /// # Errors
    /// If it is of another suite, or does not match its ID.
    pub fn key(&self) -> Result<PublicKey, InvalidKey> {
        let key = PublicKey::from_base64(&self.public_key)?;
        if self.suite != SUITE || key.kid() != self.kid {
            return Err(InvalidKey::Sealing);
        }
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::super::PrivateKey;
    use super::*;

    #[test]
    fn the_first_published_key_is_the_one_to_seal_to() {
        let (current, retired) = (PrivateKey::generate(), PrivateKey::generate());
        let document = PublishedKeys::new([current.public(), retired.public()]);
        let text = serde_json::to_string(&document).unwrap();
        let read: PublishedKeys = serde_json::from_str(&text).unwrap();
        assert_eq!(read.current().as_ref(), Ok(current.public()));
    }

    #[test]
    fn a_document_that_contradicts_itself_is_refused() {
        let (a, b) = (PrivateKey::generate(), PrivateKey::generate());
        let mut document = PublishedKeys::new([a.public(), b.public()]);
        document.keys[0].kid = b.kid().to_owned();
        assert!(document.current().is_err());
        assert!(PublishedKeys { keys: Vec::new() }.current().is_err());
    }
}
