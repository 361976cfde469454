//! Signing of cluster lists.
use super::{ClusterList, MAX_BYTES, TYP};
use crate::keys::SigningKey;
use crate::keys::signing::thumbprint;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::Signer as _;
use portico_domain::enrolled_cluster::MAX_CLUSTERS;
use serde_json::json;

/// The reason why a list cannot be published.
#[derive(Debug, thiserror::Error)]
pub enum SignListError {
    #[error("there are {0} clusters; a list holds at most {MAX_CLUSTERS}")]
    TooManyClusters(usize),
    #[error("the list has {0} bytes; at most {MAX_BYTES} are accepted")]
    TooLarge(usize),
    #[error("the list cannot be encoded: {0}")]
    Encoding(#[from] serde_json::Error),
}

/// Signs cluster lists.
#[derive(Clone, Debug)]
pub struct ListSigner {
    key: SigningKey,
    /// The encoded header with its dot, the same for every list.
    header: String,
}

impl ListSigner {
    /// Returns a signer with this key; its ID is the key's JWK thumbprint (RFC 7638).
    pub fn new(key: SigningKey) -> Self {
        let kid = thumbprint(&key.0.verifying_key());
        let header = json!({"alg": "EdDSA", "kid": kid, "typ": TYP}).to_string();
        Self {
            key,
            header: URL_SAFE_NO_PAD.encode(header) + ".",
        }
    }

    /// Returns the signed list.
    ///
    /// # Errors
    /// [`SignListError::TooManyClusters`] or [`SignListError::TooLarge`] for a list that no
    /// kube-auth would accept.
    pub fn sign(&self, list: &ClusterList) -> Result<String, SignListError> {
        if list.clusters.len() > MAX_CLUSTERS {
            return Err(SignListError::TooManyClusters(list.clusters.len()));
        }
        let payload = serde_json::to_vec(list)?;
        let mut signed = self.header.clone();
        URL_SAFE_NO_PAD.encode_string(payload, &mut signed);
        let signature = self.key.0.sign(signed.as_bytes());
        signed.push('.');
        URL_SAFE_NO_PAD.encode_string(signature.to_bytes(), &mut signed);
        if signed.len() > MAX_BYTES {
            return Err(SignListError::TooLarge(signed.len()));
        }
        Ok(signed)
    }
}
