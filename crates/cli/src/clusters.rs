//! `portico clusters`: lists the clusters that the user can get a token for.
use super::{CommandError, api::Cluster, profile::Profile, session::Session};
use crate::output::{OutputFormat, TableRow};
use clap::Args;
use portico_clock::Clock;
use serde::Serialize;

/// List the clusters that you can reach
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  portico clusters\n  portico clusters -o yaml\n  portico kubeconfig --cluster prod   # adds one of them to your kubeconfig"
)]
pub struct ClustersArgs {
    /// The gateway that this machine signed in at, if several
    #[arg(long, value_name = "URL")]
    pub gateway: Option<String>,
    /// The output format
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    pub output: OutputFormat,
}

/// One cluster, as listed.
#[derive(Debug, Serialize)]
pub struct ClusterRow {
    pub name: String,
    pub id: String,
    /// Empty if the gateway is older and does not send it.
    pub project: String,
    pub api_url: String,
}

impl TableRow for ClusterRow {
    const HEADINGS: &'static [&'static str] = &["NAME", "ID", "PROJECT", "API SERVER"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            self.id.clone(),
            self.project.clone(),
            self.api_url.clone(),
        ]
    }
}

impl From<Cluster> for ClusterRow {
    fn from(cluster: Cluster) -> Self {
        Self {
            name: cluster.name,
            id: cluster.id.to_string(),
            project: cluster
                .project
                .map(|project| project.name)
                .unwrap_or_default(),
            api_url: cluster.api_url,
        }
    }
}

/// Returns the clusters of the user's projects, in the gateway's order.
///
/// # Errors
/// If this machine has no session, or the gateway ended it or does not respond.
pub async fn clusters(args: &ClustersArgs, clock: &Clock) -> Result<Vec<ClusterRow>, CommandError> {
    let profile = Profile::choose(args.gateway.as_deref())?;
    let clusters = Session::new(profile, clock)?.clusters().await?;
    Ok(clusters.into_iter().map(ClusterRow::from).collect())
}
