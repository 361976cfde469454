//! Keys, sealed values and keyed hashes.
//!
//! Each key file holds one 256-bit secret, from which one key for sealing (AES-256-GCM) and one
//! for hashing (HMAC-SHA-256) are derived. A sealed value is
//! `key id (4 bytes) || nonce (12 bytes) || ciphertext`; its associated data names table, row,
//! column and key, so that a value moved to another place does not open.
use crate::error::StoreError;
use crate::random::random_bytes;
use aes_gcm::aead::{Aead as _, Payload};
use aes_gcm::{Aes256Gcm, KeyInit as _, Nonce};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use subtle::ConstantTimeEq as _;

const KID_BYTES: usize = 4;
const NONCE_BYTES: usize = 12;

struct Key {
    kid: [u8; KID_BYTES],
    seal: Aes256Gcm,
    hash: Hmac<Sha256>,
}

struct Keys {
    current: Key,
    older: Vec<Key>,
}

/// The store's keys: the first seals and hashes; all of them are tried for opening and lookups.
/// They can be replaced while the store is in use.
pub struct KeyRing(RwLock<Arc<Keys>>);

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.key_ids()).finish()
    }
}

/// The result of checking a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signature {
    Valid,
    /// The signature is of another text, or was made without a key.
    Invalid,
    /// The key is not among the configured ones.
    UnknownKey,
}

/// The place of a sealed value.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub table: &'static str,
    pub row: &'a str,
    pub column: &'static str,
}

impl KeyRing {
    /// Makes a ring of the contents of key files (32 bytes, base64 each), the current key first.
    ///
    /// # Errors
    /// If there is none, or one does not consist of 32 bytes in base64.
    pub fn from_base64(keys: &[SecretString]) -> Result<Self, StoreError> {
        let (first, older) = keys
            .split_first()
            .ok_or_else(|| StoreError::Key("store.key_files is empty".to_owned()))?;
        let keys = Keys {
            current: Key::from_base64(first, 1)?,
            older: older
                .iter()
                .zip(2..)
                .map(|(key, position)| Key::from_base64(key, position))
                .collect::<Result<_, _>>()?,
        };
        Ok(Self(RwLock::new(Arc::new(keys))))
    }

    /// Makes a ring of one new key, for a process that reads nothing that is sealed or hashed.
    ///
    /// # Errors
    /// If the operating system cannot supply random bytes.
    pub fn random() -> Result<Self, StoreError> {
        let key = STANDARD.encode(random_bytes::<32>()?);
        Self::from_base64(&[SecretString::from(key)])
    }

    /// Returns the public IDs of the keys, the current one's first.
    pub fn key_ids(&self) -> Vec<String> {
        self.now().all().map(|key| hex(&key.kid)).collect()
    }

    /// Replaces the keys with those of another ring from now on.
    pub(crate) fn replace(&self, ring: &Self) {
        let keys = ring.now();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = keys;
    }

    fn now(&self) -> Arc<Keys> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn seal(&self, place: Place<'_>, plain: &str) -> Result<Vec<u8>, StoreError> {
        let keys = self.now();
        let key = &keys.current;
        let nonce = random_bytes::<NONCE_BYTES>()?;
        let payload = Payload {
            msg: plain.as_bytes(),
            aad: &associated_data(place, key.kid),
        };
        let sealed = key
            .seal
            .encrypt(Nonce::from_slice(&nonce), payload)
            .map_err(|_| StoreError::Key("a value is too large to be sealed".to_owned()))?;
        Ok([&key.kid[..], &nonce[..], &sealed[..]].concat())
    }

    pub(crate) fn open(&self, place: Place<'_>, sealed: &[u8]) -> Result<SecretString, StoreError> {
        let kid = sealed.get(..KID_BYTES).unwrap_or_default();
        let unsealable = || StoreError::Unsealable {
            table: place.table,
            column: place.column,
            kid: hex(kid),
        };
        let keys = self.now();
        let key = keys
            .all()
            .find(|key| key.kid == kid)
            .ok_or_else(unsealable)?;
        let rest = &sealed[KID_BYTES..];
        let (nonce, ciphertext) = rest.split_at_checked(NONCE_BYTES).ok_or_else(unsealable)?;
        let payload = Payload {
            msg: ciphertext,
            aad: &associated_data(place, key.kid),
        };
        let plain = key
            .seal
            .decrypt(Nonce::from_slice(nonce), payload)
            .map_err(|_| unsealable())?;
        let plain = String::from_utf8(plain).map_err(|_| unsealable())?;
        Ok(SecretString::from(plain))
    }

