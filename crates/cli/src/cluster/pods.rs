//! The pods of nodes that leave: whether the remaining nodes have room for them. Read with the user's own
//! access to the cluster; what they may not read is not checked, and the reason is shown.
use super::arguments::PodArgs;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::kubernetes::{self, Kubernetes};
use portico_lifecycle::placement::{Leaving, Placement, names, placement};
use std::time::Duration;
use uuid::Uuid;

/// How long to wait for the access to a cluster and for its API server.
const PATIENCE: Duration = Duration::from_secs(20);

/// Opens the API of a cluster with the user's own access.
///
/// # Errors
/// Why there is no access, as a clause.
pub async fn open(connection: &Connection, cluster: Uuid) -> Result<Kubernetes, String> {
    let found = tokio::time::timeout(PATIENCE, kubernetes::find(connection, cluster)).await;
    let access = match found {
        Ok(Ok(access)) => access,
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err("the access to the cluster was not found in time".to_owned()),
    };
    Kubernetes::new(&access).map_err(|error| error.to_string())
}

/// Returns which pods have no place when nodes leave; nothing is read if none leaves.
pub async fn read(connection: &Connection, cluster: Uuid, leaving: &Leaving) -> Placement {
    if *leaving == Leaving::None {
        return Placement::NotNeeded;
    }
    let api = match open(connection, cluster).await {
        Ok(api) => api,
        Err(reason) => return Placement::NotChecked(format!("{reason}.")),
    };
    let reading = async {
        tokio::join!(
            api.list("/api/v1/nodes", &[]),
            api.list("/api/v1/pods", &[])
        )
    };
    match tokio::time::timeout(PATIENCE, reading).await {
        Ok((Ok(nodes), Ok(pods))) => placement(&nodes, &pods, leaving),
        Ok((Err(error), _) | (_, Err(error))) => Placement::NotChecked(format!("{error}.")),
        Err(_) => Placement::NotChecked("the API server did not respond in time.".to_owned()),
    }
}

/// Asks whether pods may stay pending, unless there are none or the option accepts it. `--yes` does not.
///
/// # Errors
/// [`ClusterError::Blocked`] if the user does not accept it; [`ClusterError::Usage`] without a terminal.
pub fn accept(
    console: &mut Console,
    args: &PodArgs,
    found: &Placement,
) -> Result<(), ClusterError> {
    let pending = found.pending();
    if pending.is_empty() || args.accept_pending_pods {
        return Ok(());
    }
    let pods = names(&pending);
    let question = format!("{pods} may stay pending. Type accept to continue: ");
    match console.ask(&question)? {
        Some(typed) if typed == "accept" => Ok(()),
        Some(_) => Err(ClusterError::Blocked {
            exit: exit_code::NEGATIVE,
            text: format!("{pods} may stay pending, which was not accepted; nothing was sent"),
        }),
        None => Err(ClusterError::Usage(format!(
            "{pods} may stay pending, and there is no terminal to ask: add --accept-pending-pods"
        ))),
    }
}
