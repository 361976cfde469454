//! The grammar of the commands that take a specification: create, apply, diff.
use super::{DryRunArgs, PodArgs, SharedArgs, WaitArgs};
use clap::Args;
use std::path::PathBuf;

/// Create a cluster, once: a lost response never makes a second one
///
/// Checks the specification, the quotas and what the driver supports before anything is sent. Options that
/// are left out have the template's values. Labels are merged with those of the template. On a terminal it
/// waits and shows the steps; --no-wait returns at once.
#[derive(Args, Debug, Default)]
#[command(
    mut_arg("dry_run", |dry_run| dry_run.help("Show plan, labels, quota, checks and request; send nothing")),
    after_help = "\
Examples:
  portico cluster create shop -t k8s-1.32 --masters 3 --workers 3 --keypair ops
  portico cluster create shop -t k8s-1.32 --api 198.51.100.0/24 --set auto_healing_enabled=true
  portico cluster create shop -t k8s-1.32 --dry-run              # plan, labels, quota, checks; sends nothing
  portico cluster create shop -t k8s-1.32 --dry-run -o yaml      # the file with every default filled in
  portico cluster create -f shop.yaml --wait --timeout 90m
  portico cluster create --json body.json                        # the body of Magnum's POST /clusters"
)]
pub struct CreateArgs {
    /// The name of the cluster
    #[arg(required_unless_present_any = ["file", "json"], conflicts_with_all = ["file", "json"])]
    pub name: Option<String>,
    /// The template (name or UUID); see `portico cluster templates`
    #[arg(long, short, value_name = "TEMPLATE", required_unless_present_any = ["file", "json"])]
    pub template: Option<String>,
    /// Nodes of the control plane: 1, 3 or 5
    #[arg(long, value_name = "NUMBER")]
    pub masters: Option<u32>,
    /// Worker nodes
    #[arg(long, value_name = "NUMBER")]
    pub workers: Option<u32>,
    /// The flavor of the workers
    #[arg(long, value_name = "FLAVOR")]
    pub flavor: Option<String>,
    /// The flavor of the control plane
    #[arg(long, value_name = "FLAVOR")]
    pub master_flavor: Option<String>,
    /// The key pair for SSH to the nodes
    #[arg(long, value_name = "NAME")]
    pub keypair: Option<String>,
    /// An existing network for the nodes
    #[arg(long, value_name = "NETWORK")]
    pub network: Option<String>,
    /// A subnet of that network
    #[arg(long, value_name = "SUBNET", requires = "network")]
    pub subnet: Option<String>,
    /// From where the Kubernetes API can be reached: public, private, or networks that may
    #[arg(long, value_name = "public|private|CIDR,...")]
    pub api: Option<String>,
    /// The availability zone of the servers
    #[arg(long, value_name = "ZONE")]
    pub zone: Option<String>,
    /// A label, over the template's; may be repeated
    #[arg(long = "set", value_name = "LABEL=VALUE")]
    pub labels: Vec<String>,
    /// Minutes after which Magnum gives up, where the driver respects it
    #[arg(long, value_name = "MINUTES")]
    pub create_timeout: Option<u32>,
    /// Why, for the file's annotations and, with the session of `portico login`, for the journal
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// A file that describes the cluster (YAML or JSON); `-` is standard input
    #[arg(long, short, value_name = "FILE", conflicts_with = "json", conflicts_with_all = OPTIONS)]
    pub file: Option<PathBuf>,
    /// The body of Magnum's `POST /clusters` as it is; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = OPTIONS)]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub dry_run: DryRunArgs,
    /// Forget an earlier run for this name whose response was lost, and send another request
    #[arg(long)]
    pub new_attempt: bool,
    #[command(flatten)]
    pub waiting: WaitArgs,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// The options that describe the cluster; a file does so in their place.
const OPTIONS: [&str; 13] = [
    "template",
    "masters",
    "workers",
    "flavor",
    "master_flavor",
    "keypair",
    "network",
    "subnet",
    "api",
    "zone",
    "labels",
    "create_timeout",
    "reason",
];

/// Create or change a cluster so that it is as a file describes it
///
/// The steps are carried out one after another; each begins when the cluster is settled. What Magnum cannot
/// change is never recreated: then nothing is changed, and the exit code is 4. A file that is applied twice
/// sends nothing the second time. Where a node group gets smaller or is deleted, the pods are named that the
/// remaining nodes have no room for.
#[derive(Args, Debug)]
#[command(
    mut_arg("dry_run", |dry_run| dry_run.help(
        "Show the steps; send nothing. Exit code 1: it would change something"
    )),
    mut_arg("wait", |wait| wait.help("Wait for each step, with its progress on standard error: the default")),
    mut_arg("no_wait", |no_wait| no_wait.help(
        "Return as soon as Magnum has accepted the request; refused where there are several steps"
    )),
    mut_arg("timeout", |timeout| timeout.help(
        "Stop waiting for a step after this time, such as 90s, 60m or 2h; the step continues"
    )),
    after_help = "\
Examples:
  portico cluster apply -f shop.yaml --dry-run     # exit code 1: it would change something
  portico cluster apply -f shop.yaml
  portico cluster apply -f shop.yaml --prune       # also deletes node groups that the file does not have"
)]
pub struct ApplyArgs {
    /// The file (YAML or JSON); `-` is standard input
    #[arg(long, short, value_name = "FILE")]
    pub file: PathBuf,
    /// Delete node groups that the file does not have
    #[arg(long)]
    pub prune: bool,
    #[command(flatten)]
    pub dry_run: DryRunArgs,
    #[command(flatten)]
    pub pods: PodArgs,
    /// Do not ask before nodes are removed
    #[arg(long, short)]
    pub yes: bool,
    /// Forget an earlier run for this name whose response was lost, and send another request
    #[arg(long)]
    pub new_attempt: bool,
    /// Why, for the journal of the cluster; needs the session of `portico login`. Default: the annotation
    /// portico.dev/reason of the file
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    #[command(flatten)]
    pub waiting: WaitArgs,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Compare a cluster with a file: exit code 0 if they agree, 1 if not
#[derive(Args, Debug)]
#[command(after_help = "Example:
  portico cluster diff -f shop.yaml || portico cluster apply -f shop.yaml")]
pub struct DiffArgs {
    /// The file (YAML or JSON); `-` is standard input
    #[arg(long, short, value_name = "FILE")]
    pub file: PathBuf,
    /// Count node groups that the file does not have as differences
    #[arg(long)]
    pub prune: bool,
    #[command(flatten)]
    pub shared: SharedArgs,
}
