//! What is followed: the operation, the state before it, and what holds at its end.
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    model::{Cluster, NodeGroup},
    plan::Action,
    spec::DEFAULT_CREATE_TIMEOUT_MINUTES,
    status::{Activity, Operation, Status},
};

/// What is followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Followed {
    /// The creation of a cluster.
    Creation {
        /// `create_timeout` of the request in minutes.
        timeout_minutes: u32,
    },
    /// An operation on an existing cluster, other than its deletion.
    Change {
        /// What was requested.
        operation: Operation,
        /// State and `updated_at` before the request was sent.
        before: Mark,
        /// What holds at the end.
        goal: Goal,
    },
    /// The deletion of a cluster.
    Deletion {
        /// State and `updated_at` before the request was sent.
        before: Mark,
    },
}

impl Followed {
    /// Returns the operation that a step of a plan requests; `before` is the cluster before the
    /// request. `None` for the creation of the cluster, which has no state before.
    pub fn of_step(action: &Action, before: &Cluster) -> Option<Self> {
        let (operation, goal) = match action {
            Action::Create => return None,
            Action::CreateGroup(group) => (
                Operation::CreateNodeGroup,
                Goal::GroupExists(group.name.clone()),
            ),
            Action::SetBounds { .. } | Action::SetLabelsAndTaints(_) => {
                (Operation::UpdateNodeGroup, Goal::Unseen)
            }
            Action::Resize { group, to, .. } | Action::RemoveNodes { group, to, .. } => (
                Operation::Resize,
                Goal::Size {
                    group: group.clone(),
                    nodes: *to,
                },
            ),
            Action::Upgrade { template, choice } => {
                // the group gets the template that the cluster has already
                let goal = match choice.group {
                    Some(_) => Goal::Unseen,
                    None => Goal::Template(template.clone()),
                };
                (Operation::Upgrade, goal)
            }
            Action::DeleteGroup { group } => {
                (Operation::DeleteNodeGroup, Goal::GroupGone(group.clone()))
            }
        };
        Some(Self::Change {
            operation,
            before: Mark::of(before),
            goal,
        })
    }

    /// Returns the operation that is running on a cluster; `None` if none is. It was seen running, so
    /// its state before was another one. `create_timeout` is that of the cluster, in minutes.
    pub fn running(cluster: &Cluster, create_timeout: Option<u32>) -> Option<Self> {
        let before = Mark {
            status: Status::Other(String::new()),
            updated_at: None,
        };
        match &cluster.status {
            // another release's word for something that is running
            Status::Other(text) if text.ends_with("_IN_PROGRESS") => {}
            status if status.is_in_progress() => {}
            _ => return None,
        }
        Some(match &cluster.status {
            Status::Known(Activity::Create, _) => Self::Creation {
                timeout_minutes: create_timeout
                    .filter(|minutes| *minutes > 0)
                    .unwrap_or(DEFAULT_CREATE_TIMEOUT_MINUTES),
            },
            status if status.is_deletion() => Self::Deletion { before },
            _ => Self::Change {
                operation: Operation::Patch,
                before,
                goal: Goal::Unseen,
            },
        })
    }
}

/// What holds at the end of a change. It tells the change apart from others that move the cluster's
/// state or its `updated_at`, as each check of its health does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Goal {
    /// Nothing that Magnum shows, such as a rotated CA.
    Unseen,
    /// A node group has this many nodes.
    Size { group: String, nodes: u32 },
    /// The cluster has this template.
    Template(String),
    /// The node group of this name exists.
    GroupExists(String),
    /// The node group of this name does not exist.
    GroupGone(String),
}

impl Goal {
    /// Returns whether it holds, as far as a snapshot shows; `None` if that is unknown without the node
    /// groups.
    pub(super) fn is_met(&self, cluster: &Cluster, groups: Option<&[NodeGroup]>) -> Option<bool> {
        let find = |name: &str| Some(groups?.iter().find(|group| group.name == name));
        match self {
            Self::Unseen => Some(true),
            Self::Template(uuid) => Some(cluster.template == *uuid),
            Self::Size { group, nodes } => {
                find(group).map(|found| found.is_none_or(|group| group.node_count == *nodes))
            }
            Self::GroupExists(name) => {
                find(name).map(|found| found.is_some_and(|group| !group.status.is_deletion()))
            }
            Self::GroupGone(name) => find(name).map(|found| {
                found.is_none_or(|group| group.status.is_deletion() && group.status.is_complete())
            }),
        }
    }

    /// Returns whether Magnum still changes the node group that the change is about.
    pub(super) fn is_in_progress(&self, groups: &[NodeGroup]) -> bool {
        let mut groups = groups.iter();
        let group = self
            .group()
            .and_then(|name| groups.find(|group| group.name == name));
        group.is_some_and(|group| group.status.is_in_progress())
    }

    /// Returns the node group that the change is about.
    pub(super) fn group(&self) -> Option<&str> {
        match self {
            Self::Size { group, .. } | Self::GroupExists(group) | Self::GroupGone(group) => {
                Some(group)
            }
            Self::Unseen | Self::Template(_) => None,
        }
    }
}

/// State and time of a cluster, to see whether a request had an effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The state.
    pub status: Status,
    /// The time of Magnum's last change of the record.
    pub updated_at: Option<Timestamp>,
}

impl Mark {
    /// Takes the mark of a cluster.
    pub fn of(cluster: &Cluster) -> Self {
        Self {
            status: cluster.status.clone(),
            updated_at: cluster.updated_at,
        }
    }
}
