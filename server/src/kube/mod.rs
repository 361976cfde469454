//! Kubernetes, always with the signed-in person's own credential.
//!
//! [`Clusters`] knows the configured clusters and keeps one connection pool to each; an [`Api`]
//! joins a cluster with one person's bearer and is made anew for every request. Nothing here has
//! rights of its own: what the API server refuses that person, it refuses here. The exceptions run
//! with kubeconfigs that the operator names for them alone: [`bootstrap`] and [`sync`] (commands of
//! their own), and the watch of one ConfigMap with a policy.
pub mod api;
pub mod bootstrap;
pub mod changes;
pub mod clusters;
pub mod credential;
pub mod discovery;
pub mod error;
pub mod events;
pub mod exec;
pub mod listing;
pub mod logs;
pub mod namespaces;
pub mod objects;
pub mod path;
pub mod policy_config_map;
pub mod rbac;
pub mod reconcile;
pub mod reviews;
pub mod row_reader;
pub mod sync;
pub mod table;
pub mod watch;
pub mod whoami;

pub use api::Api;
pub use clusters::Clusters;
pub use error::KubeError;
