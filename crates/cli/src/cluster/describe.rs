//! `portico cluster describe`: a cluster as a tree of the running steps, its node groups and their nodes.
use super::arguments::SharedArgs;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::nodes::{NodeView, readiness};
use super::part::Target;
use super::running::{self, PorticoView};
use super::tree::Tree;
use super::views::{ClusterView, GroupView, print_object};
use clap::Args;
use portico_cluster_operations::{explanation, nodes};
use portico_lifecycle::{plan::count, progress::StepReport};
use portico_openstack::magnum::NodeGroup;
use serde::Serialize;

/// Show a cluster as a tree: the steps of what runs, the node groups, and their nodes with their states
///
/// States of nodes are those of Nova, and those of Kubernetes where this machine has access to the cluster
/// through Portico.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster describe shop
  portico cluster describe shop -o json")]
pub struct DescribeArgs {
    /// Name or UUID
    pub cluster: String,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// A cluster with its parts.
#[derive(Debug, Serialize)]
struct Description {
    #[serde(flatten)]
    cluster: ClusterView,
    /// Of the operation that runs; empty: nothing runs.
    steps: Vec<StepView>,
    /// Why the last operation failed, and what to do; empty: it did not.
    failure: Vec<String>,
    node_groups: Vec<GroupDescription>,
    /// Nodes whose group is not known.
    other_nodes: Vec<NodeView>,
    /// What could not be read, as sentences.
    not_checked: Vec<String>,
}

#[derive(Debug, Serialize)]
struct StepView {
    step: String,
    state: &'static str,
    /// What Magnum's reason means, or else Magnum's reason.
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct GroupDescription {
    #[serde(flatten)]
    group: GroupView,
    nodes: Vec<NodeView>,
}

impl From<&StepReport> for StepView {
    fn from(step: &StepReport) -> Self {
        let reason = step.explanation.as_ref().or(step.reason.as_ref());
        Self {
            step: step.name.title(),
            state: running::word(&step.state),
            reason: reason.cloned(),
        }
    }
}

/// Shows a cluster as a tree.
///
/// # Errors
/// If Magnum cannot be asked or refuses. What else could not be read is named.
pub async fn describe(
    connection: &Connection,
    console: &mut Console,
    args: &DescribeArgs,
) -> Result<(), ClusterError> {
    let target = Target::read_named(connection, &args.cluster).await?;
    let (clients, token) = (&connection.clients, &connection.token);
    // a list has neither the faults nor the time limit
    let found = clients.magnum.cluster(token, target.uuid).await?;
    let groups = connection.detailed_groups(target.uuid).await?;
    let mut cluster = target.cluster.clone();
    cluster.faults.clone_from(&found.faults);
    let (nodes, kubelets) = tokio::join!(
        nodes::find(clients, token, &cluster, &groups),
        readiness::read(connection, target.uuid),
    );
    let mut not_checked = nodes.gaps;
    let kubelets = kubelets.unwrap_or_else(|cause| {
        not_checked.push(format!("Kubernetes was not asked: {cause}."));
        Vec::new()
    });
    let now = connection.clock.now();
    let report = running::report(&cluster, Some(&target.groups), found.create_timeout, now);
    let steps = report.iter().flat_map(|report| &report.steps);
    let portico = PorticoView::new(&cluster, Some(&target.groups), now);
    let views = nodes.items.iter();
    let views = views
        .map(|node| NodeView::new(node, &kubelets, now))
        .collect();
    let (node_groups, other_nodes) = grouped(&groups, views);
    let description = Description {
        cluster: ClusterView::new(&found, portico),
        steps: steps.map(StepView::from).collect(),
        failure: explanation::lines(&cluster),
        node_groups,
        other_nodes,
        not_checked,
    };
    let name = &found.name;
    print_object(console, args.shared.output, &description, name, || {
        Ok(tree(&description).to_string())
    })
}

/// Returns the node groups with their nodes, and the nodes of none of them.
fn grouped(groups: &[NodeGroup], nodes: Vec<NodeView>) -> (Vec<GroupDescription>, Vec<NodeView>) {
    let mut described: Vec<_> = groups
        .iter()
        .map(|group| GroupDescription {
            group: GroupView::from(group),
            nodes: Vec::new(),
        })
        .collect();
    let mut others = Vec::new();
    for node in nodes {
        let group = node.group();
        let own = described
            .iter_mut()
            .find(|one| Some(one.group.name.as_str()) == group);
        match own {
            Some(own) => own.nodes.push(node),
            None => others.push(node),
        }
    }
    (described, others)
}

fn tree(description: &Description) -> Tree {
    let cluster = &description.cluster;
    let version = cluster.coe_version.as_ref();
    let version = version.map(|version| format!(", Kubernetes {version}"));
    let mut root = Tree::new(format!(
        "Cluster {} ({}): {}, {}{}",
        cluster.name,
        cluster.uuid,
        cluster.status,
        cluster.health,
        version.unwrap_or_default()
    ));
    if !description.failure.is_empty() {
        let lines = description.failure.iter().cloned().map(Tree::new);
        root.push(Tree::with("Failure", lines));
    }
    let steps = match description.steps.is_empty() {
        true => Tree::new("Steps: nothing runs"),
        false => Tree::with("Steps", description.steps.iter().map(step)),
    };
    root.push(steps);
    if let Some(reason) = &cluster.portico.blocked_reason {
        root.push(Tree::new(format!("Blocked: {reason}")));
    }
    root.push(Tree::with(
        "Node groups",
        description.node_groups.iter().map(group),
    ));
    if !description.other_nodes.is_empty() {
        let nodes = description.other_nodes.iter();
        root.push(Tree::with(
            "Nodes whose group is not known",
            nodes.map(|node| Tree::new(node.line())),
        ));
    }
    if !description.not_checked.is_empty() {
        let texts = description.not_checked.iter().cloned().map(Tree::new);
        root.push(Tree::with("Not checked", texts));
    }
    root
}

fn step(step: &StepView) -> Tree {
    let reason = step.reason.as_ref().map(|text| format!(" ({text})"));
    Tree::new(format!(
        "{}: {}{}",
        step.step,
        step.state,
        reason.unwrap_or_default()
    ))
}

fn group(described: &GroupDescription) -> Tree {
    let group = &described.group;
    let state = group.status.as_deref().unwrap_or("state not known");
    let max = group.max_node_count.map(|max| max.to_string());
    let text = format!(
        "{} ({}): {state}, {} (minimum {}, maximum {})",
        group.name,
        group.role,
        count(group.node_count, "node"),
        group.min_node_count,
        max.as_deref().unwrap_or("none")
    );
    let reason = group.status_reason.iter().filter(|text| !text.is_empty());
    let reason = reason.map(|text| Tree::new(format!("Reason: {text}")));
    let nodes = described.nodes.iter();
    Tree::with(text, reason.chain(nodes.map(|node| Tree::new(node.line()))))
}
