//! Verification of cluster lists.
use super::{ClusterList, LIFETIME_SECONDS, MAX_BYTES, SKEW_SECONDS, TYP};
use crate::keys::signing::{public_from_pem, thumbprint};
use crate::keys::{InvalidKey, KeyError, file};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, VerifyingKey};
use jiff::Timestamp;
use portico_domain::enrolled_cluster::{InvalidEnrolledCluster, MAX_CLUSTERS};
use serde::Deserialize;
use std::collections::HashSet;
use std::path::Path;
use uuid::Uuid;

const END: &str = "-----END PUBLIC KEY-----";

/// The reason why a list is refused, as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ListRefused {
    #[error("larger than {MAX_BYTES} bytes")]
    TooLarge,
    #[error("not a JWS in compact form")]
    Shape,
    #[error("not signed with EdDSA")]
    Algorithm,
    #[error("a signed document of another type")]
    Type,
    #[error("signed with a key that is not in keys_file")]
    UnknownKey,
    #[error("the signature is wrong")]
    Signature,
    #[error("the content is not that of a cluster list of this version")]
    Content,
    #[error("published by another issuer")]
    Issuer,
    #[error("signed in the future: check both clocks")]
    NotYetValid,
    #[error("expired")]
    Expired,
    #[error("valid for longer than a list may be")]
    LifetimeTooLong,
    #[error("more than {MAX_CLUSTERS} clusters")]
    TooManyClusters,
    #[error("cluster {0} appears twice")]
    DuplicateCluster(Uuid),
    #[error("cluster {cluster}: {reason}")]
    Cluster {
        cluster: Uuid,
        reason: InvalidEnrolledCluster,
    },
}

impl ListRefused {
    /// Returns a word for metrics.
    pub fn label(self) -> &'static str {
        match self {
            Self::TooLarge => "too_large",
            Self::Shape => "shape",
            Self::Algorithm => "algorithm",
            Self::Type => "type",
            Self::UnknownKey => "unknown_key",
            Self::Signature => "signature",
            Self::Content => "content",
            Self::Issuer => "issuer",
            Self::NotYetValid => "not_yet_valid",
            Self::Expired => "expired",
            Self::LifetimeTooLong => "lifetime",
            Self::TooManyClusters => "too_many_clusters",
            Self::DuplicateCluster(_) => "duplicate_cluster",
            Self::Cluster { .. } => "cluster",
        }
    }
}

/// Verifies cluster lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListVerifier {
    keys: Vec<(String, VerifyingKey)>,
    issuer: String,
}

/// The header of a list. Other members (`crit`, `jwk`, `x5c`, …) would change the meaning of a
/// signature, so they are refused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    typ: Option<String>,
}

impl ListVerifier {
    /// Returns a verifier for the lists of `issuer` that were signed with one of the public keys in
    /// a text: SPKI in PEM, one after the other.
    ///
    /// # Errors
    /// If there is none, or one is not an Ed25519 public key.
    pub fn from_pem(pem: &str, issuer: &str) -> Result<Self, InvalidKey> {
        let mut keys = Vec::new();
        for block in pem.split_inclusive(END) {
            if block.trim().is_empty() {
                continue;
            }
            let key = public_from_pem(block.trim_start())?;
            keys.push((thumbprint(&key), key));
        }
        if keys.is_empty() {
            return Err(InvalidKey::Signing);
        }
        Ok(Self {
            keys,
            issuer: issuer.to_owned(),
        })
    }

    /// Reads the public keys from a file; see [`Self::from_pem`].
    ///
    /// # Errors
    /// If the file cannot be read or holds no key, or something else.
    pub fn read(path: &Path, issuer: &str) -> Result<Self, KeyError> {
        file::read(path, false, |pem| Self::from_pem(pem, issuer))
    }

    /// Returns the content of a list that is authentic, by the issuer and not expired.
    ///
    /// # Errors
    /// The first condition that is not met. Nothing of a refused list may be used.
    pub fn verify(&self, document: &str, now: Timestamp) -> Result<ClusterList, ListRefused> {
        let list = self.signed(document)?;
        if list.iss != self.issuer {
            return Err(ListRefused::Issuer);
        }
        let now = now.as_second();
        let lifetime = list.exp.checked_sub(list.iat).ok_or(ListRefused::Content)?;
        if lifetime > LIFETIME_SECONDS {
            return Err(ListRefused::LifetimeTooLong);
        }
        if list.iat > now.saturating_add(SKEW_SECONDS) {
            return Err(ListRefused::NotYetValid);
        }
        if list.exp <= now {
            return Err(ListRefused::Expired);
        }
        if list.clusters.len() > MAX_CLUSTERS {
            return Err(ListRefused::TooManyClusters);
        }
        let mut seen = HashSet::with_capacity(list.clusters.len());
        for cluster in &list.clusters {
            if !seen.insert(cluster.id) {
                return Err(ListRefused::DuplicateCluster(cluster.id));
            }
            cluster.check().map_err(|reason| ListRefused::Cluster {
                cluster: cluster.id,
                reason,
            })?;
        }
        Ok(list)
    }

    fn signed(&self, document: &str) -> Result<ClusterList, ListRefused> {
        if document.len() > MAX_BYTES {
            return Err(ListRefused::TooLarge);
        }
        let (signed, signature) = document.rsplit_once('.').ok_or(ListRefused::Shape)?;
        let (header, payload) = signed.split_once('.').ok_or(ListRefused::Shape)?;
        let decode = |part| URL_SAFE_NO_PAD.decode(part).map_err(|_| ListRefused::Shape);
        let header: Header =
            serde_json::from_slice(&decode(header)?).map_err(|_| ListRefused::Shape)?;
        if header.alg != "EdDSA" {
            return Err(ListRefused::Algorithm);
        }
        if header.typ.as_deref() != Some(TYP) {
            return Err(ListRefused::Type);
        }
        let key = self
            .keys
            .iter()
            .find(|(kid, _)| Some(kid) == header.kid.as_ref())
            .map(|(_, key)| key)
            .ok_or(ListRefused::UnknownKey)?;
        let signature =
            Signature::from_slice(&decode(signature)?).map_err(|_| ListRefused::Signature)?;
        key.verify_strict(signed.as_bytes(), &signature)
            .map_err(|_| ListRefused::Signature)?;
        serde_json::from_slice(&decode(payload)?).map_err(|_| ListRefused::Content)
    }
}
