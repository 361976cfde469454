//! Reviews and sends the removal of a chosen node, alone or with others of its group.
#[cfg(test)]
mod tests;

use super::reading::{Found, find};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{
            change::{Sent, send_step},
            creation::{plain_check, step as plan_line},
            pods::{self, PodSource},
            viewer::Viewer,
            words,
        },
    },
};
use portico_cluster_operations::{Clients, nodes::Node};
use portico_domain::panel::lifecycle::{ChangeOutcome, NodeGroupReview, NodeRemoval};
use portico_lifecycle::{
    capabilities::{Feature, Support, capability},
    model::NodeGroup,
    placement::{Leaving, Placement},
    plan::{ChosenNode, Step, node_removal},
    preflight::{Checks, Level, ResizeContext, before_resize},
    rights::Call,
};
use uuid::Uuid;

/// What Nova does with a server that leaves.
pub const DELETING: &str = "deleting";

/// A planned removal.
struct Removal {
    /// What is typed to confirm it.
    confirmation: String,
    nodes: Vec<ChosenNode>,
    step: Step,
    /// What is known about their pods.
    pods: Placement,
    checks: Checks,
    notes: Vec<String>,
}

/// Returns what the removal of nodes would do; changes nothing. Of `wanted` only the servers count.
///
/// # Errors
/// Those of [`super::nodes()`]. Refusals are in the answer.
pub async fn review(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    wanted: &NodeRemoval,
) -> Result<NodeGroupReview, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let found = find(&access.clients, &viewer, cluster).await?;
    let source = PodSource::Kubernetes {
        services,
        clusters,
        caller,
    };
    Ok(reviewed(&found, &viewer, &wanted.servers(), source).await)
}

/// Returns what a removal would do, from what was read.
pub async fn reviewed(
    found: &Found,
    viewer: &Viewer,
    servers: &[&str],
    source: PodSource<'_>,
) -> NodeGroupReview {
    let is_busy = words::is_busy(&found.target.cluster.status);
    match plan(found, viewer, servers, source).await {
        Ok(removal) => NodeGroupReview {
            steps: vec![plan_line(&removal.step)],
            checks: removal.checks.0.iter().map(plain_check).collect(),
            notes: removal.notes,
            pending_pods: removal.pods.pending(),
            is_busy,
            ..NodeGroupReview::default()
        },
        Err(problem) => NodeGroupReview {
            problems: vec![problem],
            is_busy,
            ..NodeGroupReview::default()
        },
    }
}

/// Removes nodes that are drained; with the text of [`NodeRemoval::without_draining`], others too.
///
/// # Errors
/// Those of [`super::nodes()`], if nothing was sent. Refusals are in the answer.
pub async fn remove(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    wanted: &NodeRemoval,
) -> Result<ChangeOutcome, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let source = PodSource::Kubernetes {
        services,
        clusters,
        caller,
    };
    let sent = send(&access.clients, &viewer, cluster, wanted, source).await?;
    if let Some(accepted) = &sent.accepted {
        access.feeds.accepted(&viewer, cluster, accepted).await;
    }
    Ok(sent.outcome)
}

/// Sends the removal with the clients of a cloud.
///
/// # Errors
/// As [`remove`].
pub async fn send(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    wanted: &NodeRemoval,
    source: PodSource<'_>,
) -> Result<Sent, ServiceError> {
    let found = find(clients, viewer, cluster).await?;
    let removal = match plan(&found, viewer, &wanted.servers(), source).await {
        Ok(removal) => removal,
        Err(problem) => return Ok(Sent::refused(problem)),
    };
    let without_draining = NodeRemoval::without_draining(&removal.confirmation);
    let is_drained = wanted.typed == removal.confirmation;
    if !is_drained && wanted.typed != without_draining {
        return Ok(Sent::refused(format!(
            "The typed text is not \"{}\".",
            removal.confirmation
        )));
    }
    let mut checks = removal.checks.0.iter();
    let blocking = checks.find(|check| check.level == Level::Blocks);
    let refusal = removal.step.refusal.clone();
    if let Some(reason) = refusal.or_else(|| blocking.map(|check| check.text.clone())) {
        return Ok(Sent::refused(reason));
    }
    if let Some(reason) = pods::refusal(&removal.pods, &wanted.accepted_pods) {
        return Ok(Sent::refused(reason));
    }
    if is_drained && let Err(reason) = source.ensure_drained(cluster, &removal.nodes).await {
        let remedy = match removal.nodes.len() {
            1 => format!(
                "Drain the node first, or type \"{without_draining}\" to remove it with its pods."
            ),
            _ => format!(
                "Drain the nodes first, or type \"{without_draining}\" to remove them with their pods."
            ),
        };
        return Ok(Sent::refused(format!("{reason} {remedy}")));
    }
    let present = (cluster, &found.target.cluster);
    let (action, what) = (&removal.step.action, "the removal");
    Ok(send_step(clients, viewer, present, action, what).await)
}

/// Returns why a viewer cannot remove a node, as a sentence.
pub fn refusal(found: &Found, viewer: &Viewer, node: &Node) -> Option<String> {
    let creator = found.target.cluster.user_id.as_deref();
    viewer
        .refusal(Call::ResizeCluster, creator)
        .or_else(|| match step(found, node) {
            Ok((_, step)) => step.refusal,
            Err(problem) => Some(problem),
        })
}

