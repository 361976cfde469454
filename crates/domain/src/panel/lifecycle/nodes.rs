//! The nodes of a cluster: the servers of its node groups, with what Kubernetes reports about each.
use crate::{
    identity::Named,
    panel::{DrainPod, Health},
};
use serde::{Deserialize, Serialize};
use std::{collections::HashSet, iter};

/// The content of the page of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterNodes {
    /// UUID and name.
    pub cluster: Named,
    /// In the order of the node groups and of their names.
    pub nodes: Vec<ClusterNode>,
    /// Why nothing, or not everything, is known from Kubernetes, as a sentence.
    pub kubernetes: Option<String>,
    /// What could not be read, and where the sources differ, as sentences.
    pub gaps: Vec<String>,
    /// Whether Magnum works on the cluster.
    pub is_busy: bool,
    /// The replacement of a node that was begun and is not complete.
    pub replacement: Option<NodeReplacement>,
    /// The drain of a node that was begun and not stopped.
    pub drain: Option<NodeDrain>,
}

/// How far the replacement of a node is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeReplacement {
    /// The name of the old node.
    pub name: String,
    /// The ID of its server.
    pub server: String,
    pub group: String,
    pub stage: ReplacementStage,
    /// Whether the old node leaves before the new one is added.
    pub is_in_place: bool,
    /// What it waits for, as sentences.
    pub text: String,
}

/// What a replacement waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplacementStage {
    /// Magnum and Nova make the new node.
    Adding,
    /// The new node is not ready in Kubernetes.
    NotReady,
    /// The user drains the old node and removes it; in place, the user adds the new one.
    WaitingForYou,
    /// Magnum removes the old node.
    Removing,
}

/// A node that is to be removed, alone or with others of its group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRemoval {
    /// The ID of its server.
    pub server: String,
    /// The IDs of the servers of the others.
    #[serde(default)]
    pub others: Vec<String>,
    /// Must be the text of [`Self::confirmation`], which removes nodes that are drained, or that of
    /// [`Self::without_draining`].
    pub typed: String,
    /// The pods that the user accepts to stay pending, as `namespace/name`.
    pub accepted_pods: Vec<String>,
}

impl NodeRemoval {
    /// Maximum number of nodes that leave with one request: the journal names the server of each.
    pub const MAX_NODES: usize = 50;

    /// Returns what is typed to remove the node with a name and so many others.
    pub fn confirmation(name: &str, others: usize) -> String {
        match others {
            0 => name.to_owned(),
            others => format!("{name} and {others} more"),
        }
    }

    /// Returns what is typed to remove nodes that are not drained, from the text for those that are.
    pub fn without_draining(confirmation: &str) -> String {
        format!("{confirmation} without draining")
    }

    /// Returns the IDs of all servers, each once; that of the node is the first.
    pub fn servers(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let all = iter::once(&self.server).chain(&self.others);
        all.map(String::as_str)
            .filter(|server| seen.insert(*server))
            .collect()
    }
}

/// The drain of a node that was begun and not stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeDrain {
    /// The name of the node.
    pub name: String,
    /// The ID of its server.
    pub server: String,
    pub stage: NodeDrainStage,
    /// How far it is, as sentences.
    pub text: String,
    /// When nothing is evicted any longer.
    pub ends_at: i64,
    /// The pods that have not left.
    pub pods: Vec<DrainPod>,
}

/// How far a drain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeDrainStage {
    /// Pods have to leave. They are evicted while a page continues the drain.
    Draining,
    /// The other pods leave only if the user accepts a loss.
    NeedsUser,
    /// The time is over; the user may begin again.
    TimedOut,
    /// The user removes the node now.
    Drained,
    /// Kubernetes could not be read.
    Unknown,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterNode {
    /// The name of its server; `None` without one.
    pub name: Option<String>,
    /// The name of its node group; `None`: it is not known.
    pub group: Option<String>,
    pub role: Option<String>,
    /// The ID of its server; `None`: Nova shows none.
    pub server: Option<String>,
    pub flavor: Option<String>,
    pub addresses: Vec<String>,
    /// Nova's state of the server and what Nova does with it.
    pub status: String,
    /// Tone of the state.
    pub health: Health,
    /// The node of this name in Kubernetes; `None`: there is none, or Kubernetes was not read.
    pub kubernetes: Option<KubernetesNode>,
    /// Why the user cannot remove the node, as a sentence.
    pub removal_refusal: Option<String>,
    /// Why the user cannot replace the node, as a sentence.
    pub replacement_refusal: Option<String>,
    /// Whether it can be drained for auto-healing, which replaces its server: the driver ignores which nodes are
    /// chosen.
    pub can_be_healed: bool,
}

