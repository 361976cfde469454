//! `portico cluster autoscale`: the label that turns the autoscaler on, and its bounds.
use super::arguments::{ChangeArgs, SharedArgs};
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::nodegroups::{GroupSettings, UpdateArgs, update_target};
use super::part::Target;
use super::views::print_object;
use crate::output::{self, OutputFormat, TableRow};
use clap::{Args, Subcommand};
use portico_lifecycle::capabilities::{Feature, capability};
use portico_lifecycle::labels::Labels;
use portico_lifecycle::model::NodeGroup;
use portico_lifecycle::spec::DEFAULT_GROUP;
use serde::Serialize;
use std::fmt::Write as _;

/// The label that turns the autoscaler on.
const ENABLED: &str = "auto_scaling_enabled";
/// The labels that concern it.
const LABELS: [&str; 3] = [ENABLED, "min_node_count", "max_node_count"];

/// Show the autoscaler of a cluster, or set its bounds
///
/// The autoscaler is turned on by the label auto_scaling_enabled when the cluster is created, and neither on
/// nor off later. Its bounds are those of the node groups.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster autoscale shop status
  portico cluster autoscale shop set -g gpu --min 1 --max 5")]
pub struct AutoscaleArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    #[command(subcommand)]
    pub command: AutoscaleCommand,
}

#[derive(Debug, Subcommand)]
pub enum AutoscaleCommand {
    /// Show whether the autoscaler is on, and the bounds of the node groups
    #[command(after_help = "Example:\n  portico cluster autoscale shop status")]
    Status(SharedArgs),
    Set(SetArgs),
}

/// Set the bounds of a node group
///
/// The number of nodes does not change. It must be within the bounds: Magnum refuses others.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster autoscale shop set -g gpu --min 1 --max 5")]
pub struct SetArgs {
    /// Name or UUID of the node group
    #[arg(long, short, value_name = "GROUP", default_value = DEFAULT_GROUP)]
    pub group: String,
    /// Minimum number of nodes
    #[arg(long, value_name = "NUMBER", required_unless_present = "max")]
    pub min: Option<u32>,
    /// Maximum number of nodes
    #[arg(long, value_name = "NUMBER")]
    pub max: Option<u32>,
    #[command(flatten)]
    pub change: ChangeArgs,
}

impl AutoscaleCommand {
    /// Returns what every verb takes.
    pub fn shared(&self) -> &SharedArgs {
        match self {
            Self::Status(shared) => shared,
            Self::Set(args) => &args.change.shared,
        }
    }
}

/// The autoscaler of a cluster.
#[derive(Debug, Serialize)]
struct AutoscalerView {
    cluster: String,
    /// Those that concern the autoscaler.
    labels: Labels,
    /// Whether the labels can be changed, which Magnum does not.
    can_be_changed: bool,
    reason: String,
    node_groups: Vec<BoundsView>,
}

/// The bounds of a node group.
#[derive(Debug, Serialize)]
struct BoundsView {
    name: String,
    node_count: u32,
    min_node_count: Option<u32>,
    max_node_count: Option<u32>,
}

impl From<&NodeGroup> for BoundsView {
    fn from(group: &NodeGroup) -> Self {
        Self {
            name: group.name.clone(),
            node_count: group.node_count,
            min_node_count: group.bounds.map(|bounds| bounds.min),
            max_node_count: group.bounds.and_then(|bounds| bounds.max),
        }
    }
}

impl TableRow for BoundsView {
    const HEADINGS: &'static [&'static str] = &["NODE GROUP", "NODES", "MIN", "MAX"];

    fn cells(&self) -> Vec<String> {
        let or_dash =
            |number: Option<u32>| number.map_or_else(|| "-".to_owned(), |one| one.to_string());
        vec![
            self.name.clone(),
            self.node_count.to_string(),
            or_dash(self.min_node_count),
            or_dash(self.max_node_count),
        ]
    }
}

