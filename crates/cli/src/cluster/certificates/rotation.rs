//! Rotates the authorities and the credential of a cluster.
use super::arguments::{CredentialCommand, RotateArgs};
use crate::cluster::apply;
use crate::cluster::arguments::{ChangeArgs, DryRunArgs, WaitArgs};
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::cluster::follow::{Following, follow};
use crate::cluster::part::{self, Target};
use portico_lifecycle::authority::{RotationRefusal, check_rotation};
use portico_lifecycle::capabilities::Feature;
use portico_lifecycle::model::Cluster;
use portico_lifecycle::progress::{Followed, Goal, Mark};
use portico_lifecycle::status::Operation;

/// Replaces the authorities of a cluster, and returns the exit code.
///
/// # Errors
/// [`ClusterError::Blocked`] if the driver cannot, or the state forbids it; [`ClusterError::NotConfirmed`] if
/// another name was typed; Magnum's refusal; how the rotation ended.
pub async fn authorities(
    connection: &mut Connection,
    console: &mut Console,
    args: &RotateArgs,
) -> Result<u8, ClusterError> {
    let target = open(
        connection,
        console,
        &args.cluster,
        &args.waiting,
        args.dry_run,
    )
    .await?;
    check_rotation(&target.cluster, target.cloud, target.has_template).map_err(refused)?;
    let name = &target.cluster.name;
    console.say(format!(
        "The authorities of {name} are replaced: every certificate and kubeconfig with one stops working at \
         once."
    ));
    if args.dry_run.is_on() {
        console.say("Nothing was sent.");
        return Ok(exit_code::NEGATIVE);
    }
    if !args.yes {
        confirm(
            console,
            &format!("Type {name} to rotate its authorities: "),
            name,
        )?;
    }
    let before = Mark::of(&target.cluster);
    let magnum = &connection.clients.magnum;
    magnum
        .rotate_authorities(&connection.token, target.uuid)
        .await?;
    finish(
        connection,
        console,
        &target,
        Operation::RotateCa,
        before,
        &args.waiting,
    )
    .await
}

fn refused(refusal: RotationRefusal) -> ClusterError {
    match refusal {
        RotationRefusal::Unsupported(reason) => ClusterError::Blocked {
            exit: exit_code::UNSUPPORTED,
            text: format!("the authorities cannot be rotated; nothing was sent\n  {reason}"),
        },
        RotationRefusal::State(text) => ClusterError::Blocked {
            exit: exit_code::CONFLICT,
            text,
        },
    }
}

/// Asks for the name of the cluster.
fn confirm(console: &mut Console, question: &str, name: &str) -> Result<(), ClusterError> {
    match console.ask(question)? {
        Some(typed) if typed == name => Ok(()),
        Some(typed) => Err(ClusterError::NotConfirmed { typed }),
        None => Err(ClusterError::Usage(
            "there is no terminal to ask for the name of the cluster: add --yes".to_owned(),
        )),
    }
}

/// Rotates the credential of a cluster, and returns the exit code.
///
/// # Errors
/// [`ClusterError::Blocked`] if the driver cannot; [`ClusterError::NotConfirmed`] if another name was typed;
/// Magnum's refusal; how the rotation ended.
pub async fn credential(
    command: &CredentialCommand,
    connection: &mut Connection,
    console: &mut Console,
) -> Result<u8, ClusterError> {
    let CredentialCommand::Rotate(args) = command;
    let target = open(
        connection,
        console,
        &args.cluster,
        &args.waiting,
        args.dry_run,
    )
    .await?;
    part::ensure_supported(&target, &[Feature::RotateCredential])?;
    part::ensure_state(&target, Operation::RotateCredential)?;
    let name = &target.cluster.name;
    console.say(passing(&target.cluster));
    if args.dry_run.is_on() {
        console.say("Nothing was sent.");
        return Ok(exit_code::NEGATIVE);
    }
    if !args.yes {
        confirm(
            console,
            &format!("Type {name} to rotate its credential: "),
            name,
        )?;
    }
    let before = Mark::of(&target.cluster);
    let magnum = &connection.clients.magnum;
    magnum
        .rotate_credential(&connection.token, target.uuid)
        .await?;
    let operation = Operation::RotateCredential;
    finish(
        connection,
        console,
        &target,
        operation,
        before,
        &args.waiting,
    )
    .await
}

/// Returns whose cluster it is now and then, as sentences.
fn passing(cluster: &Cluster) -> String {
    let owner = match &cluster.user_id {
        Some(id) if !id.is_empty() => format!("the user {id}"),
        _ => "its owner".to_owned(),
    };
    format!(
        "The cluster {} gets a new credential for the cloud. Ownership passes from {owner} to you: its \
         certificates can then be read by you, and by that user no longer, unless it is you.",
        cluster.name
    )
}

async fn open(
    connection: &mut Connection,
    console: &mut Console,
    wanted: &str,
    waiting: &WaitArgs,
    dry_run: DryRunArgs,
) -> Result<Target, ClusterError> {
    let change = ChangeArgs {
        dry_run,
        waiting: waiting.clone(),
        ..ChangeArgs::default()
    };
    Target::open(connection, console, wanted, &change).await
}

/// Waits for a rotation, if that is wanted.
async fn finish(
    connection: &mut Connection,
    console: &mut Console,
    target: &Target,
    operation: Operation,
    before: Mark,
    waiting: &WaitArgs,
) -> Result<u8, ClusterError> {
    let uuid = target.uuid;
    if !waiting.is_wanted(false) {
        return Ok(apply::accepted(console, uuid));
    }
    let following = Following {
        uuid,
        name: target.cluster.name.clone(),
        family: target.cluster.driver.family,
        versions: None,
        followed: Followed::Change {
            operation,
            before,
            goal: Goal::Unseen,
        },
        since: connection.clock.now(),
        timeout: waiting.timeout,
        has_json_lines: false,
    };
    follow(connection, console, following).await?;
    console.say(format!(
        "{} has new secrets: get its kubeconfig again.",
        target.cluster.name
    ));
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_44_the_owner_before_is_named() {
        let uuid = "900e3758-8071-430e-a8cf-5c48f428dc0e".to_owned();
        let mut cluster = Cluster::deleted(uuid, "shop".to_owned());
        cluster.user_id = Some("u-ana".to_owned());
        let text = passing(&cluster);
        assert!(
            text.contains("Ownership passes from the user u-ana to you"),
            "{text}"
        );
        cluster.user_id = None;
        assert!(passing(&cluster).contains("from its owner to you"));
    }
}
