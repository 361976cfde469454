//! The nodes with what the viewer may do with each.
use super::{
    draining, healing,
    kubernetes::{self, InKubernetes},
    removal,
    replacement::{self, Replacement, is_running, progress},
};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{error, own, viewer::Viewer, words},
    },
};
use portico_cluster_operations::{
    Clients,
    nodes::{Node, Nodes, find as find_nodes},
    target::Target,
};
use portico_domain::{
    identity::Named,
    panel::{
        Health,
        lifecycle::{ClusterNode, ClusterNodes},
    },
};
use portico_lifecycle::{driver::Family, plan::ChosenNode, preflight::healing_hint};
use std::collections::BTreeSet;
use uuid::Uuid;

/// Maximum number of names in one sentence.
const MAX_NAMES: usize = 10;

/// A cluster and its nodes.
pub struct Found {
    pub target: Target,
    pub nodes: Nodes,
}

/// Returns the nodes of a cluster.
///
/// # Errors
/// `NotFound` if the project has no such cluster; Magnum's refusal, or that it cannot be asked. What Nova
/// or Kubernetes does not return is named in the answer.
pub async fn nodes(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Result<ClusterNodes, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let (found, in_kubernetes, open) = tokio::join!(
        find(&access.clients, &viewer, cluster),
        kubernetes::read(services, clusters, caller, cluster),
        replacement::open(access, &viewer, cluster, None),
    );
    let (open, found) = (open.map_err(|error| error.message), found?);
    let drain = draining::shown(services, clusters, caller, (access, &viewer), &found).await;
    Ok(ClusterNodes {
        drain,
        ..view(&found, &viewer, in_kubernetes, &open)
    })
}

/// Reads the nodes from Magnum and Nova.
///
/// # Errors
/// As [`nodes`].
pub async fn find(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
) -> Result<Found, ServiceError> {
    let found = own::cluster(clients, viewer, cluster).await?;
    let read = Target::read_with_groups(clients, &viewer.token, &found).await;
    let (target, groups) = read.map_err(|error| error::of_service(&error))?;
    let nodes = find_nodes(clients, &viewer.token, &target.cluster, &groups).await;
    Ok(Found { target, nodes })
}

/// Returns the servers of a group among which Magnum chooses.
///
/// # Errors
/// Why they are not known, as a sentence.
pub async fn in_group(
    clients: &Clients,
    viewer: &Viewer,
    target: &Target,
    group: &str,
) -> Result<Vec<ChosenNode>, String> {
    let groups = clients.detailed_groups(&viewer.token, target.uuid).await;
    let groups = groups.map_err(|error| error::message(&error))?;
    let found = find_nodes(clients, &viewer.token, &target.cluster, &groups.items).await;
    if let Some(cut) = found.cut {
        return Err(format!("The list of servers is incomplete: {cut}."));
    }
    let of_group = found
        .items
        .iter()
        .filter(|node| node.group.as_deref() == Some(group));
    let servers: Vec<_> = of_group
        .filter_map(|node| Some(removal::chosen(node, node.server.as_deref()?)))
        .collect();
    match (servers.is_empty(), found.gaps.first()) {
        (true, Some(gap)) => Err(gap.clone()),
        _ => Ok(servers),
    }
}

/// Returns what the page shows. `open` is the replacement that was begun last, or why it is not known.
pub fn view(
    found: &Found,
    viewer: &Viewer,
    mut in_kubernetes: InKubernetes,
    open: &Result<Option<Replacement>, String>,
) -> ClusterNodes {
    let target = &found.target;
    let mut gaps = found.nodes.gaps.clone();
    if let Some(cut) = target.cut {
        gaps.push(format!("The list of node groups is incomplete: {cut}."));
    }
    let items = &found.nodes.items;
    if found.nodes.cut.is_none() {
        gaps.extend(without_server(items, &in_kubernetes));
    }
    let last = open.as_ref().ok().and_then(Option::as_ref);
    let replacement = last.and_then(|last| progress(found, last, &in_kubernetes));
    let none_can_begin = match open {
        Ok(Some(last)) if is_running(found, last) => Some(format!(
            "The node {} is being replaced. Finish or stop that first.",
            last.name
        )),
        Ok(_) => None,
        Err(reason) => Some(format!("A replacement could not be continued. {reason}")),
    };
    let nodes = items.iter().map(|node| {
        let name = node.name.as_deref().unwrap_or_default();
        let removal_refusal = removal::refusal(found, viewer, node);
        let replacement_refusal =
            removal_refusal
                .as_ref()
                .map(|refusal| match target.cluster.driver.family {
                    Family::CapiHelm => format!("{refusal} {}", healing_hint(&target.cluster)),
                    _ => refusal.clone(),
                });
        let kubernetes = in_kubernetes.nodes.remove(name);
        let can_be_healed = kubernetes.is_some() && healing::is_offered(found, viewer, node);
        ClusterNode {
            can_be_healed,
            name: node.name.clone(),
            group: node.group.clone(),
            role: node.role.clone(),
            server: node.server.clone(),
            flavor: node.flavor.clone(),
            addresses: node.addresses.clone(),
            status: state(node),
            health: tone(node),
            kubernetes,
            replacement_refusal: replacement_refusal.or_else(|| none_can_begin.clone()),
            removal_refusal,
        }
    });
    ClusterNodes {
        nodes: nodes.collect(),
        cluster: Named {
            id: target.uuid.to_string(),
            name: target.cluster.name.clone(),
        },
        kubernetes: in_kubernetes.note,
        gaps,
        is_busy: words::is_busy(&target.cluster.status),
        replacement,
        drain: None,
    }
}

/// Returns which nodes of Kubernetes have no server here, as a sentence; nothing if no server is known.
fn without_server(items: &[Node], in_kubernetes: &InKubernetes) -> Option<String> {
    let servers: BTreeSet<_> = items
        .iter()
        .filter_map(|node| node.name.as_deref())
        .collect();
    let names = in_kubernetes.nodes.keys().map(String::as_str);
    let mut others: Vec<_> = names.filter(|name| !servers.contains(name)).collect();
    if servers.is_empty() || others.is_empty() {
        return None;
    }
    let more = others.len().saturating_sub(MAX_NAMES);
    others.truncate(MAX_NAMES);
    let more = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    Some(format!(
        "Kubernetes has nodes for which no server of this name was recognised: {}{more}.",
        others.join(", ")
    ))
}

/// Returns Nova's state, and what Nova does with the server.
fn state(node: &Node) -> String {
    match (&node.status, &node.task) {
        (Some(status), Some(task)) => format!("{status} ({task})"),
        (Some(status), None) => status.clone(),
        (None, _) => "No server".to_owned(),
    }
}

/// Returns the tone of Nova's state.
fn tone(node: &Node) -> Health {
    match (node.status.as_deref(), &node.task) {
        (Some("ERROR"), _) => Health::Failed,
        (Some(_), Some(_)) | (Some("BUILD" | "REBUILD" | "REBOOT" | "HARD_REBOOT"), None) => {
            Health::Progressing
        }
        (Some("ACTIVE"), None) => Health::Ok,
        (Some("UNKNOWN") | None, _) => Health::Unknown,
        (Some(_), None) => Health::Warning,
    }
}
