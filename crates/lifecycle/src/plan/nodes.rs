//! The step that removes chosen nodes of a group.
use super::{Action, Impact, Offer, Step, busy};
use crate::{
    capabilities::Feature,
    driver::Cloud,
    model::{Cluster, NodeGroup},
};

/// A node that leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenNode {
    /// The ID of its server.
    pub server: String,
    pub name: String,
}

/// Returns the step that removes chosen nodes of a group; `from` is the size of the group before it, which
/// an earlier step may set. It is refused where the driver would remove others.
pub fn node_removal(
    cluster: &Cluster,
    cloud: Cloud,
    group: &NodeGroup,
    from: u32,
    nodes: &[ChosenNode],
) -> Step {
    let removed = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    let to = from.saturating_sub(removed);
    let names: Vec<_> = nodes.iter().map(|node| node.name.as_str()).collect();
    let names = names.join(", ");
    let what = if removed == 1 {
        format!("Removes the node {names}")
    } else {
        format!("Removes the nodes {names}")
    };
    let action = Action::RemoveNodes {
        group: group.name.clone(),
        from,
        to,
        servers: nodes.iter().map(|node| node.server.clone()).collect(),
    };
    Step {
        effect: format!(
            "{what} from {} ({from} to {to}). Pods move to other nodes; data on the disks is lost.",
            group.name
        ),
        refusal: refusal(cluster, cloud, group, to).or_else(|| busy(cluster, &action)),
        action,
        impact: Impact::Destructive,
    }
}

fn refusal(cluster: &Cluster, cloud: Cloud, group: &NodeGroup, to: u32) -> Option<String> {
    if group.is_control_plane() {
        return Some(
            "Nodes of the control plane are not chosen: Magnum selects those that leave."
                .to_owned(),
        );
    }
    let offer = Offer {
        driver: cluster.driver,
        cloud,
    };
    offer
        .refusal(Feature::ChosenNodes)
        .or_else(|| offer.refusal_of_size(to))
}
