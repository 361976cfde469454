//! Verification of assertions.
use super::{Claims, MAX_LIFETIME_SECONDS, SKEW_SECONDS};
use crate::keys::signing::{public_from_pem, read_public, thumbprint};
use crate::keys::{KeyError, SigningKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, VerifyingKey};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// Maximum size of an assertion, in bytes; those of users with hundreds of projects are smaller.
const MAX_TOKEN_BYTES: usize = 128 * 1024;

/// Public keys that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidKeys {
    #[error("not a JWK set with Ed25519 signing keys")]
    Jwks,
    #[error(transparent)]
    Pem(#[from] crate::keys::InvalidKey),
    #[error(transparent)]
    File(#[from] KeyError),
}

/// The reason why an assertion is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("not a JWT signed with EdDSA")]
    Shape,
    #[error("signed with a key that is not known here")]
    UnknownKey,
    #[error("the signature is wrong")]
    Signature,
    #[error("the claims are not those of an assertion")]
    Claims,
    #[error("made for another audience")]
    Audience,
    #[error("made by another issuer")]
    Issuer,
    #[error("issued in the future")]
    NotYetValid,
    #[error("expired")]
    Expired,
    #[error("lives longer than an assertion may")]
    LifetimeTooLong,
}

/// Maximum number of keys of one signer that are accepted at the same time: the current and the
/// previous one.
const MAX_KEYS_PER_SIGNER: usize = 2;

type Keys = Vec<(String, VerifyingKey)>;

/// Verifies assertions with the gateway's public keys, which can be replaced while it is in use:
/// clones share them.
#[derive(Clone, Debug)]
pub struct Verifier {
    keys: Arc<RwLock<Keys>>,
}

/// The header of an assertion. Other members (`crit`, `jwk`, `x5c`, …) would change the meaning of
/// a signature, so they are refused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    alg: String,
    kid: String,
    #[serde(default)]
    typ: Option<String>,
}

#[derive(Deserialize)]
struct Jwks {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Jwk {
    crv: String,
    kid: String,
    x: String,
}

impl Verifier {
    /// Returns a verifier for the assertions that this key signs: gateway and panel in one process.
    pub fn for_key(key: &SigningKey) -> Self {
        Self::from_keys([key.0.verifying_key()])
    }

    /// Returns a verifier with public keys in PEM (SPKI).
    ///
    /// # Errors
    /// If one is not an Ed25519 public key.
    pub fn from_pems<'a>(pems: impl IntoIterator<Item = &'a str>) -> Result<Self, InvalidKeys> {
        let keys: Result<Vec<_>, _> = pems.into_iter().map(public_from_pem).collect();
        Ok(Self::from_keys(keys?))
    }

    /// Returns a verifier with public keys from PEM files (SPKI).
    ///
    /// # Errors
    /// If a file cannot be read or is not an Ed25519 public key.
    pub fn from_files<'a>(files: impl IntoIterator<Item = &'a Path>) -> Result<Self, InvalidKeys> {
        let keys: Result<Vec<_>, _> = files.into_iter().map(read_public).collect();
        Ok(Self::from_keys(keys?))
    }

    /// Returns a verifier with the Ed25519 keys of a JWK set; keys of other types are skipped.
    ///
    /// # Errors
    /// If it is not a JWK set or holds no usable key.
    pub fn from_jwks(jwks: &Value) -> Result<Self, InvalidKeys> {
        let jwks = Jwks::deserialize(jwks).map_err(|_| InvalidKeys::Jwks)?;
        let keys: Keys = jwks.keys.iter().filter_map(from_jwk).collect();
        if keys.is_empty() {
            return Err(InvalidKeys::Jwks);
        }
        Ok(Self {
            keys: Arc::new(RwLock::new(keys)),
        })
    }

    /// Replaces the keys with those of another verifier; returns whether they differ.
    pub fn replace(&self, other: &Self) -> bool {
        let keys = other.known().clone();
        let mut own = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        let changed = *own != keys;
        *own = keys;
        changed
    }

    /// Also accepts assertions signed with this key, and with the previous one.
    pub fn accept(&self, key: &SigningKey) {
        let key = key.0.verifying_key();
        let mut own = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        own.retain(|(_, known)| *known != key);
        own.insert(0, (thumbprint(&key), key));
        own.truncate(MAX_KEYS_PER_SIGNER);
    }

    fn known(&self) -> RwLockReadGuard<'_, Keys> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn from_keys(keys: impl IntoIterator<Item = VerifyingKey>) -> Self {
        let keys = keys
            .into_iter()
            .map(|key| (thumbprint(&key), key))
            .collect();
        Self {
            keys: Arc::new(RwLock::new(keys)),
        }
    }

    /// Returns the claims of an assertion that is authentic, for `audience`, by `issuer` and not
    /// expired.
    ///
    /// # Errors
    /// If any of these conditions is not met.
    pub fn verify(
        &self,
        token: &str,
        audience: &str,
        issuer: &str,
        now: Timestamp,
    ) -> Result<Claims, Refused> {
        let claims = self.signed(token)?;
        if claims.aud != audience {
            return Err(Refused::Audience);
        }
        if claims.iss != issuer {
            return Err(Refused::Issuer);
        }
        let now = now.as_second();
        let lifetime = claims.exp.checked_sub(claims.iat).ok_or(Refused::Claims)?;
        if lifetime > MAX_LIFETIME_SECONDS {
            return Err(Refused::LifetimeTooLong);
        }
        if claims.iat > now.saturating_add(SKEW_SECONDS) {
            return Err(Refused::NotYetValid);
        }
        if claims.exp.saturating_add(SKEW_SECONDS) <= now {
            return Err(Refused::Expired);
        }
        Ok(claims)
    }

    fn signed(&self, token: &str) -> Result<Claims, Refused> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(Refused::Shape);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(Refused::Shape)?;
        let (header, claims) = signed.split_once('.').ok_or(Refused::Shape)?;
        let decode = |part| URL_SAFE_NO_PAD.decode(part).map_err(|_| Refused::Shape);
        let header: Header =
            serde_json::from_slice(&decode(header)?).map_err(|_| Refused::Shape)?;
        if header.alg != "EdDSA" || header.typ.is_some_and(|typ| typ != "JWT") {
            return Err(Refused::Shape);
        }
        let key = self
            .known()
            .iter()
            .find(|(kid, _)| *kid == header.kid)
            .map(|(_, key)| *key)
            .ok_or(Refused::UnknownKey)?;
        let signature =
            Signature::from_slice(&decode(signature)?).map_err(|_| Refused::Signature)?;
        key.verify_strict(signed.as_bytes(), &signature)
            .map_err(|_| Refused::Signature)?;
        serde_json::from_slice(&decode(claims)?).map_err(|_| Refused::Claims)
    }
}

fn from_jwk(value: &Value) -> Option<(String, VerifyingKey)> {
    let jwk = Jwk::deserialize(value).ok()?;
    if jwk.crv != "Ed25519" {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(jwk.x).ok()?;
    let key = VerifyingKey::from_bytes(&bytes.try_into().ok()?).ok()?;
    Some((jwk.kid, key))
}
