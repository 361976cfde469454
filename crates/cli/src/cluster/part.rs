//! Changes of one part of an existing cluster, such as a node group: the part is planned as a file that
//! describes nothing else would be.
use super::apply;
use super::arguments::ChangeArgs;
use super::checks;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::follow::{Following, follow};
use super::plan_output;
use super::steps;
use portico_cluster_operations::target;
use portico_lifecycle::capabilities::{Feature, capability};
use portico_lifecycle::model::NodeGroup;
use portico_lifecycle::plan::Plan;
use portico_lifecycle::preflight::Checks;
use portico_lifecycle::progress::Followed;
use portico_lifecycle::quota::Projection;
use portico_lifecycle::spec::{NodeGroupSpec, Problem};
use portico_lifecycle::status::{self, Operation};
use portico_openstack::magnum;
use std::ops::Deref;
use std::time::Duration;

/// A cluster to change, with the errors of a command.
pub struct Target(target::Target);

impl Deref for Target {
    type Target = target::Target;

    fn deref(&self) -> &target::Target {
        &self.0
    }
}

impl Target {
    /// Reads a cluster by its name or UUID. If another change of it is running and the command waits, it
    /// waits until that has finished.
    ///
    /// # Errors
    /// If the cluster does not exist or has an ambiguous name, or Magnum cannot be asked; how waiting
    /// ended.
    pub async fn open(
        connection: &mut Connection,
        console: &mut Console,
        wanted: &str,
        args: &ChangeArgs,
    ) -> Result<Self, ClusterError> {
        let target = Self::read_named(connection, wanted).await?;
        let status = &target.cluster.status;
        let is_waiting = args.waiting.is_wanted(false) && !args.dry_run.is_on();
        if !is_waiting || !status.is_in_progress() || status.is_deletion() {
            return Ok(target);
        }
        console.say(format!(
            "Another change of {} is running ({status}); waiting until it has finished.",
            target.cluster.name
        ));
        settle(connection, console, &target, args.waiting.timeout).await?;
        let magnum = &connection.clients.magnum;
        let found = magnum.cluster(&connection.token, target.uuid).await?;
        Self::read(connection, &found).await
    }

    /// Reads a cluster by its name or UUID.
    ///
    /// # Errors
    /// If the cluster does not exist or has an ambiguous name, or Magnum cannot be asked.
    pub async fn read_named(connection: &Connection, wanted: &str) -> Result<Self, ClusterError> {
        let magnum = &connection.clients.magnum;
        let found = magnum.cluster_named(&connection.token, wanted).await?;
        Self::read(connection, &found).await
    }

    async fn read(connection: &Connection, found: &magnum::Cluster) -> Result<Self, ClusterError> {
        let read = target::Target::read(&connection.clients, &connection.token, found).await?;
        match read.cut {
            Some(cut) => Err(ClusterError::Incomplete(cut)),
            None => Ok(Self(read)),
        }
    }

    /// Returns a node group by its name or UUID.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] if the cluster has no such group.
    pub fn group(&self, wanted: &str) -> Result<&NodeGroup, ClusterError> {
        self.0.group(wanted).ok_or_else(|| {
            let names: Vec<_> = self.groups.iter().map(|one| one.name.as_str()).collect();
            ClusterError::Blocked {
                exit: exit_code::NOT_FOUND,
                text: format!(
                    "{} has no node group {wanted}; it has {}",
                    self.cluster.name,
                    names.join(", ")
                ),
            }
        })
    }

    /// Returns the steps to one node group as it is wanted.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] with what is wrong with the specification.
    pub fn plan_of_group(&self, group: NodeGroupSpec) -> Result<Plan, ClusterError> {
        self.0.plan_of_group(group).map_err(invalid)
    }

    /// Returns the step to a number of control plane nodes.
    ///
    /// # Errors
    /// As [`Self::plan_of_group`].
    pub fn plan_of_control_plane(&self, nodes: u32) -> Result<Plan, ClusterError> {
        self.0.plan_of_control_plane(nodes).map_err(invalid)
    }

    /// Compares what more nodes of a flavor need with the quotas; nothing if the flavor is not known.
    pub async fn quotas(
        &self,
        connection: &Connection,
        flavor: Option<&str>,
        now: u32,
        wanted: u32,
    ) -> Vec<Projection> {
        let (clients, token) = (&connection.clients, &connection.token);
        self.0.quotas(clients, token, flavor, now, wanted).await
    }
}

fn invalid(problems: Vec<Problem>) -> ClusterError {
    apply::invalid(&problems, "the change is invalid")
}

