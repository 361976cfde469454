//! The nodes of a cluster: the node groups that Magnum has, joined with the servers that Nova shows.
//!
//! Magnum's API has no nodes, only their number and, with some drivers, their addresses. A server is
//! joined only where nothing else fits, because a node may be removed by the ID of its server.
use crate::clients::Clients;
use portico_lifecycle::driver::Family;
use portico_lifecycle::model::Cluster;
use portico_openstack::magnum::NodeGroup;
use portico_openstack::nova::Server;
use portico_openstack::rest::{Cut, ScopedToken};
use std::collections::{BTreeMap, BTreeSet};

/// The role of the control plane's node group.
const CONTROL_PLANE: &str = "master";

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The name of its server; `None` without one.
    pub name: Option<String>,
    /// The name of its node group; `None`: the server has a name of the cluster, and its group is not
    /// known.
    pub group: Option<String>,
    /// The role of the node group.
    pub role: Option<String>,
    /// The ID of its server; `None`: Magnum reports an address, and Nova shows no server for it.
    pub server: Option<String>,
    pub flavor: Option<String>,
    pub addresses: Vec<String>,
    /// Nova's state of the server.
    pub status: Option<String>,
    /// What Nova is doing with the server, such as `deleting`.
    pub task: Option<String>,
}

/// The nodes of a cluster, and what could not be read.
#[derive(Debug, Default)]
pub struct Nodes {
    pub items: Vec<Node>,
    /// Sentences.
    pub gaps: Vec<String>,
    /// Why the list of servers ends early.
    pub cut: Option<Cut>,
}

/// Reads the servers of the project, and returns the nodes of a cluster.
pub async fn find(
    clients: &Clients,
    token: &ScopedToken,
    cluster: &Cluster,
    groups: &[NodeGroup],
) -> Nodes {
    let mut found = Nodes::default();
    let servers = match clients.nova.servers(token, "").await {
        Ok(listing) => {
            if let Some(cut) = listing.cut {
                found
                    .gaps
                    .push(format!("The list of servers is incomplete: {cut}."));
                found.cut = Some(cut);
            }
            listing.items
        }
        Err(error) => {
            found
                .gaps
                .push(format!("The servers were not checked: {error}."));
            found.items = join(cluster, groups, &[]);
            return found;
        }
    };
    found.items = join(cluster, groups, &servers);
    found.gaps.extend(differences(groups, &found.items));
    found
}

/// Returns the nodes of a cluster, in the order of the groups and of their names.
pub fn join(cluster: &Cluster, groups: &[NodeGroup], servers: &[Server]) -> Vec<Node> {
    let by_address = by_address(cluster, groups, servers);
    let mut nodes = Vec::new();
    let mut joined = BTreeSet::new();
    for server in servers {
        let group = of_metadata(groups, server)
            .or_else(|| by_address.get(server.id.as_str()).copied())
            .or_else(|| of_name(cluster, groups, server));
        if group.is_none() && rest_of_name(cluster, server).is_none() {
            continue;
        }
        joined.extend(addresses(server));
        nodes.push(node(group, server));
    }
    for group in groups {
        for address in &group.node_addresses {
            if !joined.contains(address.as_str()) {
                nodes.push(without_server(group, address));
            }
        }
    }
    let position = |node: &Node| {
        let name = node.group.as_deref();
        let found = groups
            .iter()
            .position(|group| Some(group.summary.name.as_str()) == name);
        found.unwrap_or(groups.len())
    };
    nodes.sort_by(|one, other| {
        (position(one), &one.name, &one.addresses).cmp(&(
            position(other),
            &other.name,
            &other.addresses,
        ))
    });
    nodes
}

/// Returns where Magnum's numbers of nodes and the servers differ, as sentences.
fn differences(groups: &[NodeGroup], nodes: &[Node]) -> Vec<String> {
    let mut texts = Vec::new();
    for group in groups {
        let name = &group.summary.name;
        let shown = nodes
            .iter()
            .filter(|node| node.server.is_some() && node.group.as_ref() == Some(name));
        let shown = shown.count();
        let counted = group.summary.node_count;
        if u32::try_from(shown) != Ok(counted) {
            texts.push(format!(
                "Magnum's number of nodes of {name} is {counted}; of Nova's servers, {shown} were recognised."
            ));
        }
    }
    texts
}

/// Returns the group whose UUID the metadata of a server has.
fn of_metadata<'a>(groups: &'a [NodeGroup], server: &Server) -> Option<&'a NodeGroup> {
    groups.iter().find(|group| {
        let uuid = group.summary.uuid.to_string();
        server.metadata.values().any(|value| *value == uuid)
    })
}