    /// Signs a text with the current key: `<key id>.<HMAC-SHA-256>`.
    pub(crate) fn sign(&self, purpose: &str, text: &str) -> String {
        let keys = self.now();
        let key = &keys.current;
        format!("{}.{}", hex(&key.kid), key.hash(purpose, text))
    }

    /// Checks a signature that [`KeyRing::sign`] made.
    pub(crate) fn check(&self, purpose: &str, text: &str, signature: &str) -> Signature {
        let Some((kid, given)) = signature.split_once('.') else {
            return Signature::Invalid;
        };
        let keys = self.now();
        let Some(key) = keys.all().find(|key| hex(&key.kid) == kid) else {
            return Signature::UnknownKey;
        };
        let hash = key.hash(purpose, text);
        if bool::from(hash.as_bytes().ct_eq(given.as_bytes())) {
            Signature::Valid
        } else {
            Signature::Invalid
        }
    }

    /// Returns whether a signature is of the current key.
    pub(crate) fn is_current(&self, signature: &str) -> bool {
        let kid = hex(&self.now().current.kid);
        signature.split_once('.').is_some_and(|(of, _)| of == kid)
    }

    /// Returns the hash under which a new row is stored.
    pub(crate) fn hash(&self, purpose: &str, secret: &str) -> String {
        self.now().current.hash(purpose, secret)
    }

    /// Returns the hashes under which a row may be stored, the current key's first.
    pub(crate) fn hashes(
        &self,
        purpose: &str,
        secret: &str,
    ) -> impl Iterator<Item = String> + use<> {
        let keys = self.now();
        let hashes: Vec<String> = keys.all().map(|key| key.hash(purpose, secret)).collect();
        hashes.into_iter()
    }
}

/// Returns the public ID of the key that a value was sealed with.
pub(crate) fn key_id_of(sealed: &[u8]) -> String {
    hex(sealed.get(..KID_BYTES).unwrap_or_default())
}

impl Keys {
    fn all(&self) -> impl Iterator<Item = &Key> {
        std::iter::once(&self.current).chain(&self.older)
    }
}

impl Key {
    fn from_base64(text: &SecretString, position: usize) -> Result<Self, StoreError> {
        let bytes = STANDARD
            .decode(text.expose_secret().trim())
            .ok()
            .filter(|bytes| bytes.len() == 32)
            .ok_or_else(|| {
                StoreError::Key(format!(
                    "key {position} of store.key_files is not 32 bytes of base64: `portico keys \
                     generate` makes one"
                ))
            })?;
        let mut kid = [0; KID_BYTES];
        kid.copy_from_slice(&Sha256::digest(&bytes)[..KID_BYTES]);
        let root = mac(&bytes)?;
        let derive = |label: &[u8]| root.clone().chain_update(label).finalize().into_bytes();
        Ok(Self {
            kid,
            seal: Aes256Gcm::new(&derive(b"portico store sealing v1")),
            hash: mac(&derive(b"portico store hashing v1"))?,
        })
    }

    fn hash(&self, purpose: &str, secret: &str) -> String {
        let hash = self
            .hash
            .clone()
            .chain_update(purpose.as_bytes())
            .chain_update([0])
            .chain_update(secret.as_bytes())
            .finalize();
        URL_SAFE_NO_PAD.encode(hash.into_bytes())
    }
}

fn mac(key: &[u8]) -> Result<Hmac<Sha256>, StoreError> {
    <Hmac<Sha256> as Mac>::new_from_slice(key).map_err(|error| StoreError::Key(error.to_string()))
}

