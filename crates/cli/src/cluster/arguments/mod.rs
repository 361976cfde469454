//! The grammar of `portico cluster`.
#[cfg(test)]
mod changes;
mod delete;
mod drivers;
mod dry_runs;
mod output;
mod pods;
mod reason;
mod specification;

pub use delete::DeleteArgs;
pub use drivers::{DriverList, Release};
pub use dry_runs::DryRunArgs;
pub use output::{ClusterOutput, ExportOutputParser};
pub use pods::{DrainArgs, PodArgs};
pub use specification::{ApplyArgs, CreateArgs, DiffArgs};

use super::autoscale::AutoscaleArgs;
use super::certificates::{CaCommand, CertCommand, CredentialCommand};
use super::describe::DescribeArgs;
use super::events::EventsArgs;
use super::export::ExportArgs;
use super::heal::HealArgs;
use super::health::HealthArgs;
use super::import::ImportArgs;
use super::kubeconfig::KubeconfigArgs;
use super::leftovers::LeftoversArgs;
use super::nodegroups::{NodegroupCommand, ResizeArgs};
use super::nodes::NodesCommand;
use super::preconfigure::PreconfigureArgs;
use super::quota::QuotaArgs;
use super::schema::SchemaArgs;
use super::services::ServicesCommand;
use super::templates::TemplateCommand;
use super::upgrade::UpgradeArgs;
use super::validate::ValidateArgs;
use super::versions::VersionsArgs;
use super::wait::WaitForArgs;
use clap::{Args, Subcommand};
use drivers::{drivers, release};
use output::OutputParser;
use portico_cluster_operations::Drivers;
use std::time::Duration;

/// Create, watch, change and delete clusters of your cloud (OpenStack Magnum)
///
/// With OS_* or --cloud it signs in as the openstack client does, and calls Magnum itself: neither the gateway
/// nor the panel is needed, and changes are not in Portico's journal. Without them it uses the session of
/// `portico login`: Portico calls Magnum, and changes are in the journal of the cluster. A cluster is named by
/// its name or, where several have it, by its UUID.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico login https://portico.example.org               # or: export OS_CLOUD=acme
  portico cluster templates                               # what can be created
  portico cluster create shop -t k8s-1.32 --workers 3 --dry-run
  portico cluster create shop -t k8s-1.32 --workers 3     # shows the steps until it is ready
  portico cluster list
  portico cluster delete shop                             # shows what will be deleted, then asks

Exit codes: 0 done, 1 a negative answer, 2 usage, 3 not found, 4 ambiguous or the state forbids it,
5 forbidden, 6 quota, 7 invalid, 8 the operation failed, 9 waiting timed out, 10 sign in again,
11 service unavailable, 12 accepted but not acted on, 13 not supported, 14 partly done,
130 interrupted while waiting")]
pub struct ClusterArgs {
    #[command(subcommand)]
    pub command: ClusterCommand,
}

#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    /// List the clusters of the project
    #[command(
        visible_alias = "ls",
        after_help = "Examples:\n  portico cluster list\n  portico cluster list --project shop -o json"
    )]
    List(SharedArgs),
    Show(ShowArgs),
    Describe(DescribeArgs),
    #[command(visible_alias = "deploy")]
    Create(Box<CreateArgs>),
    #[command(visible_alias = "update")]
    Apply(ApplyArgs),
    Diff(DiffArgs),
    Watch(WatchArgs),
    Events(EventsArgs),
    Wait(WaitForArgs),
    Resize(ResizeArgs),
    /// List, show, create, change and delete node groups
    #[command(visible_alias = "ng", subcommand)]
    Nodegroup(NodegroupCommand),
    /// List, add, remove and replace nodes
    // `get nodes` is the word of kaasctl
    #[command(visible_alias = "node", alias = "get", subcommand)]
    Nodes(NodesCommand),
    Autoscale(AutoscaleArgs),
    Heal(HealArgs),
    Upgrade(UpgradeArgs),
    Versions(VersionsArgs),
    /// Show or rotate the authorities of a cluster
    #[command(subcommand)]
    Ca(CaCommand),
    /// Sign certificate requests
    #[command(subcommand)]
    Cert(CertCommand),
    Kubeconfig(KubeconfigArgs),
    /// Rotate the credential with which a cluster uses the cloud
    #[command(subcommand)]
    Credential(CredentialCommand),
    Quota(QuotaArgs),
    /// Show the numbers of clusters and nodes of the project
    #[command(after_help = "Example:\n  portico cluster stats -o json")]
    Stats(SharedArgs),
    #[command(visible_alias = "destroy")]
    Delete(DeleteArgs),
    Leftovers(LeftoversArgs),
    /// List the templates that clusters can be created from
    #[command(after_help = "Example:\n  portico cluster templates")]
    Templates(SharedArgs),
    /// List, show, create, change and delete templates
    #[command(subcommand)]
    Template(TemplateCommand),
    Health(HealthArgs),
    Validate(ValidateArgs),
    Preconfigure(Box<PreconfigureArgs>),
    /// Show which managed services run in a cluster, such as monitoring and backup
    #[command(subcommand)]
    Services(ServicesCommand),
    Export(ExportArgs),
    #[command(visible_alias = "enrol")]
    Import(ImportArgs),
    Schema(SchemaArgs),
}

