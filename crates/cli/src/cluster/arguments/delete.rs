//! The grammar of `portico cluster delete`.
use super::{SharedArgs, WaitArgs, dry_run};
use clap::{ArgAction, Args};

/// Delete a cluster, after its name was typed
///
/// Lists first what will be deleted, what depends on a rule, and what remains and may incur costs. Without
/// a terminal, --yes is needed.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster delete shop --dry-run      # shows what would be deleted; sends nothing
  portico cluster delete shop --wait
  portico cluster delete shop --yes --wait   # in scripts")]
pub struct DeleteArgs {
    /// Name or UUID
    pub cluster: String,
    /// Show what would be deleted; send nothing
    #[arg(
        long,
        value_name = "client|server",
        value_parser = dry_run,
        action = ArgAction::Set,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "client",
        default_value = "none",
        hide_default_value = true
    )]
    pub dry_run: bool,
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
