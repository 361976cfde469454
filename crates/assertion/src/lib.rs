//! What travels between Portico's roles: signed identity and sealed tokens.
//!
//! - [`claims`]: who somebody is, signed by the gateway for one upstream.
//! - [`panel_token`]: the Keystone token beside it, sealed to the panel alone.
//! - [`cluster_token`]: what a Kubernetes cluster sees instead of a Keystone token; only
//!   kube-auth opens it.
//! - [`audit_report`]: what the panel reports back for the audit log.
//! - [`keys`]: the key pairs of the others, and their files.
//!
//! Sealing gives secrecy, never authenticity: whoever has a public key can seal. So nothing
//! inside a sealed token is believed but the Keystone token, which Keystone is asked about.
//! No clock is read here; the caller says what time it is.
pub mod audit_report;
pub mod claims;
pub mod cluster_token;
pub mod keys;
pub mod panel_token;
mod sealing;

pub use claims::{Claims, Signer, Verifier};
pub use cluster_token::SealedClusterToken;
pub use keys::{PrivateKey, PublicKey, SigningKey};
