//! Checks before a node group is resized.
use super::Checks;
use crate::{
    capabilities::{Feature, capability},
    driver::Cloud,
    model::{Bounds, Cluster, NodeGroup},
    placement::{Placement, names},
    quota::Projection,
    status::{self, Operation},
};

/// What is known before a resize. `None`: the caller could not find out.
#[derive(Clone, Debug)]
pub struct ResizeContext<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// The group to resize.
    pub group: &'a NodeGroup,
    /// The wanted number of nodes.
    pub nodes: u32,
    /// Whether the user chose the nodes that leave.
    pub has_chosen_nodes: bool,
    /// What the cloud's Magnum offers.
    pub cloud: Cloud,
    /// What the resize needs ([`crate::quota::resize`]).
    pub quotas: &'a [Projection],
    /// The pods that have no place on the remaining nodes ([`crate::placement::placement`]).
    pub pods: &'a Placement,
}

/// Checks a resize.
pub fn before_resize(context: &ResizeContext<'_>) -> Checks {
    let mut checks = Checks::default();
    let (cluster, group) = (context.cluster, context.group);
    if cluster.status.is_in_progress() {
        // Magnum may accept it, and then another node than the chosen one can leave
        let text = format!(
            "Another change of the cluster is running ({}). Wait until it has finished.",
            cluster.status
        );
        checks.block("State", text);
    } else if let Err(forbidden) = status::check(&cluster.status, Operation::Resize) {
        checks.block("State", forbidden.reason);
    } else {
        checks.ok(
            "State",
            format!("The cluster is settled ({}).", cluster.status),
        );
    }
    bounds(group, context.nodes, &mut checks);
    for (is_used, feature) in [
        (true, Feature::ResizeWorkers),
        (group.is_control_plane(), Feature::ResizeMasters),
        (context.nodes == 0, Feature::ZeroNodes),
        (context.has_chosen_nodes, Feature::ChosenNodes),
    ] {
        let support = capability(cluster.driver, context.cloud, feature);
        if is_used && !support.is_offered() {
            checks.block("Driver", support.reason);
        }
    }
    if group.is_control_plane() && context.nodes.is_multiple_of(2) {
        let text = format!(
            "The control plane has an odd number of nodes, not {}.",
            context.nodes
        );
        checks.block("Size", text);
    }
    if context.nodes > group.node_count {
        checks.quotas(context.quotas);
    }
    pods(context.pods, &mut checks);
    let label = cluster.labels.get("auto_scaling_enabled");
    if label.is_some_and(|value| value.eq_ignore_ascii_case("true")) && !group.is_control_plane() {
        checks.warn(
            "Autoscaler",
            "The autoscaler is on: it may change the size again, and Magnum's number may be old.",
        );
    }
    checks
}

/// Checks what new nodes need of the quotas.
pub fn before_growth(quotas: &[Projection]) -> Checks {
    let mut checks = Checks::default();
    checks.quotas(quotas);
    checks
}

/// Checks whether the pods of nodes that leave have a place.
pub fn before_nodes_leave(pods_of_nodes: &Placement) -> Checks {
    let mut checks = Checks::default();
    pods(pods_of_nodes, &mut checks);
    checks
}

fn pods(placement: &Placement, checks: &mut Checks) {
    let unplaced = match placement {
        Placement::NotNeeded => return,
        Placement::NotChecked(reason) => {
            let text = format!(
                "Not checked whether every pod has a place on the remaining nodes: {reason}"
            );
            checks.warn("Pods", text);
            return;
        }
        Placement::Checked(unplaced) => unplaced,
    };
    let choice = if unplaced.depends_on_choice {
        " Magnum chooses the nodes that leave: not every choice needs to have this effect."
    } else {
        ""
    };
    for (pods, what) in [
        (
            &unplaced.without_place,
            "No remaining node has room for these pods, so they would stay pending",
        ),
        (
            &unplaced.uncertain,
            "These pods may not fit on the remaining nodes, because they have rules that are not checked",
        ),
        (
            &unplaced.lost,
            "No controller creates these pods again, so they are lost",
        ),
    ] {
        if !pods.is_empty() {
            checks.warn("Pods", format!("{what}: {}.{choice}", names(pods)));
        }
    }
    if unplaced.without_place.is_empty() && unplaced.uncertain.is_empty() {
        let text = "The remaining nodes have room for the pods that are created again elsewhere.";
        checks.ok("Pods", text);
    }
}

fn bounds(group: &NodeGroup, nodes: u32, checks: &mut Checks) {
    let Some(Bounds { min, max }) = group.bounds else {
        let text = format!(
            "The bounds of {} could not be read: Magnum refuses a size outside of them.",
            group.name
        );
        checks.warn("Bounds", text);
        return;
    };
    if nodes < min {
        let text = format!("{nodes} is below the minimum {min} of {}.", group.name);
        checks.block("Bounds", text);
    }
    if let Some(max) = max.filter(|max| nodes > *max) {
        let text = format!("{nodes} is above the maximum {max} of {}.", group.name);
        checks.block("Bounds", text);
    }
}
