//! Carries out one step of a plan, and waits until Magnum has finished it.
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::follow::{Following, follow};
use portico_cluster_operations::{steps, upgrades};
use portico_lifecycle::plan::{Action, version_change};
use portico_lifecycle::progress::Followed;
use portico_lifecycle::version::VersionChange;
use portico_openstack::magnum::Cluster;
use std::time::Duration;
use uuid::Uuid;

/// Sends the request of a step for an existing cluster, and follows it.
///
/// # Errors
/// Magnum's refusal, or how the operation ended.
pub async fn carry_out(
    connection: &mut Connection,
    console: &mut Console,
    action: &Action,
    uuid: Uuid,
    timeout: Duration,
) -> Result<(), ClusterError> {
    let following = send(connection, action, uuid, timeout).await?;
    follow(connection, console, following).await
}

/// Sends the request of a step for an existing cluster, and returns what to follow.
///
/// # Errors
/// Magnum's refusal.
pub async fn send(
    connection: &Connection,
    action: &Action,
    uuid: Uuid,
    timeout: Duration,
) -> Result<Following, ClusterError> {
    // what it was before the request, to see whether that has an effect
    let found = connection
        .clients
        .magnum
        .cluster(&connection.token, uuid)
        .await?;
    let cluster = connection.model(&found, None);
    let Some(followed) = Followed::of_step(action, &cluster) else {
        return Err(ClusterError::Usage("the cluster exists already".to_owned()));
    };
    let versions = versions(connection, &found, action).await;
    steps::send(&connection.clients, &connection.token, action, uuid).await?;
    Ok(Following {
        uuid,
        name: cluster.name.clone(),
        family: cluster.driver.family,
        followed,
        versions,
        since: connection.clock.now(),
        timeout,
        has_json_lines: false,
    })
}

/// Returns the versions between which an upgrade changes the nodes; `None` for other steps, and if they are
/// not known.
async fn versions(
    connection: &Connection,
    found: &Cluster,
    action: &Action,
) -> Option<VersionChange> {
    let Action::Upgrade { template, choice } = action else {
        return None;
    };
    let present = connection.template_of(found).await.ok()?;
    let cluster = connection.model(found, present.as_ref());
    let templates = upgrades::templates(&connection.clients, &connection.token).await;
    let templates = templates.ok()?.items;
    let target = templates.iter().find(|one| one.uuid == *template)?;
    version_change(&cluster, target, choice)
}
