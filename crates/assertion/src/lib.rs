//! Data exchanged between Portico's roles: signed identity and sealed tokens.
//!
//! - [`claims`]: the user's identity, signed by the gateway for one upstream.
//! - [`panel_token`]: the Keystone token sent with it, sealed to the panel alone.
//! - [`cluster_token`]: what a Kubernetes cluster receives instead of a Keystone token; only
//!   kube-auth opens it.
//! - [`cluster_list`]: the enrolled clusters, signed for kube-auth.
//! - [`audit_report`]: the panel's reports to the gateway for the audit log.
//! - [`command_line`]: the mark of requests that the gateway forwards for a command line.
//! - [`keys`]: the key pairs of all of them, and their files.
//!
//! Sealing gives confidentiality, never authenticity: everyone with a public key can seal. So
//! nothing inside a sealed token is trusted except the Keystone token, which Keystone validates. No
//! clock is read here; the caller passes the time.
pub mod audit_report;
pub mod claims;
pub mod cluster_list;
pub mod cluster_token;
pub mod command_line;
pub mod keys;
pub mod panel_token;
mod sealing;

pub use claims::{Claims, Signer, Verifier};
pub use cluster_token::SealedClusterToken;
pub use keys::{PrivateKey, PublicKey, SigningKey};
