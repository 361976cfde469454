//! What a change of a node group would do.
use super::reading::{is_gone, unsupported};
use crate::service::lifecycle::{
    error::sentence, nodes::in_group, pods::PodSource, viewer::Viewer,
};
use portico_cluster_operations::{Clients, target::Target};
use portico_domain::panel::lifecycle::{NewNodeGroup, NodeGroupChange};
use portico_lifecycle::{
    capabilities::{Feature, capability},
    model::NodeGroup,
    placement::{Leaving, Placement},
    plan::{Plan, group_deletion},
    preflight::{Checks, ResizeContext, before_growth, before_resize},
    quota::Projection,
    rights::Call,
    spec::{NodeGroupSpec, Problem, Taint},
};
use std::collections::BTreeMap;

/// A planned change.
#[derive(Debug, Default)]
pub struct Planned {
    pub plan: Plan,
    pub quotas: Vec<Projection>,
    pub checks: Checks,
    /// What is known about the pods of nodes that leave.
    pub pods: Option<Placement>,
    /// What is wrong with what was entered, as sentences.
    pub problems: Vec<String>,
}

impl Planned {
    fn of_problem(text: impl Into<String>) -> Self {
        Self {
            problems: vec![text.into()],
            ..Self::default()
        }
    }
}

/// Returns the call of Magnum's policy that permits a change.
pub fn call(change: &NodeGroupChange) -> Call {
    match change {
        NodeGroupChange::Create(_) => Call::CreateNodeGroup,
        NodeGroupChange::Resize { .. } => Call::ResizeCluster,
        NodeGroupChange::Settings { .. } => Call::ChangeNodeGroup,
        NodeGroupChange::Delete { .. } => Call::DeleteNodeGroup,
    }
}

/// Plans a change of a cluster that was read, for a viewer who may request it.
pub async fn plan(
    clients: &Clients,
    viewer: &Viewer,
    target: &Target,
    change: &NodeGroupChange,
    source: PodSource<'_>,
) -> Planned {
    let creator = target.cluster.user_id.as_deref();
    if let Some(refusal) = viewer.refusal(call(change), creator) {
        return Planned::of_problem(refusal);
    }
    if target.cut.is_some() {
        return Planned::of_problem(
            "Magnum's list of node groups is incomplete, so no change can be planned.",
        );
    }
    match change {
        NodeGroupChange::Create(new) => creation(clients, viewer, target, new).await,
        NodeGroupChange::Resize {
            group,
            nodes,
            min,
            max,
            ..
        } => {
            let Some(found) = target.group(group) else {
                return unknown(group);
            };
            let wanted = Size {
                nodes: *nodes,
                min: *min,
                max: *max,
            };
            resize(clients, viewer, target, found, wanted, source).await
        }
        NodeGroupChange::Settings {
            group,
            min,
            max,
            labels,
            taints,
        } => {
            if target.group(group).is_none() {
                return unknown(group);
            }
            let settings = NodeGroupSpec {
                name: group.clone(),
                min: *min,
                max: *max,
                ..NodeGroupSpec::default()
            };
            settings_of(target, settings, labels, taints)
        }
        NodeGroupChange::Delete { group, .. } => {
            let Some(found) = target.group(group).filter(|group| !is_gone(group)) else {
                // nothing remains to be done
                return Planned::default();
            };
            if found.status.is_deletion() && found.status.is_in_progress() {
                return Planned::of_problem(format!("{group} is being deleted already."));
            }
            Planned {
                plan: Plan {
                    steps: vec![group_deletion(&target.cluster, found)],
                    ..Plan::default()
                },
                ..Planned::default()
            }
        }
    }
}

/// Returns the present size of the group that a change resizes.
pub fn size(target: &Target, change: &NodeGroupChange) -> Option<u32> {
    match change {
        NodeGroupChange::Resize { group, .. } => Some(target.group(group)?.node_count),
        NodeGroupChange::Create(_)
        | NodeGroupChange::Settings { .. }
        | NodeGroupChange::Delete { .. } => None,
    }
}

/// Returns that the group to resize has another size than the user has reviewed, as a sentence. The wanted
/// one is that after the resize itself.
pub fn outdated(target: &Target, change: &NodeGroupChange) -> Option<String> {
    let NodeGroupChange::Resize {
        group, from, nodes, ..
    } = change
    else {
        return None;
    };
    let now = size(target, change)?;
    (now != *from && now != *nodes).then(|| {
        format!(
            "The node group {group} has {now} nodes now, and not {from} as when it was reviewed."
        )
    })
}

fn unknown(group: &str) -> Planned {
    Planned::of_problem(format!(
        "The cluster has no node group {group}. It may have been deleted: reload the page."
    ))
}

