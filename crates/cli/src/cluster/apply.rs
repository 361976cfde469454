//! `portico cluster apply` and `diff`: from what exists to what a file describes.
use super::arguments::{ApplyArgs, DiffArgs, WaitArgs};
use super::connection::Connection;
use super::console::Console;
use super::create;
use super::creation::{AttemptFile, Attempts};
use super::error::ClusterError;
use super::exit_code;
use super::plan_output;
use super::protection::{self, ProtectionChange};
use super::review;
use super::shrinking;
use super::specification::Specification;
use super::steps;
use portico_cluster_operations::mapping;
use portico_lifecycle::model::{Cluster, NodeGroup, Template};
use portico_lifecycle::plan::{Impact, Plan, PlanContext, Present, plan};
use portico_lifecycle::spec::{ClusterDocument, Problem, validate};
use std::time::Duration;
use uuid::Uuid;

/// A cluster that exists, with what a plan needs.
struct Existing {
    uuid: Uuid,
    cluster: Cluster,
    groups: Vec<NodeGroup>,
}

/// Compares a cluster with a file, and returns the exit code: 0 if they agree, else 1.
///
/// # Errors
/// If the file is invalid, or Magnum cannot be asked.
pub async fn diff(
    connection: &mut Connection,
    console: &mut Console,
    args: &DiffArgs,
    specification: &Specification,
) -> Result<u8, ClusterError> {
    let document = &specification.document;
    protection::ensure_supported(connection, document)?;
    let existing = find(connection, document).await?;
    let plan = planned(connection, document, existing.as_ref(), args.prune).await?;
    let uuid = existing.as_ref().map(|existing| existing.uuid);
    let protection = protection::planned(connection, document, uuid).await?;
    let name = &document.metadata.name;
    let format = args.shared.output;
    plan_output::print_with_protection(console, format, name, &plan, protection)?;
    Ok(difference_of_all(&plan, protection))
}

/// Carries out a plan, and returns the exit code.
///
/// # Errors
/// [`ClusterError::Blocked`] if a difference cannot be removed; then nothing was changed.
/// [`ClusterError::Partly`] if a step after the first failed.
pub async fn apply(
    connection: &mut Connection,
    console: &mut Console,
    args: &ApplyArgs,
    specification: &Specification,
    attempts: &Attempts,
) -> Result<u8, ClusterError> {
    for notice in &specification.notices {
        console.say(notice);
    }
    let document = &specification.document;
    let name = &document.metadata.name;
    protection::ensure_supported(connection, document)?;
    let existing = find(connection, document).await?;
    let plan = planned(connection, document, existing.as_ref(), args.prune).await?;
    let uuid = existing.as_ref().map(|existing| existing.uuid);
    let protection = protection::planned(connection, document, uuid).await?;
    let format = args.shared.output;
    plan_output::print_with_protection(console, format, name, &plan, protection)?;
    let placed = match uuid {
        Some(uuid) => shrinking::of_plan(connection, uuid, &plan).await?,
        None => Vec::new(),
    };
    shrinking::warn(&placed, console);
    if args.dry_run.is_on() {
        if plan.can_be_applied() && existing.is_none() {
            review::ensure_permitted(&review::read(connection, document).await?)?;
        }
        return Ok(difference_of_all(&plan, protection));
    }
    if plan.is_empty() && protection.is_none() {
        console.say("Nothing to change.");
        return Ok(0);
    }
    ensure_applicable(&plan, "the file cannot be applied")?;
    let waits = waits(&args.waiting, &plan, true)?;
    confirm(console, args.yes, &plan, name)?;
    shrinking::accept(console, &args.pods, &placed)?;
    let Some(existing) = existing else {
        let review = review::read(connection, document).await?;
        review::ensure_permitted(&review)?;
        review::warn(&review, console);
        let attempt = AttemptFile::of(attempts, connection, name)?;
        if args.new_attempt {
            attempt.forget().await?;
        }
        let uuid = create::send(connection, console, &review, &attempt).await?;
        // before the wait, which may end early
        protection::carry_out_for_new(connection, console, document, uuid).await?;
        if !waits {
            return Ok(accepted(console, uuid));
        }
        let timeout = args.waiting.timeout;
        create::wait(connection, console, &review, uuid, timeout).await?;
        finish(connection, console, document, uuid, timeout).await?;
        return Ok(0);
    };
    let (uuid, timeout) = (existing.uuid, args.waiting.timeout);
    protection::carry_out(connection, console, protection, uuid, name).await?;
    let done = usize::from(protection.is_some());
    if let (false, [step]) = (waits, plan.steps.as_slice()) {
        let sent = steps::send(connection, &step.action, uuid, timeout).await;
        sent.map_err(|source| of_step(source, done, 1 + done, &step.effect))?;
        return Ok(accepted(console, uuid));
    }
    carry_out(connection, console, &plan, uuid, timeout, done).await?;
    console.say(format!("{name} is as the file describes it."));
    Ok(0)
}

