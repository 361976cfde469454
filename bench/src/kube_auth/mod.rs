//! Measures kube-auth as a separate process, beside a plain echo as the limit of the transport.
//!
//! The real `portico kube-auth` with mutual TLS, its own keys and a configuration in a temporary
//! folder. Every answer's identity is compared with the token that was sent.
mod client;
pub mod echo;
mod expected;
mod keystone;
mod load;
pub mod measure;
mod pki;
mod report;
pub mod soak;
mod tokens;
mod webhook;
