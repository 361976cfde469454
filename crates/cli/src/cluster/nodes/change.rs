//! Adds and removes nodes.
use super::arguments::{AddArgs, RemoveArgs};
use super::drain::Drain;
use super::read::nodes_of;
use super::selection::{Selection, select};
use crate::cluster::arguments::PodArgs;
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::cluster::nodegroups::{ResizeArgs, resize_target};
use crate::cluster::part::{self, Target};
use crate::cluster::pods;
use portico_lifecycle::capabilities::{Feature, Support, capability};
use portico_lifecycle::placement::Leaving;
use portico_lifecycle::plan::{Action, ChosenNode, Plan, node_removal};
use portico_lifecycle::preflight::{ResizeContext, before_resize};
use portico_lifecycle::spec::DEFAULT_GROUP;

/// Adds nodes to a node group.
///
/// # Errors
/// [`ClusterError::Blocked`] if a check does not permit it; how the change ended.
pub async fn add(
    connection: &mut Connection,
    console: &mut Console,
    args: &AddArgs,
) -> Result<u8, ClusterError> {
    let target = Target::open(connection, console, &args.cluster, &args.change).await?;
    let now = target.group(&args.group)?.node_count;
    let resize = ResizeArgs {
        cluster: args.cluster.clone(),
        nodes: now.saturating_add(args.number),
        group: args.group.clone(),
        from: None,
        min: None,
        max: None,
        pods: PodArgs::default(),
        change: args.change.clone(),
    };
    resize_target(connection, console, &target, &resize).await
}

/// Removes nodes: the named ones, or a number of them that Magnum chooses.
///
/// # Errors
/// [`ClusterError::Blocked`] if the driver would remove others than the named nodes, or a check does not
/// permit it; how the change ended.
pub async fn remove(
    connection: &mut Connection,
    console: &mut Console,
    args: &RemoveArgs,
) -> Result<u8, ClusterError> {
    let target = Target::open(connection, console, &args.cluster, &args.change).await?;
    let Some(number) = args.number else {
        return remove_chosen(connection, console, &target, args).await;
    };
    let wanted = args.group.as_deref().unwrap_or(DEFAULT_GROUP);
    let group = target.group(wanted)?;
    let Some(nodes) = group.node_count.checked_sub(number) else {
        return Err(ClusterError::Blocked {
            exit: exit_code::INVALID,
            text: format!(
                "{number} nodes cannot be removed from {}, which has {}; nothing was sent",
                group.name, group.node_count
            ),
        });
    };
    let resize = ResizeArgs {
        cluster: args.cluster.clone(),
        nodes,
        group: group.name.clone(),
        from: None,
        min: None,
        max: None,
        pods: args.pods.clone(),
        change: args.change.clone(),
    };
    resize_target(connection, console, &target, &resize).await
}

async fn remove_chosen(
    connection: &mut Connection,
    console: &mut Console,
    target: &Target,
    args: &RemoveArgs,
) -> Result<u8, ClusterError> {
    part::ensure_supported(target, &[Feature::ChosenNodes])?;
    let found = nodes_of(connection, console, target).await?;
    let selection = select(target, &found, &args.nodes, args.group.as_deref())?;
    let removed = u32::try_from(selection.nodes.len()).unwrap_or(u32::MAX);
    let group = selection.group;
    let leaving = Leaving::Chosen(selection.nodes.clone());
    let placed = pods::read(connection, target.uuid, &leaving).await;
    let checks = before_resize(&ResizeContext {
        cluster: &target.cluster,
        group,
        nodes: group.node_count.saturating_sub(removed),
        has_chosen_nodes: true,
        cloud: target.cloud,
        quotas: &[],
        pods: &placed,
    });
    part::ensure_permitted(console, &checks)?;
    let drain = Drain::of(connection, target.uuid, &args.drain).await?;
    let mut plan = removal(target, &selection, group.node_count);
    plan.notes.push(drain.note(&args.drain));
    if let Some(code) = part::confirm(console, target, &plan, &args.change)? {
        return Ok(code);
    }
    pods::accept(console, &args.pods, &placed)?;
    drain.run(console, &selection.nodes, &args.drain).await?;
    if let (Drain::Possible(_), Some(step)) = (&drain, plan.steps.first()) {
        // draining takes its time
        let _ = connection.renew().await;
        ensure_unchanged(connection, target, &step.action).await?;
    }
    let code = part::send(connection, console, target, &plan, &args.change).await?;
    if args.change.waiting.is_wanted(false) && !args.change.dry_run.is_on() {
        report_remaining(connection, console, target, &selection.nodes).await?;
    }
    Ok(code)
}

/// Refuses a step if the group has changed since the plan was made: the request has a number of nodes, so
/// others would leave too.
///
/// # Errors
/// [`ClusterError::Blocked`] with both numbers; if Magnum cannot be asked.
pub async fn ensure_unchanged(
    connection: &Connection,
    target: &Target,
    action: &Action,
) -> Result<(), ClusterError> {
    let (Action::RemoveNodes { group, from, .. } | Action::Resize { group, from, .. }) = action
    else {
        return Ok(());
    };
    let now = Target::read_named(connection, &target.uuid.to_string()).await?;
    let size = now.group(group)?.node_count;
    let status = &now.cluster.status;
    if size == *from && !status.is_in_progress() {
        return Ok(());
    }
    Err(ClusterError::Blocked {
        exit: exit_code::CONFLICT,
        text: format!(
            "{group} was changed meanwhile: it has {size} nodes, {from} were expected ({status})"
        ),
    })
}

/// Returns the plan that removes the selected nodes; `from` is the size of their group before it.
pub fn removal(target: &Target, selection: &Selection<'_>, from: u32) -> Plan {
    let (cluster, cloud) = (&target.cluster, target.cloud);
    let chosen = capability(cluster.driver, cloud, Feature::ChosenNodes);
    let notes = (chosen.support == Support::Unverified).then(|| {
        format!(
            "It may remove other nodes than those that were chosen. {}",
            chosen.reason
        )
    });
    let step = node_removal(cluster, cloud, selection.group, from, &selection.nodes);
    Plan {
        steps: vec![step],
        notes: notes.into_iter().collect(),
        ..Plan::default()
    }
}

/// Names the removed nodes whose servers Nova still shows.
///
/// # Errors
/// If Magnum cannot be asked.
pub async fn report_remaining(
    connection: &Connection,
    console: &mut Console,
    target: &Target,
    removed: &[ChosenNode],
) -> Result<(), ClusterError> {
    let found = nodes_of(connection, console, target).await?;
    for node in removed {
        let is_present = found.iter().any(|one| {
            one.server.as_ref() == Some(&node.server) && one.task.as_deref() != Some("deleting")
        });
        if is_present {
            console.say(format!(
                "Nova still shows the server of {}. If it stays, the driver has removed another node: see \
                 `portico cluster nodes list {}`.",
                node.name, target.uuid
            ));
        }
    }
    Ok(())
}