/// Returns whether a command waits; `default` applies where no option states it.
///
/// # Errors
/// [`ClusterError::Usage`] if it must wait and shall not: a step begins when the one before it has ended.
pub fn waits(waiting: &WaitArgs, plan: &Plan, default: bool) -> Result<bool, ClusterError> {
    let waits = waiting.is_wanted(default);
    if !waits && plan.steps.len() > 1 {
        return Err(ClusterError::Usage(
            "each step begins when the one before it has ended: leave out --no-wait".to_owned(),
        ));
    }
    Ok(waits)
}

/// States that a request was accepted and is not waited for, and returns the exit code.
pub fn accepted(console: &mut Console, uuid: Uuid) -> u8 {
    console.say(format!(
        "Magnum has accepted the request. Watch it with `portico cluster watch {uuid}`."
    ));
    0
}

/// Carries out what remains after the creation of a cluster: further node groups, bounds, labels.
///
/// # Errors
/// As [`apply`].
pub async fn finish(
    connection: &mut Connection,
    console: &mut Console,
    document: &ClusterDocument,
    uuid: Uuid,
    timeout: Duration,
) -> Result<(), ClusterError> {
    let existing = read(connection, uuid).await?;
    let plan = planned(connection, document, Some(&existing), false).await?;
    ensure_applicable(&plan, "the file cannot be applied")?;
    carry_out(connection, console, &plan, uuid, timeout, 1).await
}

/// Carries out the steps; `done` steps came before them.
///
/// # Errors
/// [`ClusterError::Partly`] after the first step, else the error of the step.
pub async fn carry_out(
    connection: &mut Connection,
    console: &mut Console,
    plan: &Plan,
    uuid: Uuid,
    timeout: Duration,
    done: usize,
) -> Result<(), ClusterError> {
    let all = plan.steps.len() + done;
    for (index, step) in plan.steps.iter().enumerate() {
        let number = index + done;
        console.say(format!("Step {} of {all}: {}", number + 1, step.effect));
        let result = steps::carry_out(connection, console, &step.action, uuid, timeout).await;
        result.map_err(|source| of_step(source, number, all, &step.effect))?;
    }
    Ok(())
}

/// Returns the error of a step, which `done` of `all` steps came before.
fn of_step(source: ClusterError, done: usize, all: usize, stage: &str) -> ClusterError {
    match done {
        0 => source,
        done => ClusterError::Partly {
            done,
            all,
            stage: stage.to_owned(),
            source: Box::new(source),
        },
    }
}

