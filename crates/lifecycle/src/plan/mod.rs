//! Compares a cluster with its specification: the steps from one to the other, each with its effect in
//! words, and what cannot be changed.
//!
//! A plan never recreates a cluster: where that would be needed, it cannot be applied.
mod groups;
mod immutable;
mod nodes;
mod upgrade;

pub use immutable::Immutable;
pub use nodes::{ChosenNode, node_removal};
pub use upgrade::{
    LabelChange, UpgradeChoice, is_patch, label_changes, other_driver, present_version,
    upgradable_groups, upgrade_refusal, upgrade_to, upgrade_with, version_change, version_refusal,
};

use crate::{
    capabilities::{Feature, capability},
    driver::{Cloud, Driver},
    model::{Cluster, NodeGroup, Template},
    spec::{ClusterDocument, NodeGroupSpec},
    status::{self, Operation},
};

/// What exists.
#[derive(Clone, Copy, Debug)]
pub struct Present<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// All node groups, the control plane too.
    pub groups: &'a [NodeGroup],
}

/// What a plan depends on besides cluster and specification.
#[derive(Clone, Copy, Debug)]
pub struct PlanContext<'a> {
    /// The template that the specification names.
    pub template: &'a Template,
    /// What the cloud's Magnum offers.
    pub cloud: Cloud,
    /// Delete node groups that the specification does not name.
    pub prune: bool,
}

/// What one step does. The caller makes the request from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// `POST /clusters` with [`crate::spec::create_request`].
    Create,
    /// `POST /clusters/{id}/nodegroups` with [`crate::spec::node_group_request`].
    CreateGroup(NodeGroupSpec),
    /// `PATCH /clusters/{id}/nodegroups/{group}` of the bounds.
    SetBounds {
        group: String,
        min: u32,
        /// `None`: no maximum; it is not sent.
        max: Option<u32>,
    },
    /// `PATCH /clusters/{id}/nodegroups/{group}` of labels and taints of the nodes.
    SetLabelsAndTaints(NodeGroupSpec),
    /// `POST /clusters/{id}/actions/resize`, always with the group.
    Resize { group: String, from: u32, to: u32 },
    /// `POST /clusters/{id}/actions/resize` with the group and the servers that leave.
    RemoveNodes {
        group: String,
        from: u32,
        to: u32,
        /// IDs of the servers.
        servers: Vec<String>,
    },
    /// `POST /clusters/{id}/actions/upgrade` to the UUID of a template.
    Upgrade {
        template: String,
        choice: UpgradeChoice,
    },
    /// `DELETE /clusters/{id}/nodegroups/{group}`.
    DeleteGroup { group: String },
}

/// What a step means for what runs in the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Impact {
    /// Nothing that runs is touched.
    None,
    /// Pods move or restart.
    Disruptive,
    /// Nodes disappear, with the data on their disks.
    Destructive,
}

/// One step of a plan. Steps are carried out one after another: the next begins when the cluster is
/// settled again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The request.
    pub action: Action,
    /// A sentence for users.
    pub effect: String,
    /// What it means for what runs.
    pub impact: Impact,
    /// Why it cannot be carried out, as a sentence.
    pub refusal: Option<String>,
}

/// All steps from what exists to a specification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// In the order in which they are carried out.
    pub steps: Vec<Step>,
    /// Differences that need a new cluster or node group.
    pub immutable: Vec<Immutable>,
    /// What a user should know, as sentences.
    pub notes: Vec<String>,
}

impl Plan {
    /// Returns whether cluster and specification agree: `apply` sends nothing.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.immutable.is_empty()
    }

    /// Returns whether every step can be carried out and nothing would have to be recreated. Otherwise
    /// `apply` changes nothing.
    pub fn can_be_applied(&self) -> bool {
        self.immutable.is_empty() && self.steps.iter().all(|step| step.refusal.is_none())
    }

    /// Returns the gravest impact of the steps.
    pub fn impact(&self) -> Impact {
        let impacts = self.steps.iter().map(|step| step.impact);
        impacts.max().unwrap_or(Impact::None)
    }
}

/// Returns the plan for a cluster that exists, or does not.
pub fn plan(
    present: Option<Present<'_>>,
    desired: &ClusterDocument,
    context: PlanContext<'_>,
) -> Plan {
    match present {
        Some(present) => change(present, desired, context),
        None => creation(desired, context),
    }
}

