//! Signing of assertions.
use super::Claims;
use crate::keys::SigningKey;
use crate::keys::signing::{jwk_x, thumbprint};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::Signer as _;
use serde_json::{Map, Value, json};

/// An assertion cannot be serialised as JSON.
#[derive(Debug, thiserror::Error)]
#[error("assertion cannot be encoded: {0}")]
pub struct SignError(#[from] serde_json::Error);

/// Signs assertions with the gateway's key.
#[derive(Clone, Debug)]
pub struct Signer {
    key: SigningKey,
    kid: String,
    /// The encoded header with its dot, the same for every assertion.
    header: String,
}

impl Signer {
    /// Returns a signer with this key; its ID is the key's JWK thumbprint (RFC 7638).
    pub fn new(key: SigningKey) -> Self {
        let kid = thumbprint(&key.0.verifying_key());
        let header = json!({"alg": "EdDSA", "kid": kid, "typ": "JWT"}).to_string();
        Self {
            key,
            header: URL_SAFE_NO_PAD.encode(header) + ".",
            kid,
        }
    }

    /// Returns the key's ID.
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// Returns the signed assertion.
    ///
    /// # Errors
    /// If the claims cannot be serialised as JSON.
    pub fn sign(&self, claims: &Claims) -> Result<String, SignError> {
        Ok(self.sign_bytes(&serde_json::to_vec(claims)?))
    }

    /// Returns a signed token with other claims, for an upstream that reads its own set of claims.
    /// Its `aud` must not be another upstream's.
    ///
    /// # Errors
    /// If the claims cannot be serialised as JSON.
    pub fn sign_map(&self, claims: &Map<String, Value>) -> Result<String, SignError> {
        Ok(self.sign_bytes(&serde_json::to_vec(claims)?))
    }

    fn sign_bytes(&self, claims: &[u8]) -> String {
        let mut token = self.header.clone();
        URL_SAFE_NO_PAD.encode_string(claims, &mut token);
        let signature = self.key.0.sign(token.as_bytes());
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature.to_bytes(), &mut token);
        token
    }

    /// Returns the public key as a JWK set, for `/.well-known/jwks.json`.
    pub fn jwks(&self) -> Value {
        json!({"keys": [{
            "kty": "OKP",
            "crv": "Ed25519",
            "alg": "EdDSA",
            "use": "sig",
            "kid": self.kid,
            "x": jwk_x(&self.key.0.verifying_key()),
        }]})
    }
}