impl ClusterCommand {
    /// Returns the cloud, the project and the form of the output.
    pub fn shared(&self) -> &SharedArgs {
        match self {
            Self::List(shared) | Self::Templates(shared) | Self::Stats(shared) => shared,
            Self::Wait(args) => &args.shared,
            Self::Resize(args) => &args.change.shared,
            Self::Nodegroup(command) => command.shared(),
            Self::Nodes(command) => command.shared(),
            Self::Autoscale(args) => args.command.shared(),
            Self::Heal(args) => args.command.shared(),
            Self::Upgrade(args) => &args.change.shared,
            Self::Versions(args) => &args.shared,
            Self::Ca(command) => command.shared(),
            Self::Cert(CertCommand::Sign(args)) => &args.shared,
            Self::Kubeconfig(args) => &args.shared,
            Self::Credential(CredentialCommand::Rotate(args)) => &args.shared,
            Self::Template(command) => command.shared(),
            Self::Health(args) => &args.shared,
            Self::Validate(args) => &args.shared,
            Self::Preconfigure(args) => &args.shared,
            Self::Services(command) => command.shared(),
            Self::Export(args) => &args.shared,
            Self::Import(args) => &args.shared,
            Self::Schema(args) => &args.shared,
            Self::Leftovers(args) => &args.shared,
            Self::Quota(args) => &args.shared,
            Self::Show(args) => &args.shared,
            Self::Describe(args) => &args.shared,
            Self::Create(args) => &args.shared,
            Self::Apply(args) => &args.shared,
            Self::Diff(args) => &args.shared,
            Self::Watch(args) => &args.shared,
            Self::Events(args) => &args.shared,
            Self::Delete(args) => &args.shared,
        }
    }
}

/// What every verb takes.
#[derive(Args, Clone, Debug, Default)]
pub struct SharedArgs {
    /// A cloud of clouds.yaml, or `envvars`. Default: $OS_CLOUD, else the OS_* variables, else the session of
    /// `portico login`
    #[arg(long, value_name = "NAME", conflicts_with = "gateway")]
    pub cloud: Option<String>,
    /// The gateway that this machine signed in at, also where OS_* are set
    #[arg(long, value_name = "URL", hide_short_help = true)]
    pub gateway: Option<String>,
    /// The project (name or ID). Default: that of the cloud, or the only one of the session
    #[arg(long, short, value_name = "PROJECT")]
    pub project: Option<String>,
    /// The output format
    #[arg(long, short, value_name = "FORMAT", default_value = "table", value_parser = OutputParser)]
    pub output: ClusterOutput,
    /// How a driver of Magnum behaves: heat, capi_helm, cluster_api or complete. Needed for drivers that
    /// Portico does not know by their names; may be repeated
    #[arg(
        long = "magnum-driver",
        value_name = "NAME=FAMILY",
        value_parser = drivers,
        env = "PORTICO_MAGNUM_DRIVERS",
        hide_short_help = true
    )]
    pub drivers: Vec<DriverList>,
    /// The major release of the cloud's Magnum, such as 20, which its API does not report. The Heat driver
    /// upgrades clusters up to release 17 only
    #[arg(
        long = "magnum-release",
        value_name = "NUMBER",
        value_parser = release,
        env = "PORTICO_MAGNUM_RELEASE",
        hide_short_help = true
    )]
    pub release: Option<Release>,
}

impl SharedArgs {
    /// Returns what the user states about the drivers of the cloud.
    pub fn drivers(&self) -> Drivers {
        let drivers = self.drivers.iter().flat_map(DriverList::families);
        let release = self.release.and_then(Release::number);
        Drivers::new(drivers.collect(), release)
    }
}

/// How long a command waits.
#[derive(Args, Clone, Debug, Default)]
pub struct WaitArgs {
    /// Wait until the operation has ended, with its steps on standard error
    #[arg(long, overrides_with = "no_wait")]
    pub wait: bool,
    /// Return as soon as Magnum has accepted the request
    #[arg(long)]
    pub no_wait: bool,
    /// Stop waiting after this time, such as 90s, 60m or 2h; the operation continues
    #[arg(long, value_name = "TIME", default_value = "60m", value_parser = duration)]
    pub timeout: Duration,
}

