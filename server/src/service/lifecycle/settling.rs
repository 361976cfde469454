//! Settles a cluster whose last change has failed: requests the present size of a node group again.
#[cfg(test)]
mod tests;

use super::{
    card::card,
    change::{Sent, send_step},
    creation::step as plan_line,
    error, own,
    viewer::Viewer,
    words,
};
use crate::{
    caller::Caller,
    service::{Services, error::ServiceError},
};
use portico_cluster_operations::{Clients, settling, target::Target};
use portico_domain::{
    identity::Named,
    panel::lifecycle::{ChangeOutcome, SettledSize, Settlement},
};
use portico_lifecycle::{
    capabilities::{Feature, capability},
    model::NodeGroup,
    rights::Call,
};
use uuid::Uuid;

const NOT_NEEDED: &str =
    "The last change of the cluster has not failed, so there is nothing to settle.";
const NO_GROUP: &str = "The cluster has no node group of workers whose size could be requested. Contact the \
                        operator of the cloud.";

/// Returns what would settle a cluster; changes nothing.
///
/// # Errors
/// `NotFound` if the project has no such cluster; else those of [`super::list()`].
pub async fn settlement(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<Settlement, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let target = read(&access.clients, &viewer, cluster).await?;
    Ok(view(&target, &viewer))
}

/// Requests the present size of a node group, if the last change of the cluster has failed, and both are those
/// that the user has reviewed.
///
/// # Errors
/// Those of [`settlement`], if nothing was sent. Refusals are in the answer.
pub async fn settle(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    reviewed: &SettledSize,
) -> Result<ChangeOutcome, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let sent = send(&access.clients, &viewer, cluster, reviewed).await?;
    if let Some(accepted) = &sent.accepted {
        access.feeds.accepted(&viewer, cluster, accepted).await;
    }
    Ok(sent.outcome)
}

async fn read(clients: &Clients, viewer: &Viewer, cluster: Uuid) -> Result<Target, ServiceError> {
    let found = own::cluster(clients, viewer, cluster).await?;
    let target = Target::read(clients, &viewer.token, &found).await;
    target.map_err(|error| error::of_service(&error))
}

/// Returns what the page shows.
fn view(target: &Target, viewer: &Viewer) -> Settlement {
    let cluster = &target.cluster;
    let group = settling::group(target);
    let refusal = refusal(target, viewer, group);
    let failure = card(cluster, &target.groups, None).filter(|_| cluster.status.is_failed());
    Settlement {
        cluster: Named {
            id: target.uuid.to_string(),
            name: cluster.name.clone(),
        },
        status: words::state(&cluster.status),
        is_needed: settling::is_needed(&cluster.status),
        failure,
        step: group.map(|group| plan_line(&settling::step(target, group))),
        size: group.map(|group| SettledSize {
            group: group.name.clone(),
            nodes: group.node_count,
        }),
        request: group.map(|group| request(target.uuid, group)),
        effects: group.map_or_else(Vec::new, |group| settling::effects(target, group)),
        refusal,
    }
}

fn request(cluster: Uuid, group: &NodeGroup) -> String {
    format!(
        "POST /clusters/{cluster}/actions/resize {{\"node_count\": {}, \"nodegroup\": \"{}\"}}",
        group.node_count, group.uuid
    )
}

/// Returns why the viewer cannot settle the cluster.
fn refusal(target: &Target, viewer: &Viewer, group: Option<&NodeGroup>) -> Option<String> {
    let cluster = &target.cluster;
    if !settling::is_needed(&cluster.status) {
        return Some(NOT_NEEDED.to_owned());
    }
    if target.cut.is_some() {
        return Some(
            "Magnum's list of node groups is incomplete, so none can be chosen. Try again in a minute."
                .to_owned(),
        );
    }
    let creator = cluster.user_id.as_deref();
    let support = || capability(cluster.driver, target.cloud, Feature::ResizeWorkers);
    viewer
        .refusal(Call::ResizeCluster, creator)
        .or_else(|| {
            let support = support();
            (!support.is_offered()).then_some(support.reason)
        })
        .or_else(|| group.is_none().then(|| NO_GROUP.to_owned()))
}

/// Returns that another group or another size would be requested than the user has reviewed, as a sentence.
fn outdated(group: &NodeGroup, reviewed: &SettledSize) -> Option<String> {
    let NodeGroup {
        name, node_count, ..
    } = group;
    let is_as_reviewed = *name == reviewed.group && *node_count == reviewed.nodes;
    (!is_as_reviewed).then(|| {
        format!(
            "Portico would request {node_count} nodes for {name} now, and not {} for {} as when it was reviewed.",
            reviewed.nodes, reviewed.group
        )
    })
}

/// Sends the request with the clients of a cloud.
///
/// # Errors
/// As [`settle`].
pub async fn send(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    reviewed: &SettledSize,
) -> Result<Sent, ServiceError> {
    let target = read(clients, viewer, cluster).await?;
    let group = settling::group(&target);
    if let Some(reason) = refusal(&target, viewer, group) {
        return Ok(Sent::refused(reason));
    }
    let Some(group) = group else {
        return Ok(Sent::refused(NO_GROUP));
    };
    if let Some(reason) = outdated(group, reviewed) {
        return Ok(Sent::outdated(reason));
    }
    let step = settling::step(&target, group);
    if let Some(reason) = step.refusal {
        return Ok(Sent::refused(reason));
    }
    let present = (cluster, &target.cluster);
    Ok(send_step(clients, viewer, present, &step.action, "the request").await)
}