async fn creation(
    clients: &Clients,
    viewer: &Viewer,
    target: &Target,
    new: &NewNodeGroup,
) -> Planned {
    let spec = NodeGroupSpec {
        name: new.name.clone(),
        replicas: Some(new.nodes),
        flavor: new.flavor.clone(),
        min: new.min,
        max: new.max,
        ..NodeGroupSpec::default()
    };
    let mut planned = settings_of(target, spec, &new.labels, &new.taints);
    let is_known = target.group(&new.name).is_some();
    if is_known || !planned.problems.is_empty() {
        // that what exists is what is wanted is the plan's result
        return planned;
    }
    let flavor = new.flavor.as_deref();
    let token = &viewer.token;
    planned.quotas = target.quotas(clients, token, flavor, 0, new.nodes).await;
    planned.checks = before_growth(&planned.quotas);
    planned
}

/// Returns the plan of a group with labels and taints.
fn settings_of(
    target: &Target,
    spec: NodeGroupSpec,
    labels: &BTreeMap<String, String>,
    taints: &[String],
) -> Planned {
    let mut problems = Vec::new();
    let mut read = Vec::new();
    for taint in taints {
        match taint.parse::<Taint>() {
            Ok(taint) => read.push(taint),
            Err(error) => problems.push(sentence(&error.to_string())),
        }
    }
    let has_labels = !labels.is_empty() || !taints.is_empty();
    if has_labels && let Some(refusal) = unsupported(target, Feature::NodeLabelsAndTaints) {
        problems.push(refusal);
    }
    if !problems.is_empty() {
        return Planned {
            problems,
            ..Planned::default()
        };
    }
    let spec = NodeGroupSpec {
        labels: labels.clone(),
        taints: read,
        ..spec
    };
    of_plan(target.plan_of_group(spec))
}

/// The wanted size of a group.
#[derive(Clone, Copy)]
struct Size {
    nodes: u32,
    min: Option<u32>,
    max: Option<u32>,
}

async fn resize(
    clients: &Clients,
    viewer: &Viewer,
    target: &Target,
    group: &NodeGroup,
    wanted: Size,
    source: PodSource<'_>,
) -> Planned {
    let flavor = group.flavor.as_deref();
    let (token, now) = (&viewer.token, group.node_count);
    let quotas = target.quotas(clients, token, flavor, now, wanted.nodes);
    let pods = pods(clients, viewer, target, group, wanted.nodes, source);
    let (quotas, pods) = tokio::join!(quotas, pods);
    let mut bounded = group.clone();
    // those that are set with it count
    if let Some(bounds) = &mut bounded.bounds {
        bounds.min = wanted.min.unwrap_or(bounds.min);
        bounds.max = wanted.max.or(bounds.max);
    }
    let checks = before_resize(&ResizeContext {
        cluster: &target.cluster,
        group: &bounded,
        nodes: wanted.nodes,
        has_chosen_nodes: false,
        cloud: target.cloud,
        quotas: &quotas,
        pods: &pods,
    });
    let plan = if group.is_control_plane() {
        target.plan_of_control_plane(wanted.nodes)
    } else {
        target.plan_of_group(NodeGroupSpec {
            name: group.name.clone(),
            replicas: Some(wanted.nodes),
            min: wanted.min,
            max: wanted.max,
            ..NodeGroupSpec::default()
        })
    };
    let mut planned = of_plan(plan);
    if planned.plan.is_empty() {
        return planned;
    }
    let chosen = capability(target.cluster.driver, target.cloud, Feature::ChosenNodes);
    if wanted.nodes < now && !group.is_control_plane() && chosen.is_offered() {
        planned.plan.notes.push(
            "Magnum chooses the nodes that leave, and none is drained. To choose and drain them, remove them on \
             the page Nodes."
                .to_owned(),
        );
    }
    Planned {
        quotas,
        checks,
        pods: Some(pods),
        ..planned
    }
}

/// Returns which pods have no place when a group shrinks: Magnum chooses the nodes that leave.
async fn pods(
    clients: &Clients,
    viewer: &Viewer,
    target: &Target,
    group: &NodeGroup,
    wanted: u32,
    source: PodSource<'_>,
) -> Placement {
    let number = group.node_count.saturating_sub(wanted);
    if number == 0 || group.is_control_plane() {
        return Placement::NotNeeded;
    }
    let nodes = match in_group(clients, viewer, target, &group.name).await {
        Ok(nodes) => nodes,
        Err(reason) => return Placement::NotChecked(reason),
    };
    let leaving = Leaving::Any { nodes, number };
    source.placement(target.uuid, &leaving).await
}

fn of_plan(plan: Result<Plan, Vec<Problem>>) -> Planned {
    match plan {
        Ok(plan) => {
            let problems = plan.immutable.iter().map(|one| one.remedy.clone());
            Planned {
                problems: problems.collect(),
                plan,
                ..Planned::default()
            }
        }
        Err(problems) => Planned {
            problems: problems.into_iter().map(|one| one.message).collect(),
            ..Planned::default()
        },
    }
}
