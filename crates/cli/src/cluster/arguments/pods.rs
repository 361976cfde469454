//! What users say about the pods of nodes that leave.
use super::duration;
use clap::Args;
use std::time::Duration;

/// What a change that removes nodes takes.
#[derive(Args, Clone, Debug, Default)]
pub struct PodArgs {
    /// Accept that pods stay pending for which the remaining nodes have no room, without being asked
    #[arg(long)]
    pub accept_pending_pods: bool,
}

/// Whether nodes are drained before they are removed, and how.
#[derive(Args, Clone, Debug, Default)]
pub struct DrainArgs {
    /// Drain the nodes before they are removed. The default where this machine has access to the cluster;
    /// with this option the command is refused where it has not
    #[arg(long, overrides_with = "no_drain")]
    pub drain: bool,
    /// Remove the nodes without draining them: their pods end with them
    #[arg(long)]
    pub no_drain: bool,
    /// Stop draining after this time, such as 90s or 10m; the nodes stay cordoned, and none is removed
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    pub drain_timeout: Duration,
    /// Also evict pods without a controller, which nothing creates again
    #[arg(long)]
    pub force_unmanaged: bool,
    /// Also evict pods with emptyDir volumes, whose data is lost
    #[arg(long)]
    pub delete_emptydir_data: bool,
}
