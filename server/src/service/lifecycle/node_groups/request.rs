//! Reviews and sends a change of a node group.
use super::planning::{self, Planned};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{
            change::{Sent, send_step},
            creation::{plain_check, projection, step},
            error, own,
            pods::{self, PodSource},
            viewer::Viewer,
            words,
        },
    },
};
use portico_cluster_operations::{Clients, target::Target};
use portico_domain::panel::lifecycle::{ChangeOutcome, NodeGroupChange, NodeGroupReview};
use portico_lifecycle::preflight::Level;
use uuid::Uuid;

/// Returns what a change is about, for the journal and the audit log.
pub fn target_of(change: &NodeGroupChange) -> String {
    match change {
        NodeGroupChange::Create(new) => format!("{} with {} nodes", new.name, new.nodes),
        NodeGroupChange::Resize { group, nodes, .. } => format!("{group} to {nodes}"),
        NodeGroupChange::Settings { group, .. } | NodeGroupChange::Delete { group, .. } => {
            group.clone()
        }
    }
}

/// Returns what a change would do; changes nothing.
///
/// # Errors
/// Those of [`super::node_groups()`]. What is wrong with the change is in the answer.
pub async fn review(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    change: &NodeGroupChange,
) -> Result<NodeGroupReview, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let source = PodSource::Kubernetes {
        services,
        clusters,
        caller,
    };
    let (target, mut planned) = plan(&access.clients, &viewer, cluster, change, source).await?;
    // the state of the cluster stays while a group is deleted
    let group = target.group(change.group());
    let is_group_busy = group.is_some_and(|group| words::is_busy(&group.status));
    if let Some(failed) = group.filter(|group| group.status.is_failed())
        && planned.plan.is_empty()
        && planned.problems.is_empty()
    {
        let reason = failed.reason.clone().unwrap_or_default();
        let text = format!(
            "Magnum reports {} for {}. {reason}",
            failed.status, failed.name
        );
        planned.problems.push(text.trim_end().to_owned());
    }
    planned
        .plan
        .notes
        .extend(planning::outdated(&target, change));
    Ok(NodeGroupReview {
        size: planning::size(&target, change),
        steps: planned.plan.steps.iter().map(step).collect(),
        quotas: planned.quotas.iter().map(projection).collect(),
        checks: planned.checks.0.iter().map(plain_check).collect(),
        problems: planned.problems,
        notes: planned.plan.notes,
        pending_pods: planned.pods.map(|pods| pods.pending()).unwrap_or_default(),
        is_busy: words::is_busy(&target.cluster.status) || is_group_busy,
    })
}

/// Sends the first step of a change, if every step can be carried out.
///
/// # Errors
/// Those of [`super::node_groups()`], if nothing was sent. Refusals are in the answer.
pub async fn change(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    change: &NodeGroupChange,
) -> Result<ChangeOutcome, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let source = PodSource::Kubernetes {
        services,
        clusters,
        caller,
    };
    let sent = send(&access.clients, &viewer, cluster, change, source).await?;
    if let Some(accepted) = &sent.accepted {
        access.feeds.accepted(&viewer, cluster, accepted).await;
    }
    Ok(sent.outcome)
}

async fn plan(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    change: &NodeGroupChange,
    source: PodSource<'_>,
) -> Result<(Target, Planned), ServiceError> {
    let found = own::cluster(clients, viewer, cluster).await?;
    let target = Target::read(clients, &viewer.token, &found).await;
    let target = target.map_err(|error| error::of_service(&error))?;
    let planned = planning::plan(clients, viewer, &target, change, source).await;
    Ok((target, planned))
}

/// Sends the first step with the clients of a cloud.
///
/// # Errors
/// As [`change`].
pub async fn send(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    change: &NodeGroupChange,
    source: PodSource<'_>,
) -> Result<Sent, ServiceError> {
    if let NodeGroupChange::Delete { group, typed } = change
        && typed != group
    {
        return Ok(Sent::refused(format!(
            "The typed name is not that of the node group, {group}."
        )));
    }
    let (target, planned) = plan(clients, viewer, cluster, change, source).await?;
    if planned.problems.is_empty()
        && let Some(reason) = planning::outdated(&target, change)
    {
        return Ok(Sent::outdated(reason));
    }
    let blocking = planned
        .checks
        .0
        .iter()
        .find(|one| one.level == Level::Blocks);
    let refusal = planned
        .problems
        .first()
        .cloned()
        .or_else(|| blocking.map(|check| check.text.clone()))
        .or_else(|| {
            let mut refusals = planned.plan.steps.iter();
            refusals.find_map(|step| step.refusal.clone())
        })
        .or_else(|| {
            let accepted: &[String] = match change {
                NodeGroupChange::Resize { accepted_pods, .. } => accepted_pods,
                _ => &[],
            };
            pods::refusal(planned.pods.as_ref()?, accepted)
        });
    if let Some(reason) = refusal {
        return Ok(Sent::refused(reason));
    }
    let Some(first) = planned.plan.steps.first() else {
        return Ok(Sent::refused(
            "There is nothing to change: the node group is as it is wanted.",
        ));
    };
    let present = (cluster, &target.cluster);
    Ok(send_step(clients, viewer, present, &first.action, "the change").await)
}
