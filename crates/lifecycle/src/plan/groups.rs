//! Steps of node groups: create, bounds, resize, delete.
use super::{Action, Impact, Offer, Present, Step, count, immutable::existing_group};
use crate::{
    capabilities::Feature,
    model::{Bounds, NodeGroup},
    spec::{ClusterDocument, NodeGroupSpec},
};

/// Returns the step that creates a group.
pub fn create(group: &NodeGroupSpec, offer: Offer) -> Step {
    let replicas = group.replicas.unwrap_or(1);
    let has_labels = !group.labels.is_empty() || !group.taints.is_empty();
    let refusal = offer
        .refusal(Feature::NodeGroups)
        .or_else(|| {
            has_labels
                .then(|| offer.refusal(Feature::NodeLabelsAndTaints))
                .flatten()
        })
        .or_else(|| offer.refusal_of_size(replicas));
    let flavor = group
        .flavor
        .as_ref()
        .map(|flavor| format!(" of the flavor {flavor}"));
    Step {
        effect: format!(
            "Adds the node group {} with {}{}.",
            group.name,
            count(replicas, "node"),
            flavor.unwrap_or_default()
        ),
        action: Action::CreateGroup(group.clone()),
        impact: Impact::None,
        refusal,
    }
}

/// Returns what the default group of a new cluster needs after the creation, which takes neither bounds
/// nor labels of nodes.
pub fn of_new_default(group: &NodeGroupSpec, offer: Offer) -> Vec<Step> {
    let mut steps = Vec::new();
    if group.min.is_some() || group.max.is_some() {
        let limits = Bounds {
            min: group.min.unwrap_or(0),
            max: group.max,
        };
        steps.push(bounds(&group.name, limits, offer));
    }
    if !group.labels.is_empty() || !group.taints.is_empty() {
        steps.push(labels_and_taints(group, offer));
    }
    steps
}

/// What the groups of a cluster need.
pub struct GroupSteps<'a> {
    /// New groups, bounds, and larger sizes.
    pub before_upgrade: Vec<Step>,
    /// Smaller sizes.
    pub after_upgrade: Vec<Step>,
    /// Groups that exist and are not in the specification.
    pub unnamed: Vec<&'a NodeGroup>,
    pub notes: Vec<String>,
}

/// Compares the groups.
pub fn differences<'a>(
    present: Present<'a>,
    desired: &ClusterDocument,
    offer: Offer,
) -> GroupSteps<'a> {
    let (mut added, mut larger, mut smaller) = (Vec::new(), Vec::new(), Vec::new());
    let mut notes = Vec::new();
    if let Some((step, is_larger)) = control_plane(present, desired, offer) {
        if is_larger { &mut larger } else { &mut smaller }.push(step);
    }
    let label = present.cluster.labels.get("auto_scaling_enabled");
    let is_autoscaled = label.is_some_and(|value| value.eq_ignore_ascii_case("true"));
    for group in &desired.spec.node_groups {
        let Some(existing) = existing_group(present.groups, group) else {
            added.push(create(group, offer));
            continue;
        };
        let wanted = group.replicas.unwrap_or(existing.node_count);
        let is_smaller = wanted < existing.node_count;
        let steps = change(existing, group, offer);
        if is_smaller {
            &mut smaller
        } else {
            &mut larger
        }
        .extend(steps);
        if is_autoscaled && wanted != existing.node_count {
            notes.push(format!(
                "The autoscaler is on and may have set {} of {}; it may change the size again.",
                count(existing.node_count, "node"),
                existing.name
            ));
        }
    }
    added.extend(larger);
    GroupSteps {
        before_upgrade: added,
        after_upgrade: smaller,
        unnamed: unnamed(present, desired).collect(),
        notes,
    }
}

/// Returns the resize of the control plane, and whether it grows.
fn control_plane(
    present: Present<'_>,
    desired: &ClusterDocument,
    offer: Offer,
) -> Option<(Step, bool)> {
    let wanted = desired.spec.control_plane.replicas?;
    let group = present.groups.iter().find(|group| group.is_control_plane());
    let now = group.map_or(present.cluster.master_count, |group| group.node_count);
    if wanted == now {
        return None;
    }
    let name = group.map_or("default-master", |group| group.name.as_str());
    let mut step = resize(name, now, wanted, "control plane node");
    step.refusal = offer.refusal(Feature::ResizeMasters);
    Some((step, wanted > now))
}