impl ClusterNode {
    /// Returns the name, or what the node has in its place.
    pub fn shown_name(&self) -> &str {
        let other = self.addresses.first().or(self.server.as_ref());
        let shown = self.name.as_ref().filter(|name| !name.is_empty()).or(other);
        shown.map_or("–", String::as_str)
    }

    /// Returns whether a text occurs in what the page shows of the node, without regard to case. The empty
    /// text does.
    pub fn matches(&self, text: &str) -> bool {
        let wanted = text.trim().to_lowercase();
        let of_kubernetes = self
            .kubernetes
            .iter()
            .flat_map(|node| [node.status.as_str(), node.version.as_str()]);
        let shown = [
            &self.name,
            &self.group,
            &self.role,
            &self.server,
            &self.flavor,
        ];
        let shown = shown.into_iter().filter_map(|field| field.as_deref());
        let mut texts = shown
            .chain(self.addresses.iter().map(String::as_str))
            .chain([self.status.as_str()])
            .chain(of_kubernetes);
        texts.any(|shown| shown.to_lowercase().contains(&wanted))
    }
}

/// What Kubernetes reports about a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KubernetesNode {
    /// The condition Ready in words, and whether the node is cordoned.
    pub status: String,
    /// Tone of the condition.
    pub health: Health,
    /// Of the kubelet; empty if it is not known.
    pub version: String,
    /// When the node was registered; `None`: it is not known.
    pub created_at: Option<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> ClusterNode {
        ClusterNode {
            name: Some("kube-ab1-gpu-x".to_owned()),
            group: Some("gpu".to_owned()),
            role: Some("worker".to_owned()),
            server: Some("0e9f".to_owned()),
            flavor: None,
            addresses: vec!["10.0.0.3".to_owned()],
            status: "ACTIVE".to_owned(),
            health: Health::Ok,
            kubernetes: Some(KubernetesNode {
                status: "Ready".to_owned(),
                health: Health::Ok,
                version: "v1.31.0".to_owned(),
                created_at: None,
            }),
            removal_refusal: None,
            replacement_refusal: None,
            can_be_healed: false,
        }
    }

    #[test]
    fn a_node_is_found_by_what_is_shown_of_it() {
        let node = node();
        for text in ["", " GPU ", "10.0.0", "0e9f", "active", "v1.31", "ready"] {
            assert!(node.matches(text), "{text}");
        }
        assert!(!node.matches("default-worker"));
    }

    #[test]
    fn the_text_that_is_typed_has_the_number_of_the_others() {
        let removal = NodeRemoval {
            server: "a".to_owned(),
            others: ["b", "a", "c", "b"].map(str::to_owned).to_vec(),
            ..NodeRemoval::default()
        };
        assert_eq!(removal.servers(), ["a", "b", "c"]);
        assert_eq!(NodeRemoval::confirmation("gpu-x", 0), "gpu-x");
        let several = NodeRemoval::confirmation("gpu-x", 2);
        assert_eq!(several, "gpu-x and 2 more");
        let undrained = NodeRemoval::without_draining(&several);
        assert_eq!(undrained, "gpu-x and 2 more without draining");
    }

    #[test]
    fn a_node_without_a_server_is_shown_with_its_address() {
        let mut node = node();
        assert_eq!(node.shown_name(), "kube-ab1-gpu-x");
        (node.name, node.server) = (None, None);
        assert_eq!(node.shown_name(), "10.0.0.3");
        node.addresses.clear();
        assert_eq!(node.shown_name(), "–");
    }
}
