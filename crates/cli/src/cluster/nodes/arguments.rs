//! The grammar of `portico cluster nodes`.
use crate::cluster::arguments::{ChangeArgs, DrainArgs, PodArgs, SharedArgs};
use clap::{Args, Subcommand, value_parser};
use portico_lifecycle::spec::DEFAULT_GROUP;

#[derive(Debug, Subcommand)]
pub enum NodesCommand {
    #[command(visible_alias = "ls", alias = "nodes")]
    List(ListArgs),
    Add(AddArgs),
    #[command(visible_alias = "rm")]
    Remove(RemoveArgs),
    Replace(ReplaceArgs),
}

impl NodesCommand {
    /// Returns what every verb takes.
    pub fn shared(&self) -> &SharedArgs {
        match self {
            Self::List(args) => &args.shared,
            Self::Add(args) => &args.change.shared,
            Self::Remove(args) => &args.change.shared,
            Self::Replace(args) => &args.change.shared,
        }
    }
}

/// List the nodes of a cluster with their servers
///
/// Magnum has node groups, and Nova has servers: a server is listed where its metadata, its address or its
/// name shows the node group. The states are Nova's. READY, VERSION and AGE are those of Kubernetes, where this
/// machine has access to the cluster through Portico.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster nodes list shop
  portico cluster nodes list shop -g gpu -o json")]
pub struct ListArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// Only the nodes of this node group (name or UUID)
    #[arg(long, short, value_name = "GROUP")]
    pub group: Option<String>,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Add nodes to a node group
///
/// Checks quotas and bounds before anything is sent.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster nodes add shop                 # one node more in default-worker
  portico cluster nodes add shop -n 2 -g gpu --wait")]
pub struct AddArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// How many nodes are added
    #[arg(
        long,
        short,
        value_name = "NUMBER",
        default_value_t = 1,
        value_parser = value_parser!(u32).range(1..)
    )]
    pub number: u32,
    /// Name or UUID of the node group
    #[arg(long, short, value_name = "GROUP", default_value = DEFAULT_GROUP)]
    pub group: String,
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// Remove nodes from a node group
///
/// Removes the named nodes, where the driver removes those that are chosen; else the command is refused, and
/// nothing is sent. Each is cordoned and drained first, as PodDisruptionBudgets permit, where this machine has
/// access to the cluster (`portico login`). With --number, Magnum chooses the nodes, and none is drained.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster nodes remove shop kube-x1y2z-gpu-7xkqp --wait
  portico cluster nodes remove shop kube-x1y2z-gpu-7xkqp --drain-timeout 30m
  portico cluster nodes remove shop kube-x1y2z-gpu-7xkqp --no-drain
  portico cluster nodes remove shop -n 2 -g gpu")]
pub struct RemoveArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// The nodes that leave, all of one node group: names, IDs of servers, or addresses
    #[arg(
        value_name = "NODE",
        required_unless_present = "number",
        conflicts_with = "number"
    )]
    pub nodes: Vec<String>,
    /// How many nodes leave; Magnum chooses them
    #[arg(
        long,
        short,
        value_name = "NUMBER",
        value_parser = value_parser!(u32).range(1..),
        conflicts_with = "drain"
    )]
    pub number: Option<u32>,
    /// Name or UUID of the node group. Default: that of the named nodes, else default-worker
    #[arg(long, short, value_name = "GROUP")]
    pub group: Option<String>,
    #[command(flatten)]
    pub drain: DrainArgs,
    #[command(flatten)]
    pub pods: PodArgs,
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// Replace a node with a new one
///
/// Adds a node to the group of the node, waits until it is ready, drains the named node, and removes it. Before
/// that it asks; --yes does not ask. Needs quota for one more node, and a driver that removes the nodes that
/// are chosen. With --in-place, the node leaves first and the new one is added after it, which needs no quota.
/// Without access to the cluster (`portico login`), nothing is drained.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster nodes replace shop kube-x1y2z-gpu-7xkqp --dry-run
  portico cluster nodes replace shop kube-x1y2z-gpu-7xkqp
  portico cluster nodes replace shop kube-x1y2z-gpu-7xkqp --in-place     # no quota for one more node")]
pub struct ReplaceArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// The node that leaves: its name, the ID of its server, or its address
    pub node: String,
    /// Remove the node first, and add the new one after it
    #[arg(long)]
    pub in_place: bool,
    #[command(flatten)]
    pub drain: DrainArgs,
    #[command(flatten)]
    pub pods: PodArgs,
    #[command(flatten)]
    pub change: ChangeArgs,
}
