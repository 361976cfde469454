//! The webhook that Kubernetes API servers ask who a bearer token belongs to.
//!
//! A review goes this way: the client certificate must be bound to the cluster in the path
//! ([`binding`]); only then the body is read and decoded ([`review`]); the cluster token is
//! opened (`portico_assertion::cluster_token`, [`opened`]); Keystone is asked about the token inside, or
//! the [`cache`] answers; [`decision`] weighs what Keystone said; one line goes to the audit log.
//!
//! It has three answers and never mixes them up: 200 with an identity, 200 with
//! `authenticated: false`, and 503 when nobody can say. The last is what keeps an outage from
//! being cached by the API server as a refusal; without `Retry-After`, because the API server
//! would otherwise keep the user waiting for half a minute.
//!
//! Where a cluster has a [`policy`], its API server may ask too what the user may do ([`access`]).
mod access;
mod audit;
pub mod authority;
mod binding;
mod cache;
pub mod config;
mod decision;
#[cfg(test)]
mod fuzz;
mod http;
mod metrics;
mod opened;
pub mod policy;
mod review;
mod service;
mod shape;
mod validator;
pub mod webhook_config;

pub use access::{PolicyFileError, PushError};
pub use config::KubeAuthConfig;
pub use decision::{CREDENTIAL_ID, identity_extra};
pub use service::{KubeAuth, StartError, service};
pub use validator::Validator;
pub use webhook_config::{
    Question, WebhookConfig, authorization_configuration, webhook_kubeconfig,
};

/// Says what kube-auth's metrics mean; [`service`] does so itself.
pub fn describe_metrics() {
    metrics::describe();
    access::describe();
}
