//! The webhook with which Kubernetes API servers authenticate bearer tokens.
//!
//! A review is processed like this: the client certificate must be bound to the cluster in the path
//! ([`binding`]); only then the body is read and decoded ([`review`]); the cluster token is opened
//! (`portico_assertion::cluster_token`, [`opened`]); Keystone validates the token inside, or the
//! [`cache`] has the result; [`decision`] evaluates Keystone's response; one line is written to the
//! audit log.
//!
//! It has three responses and never confuses them: 200 with an identity, 200 with `authenticated:
//! false`, and 503 if no decision is possible. The last keeps the API server from caching an outage
//! as a refusal; it has no `Retry-After`, because the API server would otherwise keep the user
//! waiting for half a minute.
//!
//! Besides the clusters of the configuration file, those of a signed list that is fetched while the
//! webhook runs are served ([`cluster_list`], [`listed`]).
//!
//! If a cluster has a [`policy`], its API server may also ask for authorization ([`access`]).
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests start servers and clients beside them, wait, and read the real time"
    )
)]
mod access;
mod audit;
pub mod authority;
mod binding;
mod cache;
mod cluster;
mod cluster_list;
pub mod config;
mod decision;
#[cfg(test)]
mod fuzz;
mod http;
mod listed;
mod metrics;
mod opened;
pub mod policy;
mod review;
mod service;
mod shape;
mod validator;
pub mod webhook_config;

pub use access::{PolicyFileError, PushError};
pub use cluster_list::{ClusterListError, ClusterListFollower};
pub use config::{ClusterListConfig, KubeAuthConfig};
pub use decision::{CREDENTIAL_ID, identity_extra};
pub use service::{KubeAuth, StartError, service};
pub use validator::Validator;
pub use webhook_config::{
    ReviewKind, WebhookConfig, authorization_configuration, webhook_kubeconfig,
};

/// Describes kube-auth's metrics; [`service`] does so itself.
pub fn describe_metrics() {
    metrics::describe();
    access::describe();
}