/// Returns the groups of the servers that have an address of one. Clusters with networks of their own
/// can have the same addresses, so the name must begin with the cluster's too, and the server must be the
/// only one.
fn by_address<'a, 's>(
    cluster: &Cluster,
    groups: &'a [NodeGroup],
    servers: &'s [Server],
) -> BTreeMap<&'s str, &'a NodeGroup> {
    let prefix = cluster.name.to_lowercase();
    let mut found = BTreeMap::new();
    for group in groups {
        for address in &group.node_addresses {
            let mut fitting = servers.iter().filter(|server| {
                let name = server.name.to_lowercase();
                let is_of_cluster =
                    begins_with(&name, &prefix) || rest_of_name(cluster, server).is_some();
                is_of_cluster && addresses(server).any(|one| one == address)
            });
            if let (Some(server), None) = (fitting.next(), fitting.next()) {
                found.insert(server.id.as_str(), group);
            }
        }
    }
    found
}

/// Returns the name of a server's flavor, or else its ID.
fn flavor_of(server: &Server) -> Option<String> {
    let flavor = server.flavor.as_ref()?;
    flavor.name.clone().or_else(|| flavor.id.clone())
}

/// Returns the group that the name of a server contains. The drivers of Cluster API name servers
/// `<cluster>-<group>-…`.
fn of_name<'a>(
    cluster: &Cluster,
    groups: &'a [NodeGroup],
    server: &Server,
) -> Option<&'a NodeGroup> {
    let rest = rest_of_name(cluster, server)?;
    let named = groups
        .iter()
        .filter(|group| begins_with(rest, &group.summary.name));
    // `gpu-large-…` is of the group gpu-large, not of gpu
    let named = named.max_by_key(|group| group.summary.name.len());
    named.or_else(|| {
        let is_control_plane = match cluster.driver.family {
            Family::CapiHelm => begins_with(rest, "control-plane"),
            // the name of the control plane's object, and of its machine
            Family::ClusterApi => rest.split('-').count() == 2,
            Family::Heat | Family::Complete | Family::Unknown => false,
        };
        let is_wanted =
            |group: &&NodeGroup| is_control_plane && group.summary.role == CONTROL_PLANE;
        groups.iter().find(is_wanted)
    })
}

/// Returns what follows the driver's name of the cluster; `None` for servers of others.
fn rest_of_name<'s>(cluster: &Cluster, server: &'s Server) -> Option<&'s str> {
    let id = cluster.driver_id.as_deref().filter(|id| !id.is_empty())?;
    server.name.strip_prefix(id)?.strip_prefix('-')
}

/// Returns whether a name is `<prefix>-…`.
fn begins_with(name: &str, prefix: &str) -> bool {
    let rest = name.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.starts_with('-'))
}

fn addresses(server: &Server) -> impl Iterator<Item = &str> {
    let all = server.addresses.values().flatten();
    all.map(|address| address.address.as_str())
}

fn node(group: Option<&NodeGroup>, server: &Server) -> Node {
    let flavor = group.and_then(|group| group.summary.flavor_id.clone());
    Node {
        name: Some(server.name.clone()),
        group: group.map(|group| group.summary.name.clone()),
        role: group.map(|group| group.summary.role.clone()),
        server: Some(server.id.clone()),
        flavor: flavor.or_else(|| flavor_of(server)),
        addresses: addresses(server).map(str::to_owned).collect(),
        status: Some(server.status.as_str().to_owned()),
        task: server.task_state.clone(),
    }
}

