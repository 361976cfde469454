//! `portico cluster delete --force-record`: the record that Portico has of a cluster that Magnum no longer has.
use crate::cluster::arguments::DeleteArgs;
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use uuid::Uuid;

/// Removes Portico's record of a cluster; nothing is sent to Magnum.
///
/// # Errors
/// [`ClusterError::Blocked`] while Magnum has the cluster, without a UUID, and if Magnum is called directly;
/// [`ClusterError::NotConfirmed`] if another UUID was typed.
pub async fn forget(
    connection: &mut Connection,
    console: &mut Console,
    args: &DeleteArgs,
) -> Result<(), ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let uuid = match magnum.cluster_named(token, &args.cluster).await {
        Ok(found) => {
            return Err(blocked(
                exit_code::CONFLICT,
                format!(
                    "Magnum still has the cluster {} ({}), so Portico keeps its record\n  Delete it with \
                     `portico cluster delete {}`",
                    found.name, found.status, found.uuid
                ),
            ));
        }
        Err(error) if error.is_not_found() => uuid(&args.cluster)?,
        Err(error) => return Err(error.into()),
    };
    let Some(session) = connection.gateway_session() else {
        return Err(blocked(
            exit_code::UNSUPPORTED,
            "the record is Portico's, and this command calls Magnum directly\n  Run `portico login URL`, and use \
             the command without --cloud and OS_*, or with --gateway URL"
                .to_owned(),
        ));
    };
    if args.dry_run.is_on() {
        console.say(format!(
            "Portico's record of {uuid} would be removed. Nothing was sent."
        ));
        return Ok(());
    }
    if !args.yes {
        let question = format!("Type {uuid} to remove Portico's record of it: ");
        match console.ask(&question)? {
            Some(typed) if typed == uuid.to_string() => {}
            Some(typed) => return Err(ClusterError::NotConfirmed { typed }),
            None => {
                return Err(ClusterError::Usage(
                    "there is no terminal to ask for the UUID, so nothing was deleted: add --yes"
                        .to_owned(),
                ));
            }
        }
    }
    let removed = session.remove_record(uuid).await?;
    console.say(match removed.existed {
        true => format!("Portico's record of {uuid} is removed."),
        false => format!("Portico has no record of {uuid}."),
    });
    Ok(())
}

fn uuid(wanted: &str) -> Result<Uuid, ClusterError> {
    wanted.parse().map_err(|_| {
        blocked(
            exit_code::NOT_FOUND,
            format!(
                "Magnum has no cluster {wanted} and forgets names: give the UUID, which `delete` shows and the \
                 audit log has"
            ),
        )
    })
}

fn blocked(exit: u8, text: String) -> ClusterError {
    ClusterError::Blocked { exit, text }
}
