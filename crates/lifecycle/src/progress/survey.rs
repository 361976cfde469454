//! The nodes of a cluster while it is created or changed, each with its version.
use super::Nodes;
use crate::version::{KubernetesVersion, VersionChange};

/// One node, as the cluster's own API reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeReport {
    pub name: String,
    /// The kubelet's version, such as `v1.34.2`; empty before the node has reported it.
    pub version: String,
    pub is_ready: bool,
    /// No new pods are placed on it, as during a drain.
    pub is_cordoned: bool,
    /// PodDisruptionBudgets that permit no disruption of a pod that is left on the cordoned node, as
    /// `namespace/name`.
    pub waits_for: Vec<String>,
}

/// All nodes at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSurvey {
    /// By name.
    pub nodes: Vec<NodeReport>,
    /// Whether there are no more nodes than these.
    pub is_complete: bool,
    /// Why it is not known for what a drain waits, as a sentence.
    pub note: Option<String>,
}

impl NodeReport {
    /// Returns the kubelet's version; `None` if it is not one.
    pub fn kubernetes_version(&self) -> Option<KubernetesVersion> {
        self.version.parse().ok()
    }

    /// Returns why the drain of the node does not end, as a sentence; `None` if no reason is known.
    pub fn waiting(&self) -> Option<String> {
        (!self.waits_for.is_empty()).then(|| {
            format!(
                "The drain of {} waits for {}: no disruption is permitted.",
                self.name,
                self.waits_for.join(", ")
            )
        })
    }
}

impl NodeSurvey {
    /// Returns the nodes as [`super::Progress`] counts them; `None` if not all are known. `wanted` is the
    /// number that the cluster is to have, where that is known. With a `change` of all nodes, the upgrade is
    /// over when every one has the new version.
    pub fn counts(&self, wanted: Option<u32>, change: Option<VersionChange>) -> Option<Nodes> {
        if !self.is_complete {
            return None;
        }
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let ready = count(self.nodes.iter().filter(|node| node.is_ready).count());
        let found = count(self.nodes.len());
        let Some(change) = change.filter(|change| change.is_of_all_nodes) else {
            return Some(Nodes::new(ready, wanted.unwrap_or(found)));
        };
        let versions = self.nodes.iter().filter_map(NodeReport::kubernetes_version);
        Some(Nodes::new(ready, found).during_upgrade(change.from, change.to, versions))
    }

    /// Returns the version to which the nodes change: `to`, or else the newest one where they differ.
    pub fn target(&self, to: Option<KubernetesVersion>) -> Option<KubernetesVersion> {
        to.or_else(|| {
            let versions = || self.nodes.iter().filter_map(NodeReport::kubernetes_version);
            let newest = versions().max()?;
            (versions().min() != Some(newest)).then_some(newest)
        })
    }

    /// Returns how far the nodes are, as a sentence; `to` is the version to which they change.
    pub fn summary(&self, to: Option<KubernetesVersion>) -> String {
        let all = match self.nodes.len() {
            1 => "1 node".to_owned(),
            number => format!("{number} nodes"),
        };
        if self.nodes.is_empty() {
            return "The cluster has no nodes yet.".to_owned();
        }
        let Some(to) = self.target(to) else {
            let ready = self.nodes.iter().filter(|node| node.is_ready).count();
            let verb = if ready == 1 { "is" } else { "are" };
            return format!("{ready} of {all} {verb} ready.");
        };
        let reached = self.nodes.iter();
        let reached = reached.filter(|node| node.kubernetes_version() == Some(to));
        let reached = reached.count();
        let verb = if reached == 1 { "runs" } else { "run" };
        format!("{reached} of {all} {verb} {to}.")
    }
}