/// Shows a plan, asks where nodes are removed, and carries it out; returns the exit code.
///
/// # Errors
/// [`ClusterError::Blocked`] if it cannot be carried out: nothing was sent then. How a step ended.
pub async fn carry_out(
    connection: &mut Connection,
    console: &mut Console,
    target: &Target,
    plan: &Plan,
    args: &ChangeArgs,
) -> Result<u8, ClusterError> {
    if let Some(code) = confirm(console, target, plan, args)? {
        return Ok(code);
    }
    send(connection, console, target, plan, args).await
}

/// Shows a plan, and asks where nodes are removed; returns the exit code if nothing is to be sent.
///
/// # Errors
/// [`ClusterError::Blocked`] if it cannot be carried out, or the user does not confirm it.
pub fn confirm(
    console: &mut Console,
    target: &Target,
    plan: &Plan,
    args: &ChangeArgs,
) -> Result<Option<u8>, ClusterError> {
    let name = &target.cluster.name;
    plan_output::print(console, args.shared.output, name, plan)?;
    apply::ensure_applicable(plan, "the change cannot be made")?;
    if args.dry_run.is_on() {
        console.say("Nothing was sent.");
        return Ok(Some(apply::difference(plan)));
    }
    if plan.steps.is_empty() {
        console.say("Nothing to change.");
        return Ok(Some(0));
    }
    apply::confirm(console, args.yes, plan, name)?;
    Ok(None)
}

/// Carries out a plan that was confirmed; returns the exit code.
///
/// # Errors
/// [`ClusterError::Usage`] if it must wait and shall not; how a step ended.
pub async fn send(
    connection: &mut Connection,
    console: &mut Console,
    target: &Target,
    plan: &Plan,
    args: &ChangeArgs,
) -> Result<u8, ClusterError> {
    let Some(first) = plan.steps.first() else {
        return Ok(0);
    };
    let waiting = &args.waiting;
    if apply::waits(waiting, plan, plan.steps.len() > 1)? {
        apply::carry_out(connection, console, plan, target.uuid, waiting.timeout, 0).await?;
        return Ok(0);
    }
    let uuid = target.uuid;
    steps::send(connection, &first.action, uuid, waiting.timeout).await?;
    Ok(apply::accepted(console, uuid))
}

/// Refuses what the cluster's driver or the cloud's Magnum does not support.
///
/// # Errors
/// [`ClusterError::Blocked`] with the first reason.
pub fn ensure_supported(target: &Target, features: &[Feature]) -> Result<(), ClusterError> {
    let capabilities = features
        .iter()
        .map(|feature| capability(target.cluster.driver, target.cloud, *feature));
    let mut refused = capabilities.filter(|capability| !capability.is_offered());
    match refused.next() {
        Some(capability) => Err(ClusterError::Blocked {
            exit: exit_code::UNSUPPORTED,
            text: format!(
                "the change cannot be made; nothing was sent\n  {}",
                capability.reason
            ),
        }),
        None => Ok(()),
    }
}

/// Refuses an operation that the cluster's state forbids.
///
/// # Errors
/// [`ClusterError::Blocked`] with the state and the next step.
pub fn ensure_state(target: &Target, operation: Operation) -> Result<(), ClusterError> {
    status::check(&target.cluster.status, operation).map_err(|forbidden| ClusterError::Blocked {
        exit: exit_code::CONFLICT,
        text: forbidden.reason,
    })
}

/// Waits until the running change of a cluster has ended, also with a failure: another change may be its
/// remedy.
async fn settle(
    connection: &mut Connection,
    console: &mut Console,
    target: &Target,
    timeout: Duration,
) -> Result<(), ClusterError> {
    let Some(followed) = Followed::running(&target.cluster, None) else {
        return Ok(());
    };
    let following = Following {
        uuid: target.uuid,
        name: target.cluster.name.clone(),
        family: target.cluster.driver.family,
        followed,
        versions: None,
        since: connection.clock.now(),
        timeout,
        has_json_lines: false,
    };
    match follow(connection, console, following).await {
        Ok(()) | Err(ClusterError::Failed(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Refuses a change that the checks do not permit, and reports warnings.
///
/// # Errors
/// [`ClusterError::Blocked`] with all reasons and the exit code of the first.
pub fn ensure_permitted(console: &mut Console, found: &Checks) -> Result<(), ClusterError> {
    checks::ensure(found, "the change cannot be made")?;
    checks::warn(found, console);
    Ok(())
}
