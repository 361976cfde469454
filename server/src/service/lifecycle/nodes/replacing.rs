//! Reviews, begins and stops the replacement of a node. The old node leaves as with [`super::remove()`].
use super::{
    reading::{Found, find},
    removal::{chosen, name_of, node_with, step},
    replacement::{self, Replacement, Stage, is_running},
};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{
            change::{Sent, send_step},
            creation::{plain_check, projection, step as plan_line},
            own,
            pods::PodSource,
            viewer::Viewer,
            words,
        },
    },
};
use portico_cluster_operations::Clients;
use portico_domain::panel::lifecycle::{ChangeOutcome, NodeGroupReview};
use portico_lifecycle::{
    model::NodeGroup,
    placement::{Leaving, Placement},
    plan::{ChosenNode, Plan, node_removal},
    preflight::{Check, Checks, Level, ResizeContext, before_resize},
    quota::Projection,
    rights::Call,
    spec::NodeGroupSpec,
};
use std::slice;
use uuid::Uuid;

/// A planned replacement.
struct Planned {
    replacement: Replacement,
    /// One more node, and one less.
    plan: Plan,
    quotas: Vec<Projection>,
    checks: Checks,
}

/// Returns what the replacement of a node would do; changes nothing. `server` is the ID of its server.
///
/// # Errors
/// Those of [`super::nodes()`]. Refusals are in the answer.
pub async fn review(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    server: &str,
) -> Result<NodeGroupReview, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let found = find(&access.clients, &viewer, cluster).await?;
    let source = PodSource::Kubernetes {
        services,
        clusters,
        caller,
    };
    Ok(reviewed(&access.clients, &found, &viewer, server, source).await)
}

/// Returns what a replacement would do, from what was read.
pub async fn reviewed(
    clients: &Clients,
    found: &Found,
    viewer: &Viewer,
    server: &str,
    source: PodSource<'_>,
) -> NodeGroupReview {
    let is_busy = words::is_busy(&found.target.cluster.status);
    match plan(clients, found, viewer, server, Some(source)).await {
        Ok(planned) => NodeGroupReview {
            steps: planned.plan.steps.iter().map(plan_line).collect(),
            quotas: planned.quotas.iter().map(projection).collect(),
            checks: planned.checks.0.iter().map(plain_check).collect(),
            notes: planned.plan.notes,
            is_busy,
            ..NodeGroupReview::default()
        },
        Err(problem) => NodeGroupReview {
            problems: vec![problem],
            is_busy,
            ..NodeGroupReview::default()
        },
    }
}

/// Returns what a replacement is about, for the journal, before it is begun.
///
/// # Errors
/// Those of [`super::nodes()`]; `Invalid` if the node cannot be chosen.
pub async fn planned(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    server: &str,
) -> Result<Replacement, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let found = find(&access.clients, &viewer, cluster).await?;
    replacement_of(&found, server).map_err(ServiceError::invalid)
}

/// Begins a replacement whose request is recorded: adds a node to the group.
///
/// # Errors
/// Those of [`super::nodes()`], if nothing was sent; `Unavailable` without a journal. Refusals are in the
/// answer.
pub async fn start(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    wanted: &Replacement,
) -> Result<ChangeOutcome, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let own_request = Some(caller.request_id());
    let open = replacement::open(access, &viewer, cluster, own_request).await?;
    let sent = send(&access.clients, &viewer, cluster, wanted, open.as_ref()).await?;
    if let Some(accepted) = &sent.accepted {
        access.feeds.accepted(&viewer, cluster, accepted).await;
    }
    Ok(sent.outcome)
}

/// Sends the first step with the clients of a cloud. `open` is another replacement of the cluster.
///
/// # Errors
/// As [`start`].
pub async fn send(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    wanted: &Replacement,
    open: Option<&Replacement>,
) -> Result<Sent, ServiceError> {
    let found = find(clients, viewer, cluster).await?;
    if let Some(open) = open.filter(|open| is_running(&found, open)) {
        return Ok(Sent::refused(format!(
            "The node {} is being replaced. Finish or stop that first.",
            open.name
        )));
    }
    // nothing leaves yet: the pods are checked again before the old node is removed
    let planned = match plan(clients, &found, viewer, &wanted.server, None).await {
        Ok(planned) => planned,
        Err(problem) => return Ok(Sent::refused(problem)),
    };
    if planned.replacement != *wanted {
        return Ok(Sent::refused(format!(
            "The node group {} was changed meanwhile.",
            wanted.group
        )));
    }
    let mut checks = planned.checks.0.iter();
    let blocking = checks.find(|check| check.level == Level::Blocks);
    let mut refusals = planned.plan.steps.iter();
    let refusal = refusals
        .find_map(|step| step.refusal.clone())
        .or_else(|| blocking.map(|check| check.text.clone()));
    if let Some(reason) = refusal {
        return Ok(Sent::refused(reason));
    }
    let Some(first) = planned.plan.steps.first() else {
        return Ok(Sent::refused("There is nothing to change."));
    };
    let present = (cluster, &found.target.cluster);
    Ok(send_step(clients, viewer, present, &first.action, "the new node").await)
}

