//! Replaces a node: a new one is added, and the old one leaves when the new one is there; in place, the old one
//! leaves first.
use super::arguments::ReplaceArgs;
use super::change::{ensure_unchanged, removal, report_remaining};
use super::drain::Drain;
use super::healing;
use super::read::nodes_of;
use super::selection::{Selection, select};
use crate::cluster::arguments::ChangeArgs;
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::cluster::part::{self, Target};
use crate::cluster::pods;
use crate::cluster::steps;
use portico_lifecycle::capabilities::{Feature, capability};
use portico_lifecycle::driver::Family;
use portico_lifecycle::placement::{Leaving, Placement};
use portico_lifecycle::plan::{Action, Impact, Plan, Step};
use portico_lifecycle::preflight::{Check, Level, ResizeContext, before_resize, healing_hint};
use portico_lifecycle::spec::NodeGroupSpec;
use std::slice;

/// Replaces a node.
///
/// # Errors
/// [`ClusterError::Blocked`] if the driver would remove another node, or a check does not permit it;
/// [`ClusterError::NotReplaced`] if the new node was added and the old one was not removed;
/// [`ClusterError::NotAdded`] if the old one was removed and no new one was added.
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
    if let Err(refused) = ensure_removed_by_choice(&target) {
        return match target.cluster.driver.family {
            Family::CapiHelm => healing::replace(connection, console, &target, args, refused).await,
            _ => Err(refused),
        };
    }
    let found = nodes_of(connection, console, &target).await?;
    let selection = select(&target, &found, slice::from_ref(&args.node), None)?;
    let placed = ensure_permitted(connection, console, &target, &selection, args.in_place).await?;
    let drain = Drain::of(connection, target.uuid, &args.drain).await?;
    let mut plan = planned(&target, &selection, args.in_place)?;
    plan.notes.push(drain.note(&args.drain));
    if let Some(code) = part::confirm(console, &target, &plan, &change)? {
        return Ok(code);
    }
    pods::accept(console, &args.pods, &placed)?;
    let replacement = Replacement {
        target: &target,
        plan: &plan,
        selection: &selection,
        drain: &drain,
        args,
    };
    replacement.carry_out(connection, console).await?;
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
        Family::CapiHelm => format!(" {}", healing_hint(cluster)),
        _ => String::new(),
    };
    Err(ClusterError::Blocked {
        exit: exit_code::UNSUPPORTED,
        text: format!(
            "the node cannot be replaced; nothing was sent\n  {}{remedy}",
            chosen.reason
        ),
    })
}

/// Checks the size between the steps: the new node needs quota, and the bounds of the group must permit it.
/// Returns which pods have no place.
async fn ensure_permitted(
    connection: &Connection,
    console: &mut Console,
    target: &Target,
    selection: &Selection<'_>,
    in_place: bool,
) -> Result<Placement, ClusterError> {
    let (group, now) = (selection.group, selection.group.node_count);
    let (nodes, quotas) = if in_place {
        (now.saturating_sub(1), Vec::new())
    } else {
        let nodes = now.saturating_add(1);
        let flavor = group.flavor.as_deref();
        let quotas = target.quotas(connection, flavor, now, nodes).await;
        (nodes, quotas)
    };
    let leaving = match selection.nodes.first() {
        Some(node) => Leaving::Replaced(node.clone()),
        None => Leaving::None,
    };
    let placed = pods::read(connection, target.uuid, &leaving).await;
    let checks = before_resize(&ResizeContext {
        cluster: &target.cluster,
        group,
        nodes,
        has_chosen_nodes: true,
        cloud: target.cloud,
        quotas: &quotas,
        pods: &placed,
    });
    let exceeds = |check: &Check| check.level == Level::Blocks && check.subject == "Quota";
    if checks.0.iter().any(exceeds) {
        console.say("With --in-place the node leaves first, which needs no quota for one more.");
    }
    part::ensure_permitted(console, &checks)?;
    Ok(placed)
}

