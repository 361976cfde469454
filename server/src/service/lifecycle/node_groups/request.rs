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
use portico_lifecycle::{plan::count, preflight::Level};
use uuid::Uuid;

const NOTHING_TO_CHANGE: &str = "There is nothing to change: the node group is as it is wanted.";

/// Returns the action of the requests of a change, for the journal and the audit log.
pub fn action_of(change: &NodeGroupChange) -> &'static str {
    match change {
        NodeGroupChange::Create(_) => "create_node_group",
        NodeGroupChange::Resize { .. } => "resize_node_group",
        NodeGroupChange::Settings { .. } => "change_node_group",
        NodeGroupChange::Delete { .. } => "delete_node_group",
    }
}

/// Returns what a change is about, for the journal and the audit log: the group, and what is wanted of it.
pub fn target_of(change: &NodeGroupChange) -> String {
    match change {
        NodeGroupChange::Create(new) => format!("{} with {}", new.name, count(new.nodes, "node")),
        NodeGroupChange::Resize { group, nodes, .. } => format!("{group} to {nodes}"),
        NodeGroupChange::Settings {
            group,
            min,
            max,
            labels,
            taints,
        } => {
            let bound =
                |name: &str, value: Option<u32>| value.map(|value| format!("{name} {value}"));
            let labels = labels
                .iter()
                .map(|(key, value)| format!("label {key}={value}"));
            let taints = taints.iter().map(|taint| format!("taint {taint}"));
            let wanted = bound("minimum", *min)
                .into_iter()
                .chain(bound("maximum", *max))
                .chain(labels)
                .chain(taints);
            let wanted: Vec<String> = wanted.collect();
            match wanted.is_empty() {
                true => group.clone(),
                false => format!("{group} to {}", wanted.join(", ")),
            }
        }
        NodeGroupChange::Delete { group, .. } => group.clone(),
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
        fields: planned.fields,
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

/// Returns why no request of a planned change may be sent, as a sentence.
pub fn refusal_of(planned: &Planned, change: &NodeGroupChange) -> Option<String> {
    let mut checks = planned.checks.0.iter();
    let blocking = checks.find(|one| one.level == Level::Blocks);
    let mut steps = planned.plan.steps.iter();
    let accepted: &[String] = match change {
        NodeGroupChange::Resize { accepted_pods, .. } => accepted_pods,
        _ => &[],
    };
    planned
        .problems
        .first()
        .cloned()
        .or_else(|| blocking.map(|check| check.text.clone()))
        .or_else(|| steps.find_map(|step| step.refusal.clone()))
        .or_else(|| pods::refusal(planned.pods.as_ref()?, accepted))
        .or_else(|| {
            planned
                .plan
                .steps
                .is_empty()
                .then(|| NOTHING_TO_CHANGE.to_owned())
        })
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
    if let Some(reason) = refusal_of(&planned, change) {
        return Ok(Sent::refused(reason));
    }
    let Some(first) = planned.plan.steps.first() else {
        return Ok(Sent::refused(NOTHING_TO_CHANGE));
    };
    let present = (cluster, &target.cluster);
    Ok(send_step(clients, viewer, present, &first.action, "the change").await)
}
