//! The replacement of a node by auto-healing, where the driver ignores which nodes are chosen: the node is
//! drained, the user deletes its server, and the cluster makes a new one.
use super::arguments::ReplaceArgs;
use super::drain::Drain;
use super::read::nodes_of;
use super::selection::select;
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::cluster::part::{self, Target};
use crate::cluster::plan_output;
use crate::cluster::pods;
use portico_lifecycle::placement::Leaving;
use portico_lifecycle::plan::Plan;
use portico_lifecycle::preflight::{HealingContext, before_healing};
use std::slice;

/// Drains a node, and names what replaces it.
///
/// # Errors
/// `refused` without access to the cluster; [`ClusterError::Blocked`] if auto-healing is off, too many nodes are
/// unhealthy, or the node cannot be drained.
pub async fn replace(
    connection: &Connection,
    console: &mut Console,
    target: &Target,
    args: &ReplaceArgs,
    refused: ClusterError,
) -> Result<u8, ClusterError> {
    let drain = Drain::of(connection, target.uuid, &args.drain).await?;
    if !matches!(drain, Drain::Possible(_)) {
        return Err(refused);
    }
    let found = nodes_of(connection, console, target).await?;
    let selection = select(target, &found, slice::from_ref(&args.node), None)?;
    let Some(node) = selection.nodes.first() else {
        return Err(refused);
    };
    let (nodes, leaving) = drain.nodes_with(node).await?;
    let checks = before_healing(&HealingContext {
        cluster: &target.cluster,
        nodes: Ok(&nodes),
        leaving: &leaving,
    });
    part::ensure_permitted(console, &checks)?;
    let placed = pods::read(connection, target.uuid, &Leaving::Replaced(node.clone())).await;
    let name = &target.cluster.name;
    let server = &node.server;
    let plan = Plan {
        notes: vec![
            drain.note(&args.drain),
            format!(
                "Then delete its server with `openstack server delete {server}`: this driver of Magnum cannot \
                 remove a chosen node, and auto-healing makes a new one."
            ),
        ],
        ..Plan::default()
    };
    plan_output::print(console, args.change.shared.output, name, &plan)?;
    if args.change.dry_run.is_on() {
        console.say("Nothing was sent.");
        return Ok(exit_code::NEGATIVE);
    }
    if !args.change.yes {
        confirm(console, &node.name)?;
    }
    pods::accept(console, &args.pods, &placed)?;
    drain.run(console, &selection.nodes, &args.drain).await?;
    console.say(format!(
        "{} is drained. Delete its server now: `openstack server delete {server}`. See `portico cluster nodes \
         list {}` for the new one.",
        node.name, target.uuid
    ));
    Ok(0)
}

fn confirm(console: &mut Console, node: &str) -> Result<(), ClusterError> {
    match console.ask(&format!("Type {node} to drain it: "))? {
        Some(typed) if typed == node => Ok(()),
        Some(typed) => Err(ClusterError::Blocked {
            exit: exit_code::NEGATIVE,
            text: format!("{typed:?} is not the name of the node; it was not drained"),
        }),
        None => Err(ClusterError::Usage(
            "there is no terminal to ask: add --yes".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn another_name_is_a_negative_answer() {
        let typing = |typed: &'static str| Console {
            out: Box::new(io::sink()),
            err: Box::new(io::sink()),
            read_line: Some(Box::new(move || Ok(format!("{typed}\n")))),
            is_terminal: true,
        };
        assert!(confirm(&mut typing("shop-node-0"), "shop-node-0").is_ok());
        let error = confirm(&mut typing("shop-node-1"), "shop-node-0").unwrap_err();
        assert_eq!(error.exit_code(), exit_code::NEGATIVE);
    }
}
