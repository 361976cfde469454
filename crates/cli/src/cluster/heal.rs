//! `portico cluster heal`: whether the cluster replaces nodes that fail. Magnum cannot change it.
use super::arguments::SharedArgs;
use super::autoscale::state;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::views::print_object;
use clap::{Args, Subcommand};
use portico_lifecycle::capabilities::{Feature, capability};
use portico_lifecycle::labels::Labels;
use portico_lifecycle::model::Cluster;
use serde::Serialize;
use std::fmt::Write as _;

/// The label that turns auto-healing on.
const ENABLED: &str = "auto_healing_enabled";
/// The labels that concern it.
const LABELS: [&str; 2] = [ENABLED, "auto_healing_controller"];

/// Show whether a cluster replaces nodes that fail
///
/// Auto-healing is chosen with the label auto_healing_enabled when the cluster is created; Magnum does not
/// change it later.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster heal shop status")]
pub struct HealArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    #[command(subcommand)]
    pub command: HealCommand,
}

#[derive(Debug, Subcommand)]
pub enum HealCommand {
    /// Show whether auto-healing is on
    #[command(after_help = "Example:\n  portico cluster heal shop status -o json")]
    Status(SharedArgs),
}

impl HealCommand {
    /// Returns what every verb takes.
    pub fn shared(&self) -> &SharedArgs {
        let Self::Status(shared) = self;
        shared
    }
}

/// The auto-healing of a cluster.
#[derive(Debug, Serialize)]
struct HealView {
    cluster: String,
    /// Those that concern auto-healing.
    labels: Labels,
    /// Whether the labels can be changed, which Magnum does not.
    can_be_changed: bool,
    reason: String,
}

/// Shows whether auto-healing is on.
///
/// # Errors
/// If Magnum cannot be asked or refuses.
pub async fn heal(
    connection: &Connection,
    console: &mut Console,
    args: &HealArgs,
) -> Result<(), ClusterError> {
    let HealCommand::Status(shared) = &args.command;
    let magnum = &connection.clients.magnum;
    let found = magnum
        .cluster_named(&connection.token, &args.cluster)
        .await?;
    let template = connection.template_of(&found).await?;
    let cluster = connection.model(&found, template.as_ref());
    let change = capability(
        cluster.driver,
        connection.offer().await?,
        Feature::ChangeLabels,
    );
    let view = HealView {
        cluster: cluster.uuid.clone(),
        labels: labels(&cluster),
        can_be_changed: change.is_offered(),
        reason: change.reason,
    };
    print_object(console, shared.output, &view, &cluster.name, || {
        Ok(text(&view))
    })
}

fn labels(cluster: &Cluster) -> Labels {
    let own = cluster.labels.iter();
    own.filter(|(key, _)| LABELS.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn text(view: &HealView) -> String {
    let mut text = String::new();
    // writing to a string cannot fail
    let _ = writeln!(
        text,
        "Auto-healing  {}",
        crate::one_line(&state(&view.labels, ENABLED))
    );
    for (key, value) in view.labels.iter().filter(|(key, _)| *key != ENABLED) {
        let label = crate::one_line(&format!("{key}={value}"));
        let _ = writeln!(text, "Label         {label}");
    }
    let _ = writeln!(text, "It cannot be changed. {}", view.reason);
    text
}
