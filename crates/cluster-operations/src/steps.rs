//! Sends the request of one step of a plan.
use crate::clients::Clients;
use portico_lifecycle::plan::Action;
use portico_lifecycle::spec::{DEFAULT_GROUP, NodeGroupSpec, node_group_request};
use portico_openstack::magnum::{
    MaxNodeCount, NewNodeGroup, NodeGroupChange, NodeGroupSummary, NodeTaint, Resize, Upgrade,
};
use portico_openstack::rest::{Error, ScopedToken};
use serde_json::Value;
use uuid::Uuid;

/// How many nodes an upgrade replaces at once.
const UPGRADE_BATCH_SIZE: u32 = 1;

/// A step whose request was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// Magnum refuses, or does not answer.
    #[error("{0}")]
    Service(Box<Error>),
    /// The request of the step cannot be made.
    #[error("the request is invalid: {0}")]
    Request(#[from] serde_json::Error),
    /// The size of the node group has changed since the step was planned; nothing was sent.
    #[error(
        "the node group {group} has {now} nodes now, and not {from} as when the change was reviewed"
    )]
    Resized { group: String, from: u32, now: u32 },
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        Self::Service(Box::new(error))
    }
}

/// Sends the request of a step for an existing cluster. A creation is not one: nothing is sent for it.
///
/// # Errors
/// [`StepError`].
pub async fn send(
    clients: &Clients,
    token: &ScopedToken,
    action: &Action,
    cluster: Uuid,
) -> Result<(), StepError> {
    let magnum = &clients.magnum;
    let target = Target {
        clients,
        token,
        cluster,
    };
    match action {
        Action::Create => {}
        Action::CreateGroup(group) => {
            let body: NewNodeGroup = serde_json::from_value(node_group_request(group).into())?;
            magnum.create_node_group(token, cluster, &body).await?;
        }
        Action::SetBounds { group, min, max } => {
            let change = NodeGroupChange {
                min_node_count: Some(*min),
                max_node_count: max.map(MaxNodeCount::Limit),
                ..NodeGroupChange::default()
            };
            target.change_group(group, &change).await?;
        }
        Action::SetLabelsAndTaints(group) => {
            let change = NodeGroupChange {
                node_labels: Some(group.labels.clone()),
                node_taints: Some(taints(group)?),
                ..NodeGroupChange::default()
            };
            target.change_group(&group.name, &change).await?;
        }
        Action::Resize { group, from, to } => target.resize(group, (*from, *to), &[]).await?,
        Action::RemoveNodes {
            group,
            from,
            to,
            servers,
        } => target.resize(group, (*from, *to), servers).await?,
        Action::Upgrade { template, choice } => {
            let group = choice.group.as_deref().unwrap_or(DEFAULT_GROUP);
            let upgrade = Upgrade {
                cluster_template: serde_json::from_value(Value::String(template.clone()))?,
                node_group: target.group_id(group).await?,
                max_batch_size: choice.max_batch_size.unwrap_or(UPGRADE_BATCH_SIZE),
            };
            magnum.upgrade_cluster(token, cluster, &upgrade).await?;
        }
        Action::DeleteGroup { group } => {
            let id = target.group_id(group).await?;
            magnum.delete_node_group(token, cluster, id).await?;
        }
    }
    Ok(())
}

/// The cluster whose node groups are changed.
struct Target<'a> {
    clients: &'a Clients,
    token: &'a ScopedToken,
    cluster: Uuid,
}

impl Target<'_> {
    /// Requests a size, if the group still has the one with which the step was planned: the request has
    /// the new number only, so it would undo what another client has changed meanwhile.
    async fn resize(
        &self,
        group: &str,
        (from, to): (u32, u32),
        servers: &[String],
    ) -> Result<(), StepError> {
        let found = self.group(group).await?;
        if found.node_count != from {
            return Err(StepError::Resized {
                group: group.to_owned(),
                from,
                now: found.node_count,
            });
        }
        let resize = Resize {
            node_count: to,
            nodes_to_remove: servers.to_vec(),
            node_group: Some(found.uuid),
        };
        let magnum = &self.clients.magnum;
        magnum
            .resize_cluster(self.token, self.cluster, &resize)
            .await?;
        Ok(())
    }

    async fn change_group(&self, group: &str, change: &NodeGroupChange) -> Result<(), Error> {
        let id = self.group_id(group).await?;
        let magnum = &self.clients.magnum;
        magnum
            .change_node_group(self.token, self.cluster, id, change)
            .await
    }

    async fn group_id(&self, name: &str) -> Result<Uuid, Error> {
        Ok(self.group(name).await?.uuid)
    }

    async fn group(&self, name: &str) -> Result<NodeGroupSummary, Error> {
        let magnum = &self.clients.magnum;
        magnum
            .node_group_named(self.token, self.cluster, name)
            .await
    }
}

/// The taints of the request of a node group.
fn taints(group: &NodeGroupSpec) -> Result<Vec<NodeTaint>, StepError> {
    let body: NewNodeGroup = serde_json::from_value(node_group_request(group).into())?;
    Ok(body.node_taints)
}