/// What every change of an existing cluster takes.
#[derive(Args, Clone, Debug, Default)]
#[command(mut_arg("dry_run", |dry_run| dry_run.help(
    "Show what would be done; send nothing. Exit code 1: it would change something"
)))]
pub struct ChangeArgs {
    #[command(flatten)]
    pub dry_run: DryRunArgs,
    /// Do not ask before nodes are removed
    #[arg(long, short)]
    pub yes: bool,
    /// Why, for the journal of the cluster; needs the session of `portico login`
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    #[command(flatten)]
    pub waiting: WaitArgs,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Show a cluster with its node groups, its health, and why it failed
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  portico cluster show shop
  portico cluster show 900e3758-8071-430e-a8cf-5c48f428dc0e -o yaml")]
pub struct ShowArgs {
    /// Name or UUID
    pub cluster: String,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Show the steps of the running operation until it has ended
///
/// With -o json, each change is one JSON object on one line of standard output.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  portico cluster watch shop
  portico cluster watch shop -o json --timeout 2h")]
pub struct WatchArgs {
    /// Name or UUID
    pub cluster: String,
    /// Stop watching after this time; the operation continues
    #[arg(long, value_name = "TIME", default_value = "60m", value_parser = duration)]
    pub timeout: Duration,
    #[command(flatten)]
    pub shared: SharedArgs,
}

impl WaitArgs {
    /// Returns whether to wait; `default` applies where neither option is given.
    pub fn is_wanted(&self, default: bool) -> bool {
        !self.no_wait && (self.wait || default)
    }
}

/// Reads `90s`, `60m`, `2h`, or a number of seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a time such as 90s, 60m or 2h");
    let number = text.trim_end_matches(['s', 'm', 'h']);
    let factor = match text.get(number.len()..) {
        Some("" | "s") => 1,
        Some("m") => 60,
        Some("h") => 3600,
        _ => return Err(wrong()),
    };
    let seconds: u64 = number.parse().map_err(|_| wrong())?;
    let seconds = seconds.checked_mul(factor).ok_or_else(wrong)?;
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser, Debug)]
    struct Program {
        #[command(flatten)]
        _cluster: ClusterArgs,
    }

    #[test]
    fn the_words_do_not_contradict_each_other() {
        use clap::CommandFactory as _;
        Program::command().debug_assert();
    }

    #[test]
    fn a_file_and_options_exclude_each_other() {
        for words in [
            vec!["p", "create", "shop", "-f", "a.yaml"],
            vec!["p", "create", "-f", "a.yaml", "--workers", "3"],
            vec!["p", "create", "-f", "a.yaml", "--json", "b.json"],
            vec!["p", "create", "shop"],
            vec!["p", "create"],
            vec!["p", "import"],
            vec!["p", "import", "shop", "--all"],
            vec!["p", "import", "--server", "https://203.0.113.7"],
            vec!["p", "list", "-o", "terraform"],
            vec!["p", "list", "-o", "jsonpath={.items[*"],
            vec!["p", "delete", "shop", "--keep-volumes", "--delete-volumes"],
            // without what is deleted first, they would have no effect on the deletion of the whole cluster
            vec!["p", "delete", "shop", "-n", "dev"],
            vec!["p", "delete", "shop", "--accept-partial"],
            vec!["p", "kubeconfig", "shop", "--certificate", "--merge"],
            // Magnum chooses the nodes, so none can be drained
            vec!["p", "nodes", "remove", "shop", "-n", "1", "--drain"],
        ] {
            assert!(Program::try_parse_from(&words).is_err(), "{words:?}");
        }
        for words in [
            vec!["p", "create", "-f", "a.yaml", "--no-wait"],
            vec!["p", "deploy", "shop", "-t", "small"],
            vec!["p", "destroy", "shop", "-y"],
            vec!["p", "delete", "shop", "-n", "dev", "--delete-lbs"],
            vec![
                "p",
                "delete",
                "shop",
                "--delete-volumes",
                "--accept-partial",
            ],
            vec!["p", "update", "-f", "a.yaml"],
            vec!["p", "enrol", "shop"],
            vec!["p", "get", "nodes", "shop"],
            vec!["p", "import", "--all"],
            vec!["p", "export", "shop", "-o", "terraform"],
            vec!["p", "export", "shop", "--as", "terraform"],
            vec!["p", "list", "-o", "jsonpath={.items[*].name}"],
        ] {
            assert!(Program::try_parse_from(&words).is_ok(), "{words:?}");
        }
    }

    #[test]
    fn times_have_a_unit() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("60m"), Ok(Duration::from_secs(3600)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        assert_eq!(duration("5"), Ok(Duration::from_secs(5)));
        for wrong in ["", "m", "1d", "-1s", "1mm", "99999999999999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