/// Returns the step that deletes a node group, without the rest of the specification.
pub fn group_deletion(cluster: &Cluster, group: &NodeGroup) -> Step {
    let mut step = groups::delete(group);
    step.refusal = if group.is_default {
        Some(format!(
            "{} was made with the cluster and is deleted only with it. Resize it to 0 instead.",
            group.name
        ))
    } else {
        busy(cluster, &step.action)
    };
    step
}

fn creation(desired: &ClusterDocument, context: PlanContext<'_>) -> Plan {
    let spec = &desired.spec;
    let offer = Offer {
        driver: context.template.driver,
        cloud: context.cloud,
    };
    let masters = count(
        spec.control_plane.replicas.unwrap_or(1),
        "control plane node",
    );
    let default = spec.default_group();
    let replicas = default.and_then(|group| group.replicas).unwrap_or(1);
    let effect = format!(
        "Creates the cluster {} with {masters} and {} from {}.",
        desired.metadata.name,
        count(replicas, "worker"),
        context.template.name
    );
    let mut steps = vec![Step {
        action: Action::Create,
        effect,
        impact: Impact::None,
        refusal: offer.refusal_of_size(replicas),
    }];
    if let Some(group) = default {
        steps.extend(groups::of_new_default(group, offer));
    }
    for group in spec.further_groups() {
        steps.push(groups::create(group, offer));
    }
    Plan {
        steps,
        ..Plan::default()
    }
}

fn change(present: Present<'_>, desired: &ClusterDocument, context: PlanContext<'_>) -> Plan {
    let mut plan = Plan {
        immutable: immutable::differences(present, desired),
        ..Plan::default()
    };
    let offer = Offer {
        driver: present.cluster.driver,
        cloud: context.cloud,
    };
    // groups added, bounds, larger, upgrade, smaller, groups removed
    let groups = groups::differences(present, desired, offer);
    plan.steps.extend(groups.before_upgrade);
    plan.steps
        .extend(upgrade::step(present.cluster, context.template, offer));
    plan.steps.extend(groups.after_upgrade);
    plan.notes.extend(groups.notes);
    for group in groups.unnamed {
        if context.prune {
            plan.steps.push(groups::delete(group));
        } else {
            plan.notes.push(format!(
                "The node group {} is not in the specification. It stays; --prune would delete it.",
                group.name
            ));
        }
    }
    // later steps run in the state that the earlier ones leave
    if let Some(step) = plan.steps.first_mut()
        && step.refusal.is_none()
    {
        step.refusal = busy(present.cluster, &step.action);
    }
    plan
}

/// Portico carries out one change of a cluster at a time, also where Magnum would accept another.
fn busy(cluster: &Cluster, action: &Action) -> Option<String> {
    if cluster.status.is_in_progress() {
        return Some(format!(
            "Another change of the cluster is running ({}). Wait until it has finished.",
            cluster.status
        ));
    }
    let operation = match action {
        Action::Create => return None,
        Action::CreateGroup(_) => Operation::CreateNodeGroup,
        // a group has the state of its cluster, unless it failed alone
        Action::Resize { .. }
        | Action::RemoveNodes { .. }
        | Action::SetBounds { .. }
        | Action::SetLabelsAndTaints(_) => Operation::Resize,
        Action::Upgrade { .. } => Operation::Upgrade,
        Action::DeleteGroup { .. } => Operation::DeleteNodeGroup,
    };
    let forbidden = status::check(&cluster.status, operation).err();
    forbidden.map(|forbidden| forbidden.reason)
}

/// What can be offered with a driver and a cloud.
#[derive(Clone, Copy)]
struct Offer {
    driver: Driver,
    cloud: Cloud,
}

impl Offer {
    /// Returns why a feature is not offered.
    fn refusal(self, feature: Feature) -> Option<String> {
        let capability = capability(self.driver, self.cloud, feature);
        (!capability.is_offered()).then_some(capability.reason)
    }

    /// Returns why a group cannot have this size.
    fn refusal_of_size(self, nodes: u32) -> Option<String> {
        if nodes > 0 {
            return None;
        }
        self.refusal(Feature::ZeroNodes)
    }
}

/// Returns a number with its noun: `1 node`, `3 nodes`.
pub fn count(number: u32, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