/// Returns groups that exist and are not in the specification.
fn unnamed<'a>(
    present: Present<'a>,
    desired: &ClusterDocument,
) -> impl Iterator<Item = &'a NodeGroup> {
    present.groups.iter().filter(|group| {
        !group.is_default
            && !group.is_control_plane()
            && !group.status.is_deletion()
            && !desired
                .spec
                .node_groups
                .iter()
                .any(|wanted| wanted.name == group.name)
    })
}

/// Returns the steps of one group. Magnum demands that the present size is within the bounds, so those
/// that the present size permits are set before the resize, the others after it.
fn change(existing: &NodeGroup, group: &NodeGroupSpec, offer: Offer) -> Vec<Step> {
    let now = existing.node_count;
    let wanted = group.replicas.unwrap_or(now);
    let name = &existing.name;
    let present = existing.bounds.unwrap_or_default();
    let target = Bounds {
        min: group.min.unwrap_or(present.min),
        max: group.max.or(present.max),
    };
    let first = Bounds {
        min: if target.min <= now {
            target.min
        } else {
            present.min
        },
        max: if target.max.is_none_or(|max| max >= now) {
            target.max
        } else {
            present.max
        },
    };
    // what was not read cannot be compared
    let is_unknown = existing.bounds.is_none() && (group.min.is_some() || group.max.is_some());
    let mut steps = Vec::new();
    if first != present || is_unknown {
        steps.push(bounds(name, first, offer));
    }
    if wanted != now {
        let mut step = resize(name, now, wanted, "node");
        step.refusal = out_of_bounds(wanted, target).or_else(|| offer.refusal_of_size(wanted));
        steps.push(step);
    }
    if target != first {
        let mut step = bounds(name, target, offer);
        step.refusal = step.refusal.or_else(|| out_of_bounds(wanted, target));
        steps.push(step);
    }
    if is_relabelled(existing, group) {
        steps.push(labels_and_taints(group, offer));
    }
    steps
}

fn is_relabelled(existing: &NodeGroup, group: &NodeGroupSpec) -> bool {
    let taints: Vec<String> = group.taints.iter().map(ToString::to_string).collect();
    (!group.labels.is_empty() && group.labels != existing.node_labels)
        || (!taints.is_empty() && taints != existing.node_taints)
}

fn out_of_bounds(wanted: u32, Bounds { min, max }: Bounds) -> Option<String> {
    let is_outside = wanted < min || max.is_some_and(|max| wanted > max);
    is_outside.then(|| {
        let max = max.map_or_else(|| "any number".to_owned(), |max| max.to_string());
        format!("{wanted} is outside the bounds of the group ({min} to {max}): change them too.")
    })
}

fn bounds(group: &str, Bounds { min, max }: Bounds, offer: Offer) -> Step {
    let to = max.map_or_else(
        || "without a maximum".to_owned(),
        |max| format!("at most {max}"),
    );
    Step {
        action: Action::SetBounds {
            group: group.to_owned(),
            min,
            max,
        },
        effect: format!("Sets the bounds of {group}: at least {min}, {to}."),
        impact: Impact::None,
        refusal: offer.refusal(Feature::NodeGroups),
    }
}

fn labels_and_taints(group: &NodeGroupSpec, offer: Offer) -> Step {
    Step {
        action: Action::SetLabelsAndTaints(group.clone()),
        effect: format!("Sets labels and taints of the nodes of {}.", group.name),
        impact: Impact::Disruptive,
        refusal: offer.refusal(Feature::NodeLabelsAndTaints),
    }
}

fn resize(group: &str, from: u32, to: u32, noun: &str) -> Step {
    let (effect, impact) = if to > from {
        let nodes = count(to - from, noun);
        (
            format!("Adds {nodes} to {group} ({from} to {to})."),
            Impact::None,
        )
    } else {
        let nodes = count(from - to, noun);
        let effect = format!(
            "Removes {nodes} from {group} ({from} to {to}). Their pods move to other nodes; data on \
             their disks is lost."
        );
        (effect, Impact::Destructive)
    };
    Step {
        action: Action::Resize {
            group: group.to_owned(),
            from,
            to,
        },
        effect,
        impact,
        refusal: None,
    }
}

/// Returns the step that deletes a group.
pub fn delete(group: &NodeGroup) -> Step {
    Step {
        action: Action::DeleteGroup {
            group: group.name.clone(),
        },
        effect: format!(
            "Deletes the node group {} with its {}. Their pods move to other nodes; data on their disks \
             is lost.",
            group.name,
            count(group.node_count, "node")
        ),
        impact: Impact::Destructive,
        refusal: None,
    }
}
