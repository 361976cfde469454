//! The grammar of `portico cluster nodegroup` and `resize`.
use crate::cluster::arguments::{ChangeArgs, PodArgs, SharedArgs};
use clap::{Args, Subcommand};
use portico_lifecycle::spec::{DEFAULT_GROUP, Taint};

#[derive(Debug, Subcommand)]
pub enum NodegroupCommand {
    #[command(visible_alias = "ls")]
    List(ListArgs),
    Show(ShowArgs),
    #[command(visible_alias = "add")]
    Create(CreateArgs),
    #[command(visible_alias = "set")]
    Update(UpdateArgs),
    #[command(visible_alias = "remove")]
    Delete(DeleteArgs),
}

impl NodegroupCommand {
    /// Returns what every verb takes.
    pub fn shared(&self) -> &SharedArgs {
        match self {
            Self::List(args) => &args.shared,
            Self::Show(args) => &args.shared,
            Self::Create(args) => &args.change.shared,
            Self::Update(args) => &args.change.shared,
            Self::Delete(args) => &args.change.shared,
        }
    }
}

/// List the node groups of a cluster
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster nodegroup list shop")]
pub struct ListArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Show a node group with its bounds, labels and taints
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster nodegroup show shop gpu")]
pub struct ShowArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// Name or UUID of the node group
    pub group: String,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Bounds, labels and taints of a node group.
#[derive(Args, Clone, Debug, Default)]
pub struct GroupSettings {
    /// Minimum number of nodes
    #[arg(long, value_name = "NUMBER")]
    pub min: Option<u32>,
    /// Maximum number of nodes
    #[arg(long, value_name = "NUMBER")]
    pub max: Option<u32>,
    /// A label of the nodes in Kubernetes; may be repeated
    #[arg(long = "node-label", value_name = "LABEL=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
    /// A taint of the nodes in Kubernetes; may be repeated
    #[arg(long = "taint", value_name = "KEY=VALUE:EFFECT")]
    pub taints: Vec<Taint>,
}

/// Add a node group to a cluster
///
/// Checks quotas, bounds and what the driver supports before anything is sent.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster nodegroup create shop gpu --flavor m1.large --nodes 2 --wait
  portico cluster nodegroup create shop gpu --min 1 --max 5 --taint gpu=true:NoSchedule --dry-run")]
pub struct CreateArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// The name of the node group
    pub name: String,
    /// Number of nodes
    #[arg(long, short, value_name = "NUMBER", default_value_t = 1)]
    pub nodes: u32,
    /// The flavor. Default: that of the cluster
    #[arg(long, value_name = "FLAVOR")]
    pub flavor: Option<String>,
    #[command(flatten)]
    pub settings: GroupSettings,
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// Change bounds, labels or taints of a node group
///
/// Labels and taints replace those that the group has.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster nodegroup update shop gpu --min 1 --max 5")]
pub struct UpdateArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// Name or UUID of the node group
    pub group: String,
    #[command(flatten)]
    pub settings: GroupSettings,
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// Delete a node group with its nodes
///
/// The default node groups are deleted with the cluster only.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster nodegroup delete shop gpu --wait")]
pub struct DeleteArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// Name or UUID of the node group
    pub group: String,
    #[command(flatten)]
    pub pods: PodArgs,
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// Change the number of nodes of a node group
///
/// Other node groups are not touched. Checks quotas and bounds before anything is sent, and asks before nodes
/// are removed.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster resize shop 5                  # the group default-worker
  portico cluster resize shop 2 -g gpu --wait
  portico cluster resize shop 8 --max 10         # raises the maximum first
  portico cluster resize shop 5 --from 3         # refused if it has another size now")]
pub struct ResizeArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// The wanted number of nodes
    pub nodes: u32,
    /// Name or UUID of the node group
    #[arg(long, short, value_name = "GROUP", default_value = DEFAULT_GROUP)]
    pub group: String,
    /// Refuse if the group does not have this number of nodes now, such as after a --dry-run
    #[arg(long, value_name = "NUMBER")]
    pub from: Option<u32>,
    /// Set the minimum number of nodes too
    #[arg(long, value_name = "NUMBER")]
    pub min: Option<u32>,
    /// Set the maximum number of nodes too
    #[arg(long, value_name = "NUMBER")]
    pub max: Option<u32>,
    #[command(flatten)]
    pub pods: PodArgs,
    #[command(flatten)]
    pub change: ChangeArgs,
}

fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("{text:?} is not a label: write LABEL=VALUE")),
    }
}
