//! The nodes of a cluster while it is created or changed.
use crate::panel::Health;
use serde::{Deserialize, Serialize};

/// What is known about the nodes during an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeProgress {
    /// They were not read, for this reason (a sentence).
    NotChecked(String),
    Known(NodeTable),
}

/// The nodes at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeTable {
    /// How far they are, as a sentence: "2 of 5 nodes run v1.34.2."
    pub summary: String,
    /// Those that wait first, then those without the new version, then by name.
    pub nodes: Vec<NodeVersion>,
    /// What is not shown, or not known, as sentences.
    pub notes: Vec<String>,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeVersion {
    pub name: String,
    /// The kubelet's version, such as `v1.34.2`; empty before the node has reported it.
    pub version: String,
    /// Whether it has the version to which the nodes change; `None`: they change to none.
    pub is_upgraded: Option<bool>,
    pub health: Health,
    /// Such as "Ready, cordoned".
    pub status: String,
    /// Why its drain does not end, as a sentence.
    pub waiting: Option<String>,
}