fn associated_data(place: Place<'_>, kid: [u8; KID_BYTES]) -> Vec<u8> {
    format!(
        "{}|{}|{}|{}",
        place.table,
        place.row,
        place.column,
        hex(&kid)
    )
    .into_bytes()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(byte: u8) -> SecretString {
        SecretString::from(STANDARD.encode([byte; 32]))
    }

    fn place(row: &str) -> Place<'_> {
        Place {
            table: "keystone_tokens",
            row,
            column: "token_sealed",
        }
    }

    #[test]
    fn an_older_key_still_opens_and_is_looked_up() {
        let old = KeyRing::from_base64(&[key(1)]).unwrap();
        let rotated = KeyRing::from_base64(&[key(2), key(1)]).unwrap();
        let sealed = old.seal(place("r"), "token").unwrap();
        assert_eq!(
            rotated.open(place("r"), &sealed).unwrap().expose_secret(),
            "token"
        );
        assert!(
            rotated
                .hashes("session", "cookie")
                .any(|hash| hash == old.hash("session", "cookie"))
        );
        assert_ne!(
            rotated.hash("session", "cookie"),
            old.hash("session", "cookie")
        );
    }

    #[test]
    fn keys_that_are_replaced_seal_at_once_and_the_old_ones_still_open() {
        let ring = KeyRing::from_base64(&[key(1)]).unwrap();
        let before = ring.seal(place("r"), "token").unwrap();
        let hash = ring.hash("session", "cookie");
        ring.replace(&KeyRing::from_base64(&[key(2), key(1)]).unwrap());
        assert!(ring.open(place("r"), &before).is_ok());
        assert!(ring.hashes("session", "cookie").any(|known| known == hash));
        assert_ne!(ring.hash("session", "cookie"), hash);
        ring.replace(&KeyRing::from_base64(&[key(2)]).unwrap());
        assert!(ring.open(place("r"), &before).is_err());
    }

    #[test]
    fn a_value_of_another_row_or_key_does_not_open() {
        let ring = KeyRing::from_base64(&[key(1)]).unwrap();
        let sealed = ring.seal(place("r"), "token").unwrap();
        assert!(ring.open(place("other"), &sealed).is_err());
        let stranger = KeyRing::from_base64(&[key(3)]).unwrap();
        assert!(stranger.open(place("r"), &sealed).is_err());
    }

    #[test]
    fn purposes_do_not_share_hashes() {
        let ring = KeyRing::from_base64(&[key(1)]).unwrap();
        assert_ne!(ring.hash("session", "x"), ring.hash("code", "x"));
    }

    #[test]
    fn a_signature_is_good_for_its_text_and_purpose_only() {
        let old = KeyRing::from_base64(&[key(1)]).unwrap();
        let signature = old.sign("audit", "text");
        let rotated = KeyRing::from_base64(&[key(2), key(1)]).unwrap();
        assert_eq!(rotated.check("audit", "text", &signature), Signature::Valid);
        assert!(old.is_current(&signature) && !rotated.is_current(&signature));
        assert_eq!(old.check("audit", "other", &signature), Signature::Invalid);
        assert_eq!(old.check("other", "text", &signature), Signature::Invalid);
        assert_eq!(old.check("audit", "text", ""), Signature::Invalid);
        let other = KeyRing::from_base64(&[key(2)]).unwrap();
        let checked = other.check("audit", "text", &signature);
        assert_eq!(checked, Signature::UnknownKey);
    }

    #[test]
    fn a_key_of_the_wrong_length_is_refused() {
        let short = SecretString::from(STANDARD.encode([1; 16]));
        let message = KeyRing::from_base64(&[key(1), short])
            .unwrap_err()
            .to_string();
        assert!(message.contains("key 2"), "{message}");
        assert!(KeyRing::from_base64(&[]).is_err());
    }

    proptest! {
        #[test]
        fn whatever_is_sealed_opens_again(text in ".{0,200}") {
            let ring = KeyRing::from_base64(&[key(1)]).unwrap();
            let sealed = ring.seal(place("r"), &text).unwrap();
            let opened = ring.open(place("r"), &sealed).unwrap();
            prop_assert_eq!(opened.expose_secret(), &text);
        }

        #[test]
        fn arbitrary_bytes_never_open(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let ring = KeyRing::from_base64(&[key(1)]).unwrap();
            prop_assert!(ring.open(place("r"), &bytes).is_err());
        }
    }
}
