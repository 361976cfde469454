//! Access to Kubernetes, always with the signed-in user's own credential.
//!
//! [`Clusters`] holds the configured and enrolled clusters with one connection pool each; an [`Api`]
//! combines a cluster with one user's bearer token and is made for every request. Nothing here has rights of
//! its own: what the API server refuses to the user is refused here. The exception is the watch of
//! one ConfigMap with a policy, which runs with a kubeconfig that the operator configures for it alone.
pub mod api;
pub mod body;
pub mod changes;
pub mod clusters;
pub mod credential;
pub mod discovery;
pub mod error;
pub mod events;
pub mod exec;
pub mod forbidden;
pub mod listing;
pub mod logs;
pub mod namespaces;
pub mod objects;
pub mod openapi;
pub mod path;
pub mod policy_config_map;
pub mod rbac;
pub mod reviews;
pub mod row_reader;
pub mod schemas;
pub mod table;
pub mod watch;
pub mod whoami;

pub use api::Api;
pub use clusters::{Authority, Cluster, ClusterSnapshot, Clusters};
pub use error::KubeError;
pub use forbidden::Forbidden;
