//! Differences that Magnum cannot remove on an existing cluster.
use super::Present;
use crate::{
    model::NodeGroup,
    spec::{ClusterDocument, DEFAULT_GROUP, NodeGroupSpec, field_of_label, request_labels},
};

/// A value that differs and cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Immutable {
    /// The field in the file.
    pub field: String,
    /// The value of the cluster; `None`: it has none.
    pub present: Option<String>,
    /// The value of the specification.
    pub desired: String,
    /// What to do instead, as a sentence.
    pub remedy: String,
}

const NEW_CLUSTER: &str = "Magnum cannot change it on an existing cluster: create a new cluster and move \
                           the workloads.";

/// Returns the differences. Only values that the specification states are compared; others are the
/// template's.
pub fn differences(present: Present<'_>, desired: &ClusterDocument) -> Vec<Immutable> {
    let cluster = present.cluster;
    let spec = &desired.spec;
    let existing = spec.network.existing.clone().unwrap_or_default();
    let size = |size: Option<u32>| size.map(|gib| gib.to_string());
    let fields = [
        (
            "spec.keypair",
            cluster.keypair.clone(),
            spec.keypair.clone(),
        ),
        (
            "spec.controlPlane.flavor",
            cluster.master_flavor.clone(),
            spec.control_plane.flavor.clone(),
        ),
        (
            "spec.controlPlane.loadBalancer",
            Some(cluster.has_load_balancer.to_string()),
            spec.control_plane.load_balancer.map(|on| on.to_string()),
        ),
        (
            "spec.network.existing.network",
            cluster.network.clone(),
            existing.network,
        ),
        (
            "spec.network.existing.subnet",
            cluster.subnet.clone(),
            existing.subnet,
        ),
        (
            "spec.network.floatingIps",
            Some(cluster.has_floating_ips.to_string()),
            spec.network.floating_ips.map(|on| on.to_string()),
        ),
        (
            "spec.dockerVolumeSize",
            size(cluster.docker_volume_size),
            size(spec.docker_volume_size),
        ),
    ];
    let mut found: Vec<Immutable> = fields
        .into_iter()
        .filter_map(|(field, present, desired)| difference(field, present, desired?, NEW_CLUSTER))
        .collect();
    // the effective labels are compared: what Magnum reports about merging is not the request's
    for (key, value) in request_labels(spec, cluster.driver.family) {
        let present = cluster.labels.get(&key).cloned();
        found.extend(difference(
            &field_of_label(&key),
            present,
            value,
            NEW_CLUSTER,
        ));
    }
    for (index, group) in spec.node_groups.iter().enumerate() {
        if let Some(existing) = existing_group(present.groups, group)
            && let Some(flavor) = &group.flavor
        {
            let remedy = if existing.is_default {
                "The flavor of the default group cannot be changed: add a node group with the other \
                 flavor and resize the default group to 0."
            } else {
                "The flavor of a node group cannot be changed: add a group with the other flavor, drain \
                 the nodes of this one, and delete it."
            };
            let field = format!("spec.nodeGroups[{index}].flavor");
            found.extend(difference(
                &field,
                existing.flavor.clone(),
                flavor.clone(),
                remedy,
            ));
        }
    }
    found
}

fn difference(
    field: &str,
    present: Option<String>,
    desired: String,
    remedy: &str,
) -> Option<Immutable> {
    // truth values of labels are written in either case
    let is_equal = present
        .as_deref()
        .is_some_and(|present| present == desired || is_same_flag(present, &desired));
    (!is_equal).then(|| Immutable {
        field: field.to_owned(),
        present,
        desired,
        remedy: remedy.to_owned(),
    })
}

fn is_same_flag(one: &str, other: &str) -> bool {
    let is_flag = |text: &str| {
        ["true", "false"]
            .iter()
            .any(|flag| text.eq_ignore_ascii_case(flag))
    };
    is_flag(one) && one.eq_ignore_ascii_case(other)
}

/// Returns the group of a specification that exists. A group that is deleted does not.
pub fn existing_group<'a>(
    groups: &'a [NodeGroup],
    desired: &NodeGroupSpec,
) -> Option<&'a NodeGroup> {
    groups.iter().find(|group| {
        let is_default = desired.name == DEFAULT_GROUP && group.is_default;
        !group.is_control_plane()
            && !group.status.is_deletion()
            && (group.name == desired.name || is_default)
    })
}
