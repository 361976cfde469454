//! The node groups with what the viewer may do with each.
use crate::{
    caller::Caller,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{
            creation::{flavor_options, reading},
            error, own,
            viewer::Viewer,
            words,
        },
    },
};
use portico_cluster_operations::{settling, target::Target};
use portico_domain::{
    identity::Named,
    panel::{
        Reading,
        lifecycle::{FlavorOption, NodeGroupDetail, NodeGroups},
    },
};
use portico_lifecycle::{
    capabilities::{Feature, capability},
    model::{Cluster, NodeGroup},
    plan::group_deletion,
    rights::Call,
    status::{self, Operation},
};
use uuid::Uuid;

/// Returns the node groups of a cluster.
///
/// # Errors
/// `NotFound` if the project has no such cluster; Magnum's refusal, or that it cannot be asked.
pub async fn node_groups(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<NodeGroups, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let clients = &access.clients;
    let found = own::cluster(clients, &viewer, cluster).await?;
    let (target, flavors) = tokio::join!(
        Target::read(clients, &viewer.token, &found),
        clients.nova.flavors(&viewer.token),
    );
    let target = target.map_err(|error| error::of_service(&error))?;
    let mut gaps = Vec::new();
    if let Some(cut) = target.cut {
        gaps.push(format!("The list of node groups is incomplete: {cut}."));
    }
    let flavors = flavors.map(|listing| {
        if let Some(cut) = listing.cut {
            gaps.push(format!("The list of flavors is incomplete: {cut}."));
        }
        flavor_options(&listing.items)
    });
    Ok(view(&target, &viewer, reading(flavors), gaps))
}

/// Returns what the page shows.
pub fn view(
    target: &Target,
    viewer: &Viewer,
    flavors: Reading<Vec<FlavorOption>>,
    gaps: Vec<String>,
) -> NodeGroups {
    let cluster = &target.cluster;
    let creator = cluster.user_id.as_deref();
    let groups = target.groups.iter().filter(|group| !is_gone(group));
    let mut groups: Vec<_> = groups.map(|group| detail(group, target, viewer)).collect();
    groups.sort_by(|one, other| {
        (!one.is_control_plane, &one.name).cmp(&(!other.is_control_plane, &other.name))
    });
    let autoscaling = cluster.labels.get("auto_scaling_enabled");
    NodeGroups {
        cluster: Named {
            id: target.uuid.to_string(),
            name: cluster.name.clone(),
        },
        groups,
        creation_refusal: viewer
            .refusal(Call::CreateNodeGroup, creator)
            .or_else(|| unsupported(target, Feature::NodeGroups))
            .or_else(|| busy(cluster, Operation::CreateNodeGroup)),
        labels_refusal: unsupported(target, Feature::NodeLabelsAndTaints),
        flavors,
        default_flavor: cluster
            .flavor
            .clone()
            .or_else(|| target.template.flavor.clone()),
        is_autoscaled: autoscaling.is_some_and(|value| value.eq_ignore_ascii_case("true")),
        is_busy: words::is_busy(&cluster.status),
        needs_settling: settling::is_needed(&cluster.status),
        gaps,
    }
}

/// Returns why the state of the cluster forbids an operation.
fn busy(cluster: &Cluster, operation: Operation) -> Option<String> {
    let forbidden = status::check(&cluster.status, operation).err();
    forbidden.map(|forbidden| forbidden.reason)
}

/// Returns whether a group is only a record: Magnum shows deleted ones for a while.
pub fn is_gone(group: &NodeGroup) -> bool {
    group.status.is_deletion() && group.status.is_complete()
}

/// Returns why the driver or Magnum does not support something.
pub fn unsupported(target: &Target, feature: Feature) -> Option<String> {
    let support = capability(target.cluster.driver, target.cloud, feature);
    (!support.is_offered()).then_some(support.reason)
}

fn detail(group: &NodeGroup, target: &Target, viewer: &Viewer) -> NodeGroupDetail {
    let cluster = &target.cluster;
    let creator = cluster.user_id.as_deref();
    let resizing = if group.is_control_plane() {
        Feature::ResizeMasters
    } else {
        Feature::ResizeWorkers
    };
    let of_control_plane = group.is_control_plane().then(|| {
        "The control plane has no bounds, labels or taints that can be changed.".to_owned()
    });
    NodeGroupDetail {
        name: group.name.clone(),
        role: group.role.clone(),
        is_control_plane: group.is_control_plane(),
        flavor: group.flavor.clone(),
        node_count: group.node_count,
        min: group.bounds.map(|bounds| bounds.min),
        max: group.bounds.and_then(|bounds| bounds.max),
        labels: group.node_labels.clone(),
        taints: group.node_taints.clone(),
        health: words::tone(&group.status, None, false),
        status: words::state(&group.status),
        reason: group.reason.clone().filter(|text| !text.is_empty()),
        resize_refusal: viewer
            .refusal(Call::ResizeCluster, creator)
            .or_else(|| unsupported(target, resizing))
            .or_else(|| busy(cluster, Operation::Resize)),
        settings_refusal: viewer
            .refusal(Call::ChangeNodeGroup, creator)
            .or(of_control_plane)
            .or_else(|| unsupported(target, Feature::NodeGroups))
            .or_else(|| busy(cluster, Operation::UpdateNodeGroup)),
        deletion_refusal: viewer
            .refusal(Call::DeleteNodeGroup, creator)
            .or_else(|| unsupported(target, Feature::NodeGroups))
            .or_else(|| group_deletion(cluster, group).refusal),
    }
}
