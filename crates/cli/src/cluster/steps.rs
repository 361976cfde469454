//! Carries out one step of a plan, and waits until Magnum has finished it.
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::follow::{Following, follow};
use jiff::Timestamp;
use portico_cluster_operations::mapping;
use portico_lifecycle::plan::Action;
use portico_lifecycle::progress::Followed;
use portico_lifecycle::spec::{DEFAULT_GROUP, NodeGroupSpec, node_group_request};
use portico_openstack::magnum::{
    MaxNodeCount, NewNodeGroup, NodeGroupChange, NodeTaint, Resize, Upgrade,
};
use serde_json::Value;
use std::time::Duration;
use uuid::Uuid;

/// How many nodes an upgrade replaces at once.
const UPGRADE_BATCH_SIZE: u32 = 1;

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
    // what it was before the request, to see whether that has an effect
    let found = connection
        .clients
        .magnum
        .cluster(&connection.token, uuid)
        .await?;
    let cluster = mapping::cluster(&found, None);
    let Some(followed) = Followed::of_step(action, &cluster) else {
        return Err(ClusterError::Usage("the cluster exists already".to_owned()));
    };
    send(connection, action, uuid).await?;
    let following = Following {
        uuid,
        name: cluster.name.clone(),
        family: cluster.driver.family,
        followed,
        since: Timestamp::now(),
        timeout,
        has_json_lines: false,
    };
    follow(connection, console, following).await
}

async fn send(connection: &Connection, action: &Action, uuid: Uuid) -> Result<(), ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    match action {
        // a creation is no change of a cluster
        Action::Create => {}
        Action::CreateGroup(group) => {
            let body: NewNodeGroup = read(node_group_request(group).into())?;
            magnum.create_node_group(token, uuid, &body).await?;
        }
        Action::SetBounds { group, min, max } => {
            let change = NodeGroupChange {
                min_node_count: Some(*min),
                max_node_count: max.map(MaxNodeCount::Limit),
                ..NodeGroupChange::default()
            };
            change_group(connection, uuid, group, &change).await?;
        }
        Action::SetLabelsAndTaints(group) => {
            let change = NodeGroupChange {
                node_labels: Some(group.labels.clone()),
                node_taints: Some(taints(group)?),
                ..NodeGroupChange::default()
            };
            change_group(connection, uuid, &group.name, &change).await?;
        }
        Action::Resize { group, to, .. } => {
            let resize = Resize {
                node_count: *to,
                nodes_to_remove: Vec::new(),
                node_group: Some(group_id(connection, uuid, group).await?),
            };
            magnum.resize_cluster(token, uuid, &resize).await?;
        }
        Action::Upgrade { template } => {
            let upgrade = Upgrade {
                cluster_template: read(Value::String(template.clone()))?,
                node_group: group_id(connection, uuid, DEFAULT_GROUP).await?,
                max_batch_size: UPGRADE_BATCH_SIZE,
            };
            magnum.upgrade_cluster(token, uuid, &upgrade).await?;
        }
        Action::DeleteGroup { group } => {
            let id = group_id(connection, uuid, group).await?;
            magnum.delete_node_group(token, uuid, id).await?;
        }
    }
    Ok(())
}

async fn change_group(
    connection: &Connection,
    uuid: Uuid,
    group: &str,
    change: &NodeGroupChange,
) -> Result<(), ClusterError> {
    let id = group_id(connection, uuid, group).await?;
    let magnum = &connection.clients.magnum;
    let sent = magnum.change_node_group(&connection.token, uuid, id, change);
    Ok(sent.await?)
}

async fn group_id(connection: &Connection, uuid: Uuid, name: &str) -> Result<Uuid, ClusterError> {
    let magnum = &connection.clients.magnum;
    let found = magnum
        .node_group_named(&connection.token, uuid, name)
        .await?;
    Ok(found.uuid)
}

/// The taints of the request of a node group.
fn taints(group: &NodeGroupSpec) -> Result<Vec<NodeTaint>, ClusterError> {
    let body: NewNodeGroup = read(node_group_request(group).into())?;
    Ok(body.node_taints)
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ClusterError> {
    serde_json::from_value(value)
        .map_err(|error| ClusterError::Usage(format!("the request is invalid: {error}")))
}
