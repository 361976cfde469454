//! The runtime of every role: configuration layers, secret files, logs, metrics, request IDs,
//! listeners with TLS, the admin port, start and stop, and a YAML reader.
//!
//! It depends on none of the other crates and has no code for OpenStack or Kubernetes. A role
//! starts like this: [`config::load`], [`telemetry::init`], [`metrics::Metrics::install`], a
//! [`lifecycle::Lifecycle`], a [`listener::Listener`] for its traffic, another one with
//! [`admin::router`], then [`lifecycle::Lifecycle::run_until_stopped`].
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests start servers and clients beside them, and wait"
    )
)]
pub mod admin;
pub mod client_network;
pub mod conditional_get;
pub mod config;
mod error_chain;
pub mod file_stamp;
pub mod lifecycle;
pub mod listener;
pub mod metrics;
pub mod open_files;
pub mod request_id;
pub mod secret_file;
pub mod telemetry;
pub mod tls;
pub mod traces;
pub mod yaml;

pub use error_chain::{error_chain, root_cause};

/// Makes *ring* the process's TLS provider. Call it first in `main` and in tests; further calls do
/// nothing.
pub fn install_crypto_provider() {
    // an error only means that a provider is installed already
    let _ = rustls::crypto::ring::default_provider().install_default();
}
