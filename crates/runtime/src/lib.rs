//! What every role of the program runs on: configuration layers, secret files, logs, metrics,
//! request IDs, listeners with TLS, the admin port, start and stop, and a reader for YAML.
//!
//! It knows none of the other crates and nothing about OpenStack or Kubernetes. A role starts
//! like this: [`config::load`], [`telemetry::init`], [`metrics::Metrics::install`], a
//! [`lifecycle::Lifecycle`], a [`listener::Listener`] for its traffic, one more with
//! [`admin::router`], then [`lifecycle::Lifecycle::run_until_stopped`].
pub mod admin;
pub mod client_network;
pub mod config;
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

/// Makes *ring* the process's one TLS provider. Call it first in `main` and in tests; calling
/// it again does nothing.
pub fn install_crypto_provider() {
    // an error only says that a provider is installed already
    let _ = rustls::crypto::ring::default_provider().install_default();
}
