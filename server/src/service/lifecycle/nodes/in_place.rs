//! The replacement of a node in place: the node leaves first, and a new one is added after it. It needs no quota
//! for one more node. Both steps are requests of the user; between them the group has one node less.
#[cfg(test)]
mod tests;

use super::{
    reading::find,
    removal,
    replacement::{self, Replacement, Stage, is_present, is_running},
    replacing::{self, replacement_of},
};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{
            change::{Sent, send_step},
            pods::PodSource,
            viewer::Viewer,
        },
    },
};
use portico_cluster_operations::{Clients, target::Target};
use portico_domain::panel::lifecycle::{ChangeOutcome, NodeRemoval};
use portico_lifecycle::{
    model::NodeGroup,
    placement::Placement,
    plan::Action,
    preflight::{Level, ResizeContext, before_resize},
    rights::Call,
    spec::NodeGroupSpec,
};
use uuid::Uuid;

/// Returns what a replacement in place is about, for the journal, before it is begun.
///
/// # Errors
/// As [`replacing::planned`].
pub async fn planned_in_place(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    server: &str,
) -> Result<Replacement, ServiceError> {
    let planned = replacing::planned(services, caller, cluster, server).await?;
    Ok(planned.at(Stage::Leave))
}

/// Begins a replacement in place whose request is recorded: removes the node, as [`super::remove()`] does.
///
/// # Errors
/// Those of [`super::nodes()`], if nothing was sent; `Unavailable` without a journal. Refusals are in the
/// answer.
pub async fn start_in_place(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    (node, wanted): (&NodeRemoval, &Replacement),
) -> Result<ChangeOutcome, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let own_request = Some(caller.request_id());
    let open = replacement::open(access, &viewer, cluster, own_request).await?;
    let source = PodSource::Kubernetes {
        services,
        clusters,
        caller,
    };
    let what = (node, wanted, open.as_ref());
    let sent = leave(&access.clients, &viewer, cluster, what, source).await?;
    if let Some(accepted) = &sent.accepted {
        access.feeds.accepted(&viewer, cluster, accepted).await;
    }
    Ok(sent.outcome)
}

/// Sends the removal with the clients of a cloud; the last of three is another replacement of the cluster.
///
/// # Errors
/// As [`start_in_place`].
pub async fn leave(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    (node, wanted, open): (&NodeRemoval, &Replacement, Option<&Replacement>),
    source: PodSource<'_>,
) -> Result<Sent, ServiceError> {
    if !node.others.is_empty() {
        return Ok(Sent::refused("One node is replaced at a time.".to_owned()));
    }
    let found = find(clients, viewer, cluster).await?;
    if let Some(open) = open.filter(|open| is_running(&found, open)) {
        return Ok(Sent::refused(format!(
            "The node {} is being replaced. Finish or stop that first.",
            open.name
        )));
    }
    let planned = replacement_of(&found, &node.server);
    match planned.map(|planned| planned.at(Stage::Leave)) {
        Ok(planned) if planned == *wanted => {}
        Ok(_) => return Ok(changed(&wanted.group)),
        Err(problem) => return Ok(Sent::refused(problem)),
    }
    removal::send(clients, viewer, cluster, node, source).await
}

fn changed(group: &str) -> Sent {
    Sent::refused(format!("The node group {group} was changed meanwhile."))
}

/// Returns the request for the new node of the replacement in place that was begun, for the journal.
///
/// # Errors
/// `NotFound` if none was begun; `Unavailable` without a journal.
pub async fn planned_refill(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<Replacement, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let open = replacement::open(access, &viewer, cluster, None).await?;
    let open = open.filter(Replacement::is_in_place);
    let open = open.ok_or_else(|| {
        ServiceError::not_found("No node of this cluster is being replaced in place.")
    })?;
    Ok(open.at(Stage::Refill))
}

/// Adds the new node of a replacement in place, whose request is recorded.
///
/// # Errors
/// Those of [`super::nodes()`], if nothing was sent. Refusals are in the answer.
pub async fn refill(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    wanted: &Replacement,
) -> Result<ChangeOutcome, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let sent = add(&access.clients, &viewer, cluster, wanted).await?;
    if let Some(accepted) = &sent.accepted {
        access.feeds.accepted(&viewer, cluster, accepted).await;
    }
    Ok(sent.outcome)
}

/// Sends the request for the new node with the clients of a cloud.
///
/// # Errors
/// As [`refill`].
pub async fn add(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    wanted: &Replacement,
) -> Result<Sent, ServiceError> {
    let found = find(clients, viewer, cluster).await?;
    let target = &found.target;
    let creator = target.cluster.user_id.as_deref();
    if let Some(refusal) = viewer.refusal(Call::ResizeCluster, creator) {
        return Ok(Sent::refused(refusal));
    }
    if is_present(&found, &wanted.server) {
        return Ok(Sent::refused(format!(
            "{} has not left yet: its server is still there.",
            wanted.name
        )));
    }
    // absolute, so that a request that is repeated adds no second node
    let group = target.group(&wanted.group);
    let group = group.filter(|group| group.node_count.saturating_add(1) == wanted.from);
    let Some(group) = group else {
        return Ok(changed(&wanted.group));
    };
    match action(clients, viewer, target, group, wanted.from).await {
        Ok(action) => {
            let present = (cluster, &target.cluster);
            Ok(send_step(clients, viewer, present, &action, "the new node").await)
        }
        Err(reason) => Ok(Sent::refused(reason)),
    }
}

/// Returns the request for a group with so many nodes, or why it is not permitted.
async fn action(
    clients: &Clients,
    viewer: &Viewer,
    target: &Target,
    group: &NodeGroup,
    nodes: u32,
) -> Result<Action, String> {
    let (flavor, now) = (group.flavor.as_deref(), group.node_count);
    let quotas = target.quotas(clients, &viewer.token, flavor, now, nodes);
    let quotas = quotas.await;
    let checks = before_resize(&ResizeContext {
        cluster: &target.cluster,
        group,
        nodes,
        has_chosen_nodes: false,
        cloud: target.cloud,
        quotas: &quotas,
        pods: &Placement::NotNeeded,
    });
    let mut checks = checks.0.into_iter();
    if let Some(check) = checks.find(|check| check.level == Level::Blocks) {
        return Err(check.text);
    }
    let grown = target.plan_of_group(NodeGroupSpec {
        name: group.name.clone(),
        replicas: Some(nodes),
        ..NodeGroupSpec::default()
    });
    let plan = grown.map_err(|problems| {
        let texts: Vec<_> = problems.into_iter().map(|one| one.message).collect();
        texts.join(" ")
    })?;
    if let Some(difference) = plan.immutable.first() {
        return Err(difference.remedy.clone());
    }
    let mut steps = plan.steps.into_iter();
    let step = steps
        .next()
        .ok_or_else(|| "There is nothing to change.".to_owned())?;
    match step.refusal {
        Some(refusal) => Err(refusal),
        None => Ok(step.action),
    }
}
