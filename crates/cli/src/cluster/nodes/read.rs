//! Lists nodes.
use super::arguments::ListArgs;
use super::readiness::{self, Kubelet};
use crate::cluster::age;
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::cluster::part::Target;
use crate::cluster::views::print_list;
use crate::output::TableRow;
use jiff::Timestamp;
use portico_cluster_operations::nodes::{self, Node};
use portico_lifecycle::plan::ChosenNode;
use serde::Serialize;

/// A node.
#[derive(Debug, Serialize)]
pub struct NodeView {
    name: Option<String>,
    nodegroup: Option<String>,
    role: Option<String>,
    server_id: Option<String>,
    flavor_id: Option<String>,
    addresses: Vec<String>,
    status: Option<String>,
    task_state: Option<String>,
    /// As kubectl shows it; `None`: Kubernetes was not asked, or does not have the node.
    kubernetes_status: Option<String>,
    kubelet_version: Option<String>,
    /// When the node joined the cluster.
    joined_at: Option<Timestamp>,
    /// As the table has it.
    #[serde(skip)]
    age: Option<String>,
}

impl NodeView {
    /// Returns a node with what Kubernetes reports about it.
    pub fn new(node: &Node, kubelets: &[Kubelet], now: Timestamp) -> Self {
        let kubelet = readiness::of_node(kubelets, node);
        let joined_at = kubelet.and_then(|one| one.created_at);
        Self {
            name: node.name.clone(),
            nodegroup: node.group.clone(),
            role: node.role.clone(),
            server_id: node.server.clone(),
            flavor_id: node.flavor.clone(),
            addresses: node.addresses.clone(),
            status: node.status.clone(),
            task_state: node.task.clone(),
            kubernetes_status: kubelet.map(Kubelet::state),
            kubelet_version: kubelet.and_then(|one| one.version.clone()),
            joined_at,
            age: joined_at.map(|at| age::text(at, now)),
        }
    }

    /// Returns the name of its node group; `None`: it is not known.
    pub fn group(&self) -> Option<&str> {
        self.nodegroup.as_deref()
    }

    /// Returns the node on one line, such as `shop-node-0: ACTIVE, Ready, v1.32.1`.
    pub fn line(&self) -> String {
        let parts = [
            Some(self.state()),
            self.kubernetes_status.clone(),
            self.kubelet_version.clone(),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        format!("{}: {}", self.shown_name(), parts.join(", "))
    }

    /// Returns the name, or what it has in its place.
    fn shown_name(&self) -> &str {
        let name = self.name.as_deref();
        name.or(self.addresses.first().map(String::as_str))
            .unwrap_or("-")
    }

    fn state(&self) -> String {
        match (&self.status, &self.task_state) {
            (Some(status), Some(task)) => format!("{status} ({task})"),
            (Some(status), None) => status.clone(),
            (None, _) => "-".to_owned(),
        }
    }
}

impl TableRow for NodeView {
    const HEADINGS: &'static [&'static str] = &[
        "NODE",
        "NODE GROUP",
        "ROLE",
        "STATE",
        "READY",
        "VERSION",
        "AGE",
        "ADDRESS",
        "FLAVOR",
        "SERVER",
    ];

    fn cells(&self) -> Vec<String> {
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let addresses = self.addresses.join(", ");
        vec![
            or_dash(&self.name),
            or_dash(&self.nodegroup),
            or_dash(&self.role),
            self.state(),
            or_dash(&self.kubernetes_status),
            or_dash(&self.kubelet_version),
            or_dash(&self.age),
            or_dash(&Some(addresses).filter(|text| !text.is_empty())),
            or_dash(&self.flavor_id),
            or_dash(&self.server_id),
        ]
    }
}

/// Lists the nodes of a cluster. Where Kubernetes cannot be asked, the columns that it has are empty.
///
/// # Errors
/// If Magnum cannot be asked or refuses; [`ClusterError::Blocked`] if the cluster has no such group.
pub async fn list(
    connection: &Connection,
    console: &mut Console,
    args: &ListArgs,
) -> Result<(), ClusterError> {
    let target = Target::read_named(connection, &args.cluster).await?;
    let group = match &args.group {
        Some(wanted) => Some(target.group(wanted)?.name.clone()),
        None => None,
    };
    let groups = connection.detailed_groups(target.uuid).await?;
    let (clients, token) = (&connection.clients, &connection.token);
    let found = nodes::find(clients, token, &target.cluster, &groups).await;
    for gap in &found.gaps {
        console.say(gap);
    }
    let kubelets = readiness::read(connection, target.uuid).await;
    if let Err(cause) = &kubelets
        && args.shared.output.is_table()
    {
        console.say(format!(
            "Readiness, versions and ages were not checked: {cause}."
        ));
    }
    let kubelets = kubelets.unwrap_or_default();
    let now = connection.clock.now();
    let is_wanted = |node: &&Node| group.is_none() || node.group == group;
    let rows: Vec<_> = found
        .items
        .iter()
        .filter(is_wanted)
        .map(|node| NodeView::new(node, &kubelets, now))
        .collect();
    print_list(console, args.shared.output, &rows, |row| {
        let name = row.shown_name();
        (name, row.server_id.as_deref().unwrap_or(name))
    })
}

/// Returns the servers of a group among which Magnum chooses.
///
/// # Errors
/// Why they are not known, as a sentence.
pub async fn in_group(
    connection: &Connection,
    target: &Target,
    group: &str,
) -> Result<Vec<ChosenNode>, String> {
    let groups = connection.detailed_groups(target.uuid).await;
    let groups = groups.map_err(|error| format!("{error}."))?;
    let (clients, token) = (&connection.clients, &connection.token);
    let found = nodes::find(clients, token, &target.cluster, &groups).await;
    if let Some(cut) = found.cut {
        return Err(format!("The list of servers is incomplete: {cut}."));
    }
    let of_group = found
        .items
        .iter()
        .filter(|node| node.group.as_deref() == Some(group));
    let servers = of_group.filter_map(|node| {
        let server = node.server.clone()?;
        let name = node.name.clone().filter(|name| !name.is_empty());
        Some(ChosenNode {
            name: name.unwrap_or_else(|| server.clone()),
            server,
        })
    });
    Ok(servers.collect())
}

/// Returns the nodes of a cluster among which a user chooses.
///
/// # Errors
/// If Magnum cannot be asked or refuses; [`ClusterError::Blocked`] if the list of servers is incomplete.
pub async fn nodes_of(
    connection: &Connection,
    console: &mut Console,
    target: &Target,
) -> Result<Vec<Node>, ClusterError> {
    let groups = connection.detailed_groups(target.uuid).await?;
    let (clients, token) = (&connection.clients, &connection.token);
    let found = nodes::find(clients, token, &target.cluster, &groups).await;
    match found.cut {
        // the server that has an address or a name as well may be missing
        Some(cut) => Err(ClusterError::Blocked {
            exit: exit_code::UNAVAILABLE,
            text: format!(
                "the list of servers is incomplete ({cut}), so no node was chosen; nothing was sent"
            ),
        }),
        None => {
            for gap in &found.gaps {
                console.say(gap);
            }
            Ok(found.items)
        }
    }
}
