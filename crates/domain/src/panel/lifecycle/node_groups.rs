//! The node groups of a cluster, and changes of one of them.
use super::{Check, CheckLevel, FlavorOption, PlanLine, QuotaProjection};
use crate::{
    identity::Named,
    panel::{Health, Reading},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The content of the page of node groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeGroups {
    /// UUID and name.
    pub cluster: Named,
    /// The control plane first, then in the order of their names.
    pub groups: Vec<NodeGroupDetail>,
    /// Why no group can be added, as a sentence.
    pub creation_refusal: Option<String>,
    /// Why nodes cannot have labels and taints, as a sentence.
    pub labels_refusal: Option<String>,
    /// The smallest first.
    pub flavors: Reading<Vec<FlavorOption>>,
    /// The flavor of a group for which none is chosen.
    pub default_flavor: Option<String>,
    /// Whether an autoscaler may change the sizes.
    pub is_autoscaled: bool,
    /// Whether Magnum works on the cluster.
    pub is_busy: bool,
    /// What could not be read, as sentences.
    pub gaps: Vec<String>,
}

/// One node group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeGroupDetail {
    pub name: String,
    /// `master`, `worker`, or another text.
    pub role: String,
    pub is_control_plane: bool,
    pub flavor: Option<String>,
    pub node_count: u32,
    pub min: Option<u32>,
    pub max: Option<u32>,
    /// Of the nodes in Kubernetes.
    pub labels: BTreeMap<String, String>,
    /// As `key=value:Effect`.
    pub taints: Vec<String>,
    pub health: Health,
    /// The state in words.
    pub status: String,
    /// Magnum's text about the state.
    pub reason: Option<String>,
    /// Why it cannot be resized, as a sentence.
    pub resize_refusal: Option<String>,
    /// Why bounds, labels and taints cannot be changed, as a sentence.
    pub settings_refusal: Option<String>,
    /// Why it cannot be deleted, as a sentence.
    pub deletion_refusal: Option<String>,
}

/// A change of one node group, as it is wanted in the end: sending it again continues it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeGroupChange {
    Create(NewNodeGroup),
    Resize {
        group: String,
        /// The size that the user has reviewed. If the group has neither it nor the wanted one, nothing is
        /// sent.
        from: u32,
        nodes: u32,
        /// A new minimum; `None`: as it is.
        min: Option<u32>,
        /// A new maximum; `None`: as it is.
        max: Option<u32>,
        /// The pods that the user accepts to stay pending, as `namespace/name`.
        #[serde(default)]
        accepted_pods: Vec<String>,
    },
    Settings {
        group: String,
        min: Option<u32>,
        max: Option<u32>,
        labels: BTreeMap<String, String>,
        taints: Vec<String>,
    },
    Delete {
        group: String,
        /// Must be the name of the group.
        typed: String,
    },
}

impl NodeGroupChange {
    /// Returns the name of the group.
    pub fn group(&self) -> &str {
        match self {
            Self::Create(new) => &new.name,
            Self::Resize { group, .. }
            | Self::Settings { group, .. }
            | Self::Delete { group, .. } => group,
        }
    }
}

/// A node group to create.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewNodeGroup {
    pub name: String,
    pub nodes: u32,
    /// `None`: the cluster's.
    pub flavor: Option<String>,
    pub min: Option<u32>,
    pub max: Option<u32>,
    pub labels: BTreeMap<String, String>,
    /// As `key=value:Effect`.
    pub taints: Vec<String>,
}

/// What a change would do, before anything is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeGroupReview {
    /// In the order of the requests: the next begins when the cluster is settled.
    pub steps: Vec<PlanLine>,
    /// The quotas now and after.
    pub quotas: Vec<QuotaProjection>,
    /// All checks, also those that pass.
    pub checks: Vec<Check>,
    /// What is wrong with what was entered, as sentences.
    pub problems: Vec<String>,
    /// What a user should know, as sentences.
    pub notes: Vec<String>,
    /// Whether Magnum works on the cluster: the next step has to wait.
    pub is_busy: bool,
    /// The number of nodes from which the steps of a resize are; `None` for other changes.
    pub size: Option<u32>,
    /// The pods that would, or may, stay pending, as `namespace/name`: the user has to accept it.
    pub pending_pods: Vec<String>,
}

impl NodeGroupReview {
    /// Returns whether nothing remains to be done.
    pub fn is_done(&self) -> bool {
        self.steps.is_empty() && self.problems.is_empty()
    }

    /// Returns whether the first step may be sent.
    pub fn can_be_sent(&self) -> bool {
        !self.steps.is_empty()
            && self.problems.is_empty()
            && self.steps.iter().all(|step| step.refusal.is_none())
            && self
                .checks
                .iter()
                .all(|check| check.level != CheckLevel::Blocks)
    }
}
