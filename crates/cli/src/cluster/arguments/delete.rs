//! The grammar of `portico cluster delete`.
use super::{DryRunArgs, SharedArgs, WaitArgs};
use clap::{ArgGroup, Args};
use portico_domain::namespace_format::is_label;

/// Delete a cluster, after its name was typed
///
/// Lists first what will be deleted, what depends on a rule, and what remains and may incur costs. Without
/// a terminal, --yes is needed. What --delete-lbs and --delete-volumes name is deleted through Kubernetes, with
/// your own rights in the cluster, before the cluster is; if it cannot be, the cluster is not deleted. Where you
/// may list them in some namespaces only, those of the others are left, which has to be accepted.
#[derive(Args, Debug)]
#[command(
    group(ArgGroup::new("deleted_first").args(["delete_lbs", "delete_volumes"]).multiple(true)),
    mut_arg("dry_run", |dry_run| dry_run.help("Show what would be deleted; send nothing")),
    after_help = "\
Examples:
  portico cluster delete shop --dry-run      # shows what would be deleted; sends nothing
  portico cluster delete shop --wait
  portico cluster delete shop --delete-lbs --delete-volumes
  portico cluster delete shop --yes --wait   # in scripts"
)]
pub struct DeleteArgs {
    /// Name or UUID
    pub cluster: String,
    #[command(flatten)]
    pub dry_run: DryRunArgs,
    /// Delete Services of the type LoadBalancer first, and with them their load balancers
    #[arg(long)]
    pub delete_lbs: bool,
    /// Delete PersistentVolumeClaims first, and with them volumes with the reclaim policy Delete: their data is
    /// lost
    #[arg(long, conflicts_with = "keep_volumes")]
    pub delete_volumes: bool,
    /// A namespace in which --delete-lbs and --delete-volumes look, for users who may list neither the whole
    /// cluster nor its namespaces; may be repeated
    #[arg(long = "namespace", short = 'n', value_name = "NAME", value_parser = namespace, requires = "deleted_first")]
    pub namespaces: Vec<String>,
    /// Accept without being asked that Services and PersistentVolumeClaims of namespaces which you cannot list
    /// are left
    #[arg(long, requires = "deleted_first")]
    pub accept_partial: bool,
    /// Refuse the deletion if the driver may delete volumes of workloads
    #[arg(long)]
    pub keep_volumes: bool,
    /// Remove only Portico's record of a cluster that Magnum no longer has (UUID); needs the session of
    /// `portico login`
    #[arg(long, conflicts_with_all = ["delete_lbs", "delete_volumes", "keep_volumes", "namespaces", "accept_partial"])]
    pub force_record: bool,
    /// Do not ask for the name
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

fn namespace(text: &str) -> Result<String, String> {
    match is_label(text) {
        true => Ok(text.to_owned()),
        false => Err("use the name of a namespace".to_owned()),
    }
}
