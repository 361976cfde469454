//! Creates, changes, resizes and deletes node groups.
use super::arguments::{CreateArgs, DeleteArgs, GroupSettings, ResizeArgs, UpdateArgs};
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::cluster::part::{self, Target};
use crate::cluster::pods;
use crate::cluster::shrinking;
use portico_cluster_operations::settling::settling;
use portico_cluster_operations::steps::StepError;
use portico_lifecycle::capabilities::Feature;
use portico_lifecycle::plan::{Plan, group_deletion};
use portico_lifecycle::preflight::{ResizeContext, before_growth, before_resize};
use portico_lifecycle::spec::NodeGroupSpec;

/// Creates a node group.
///
/// # Errors
/// [`ClusterError::Blocked`] if it exists, or a check does not permit it; how the change ended.
pub async fn create(
    connection: &mut Connection,
    console: &mut Console,
    args: &CreateArgs,
) -> Result<u8, ClusterError> {
    let target = Target::open(connection, console, &args.cluster, &args.change).await?;
    if target.groups.iter().any(|group| group.name == args.name) {
        return Err(ClusterError::Blocked {
            exit: exit_code::CONFLICT,
            text: format!(
                "{} has a node group {} already",
                target.cluster.name, args.name
            ),
        });
    }
    let plan = target.plan_of_group(NodeGroupSpec {
        replicas: Some(args.nodes),
        flavor: args.flavor.clone(),
        ..described(&args.name, &args.settings)
    })?;
    part::ensure_supported(&target, &needed_features(&args.settings))?;
    let flavor = args.flavor.as_deref();
    let quotas = target.quotas(connection, flavor, 0, args.nodes).await;
    part::ensure_permitted(console, &before_growth(&quotas))?;
    part::carry_out(connection, console, &target, &plan, &args.change).await
}

/// Changes bounds, labels or taints of a node group.
///
/// # Errors
/// [`ClusterError::Usage`] if nothing was chosen; as [`create`].
pub async fn update(
    connection: &mut Connection,
    console: &mut Console,
    args: &UpdateArgs,
) -> Result<u8, ClusterError> {
    ensure_change(&args.settings)?;
    let target = Target::open(connection, console, &args.cluster, &args.change).await?;
    update_target(connection, console, &target, args).await
}

fn ensure_change(settings: &GroupSettings) -> Result<(), ClusterError> {
    let is_empty = settings.labels.is_empty() && settings.taints.is_empty();
    if is_empty && settings.min.is_none() && settings.max.is_none() {
        return Err(ClusterError::Usage(
            "nothing to change: add --min, --max, --node-label or --taint".to_owned(),
        ));
    }
    Ok(())
}

/// Changes bounds, labels or taints of a node group of a cluster that was read.
///
/// # Errors
/// As [`create`].
pub async fn update_target(
    connection: &mut Connection,
    console: &mut Console,
    target: &Target,
    args: &UpdateArgs,
) -> Result<u8, ClusterError> {
    let settings = &args.settings;
    let name = target.group(&args.group)?.name.clone();
    part::ensure_supported(target, &needed_features(settings))?;
    let plan = target.plan_of_group(described(&name, settings))?;
    part::carry_out(connection, console, target, &plan, &args.change).await
}

/// Changes the number of nodes of a node group.
///
/// # Errors
/// As [`create`].
pub async fn resize(
    connection: &mut Connection,
    console: &mut Console,
    args: &ResizeArgs,
) -> Result<u8, ClusterError> {
    let target = Target::open(connection, console, &args.cluster, &args.change).await?;
    resize_target(connection, console, &target, args).await
}

/// Changes the number of nodes of a node group of a cluster that was read.
///
/// # Errors
/// [`ClusterError::Blocked`] if the group has another size than the one that was reviewed; as [`create`].
pub async fn resize_target(
    connection: &mut Connection,
    console: &mut Console,
    target: &Target,
    args: &ResizeArgs,
) -> Result<u8, ClusterError> {
    let mut group = target.group(&args.group)?.clone();
    if let Some(from) = args.from.filter(|from| *from != group.node_count) {
        let resized = StepError::Resized {
            group: group.name,
            from,
            now: group.node_count,
        };
        return Err(resized.into());
    }
    let flavor = group.flavor.clone();
    let quotas = target
        .quotas(connection, flavor.as_deref(), group.node_count, args.nodes)
        .await;
    let placed = shrinking::of_group(connection, target, &group, args.nodes).await;
    // those that are set with it count
    if let Some(bounds) = &mut group.bounds {
        bounds.min = args.min.unwrap_or(bounds.min);
        bounds.max = args.max.or(bounds.max);
    }
    let checks = before_resize(&ResizeContext {
        cluster: &target.cluster,
        group: &group,
        nodes: args.nodes,
        has_chosen_nodes: false,
        cloud: target.cloud,
        quotas: &quotas,
        pods: &placed,
    });
    part::ensure_permitted(console, &checks)?;
    let plan = if group.is_control_plane() {
        target.plan_of_control_plane(args.nodes)?
    } else {
        target.plan_of_group(NodeGroupSpec {
            name: group.name.clone(),
            replicas: Some(args.nodes),
            min: args.min,
            max: args.max,
            ..NodeGroupSpec::default()
        })?
    };
    let plan = settling(target, &group, args.nodes, plan);
    if let Some(code) = part::confirm(console, target, &plan, &args.change)? {
        return Ok(code);
    }
    pods::accept(console, &args.pods, &placed)?;
    part::send(connection, console, target, &plan, &args.change).await
}

/// Deletes a node group.
///
/// # Errors
/// [`ClusterError::Blocked`] for a default group; as [`create`].
pub async fn delete(
    connection: &mut Connection,
    console: &mut Console,
    args: &DeleteArgs,
) -> Result<u8, ClusterError> {
    let target = Target::open(connection, console, &args.cluster, &args.change).await?;
    let group = target.group(&args.group)?;
    let plan = Plan {
        steps: vec![group_deletion(&target.cluster, group)],
        ..Plan::default()
    };
    let placed = shrinking::of_plan(connection, target.uuid, &plan).await?;
    shrinking::warn(&placed, console);
    if let Some(code) = part::confirm(console, &target, &plan, &args.change)? {
        return Ok(code);
    }
    shrinking::accept(console, &args.pods, &placed)?;
    part::send(connection, console, &target, &plan, &args.change).await
}

/// Returns what the driver and Magnum must support for these settings.
fn needed_features(settings: &GroupSettings) -> Vec<Feature> {
    let has_labels = !settings.labels.is_empty() || !settings.taints.is_empty();
    let labels = has_labels.then_some(Feature::NodeLabelsAndTaints);
    std::iter::once(Feature::NodeGroups).chain(labels).collect()
}

fn described(name: &str, settings: &GroupSettings) -> NodeGroupSpec {
    NodeGroupSpec {
        name: name.to_owned(),
        min: settings.min,
        max: settings.max,
        labels: settings.labels.iter().cloned().collect(),
        taints: settings.taints.clone(),
        ..NodeGroupSpec::default()
    }
}
