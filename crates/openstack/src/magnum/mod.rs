//! A client of Magnum's API (`container-infra`), microversions 1.1 to 1.14.
//!
//! Start with [`Client`]. Objects are acted on by UUID: names are not unique, and are resolved by
//! the calls that end with `_named`. Most changes are only accepted by Magnum and carried out
//! later, or ignored in a state that forbids them; whether they are is seen in the object's status
//! and times.
mod body;
mod certificate;
mod client;
mod cluster;
mod cluster_request;
mod clusters;
mod merged_labels;
mod node_group;
mod node_groups;
mod patch;
mod quota;
mod stats;
mod status;
mod template;
#[cfg(test)]
mod tests;
mod version;

pub use certificate::Authority;
pub use client::Client;
pub use cluster::Cluster;
pub use cluster_request::{ClusterChange, NewCluster, Resize, Upgrade};
pub use merged_labels::MergedLabels;
pub use node_group::{
    MaxNodeCount, NewNodeGroup, NodeGroup, NodeGroupChange, NodeGroupSummary, NodeTaint,
    TaintEffect,
};
pub use patch::{PatchOperation, PatchValue};
pub use quota::Quota;
pub use stats::{Conductor, ConductorState, Stats};
pub use status::{HealthStatus, Status};
pub use template::{ClusterTemplate, NewClusterTemplate};
pub use version::{Feature, Features};