/// Finds the cluster of a file by its name. An incomplete list is an error, and not a missing cluster.
async fn find(
    connection: &Connection,
    document: &ClusterDocument,
) -> Result<Option<Existing>, ClusterError> {
    let name = &document.metadata.name;
    match connection
        .clients
        .magnum
        .cluster_named(&connection.token, name)
        .await
    {
        Ok(found) => read(connection, found.uuid).await.map(Some),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn read(connection: &Connection, uuid: Uuid) -> Result<Existing, ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let cluster = magnum.cluster(token, uuid).await?;
    let template = connection.template_of(&cluster).await?;
    let groups = connection.detailed_groups(uuid).await?;
    Ok(Existing {
        uuid,
        cluster: connection.model(&cluster, template.as_ref()),
        groups: groups.iter().map(mapping::detailed_group).collect(),
    })
}

async fn planned(
    connection: &Connection,
    document: &ClusterDocument,
    existing: Option<&Existing>,
    prune: bool,
) -> Result<Plan, ClusterError> {
    ensure_valid(document, "the file is invalid")?;
    let wanted = &document.spec.template;
    let found = connection
        .clients
        .magnum
        .template_named(&connection.token, wanted);
    let template: Template = mapping::template(&found.await?, &connection.clients.drivers);
    let context = PlanContext {
        template: &template,
        cloud: connection.offer().await?,
        prune,
    };
    let present = existing.map(|existing| Present {
        cluster: &existing.cluster,
        groups: &existing.groups,
    });
    Ok(plan(present, document, context))
}

/// Refuses a specification in which something is wrong.
///
/// # Errors
/// [`ClusterError::Blocked`] with `refused` and every problem.
pub fn ensure_valid(document: &ClusterDocument, refused: &str) -> Result<(), ClusterError> {
    let problems = validate(document);
    if problems.is_empty() {
        return Ok(());
    }
    Err(invalid(&problems, refused))
}

/// Returns the error about what is wrong with a specification.
pub fn invalid(problems: &[Problem], refused: &str) -> ClusterError {
    let lines: Vec<_> = problems
        .iter()
        .map(|problem| format!("{}: {}", problem.field, problem.message))
        .collect();
    ClusterError::Blocked {
        exit: exit_code::INVALID,
        text: format!("{refused}\n  {}", lines.join("\n  ")),
    }
}

/// Returns the exit code of a command that shows a plan.
pub fn difference(plan: &Plan) -> u8 {
    if plan.is_empty() {
        0
    } else {
        exit_code::NEGATIVE
    }
}

/// Does the same for a plan with a change of the protection.
fn difference_of_all(plan: &Plan, protection: Option<ProtectionChange>) -> u8 {
    match protection {
        Some(_) => exit_code::NEGATIVE,
        None => difference(plan),
    }
}

/// Refuses a plan of which a part cannot be carried out. `refused` is such as "the file cannot be applied".
///
/// # Errors
/// [`ClusterError::Blocked`] with every reason.
pub fn ensure_applicable(plan: &Plan, refused: &str) -> Result<(), ClusterError> {
    if plan.can_be_applied() {
        return Ok(());
    }
    let immutable = plan.immutable.iter().map(|one| {
        let present = one.present.as_deref().unwrap_or("none");
        format!(
            "{}: {present} -> {}. {}",
            one.field, one.desired, one.remedy
        )
    });
    let steps = plan
        .steps
        .iter()
        .filter_map(|step| Some(format!("{} {}", step.effect, step.refusal.as_ref()?)));
    let reasons: Vec<_> = immutable.chain(steps).collect();
    Err(ClusterError::Blocked {
        exit: exit_code::CONFLICT,
        text: format!("{refused}; nothing was changed\n  {}", reasons.join("\n  ")),
    })
}

/// Asks before nodes are removed, unless `yes` is set.
///
/// # Errors
/// [`ClusterError::NotConfirmed`] if another name was typed; [`ClusterError::Usage`] without a terminal.
pub fn confirm(
    console: &mut Console,
    yes: bool,
    plan: &Plan,
    name: &str,
) -> Result<(), ClusterError> {
    if yes || plan.impact() < Impact::Destructive {
        return Ok(());
    }
    let question =
        format!("Nodes are removed, with the data on their disks. Type {name} to continue: ");
    match console.ask(&question)? {
        Some(typed) if typed == name => Ok(()),
        Some(typed) => Err(ClusterError::NotConfirmed { typed }),
        None => Err(ClusterError::Usage(
            "nodes would be removed, and there is no terminal to ask: add --yes".to_owned(),
        )),
    }
}