/// Plans the removal of the nodes with these servers, or returns why none can be planned.
async fn plan(
    found: &Found,
    viewer: &Viewer,
    servers: &[&str],
    source: PodSource<'_>,
) -> Result<Removal, String> {
    let target = &found.target;
    let creator = target.cluster.user_id.as_deref();
    if let Some(refusal) = viewer.refusal(Call::ResizeCluster, creator) {
        return Err(refusal);
    }
    if servers.len() > NodeRemoval::MAX_NODES {
        return Err(format!(
            "At most {} nodes can be removed with one request.",
            NodeRemoval::MAX_NODES
        ));
    }
    let mut nodes = Vec::with_capacity(servers.len());
    for server in servers {
        nodes.push(node_with(found, server)?);
    }
    let (group, step) = step_of_all(found, &nodes)?;
    let pairs = nodes.iter().zip(servers);
    let nodes: Vec<_> = pairs.map(|(node, server)| chosen(node, server)).collect();
    let leaving = Leaving::Chosen(nodes.clone());
    let pods = source.placement(target.uuid, &leaving).await;
    let number = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    let checks = before_resize(&ResizeContext {
        cluster: &target.cluster,
        group,
        nodes: group.node_count.saturating_sub(number),
        has_chosen_nodes: true,
        cloud: target.cloud,
        quotas: &[],
        pods: &pods,
    });
    let chosen = capability(target.cluster.driver, target.cloud, Feature::ChosenNodes);
    let unverified = (chosen.support == Support::Unverified).then(|| {
        format!(
            "Another node than the chosen one may be removed. {}",
            chosen.reason
        )
    });
    let drain = "A node is removed if it is drained: cordoned, and without pods that have to move."
        .to_owned();
    let name = nodes.first().map_or("", |node| node.name.as_str());
    Ok(Removal {
        confirmation: NodeRemoval::confirmation(name, nodes.len().saturating_sub(1)),
        nodes,
        step,
        pods,
        checks,
        notes: unverified.into_iter().chain([drain]).collect(),
    })
}

/// Returns the step that removes a node and the group of the node.
///
/// # Errors
/// Why the node cannot be chosen, as a sentence.
pub fn step<'f>(found: &'f Found, node: &Node) -> Result<(&'f NodeGroup, Step), String> {
    step_of_all(found, &[node])
}

/// Returns the step that removes nodes of one group, and the group.
///
/// # Errors
/// Why one of them cannot be chosen, as a sentence.
fn step_of_all<'f>(found: &'f Found, nodes: &[&Node]) -> Result<(&'f NodeGroup, Step), String> {
    let target = &found.target;
    if target.cut.is_some() || found.nodes.cut.is_some() {
        return Err(
            "The list of servers or of node groups is incomplete, so no node can be chosen."
                .to_owned(),
        );
    }
    let mut leaving = Vec::with_capacity(nodes.len());
    let mut common: Option<&NodeGroup> = None;
    for node in nodes {
        let (group, node) = choosable(found, node)?;
        if common.is_some_and(|common| common.name != group.name) {
            return Err(
                "The nodes are of several node groups. Remove those of one group at a time."
                    .to_owned(),
            );
        }
        common = Some(group);
        leaving.push(node);
    }
    let group = common.ok_or_else(|| "No node is chosen.".to_owned())?;
    if !group.is_control_plane()
        && let Some(problem) = surplus(found, group)
    {
        return Err(problem);
    }
    let (cluster, count) = (&target.cluster, group.node_count);
    let step = node_removal(cluster, target.cloud, group, count, &leaving);
    Ok((group, step))
}

/// Returns a node as one that is chosen, and its group.
///
/// # Errors
/// Why it cannot be chosen, as a sentence.
fn choosable<'f>(found: &'f Found, node: &Node) -> Result<(&'f NodeGroup, ChosenNode), String> {
    let Some(server) = &node.server else {
        return Err("Nova shows no server for the node, so it cannot be chosen.".to_owned());
    };
    let group = node.group.as_deref();
    let group = group.and_then(|name| found.target.group(name));
    let Some(group) = group else {
        return Err(
            "The node group of the server is not known, so the node cannot be chosen.".to_owned(),
        );
    };
    if node.task.as_deref() == Some(DELETING) {
        return Err("Nova deletes the server of this node already.".to_owned());
    }
    Ok((group, chosen(node, server)))
}

/// Returns why no node of a group can be removed that has more servers than Magnum counts, as after a
/// change of the autoscaler. The request has a number of nodes, so others would leave too.
fn surplus(found: &Found, group: &NodeGroup) -> Option<String> {
    let servers = found.nodes.items.iter().filter(|node| {
        node.server.is_some()
            && node.group.as_ref() == Some(&group.name)
            && node.task.as_deref() != Some(DELETING)
    });
    let servers = u32::try_from(servers.count()).unwrap_or(u32::MAX);
    (servers > group.node_count).then(|| {
        format!(
            "{} has {servers} servers and Magnum's number of its nodes is {}, so other nodes would leave \
             too. Resize the node group to {servers} first.",
            group.name, group.node_count
        )
    })
}

/// Returns the node with this server.
///
/// # Errors
/// That there is none, as a sentence.
pub fn node_with<'f>(found: &'f Found, server: &str) -> Result<&'f Node, String> {
    let mut nodes = found.nodes.items.iter();
    let node = nodes.find(|node| node.server.as_deref() == Some(server));
    node.ok_or_else(|| {
        format!(
            "The cluster has no node with the server {server}. It may have left: reload the page."
        )
    })
}

/// Returns a node as one that is chosen.
pub fn chosen(node: &Node, server: &str) -> ChosenNode {
    ChosenNode {
        server: server.to_owned(),
        name: name_of(node, server).to_owned(),
    }
}

/// Returns the name of a node, which is typed to remove it.
pub fn name_of<'n>(node: &'n Node, server: &'n str) -> &'n str {
    let name = node.name.as_deref();
    name.filter(|name| !name.is_empty()).unwrap_or(server)
}
