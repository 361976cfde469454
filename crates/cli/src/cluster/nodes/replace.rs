//! Replaces a node: a new one is added, and the old one leaves when the new one is there.
use super::arguments::ReplaceArgs;
use super::change::{removal, report_remaining};
use super::read::nodes_of;
use super::selection::{Selection, select};
use crate::cluster::apply;
use crate::cluster::arguments::ChangeArgs;
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::cluster::part::{self, Target};
use crate::cluster::steps;
use portico_lifecycle::capabilities::{Feature, capability};
use portico_lifecycle::driver::Family;
use portico_lifecycle::plan::{Action, Plan};
use portico_lifecycle::preflight::{ResizeContext, before_resize};
use portico_lifecycle::spec::NodeGroupSpec;
use std::slice;

/// Replaces a node.
///
/// # Errors
/// [`ClusterError::Blocked`] if the driver would remove another node, or a check does not permit it;
/// [`ClusterError::NotReplaced`] if the new node was added and the old one was not removed.
pub async fn replace(
    connection: &mut Connection,
    console: &mut Console,
    args: &ReplaceArgs,
) -> Result<u8, ClusterError> {
    if args.change.waiting.no_wait {
        return Err(ClusterError::Usage(
            "the node leaves when the new one is there: leave out --no-wait".to_owned(),
        ));
    }
    let mut change: ChangeArgs = args.change.clone();
    change.waiting.wait = true;
    let target = Target::open(connection, console, &args.cluster, &change).await?;
    ensure_removed_by_choice(&target)?;
    let found = nodes_of(connection, console, &target).await?;
    let selection = select(&target, &found, slice::from_ref(&args.node), None)?;
    ensure_permitted(connection, console, &target, &selection).await?;
    let plan = planned(&target, &selection)?;
    let name = &target.cluster.name;
    apply::print(console, change.shared.output, name, &plan)?;
    apply::ensure_applicable(&plan, "the node cannot be replaced")?;
    if change.dry_run {
        console.say("Nothing was sent.");
        return Ok(apply::difference(&plan));
    }
    apply::confirm(console, change.yes, &plan, name)?;
    let node = selection.nodes.first().map(|node| node.name.as_str());
    let node = node.unwrap_or(&args.node);
    carry_out(connection, console, &target, &plan, node, args).await?;
    report_remaining(connection, console, &target, &selection.nodes).await?;
    Ok(0)
}

/// Refuses where the driver would remove another node than the chosen one.
fn ensure_removed_by_choice(target: &Target) -> Result<(), ClusterError> {
    let cluster = &target.cluster;
    let chosen = capability(cluster.driver, target.cloud, Feature::ChosenNodes);
    if chosen.is_offered() {
        return Ok(());
    }
    let remedy = match cluster.driver.family {
        Family::CapiHelm => {
            " Where auto-healing is on (`portico cluster heal`), drain the node and delete its server: the \
             cluster makes a new one."
        }
        _ => "",
    };
    Err(ClusterError::Blocked {
        exit: exit_code::UNSUPPORTED,
        text: format!(
            "the node cannot be replaced; nothing was sent\n  {}{remedy}",
            chosen.reason
        ),
    })
}

/// Checks the larger size: the new node needs quota, and the bounds of the group must permit it.
async fn ensure_permitted(
    connection: &Connection,
    console: &mut Console,
    target: &Target,
    selection: &Selection<'_>,
) -> Result<(), ClusterError> {
    let group = selection.group;
    let nodes = group.node_count.saturating_add(1);
    let quotas = target
        .quotas(connection, group.flavor.as_deref(), group.node_count, nodes)
        .await;
    let checks = before_resize(&ResizeContext {
        cluster: &target.cluster,
        group,
        nodes,
        has_chosen_nodes: true,
        cloud: target.cloud,
        quotas: &quotas,
        unplaceable_pods: None,
    });
    part::ensure_permitted(console, &checks)
}

/// Returns both steps.
fn planned(target: &Target, selection: &Selection<'_>) -> Result<Plan, ClusterError> {
    let group = selection.group;
    let nodes = group.node_count.saturating_add(1);
    let mut plan = target.plan_of_group(NodeGroupSpec {
        name: group.name.clone(),
        replicas: Some(nodes),
        ..NodeGroupSpec::default()
    })?;
    let removal = removal(target, selection, nodes);
    plan.steps.extend(removal.steps);
    plan.notes.extend(removal.notes);
    Ok(plan)
}

/// Carries out the steps; `node` is the name of the node that leaves. What fails after the other one was
/// added is reported with the command that continues.
async fn carry_out(
    connection: &mut Connection,
    console: &mut Console,
    target: &Target,
    plan: &Plan,
    node: &str,
    args: &ReplaceArgs,
) -> Result<(), ClusterError> {
    let timeout = args.change.waiting.timeout;
    let not_replaced = |source| ClusterError::NotReplaced {
        cluster: target.uuid.to_string(),
        node: args.node.clone(),
        source: Box::new(source),
    };
    let all = plan.steps.len();
    for (index, step) in plan.steps.iter().enumerate() {
        if index > 0 {
            await_drain(console, args.change.yes, node).map_err(not_replaced)?;
            // draining takes its time
            let _ = connection.renew().await;
            let unchanged = ensure_unchanged(connection, target, &step.action).await;
            unchanged.map_err(not_replaced)?;
        }
        console.say(format!("Step {} of {all}: {}", index + 1, step.effect));
        let result = steps::carry_out(connection, console, &step.action, target.uuid, timeout);
        result.await.map_err(|error| {
            // after it was requested, a removal continues without the waiting
            if index == 0 || is_continuing(&error) {
                error
            } else {
                not_replaced(error)
            }
        })?;
    }
    Ok(())
}

/// Refuses the removal if the group has changed since the plan was made: the request has a number of nodes,
/// so others would leave too.
async fn ensure_unchanged(
    connection: &Connection,
    target: &Target,
    action: &Action,
) -> Result<(), ClusterError> {
    let Action::RemoveNodes { group, from, .. } = action else {
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

/// Returns whether only the waiting has ended.
fn is_continuing(error: &ClusterError) -> bool {
    matches!(
        error,
        ClusterError::TimedOut { .. }
            | ClusterError::Interrupted { .. }
            | ClusterError::TokenEnded { .. }
    )
}

/// Gives the user time to drain the node: asks for its name, unless `yes` is set.
fn await_drain(console: &mut Console, yes: bool, node: &str) -> Result<(), ClusterError> {
    if yes {
        return Ok(());
    }
    console.say(format!(
        "Magnum reports the new node. When it is ready in Kubernetes, drain the old one with\n  \
         kubectl drain {node} --ignore-daemonsets --delete-emptydir-data"
    ));
    match console.ask(&format!("Type {node} to remove it: "))? {
        Some(typed) if typed == node => Ok(()),
        Some(typed) => Err(ClusterError::Usage(format!(
            "{typed:?} is not the name of the node"
        ))),
        None => Err(ClusterError::Usage(
            "there is no terminal to ask: add --yes".to_owned(),
        )),
    }
}