/// Returns the replacement of a cluster that was begun and not stopped, for the journal.
///
/// # Errors
/// Those of [`super::nodes()`]; `Unavailable` without a journal.
pub async fn running(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<Option<Replacement>, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    replacement::open(access, &viewer, cluster, None).await
}

/// Checks that the caller may stop a replacement; that its request is recorded stops it. Nothing is sent,
/// and the nodes stay as they are.
///
/// # Errors
/// `NotPermitted` for users who may not resize the cluster; else those of [`super::nodes()`].
pub async fn stop(services: &Services, caller: &Caller, cluster: Uuid) -> Result<(), ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let found = own::cluster(&access.clients, &viewer, cluster).await?;
    let creator = Some(found.user_id.as_str()).filter(|id| !id.is_empty());
    match viewer.refusal(Call::ResizeCluster, creator) {
        Some(refusal) => Err(ServiceError::not_permitted(refusal)),
        None => Ok(()),
    }
}

/// Returns the replacement of the node with this server.
///
/// # Errors
/// Why the node cannot be chosen, as a sentence.
pub fn replacement_of(found: &Found, server: &str) -> Result<Replacement, String> {
    let node = node_with(found, server)?;
    let (group, _) = step(found, node)?;
    Ok(Replacement {
        stage: Stage::Add,
        server: server.to_owned(),
        group: group.name.clone(),
        from: group.node_count,
        name: name_of(node, server).to_owned(),
    })
}

/// Plans the replacement of the node with this server, or returns why none can be planned. Without a source,
/// pods are not checked.
async fn plan(
    clients: &Clients,
    found: &Found,
    viewer: &Viewer,
    server: &str,
    source: Option<PodSource<'_>>,
) -> Result<Planned, String> {
    let target = &found.target;
    let creator = target.cluster.user_id.as_deref();
    if let Some(refusal) = viewer.refusal(Call::ResizeCluster, creator) {
        return Err(refusal);
    }
    let replacement = replacement_of(found, server)?;
    let node = node_with(found, server)?;
    let (group, _) = step(found, node)?;
    let nodes = group.node_count.saturating_add(1);
    let (flavor, now) = (group.flavor.as_deref(), group.node_count);
    let quotas = target.quotas(clients, &viewer.token, flavor, now, nodes);
    let leaving = Leaving::Replaced(chosen(node, server));
    let pods = async {
        match source {
            Some(source) => source.placement(target.uuid, &leaving).await,
            None => Placement::NotNeeded,
        }
    };
    let (quotas, pods) = tokio::join!(quotas, pods);
    let checks = before_resize(&ResizeContext {
        cluster: &target.cluster,
        group,
        nodes,
        has_chosen_nodes: true,
        cloud: target.cloud,
        quotas: &quotas,
        pods: &pods,
    });
    let mut plan = steps_of(found, group, &replacement)?;
    let exceeds = |check: &Check| check.subject == "Quota" && check.level == Level::Blocks;
    if checks.0.iter().any(exceeds) {
        plan.notes.push(format!(
            "Without quota for one more node, replace it in place: the node leaves first, and then one is \
             added to {}.",
            group.name
        ));
    }
    Ok(Planned {
        replacement,
        plan,
        quotas,
        checks,
    })
}

/// Returns both steps.
fn steps_of(found: &Found, group: &NodeGroup, replacement: &Replacement) -> Result<Plan, String> {
    let target = &found.target;
    let nodes = group.node_count.saturating_add(1);
    let grown = target.plan_of_group(NodeGroupSpec {
        name: group.name.clone(),
        replicas: Some(nodes),
        ..NodeGroupSpec::default()
    });
    let mut plan = grown.map_err(|problems| {
        let texts: Vec<_> = problems.into_iter().map(|one| one.message).collect();
        texts.join(" ")
    })?;
    if let Some(difference) = plan.immutable.first() {
        return Err(difference.remedy.clone());
    }
    let chosen = ChosenNode {
        server: replacement.server.clone(),
        name: replacement.name.clone(),
    };
    let (cluster, cloud) = (&target.cluster, target.cloud);
    let removal = node_removal(cluster, cloud, group, nodes, slice::from_ref(&chosen));
    plan.steps.push(removal);
    plan.notes.push(
        "Between the steps the page waits for you: drain the old node, then confirm that it is removed. You \
         may leave the page meanwhile."
            .to_owned(),
    );
    Ok(plan)
}