/// Returns both steps.
fn planned(
    target: &Target,
    selection: &Selection<'_>,
    in_place: bool,
) -> Result<Plan, ClusterError> {
    let (group, now) = (selection.group, selection.group.node_count);
    if in_place {
        let mut plan = removal(target, selection, now);
        let less = now.saturating_sub(1);
        plan.steps.push(Step {
            effect: format!("Adds a node to {} ({less} to {now}).", group.name),
            action: Action::Resize {
                group: group.name.clone(),
                from: less,
                to: now,
            },
            impact: Impact::None,
            refusal: None,
        });
        return Ok(plan);
    }
    let nodes = now.saturating_add(1);
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

/// A replacement that was confirmed.
struct Replacement<'a> {
    target: &'a Target,
    plan: &'a Plan,
    selection: &'a Selection<'a>,
    drain: &'a Drain,
    args: &'a ReplaceArgs,
}

impl Replacement<'_> {
    /// Carries out the steps. What fails after the first is reported with the command that continues.
    async fn carry_out(
        &self,
        connection: &mut Connection,
        console: &mut Console,
    ) -> Result<(), ClusterError> {
        let timeout = self.args.change.waiting.timeout;
        let before = self.drain.ready_nodes().await?;
        let all = self.plan.steps.len();
        for (index, step) in self.plan.steps.iter().enumerate() {
            if matches!(step.action, Action::RemoveNodes { .. }) {
                if index > 0 {
                    let args = &self.args.drain;
                    let ready = self.drain.await_new_node(console, &before, args).await;
                    ready.map_err(|error| self.unfinished(error))?;
                }
                let left = self.leave(connection, console).await;
                left.map_err(|error| self.unfinished_at(index, error))?;
            }
            let unchanged = match index {
                0 if matches!(self.drain, Drain::Unwanted | Drain::Impossible(_)) => Ok(()),
                _ => ensure_unchanged(connection, self.target, &step.action).await,
            };
            unchanged.map_err(|error| self.unfinished_at(index, error))?;
            console.say(format!("Step {} of {all}: {}", index + 1, step.effect));
            let uuid = self.target.uuid;
            let result = steps::carry_out(connection, console, &step.action, uuid, timeout);
            result.await.map_err(|error| {
                // after it was requested, a step continues without the waiting
                let is_last = index + 1 == all;
                match is_continuing(&error) {
                    true if is_last || !self.args.in_place => error,
                    true => self.unfinished(error),
                    false => self.unfinished_at(index, error),
                }
            })?;
        }
        Ok(())
    }

    /// Drains the node, or gives the user time to do it, before it is removed.
    async fn leave(
        &self,
        connection: &mut Connection,
        console: &mut Console,
    ) -> Result<(), ClusterError> {
        let args = self.args;
        self.drain
            .run(console, &self.selection.nodes, &args.drain)
            .await?;
        let node = self.selection.nodes.first();
        let node = node.map_or(args.node.as_str(), |node| node.name.as_str());
        await_user(console, args.change.yes, node, self.drain)?;
        // draining takes its time
        let _ = connection.renew().await;
        Ok(())
    }

    /// Returns the error of a step; before the first one has ended, nothing has to be continued.
    fn unfinished_at(&self, index: usize, error: ClusterError) -> ClusterError {
        if index == 0 {
            error
        } else {
            self.unfinished(error)
        }
    }

    fn unfinished(&self, error: ClusterError) -> ClusterError {
        let (cluster, source) = (self.target.uuid.to_string(), Box::new(error));
        if self.args.in_place {
            return ClusterError::NotAdded {
                cluster,
                group: self.selection.group.name.clone(),
                source,
            };
        }
        ClusterError::NotReplaced {
            cluster,
            node: self.args.node.clone(),
            source,
        }
    }
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

/// Asks for the name of the node before it is removed, unless `yes` is set. A node that was not drained can be
/// drained meanwhile.
fn await_user(
    console: &mut Console,
    yes: bool,
    node: &str,
    drain: &Drain,
) -> Result<(), ClusterError> {
    if yes {
        return Ok(());
    }
    console.say(match drain {
        Drain::Possible(_) => format!("{node} is drained."),
        Drain::Unwanted | Drain::Impossible(_) => format!(
            "Drain the node when all others are ready in Kubernetes, with\n  kubectl drain {node} \
             --ignore-daemonsets --delete-emptydir-data"
        ),
    });
    match console.ask(&format!("Type {node} to remove it: "))? {
        Some(typed) if typed == node => Ok(()),
        Some(typed) => Err(ClusterError::Blocked {
            exit: exit_code::NEGATIVE,
            text: format!("{typed:?} is not the name of the node; it was not removed"),
        }),
        None => Err(ClusterError::Usage(
            "there is no terminal to ask: add --yes".to_owned(),
        )),
    }
}