fn without_server(group: &NodeGroup, address: &str) -> Node {
    Node {
        name: None,
        group: Some(group.summary.name.clone()),
        role: Some(group.summary.role.clone()),
        server: None,
        flavor: group.summary.flavor_id.clone(),
        addresses: vec![address.to_owned()],
        status: None,
        task: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_lifecycle::driver::{Driver, Evidence};
    use serde_json::{Value, json};

    const WORKERS: &str = "5d1bc0c0-6b93-4d0f-a0a2-3d8d5b0f5a02";

    fn cluster(family: Family, driver_id: &str) -> Cluster {
        let uuid = "900e3758-8071-430e-a8cf-5c48f428dc0e".to_owned();
        Cluster {
            driver: Driver {
                family,
                evidence: Evidence::TemplateField,
            },
            driver_id: Some(driver_id.to_owned()),
            ..Cluster::deleted(uuid, "Shop".to_owned())
        }
    }

    fn group(uuid: &str, name: &str, role: &str, addresses: &Value) -> NodeGroup {
        let group = json!({"uuid": uuid, "name": name, "role": role, "node_count": 1, "flavor_id": "m1.small",
                           "node_addresses": addresses});
        serde_json::from_value(group).unwrap()
    }

    fn groups(addresses: &Value) -> Vec<NodeGroup> {
        let masters = "5d1bc0c0-6b93-4d0f-a0a2-3d8d5b0f5a01";
        let large = "5d1bc0c0-6b93-4d0f-a0a2-3d8d5b0f5a03";
        vec![
            group(masters, "default-master", "master", &json!([])),
            group(WORKERS, "gpu", "worker", addresses),
            group(large, "gpu-large", "worker", &json!([])),
        ]
    }

    fn server(id: &str, name: &str, address: &str) -> Server {
        let server = json!({"id": id, "name": name, "status": "ACTIVE", "flavor": {"id": "f"},
                            "addresses": {"net": [{"addr": address}]}, "metadata": {}});
        serde_json::from_value(server).unwrap()
    }

    /// Returns group and server of each node.
    fn pairs(nodes: &[Node]) -> Vec<(Option<&str>, Option<&str>)> {
        nodes
            .iter()
            .map(|node| (node.group.as_deref(), node.server.as_deref()))
            .collect()
    }

    #[test]
    fn servers_of_cluster_api_are_joined_by_their_names() {
        let groups = groups(&json!([]));
        let servers = [
            server("l", "kube-ab1-gpu-large-x-y", "10.0.0.4"),
            server("w", "kube-ab1-gpu-x-y", "10.0.0.3"),
            server("m", "kube-ab1-k2j3h-9xw8v", "10.0.0.2"),
            server("o", "kube-ab1-x-y-z", "10.0.0.6"),
            server("other", "kube-ab12-gpu-x-y", "10.0.0.5"),
        ];
        let nodes = join(&cluster(Family::ClusterApi, "kube-ab1"), &groups, &servers);
        let expected = [
            (Some("default-master"), Some("m")),
            (Some("gpu"), Some("w")),
            (Some("gpu-large"), Some("l")),
            (None, Some("o")),
        ];
        assert_eq!(pairs(&nodes), expected);
        assert_eq!(nodes[1].addresses, ["10.0.0.3"]);
        assert_eq!(nodes[1].flavor.as_deref(), Some("m1.small"));
        let servers = [server("m", "shop-1-control-plane-x", "10.0.0.2")];
        let nodes = join(&cluster(Family::CapiHelm, "shop-1"), &groups, &servers);
        assert_eq!(pairs(&nodes), [(Some("default-master"), Some("m"))]);
    }

    #[test]
    fn servers_of_a_stack_are_joined_by_the_addresses_of_their_group() {
        let groups = groups(&json!(["10.0.0.3", "10.0.0.4"]));
        let stack = cluster(Family::Heat, "6e03b504-1563-4dc7-9cda-eaeed562ea66");
        let servers = [
            server("w", "shop-abc-node-0", "10.0.0.3"),
            server("other", "wiki-abc-node-0", "10.0.0.4"),
        ];
        let nodes = join(&stack, &groups, &servers);
        // an address without a server is a node as well
        let expected = [(Some("gpu"), None), (Some("gpu"), Some("w"))];
        assert_eq!(pairs(&nodes), expected);
        assert_eq!(nodes[0].addresses, ["10.0.0.4"]);
    }

    #[test]
    fn two_servers_with_one_address_are_not_joined() {
        let groups = groups(&json!(["10.0.0.3"]));
        let stack = cluster(Family::Heat, "6e03b504-1563-4dc7-9cda-eaeed562ea66");
        let servers = [
            server("w", "shop-abc-node-0", "10.0.0.3"),
            server("other", "shop-2-abc-node-0", "10.0.0.3"),
        ];
        let nodes = join(&stack, &groups, &servers);
        assert_eq!(pairs(&nodes), [(Some("gpu"), None)]);
    }

    #[test]
    fn the_uuid_of_a_group_in_the_metadata_of_a_server_joins_them() {
        let mut named = server("w", "anything", "10.0.0.3");
        named
            .metadata
            .insert("nodegroup".to_owned(), WORKERS.to_owned());
        let cluster = cluster(Family::Unknown, "");
        let nodes = join(&cluster, &groups(&json!([])), &[named]);
        assert_eq!(pairs(&nodes), [(Some("gpu"), Some("w"))]);
    }

    #[test]
    fn a_group_whose_servers_are_not_recognised_is_named() {
        let groups = groups(&json!([]));
        let servers = [server("w", "kube-ab1-gpu-x-y", "10.0.0.3")];
        let nodes = join(&cluster(Family::ClusterApi, "kube-ab1"), &groups, &servers);
        let texts = differences(&groups, &nodes);
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(
            texts[0].contains("nodes of default-master is 1"),
            "{texts:?}"
        );
    }
}
