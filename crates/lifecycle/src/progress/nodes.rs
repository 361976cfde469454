//! The nodes of a cluster that is followed.
use serde::{Deserialize, Serialize};

use crate::version::KubernetesVersion;

/// Nodes as Kubernetes reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nodes {
    /// Nodes with the condition Ready.
    pub ready: u32,
    /// Nodes of all groups, the control plane too.
    pub expected: u32,
    /// Nodes with the version that an upgrade leads to; `None`: not an upgrade, or one that does not
    /// change the version.
    upgraded: Option<u32>,
}

impl Nodes {
    /// Returns nodes of which `ready` have the condition Ready.
    pub fn new(ready: u32, expected: u32) -> Self {
        Self {
            ready,
            expected,
            upgraded: None,
        }
    }

    /// Counts the nodes that an upgrade has reached; `versions` are those of all nodes. Nothing is
    /// counted where the version stays, as with a newer image: every node has it from the beginning,
    /// so the upgrade would seem to be over.
    pub fn during_upgrade(
        self,
        from: KubernetesVersion,
        to: KubernetesVersion,
        versions: impl IntoIterator<Item = KubernetesVersion>,
    ) -> Self {
        let reached = versions.into_iter().filter(|version| *version == to);
        let reached = u32::try_from(reached.count()).unwrap_or(u32::MAX);
        let upgraded = (from != to).then_some(reached);
        Self { upgraded, ..self }
    }

    /// Returns whether an upgrade has reached a node.
    pub(super) fn has_upgraded(self) -> bool {
        self.upgraded.is_some_and(|upgraded| upgraded > 0)
    }

    /// Returns whether an upgrade has not reached all nodes.
    pub(super) fn awaits_upgrade(self) -> bool {
        self.upgraded
            .is_some_and(|upgraded| upgraded < self.expected)
    }

    /// Returns whether an upgrade has reached all nodes.
    pub(super) fn are_upgraded(self) -> bool {
        self.has_upgraded() && !self.awaits_upgrade()
    }
}
