//! X25519 keys to which tokens are sealed.
use super::{InvalidKey, KeyError, file};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable as _, Kem as _, Serializable as _};
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Write as _};
use std::path::Path;
use zeroize::Zeroizing;

/// The key encapsulation mechanism of the keys (RFC 9180).
pub(crate) type Kem = X25519HkdfSha256;

/// A public key, with which tokens are sealed.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    pub(crate) key: <Kem as hpke::Kem>::PublicKey,
    kid: String,
}

/// A private key, with which tokens are opened.
#[derive(Clone)]
pub struct PrivateKey {
    pub(crate) key: <Kem as hpke::Kem>::PrivateKey,
    public: PublicKey,
}

impl PublicKey {
    fn new(key: <Kem as hpke::Kem>::PublicKey) -> Self {
        let digest = Sha256::digest(key.to_bytes());
        let mut kid = String::with_capacity(16);
        for byte in &digest[..8] {
            // writing to a String cannot fail
            let _ = write!(kid, "{byte:02x}");
        }
        Self { key, kid }
    }

    /// Returns the key ID: the first 16 hex digits of the SHA-256 of the key's bytes.
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// Returns one line of standard base64.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(self.key.to_bytes())
    }

    /// Parses one line of standard base64.
    ///
    /// # Errors
    /// If the text is not the base64 of 32 bytes.
    pub fn from_base64(text: &str) -> Result<Self, InvalidKey> {
        let bytes = decode(text)?;
        <Kem as hpke::Kem>::PublicKey::from_bytes(&bytes)
            .map(Self::new)
            .map_err(|_| InvalidKey::Sealing)
    }

    /// Reads a `.pub` file.
    ///
    /// # Errors
    /// If the file cannot be read or holds no key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        file::read(path, false, Self::from_base64)
    }

    /// Writes a `.pub` file that must not exist yet.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn write_new(&self, path: &Path) -> Result<(), KeyError> {
        file::write_new(path, false, &(self.to_base64() + "\n"))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.kid)
    }
}

impl PrivateKey {
    /// Returns a new key.
    pub fn generate() -> Self {
        let (key, public) = Kem::gen_keypair(&mut rand::rng());
        Self {
            key,
            public: PublicKey::new(public),
        }
    }

    /// Returns the public half.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Returns the key ID; see [`PublicKey::kid`].
    pub fn kid(&self) -> &str {
        self.public.kid()
    }

    /// Parses one line of standard base64.
    ///
    /// # Errors
    /// If the text is not the base64 of 32 bytes.
    pub fn from_base64(text: &str) -> Result<Self, InvalidKey> {
        let bytes = decode(text)?;
        let key =
            <Kem as hpke::Kem>::PrivateKey::from_bytes(&bytes).map_err(|_| InvalidKey::Sealing)?;
        let public = PublicKey::new(Kem::sk_to_pk(&key));
        Ok(Self { key, public })
    }

    /// Reads a key file, which other users must not be able to read.
    ///
    /// # Errors
    /// If the file cannot be read, other users can read it, or it holds no key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        file::read(path, true, Self::from_base64)
    }

    /// Writes a key file (mode 600) that must not exist yet.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn write_new(&self, path: &Path) -> Result<(), KeyError> {
        let bytes = Zeroizing::new(self.key.to_bytes().to_vec());
        let text = Zeroizing::new(STANDARD.encode(&*bytes) + "\n");
        file::write_new(path, true, &text)
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({})", self.kid())
    }
}

fn decode(text: &str) -> Result<Zeroizing<Vec<u8>>, InvalidKey> {
    STANDARD
        .decode(text.trim())
        .map(Zeroizing::new)
        .ok()
        .filter(|bytes| bytes.len() == 32)
        .ok_or(InvalidKey::Sealing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_bring_the_same_pair_back() {
        let dir = tempfile::tempdir().unwrap();
        let key = PrivateKey::generate();
        key.write_new(&dir.path().join("k.key")).unwrap();
        key.public().write_new(&dir.path().join("k.pub")).unwrap();
        let private = PrivateKey::read(&dir.path().join("k.key")).unwrap();
        let public = PublicKey::read(&dir.path().join("k.pub")).unwrap();
        assert_eq!(private.public(), key.public());
        assert_eq!(&public, key.public());
        assert_eq!(public.kid().len(), 16);
    }

    #[test]
    fn a_key_file_is_never_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k.key");
        PrivateKey::generate().write_new(&path).unwrap();
        assert!(matches!(
            PrivateKey::generate().write_new(&path),
            Err(KeyError::File { .. })
        ));
    }

    #[cfg(unix)]
    #[test]
    fn a_private_key_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k.key");
        PrivateKey::generate().write_new(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(
            PrivateKey::read(&path),
            Err(KeyError::Exposed { .. })
        ));
    }

    #[test]
    fn text_that_is_not_a_key_is_refused() {
        for text in ["", "AAAA", "not base64!", &STANDARD.encode([0; 31])] {
            assert!(PrivateKey::from_base64(text).is_err(), "{text}");
            assert!(PublicKey::from_base64(text).is_err(), "{text}");
        }
    }

    #[test]
    fn debug_output_shows_the_key_id_only() {
        let key = PrivateKey::generate();
        assert_eq!(format!("{key:?}"), format!("PrivateKey({})", key.kid()));
    }
}