/// Shows the autoscaler, or sets its bounds; returns the exit code.
///
/// # Errors
/// If Magnum cannot be asked or refuses; how the change ended.
pub async fn autoscale(
    connection: &mut Connection,
    console: &mut Console,
    args: &AutoscaleArgs,
) -> Result<u8, ClusterError> {
    match &args.command {
        AutoscaleCommand::Status(shared) => status(connection, console, &args.cluster, shared)
            .await
            .map(|()| 0),
        AutoscaleCommand::Set(set) => set_bounds(connection, console, &args.cluster, set).await,
    }
}

async fn status(
    connection: &Connection,
    console: &mut Console,
    wanted: &str,
    shared: &SharedArgs,
) -> Result<(), ClusterError> {
    let target = Target::read_named(connection, wanted).await?;
    let cluster = &target.cluster;
    let labels = LABELS.iter().filter_map(|key| {
        let value = cluster.labels.get(*key)?;
        Some(((*key).to_owned(), value.clone()))
    });
    let change = capability(cluster.driver, target.cloud, Feature::ChangeLabels);
    let workers = target
        .groups
        .iter()
        .filter(|group| !group.is_control_plane());
    let view = AutoscalerView {
        cluster: cluster.uuid.clone(),
        labels: labels.collect(),
        can_be_changed: change.is_offered(),
        reason: change.reason,
        node_groups: workers.map(BoundsView::from).collect(),
    };
    print_object(console, shared.output, &view, &cluster.name, || text(&view))
}

fn text(view: &AutoscalerView) -> Result<String, ClusterError> {
    let mut text = String::new();
    // writing to a string cannot fail
    let _ = writeln!(
        text,
        "Autoscaler  {}",
        crate::one_line(&state(&view.labels, ENABLED))
    );
    for (key, value) in view.labels.iter().filter(|(key, _)| *key != ENABLED) {
        let label = crate::one_line(&format!("{key}={value}"));
        let _ = writeln!(text, "Label       {label}");
    }
    let _ = writeln!(text, "{}\n", view.reason);
    text.push_str(&output::list(OutputFormat::Table, &view.node_groups)?);
    Ok(text)
}

/// Returns the state of a label that is `true` or `false`, in words.
pub fn state(labels: &Labels, key: &str) -> String {
    match labels.get(key) {
        Some(value) if is_true(value) => format!("on (label {key}={value})"),
        Some(value) => format!("off (label {key}={value})"),
        None => format!("not chosen (no label {key}): the driver's default applies"),
    }
}

fn is_true(value: &str) -> bool {
    value.eq_ignore_ascii_case("true")
}

async fn set_bounds(
    connection: &mut Connection,
    console: &mut Console,
    wanted: &str,
    args: &SetArgs,
) -> Result<u8, ClusterError> {
    let target = Target::open(connection, console, wanted, &args.change).await?;
    let group = target.group(&args.group)?;
    if group.is_control_plane() {
        return Err(ClusterError::Blocked {
            exit: exit_code::UNSUPPORTED,
            text: format!(
                "{} is the control plane, which no autoscaler changes; nothing was sent",
                group.name
            ),
        });
    }
    let label = target.cluster.labels.get(ENABLED);
    if label.is_none_or(|value| !is_true(value)) {
        console.say(format!(
            "Autoscaler: {}. Without it, the bounds only limit the sizes that can be chosen.",
            state(&target.cluster.labels, ENABLED)
        ));
    }
    let update = UpdateArgs {
        cluster: wanted.to_owned(),
        group: args.group.clone(),
        settings: GroupSettings {
            min: args.min,
            max: args.max,
            ..GroupSettings::default()
        },
        change: args.change.clone(),
    };
    update_target(connection, console, &target, &update).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_on_off_or_not_chosen() {
        let of = |value: &str| Labels::from([(ENABLED.to_owned(), value.to_owned())]);
        for value in ["true", "True"] {
            assert!(state(&of(value), ENABLED).starts_with("on "), "{value}");
        }
        for value in ["false", "", "1"] {
            assert!(state(&of(value), ENABLED).starts_with("off "), "{value}");
        }
        assert!(state(&Labels::new(), ENABLED).starts_with("not chosen"));
    }
}
