//! The list of enrolled clusters, signed for kube-auth (ADR 0023).
//!
//! A JWS (RFC 7515, compact) with EdDSA and `typ: portico-clusters+jwt`. It is signed with a key of
//! its own: the owner of the assertions' key signs identities, and must not also decide whom
//! kube-auth serves. It holds no secret.
//!
//! The caller compares `sequence` with that of the list in use. It increases with every change, so
//! that an old list that is still valid cannot replace a newer one.
mod signer;
#[cfg(test)]
mod tests;
mod verifier;

use portico_domain::enrolled_cluster::ListedCluster;
use serde::{Deserialize, Serialize};

pub use signer::{ListSigner, SignListError};
pub use verifier::{ListRefused, ListVerifier};

/// The path at which the list is published.
pub const PATH: &str = "/.well-known/portico-clusters";
/// The media type of the response.
pub const CONTENT_TYPE: &str = "application/portico-clusters+jwt";
/// The `typ` of the header, so that no other token of Portico is taken for a list (RFC 8725, 3.11).
pub const TYP: &str = "portico-clusters+jwt";
/// Maximum size of a list, in bytes: enough for [`MAX_CLUSTERS`](portico_domain::enrolled_cluster) with one certificate of RSA 2048
/// each, which are 2.3 kB in base64.
pub const MAX_BYTES: usize = 32 * 1024 * 1024;
/// How long a list is valid after it was signed.
pub const LIFETIME_SECONDS: i64 = 24 * 60 * 60;
/// How far the clock of the publisher may be ahead.
pub const SKEW_SECONDS: i64 = 60;

/// The content of a list. Times are seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterList {
    /// The gateway's public URL.
    pub iss: String,
    pub iat: i64,
    /// At most [`LIFETIME_SECONDS`] after `iat`.
    pub exp: i64,
    /// Increases with every change of `clusters`.
    pub sequence: u64,
    pub clusters: Vec<ListedCluster>,
}
