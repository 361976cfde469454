//! What the journal compares of Magnum's objects.
use crate::mapping;
use portico_lifecycle::journal::{Observation, ObservedGroup, RecordFields};
use portico_lifecycle::model;
use portico_openstack::magnum;
use std::collections::BTreeMap;

/// Maximum number of node groups in an observation.
const MAX_GROUPS: usize = 100;

/// The node groups of a cluster as they were read.
#[derive(Clone, Copy, Debug)]
pub enum ReadGroups<'a> {
    /// In a list, which has no bounds, reasons, labels and taints.
    Listed(&'a [magnum::NodeGroupSummary]),
    /// Each by itself.
    Detailed(&'a [magnum::NodeGroup]),
}

/// Returns the observation of a cluster that was read by itself; its node groups are those of
/// [`groups`], `None` if they could not be read now.
pub fn of_cluster(
    cluster: &magnum::Cluster,
    model: &model::Cluster,
    groups: Option<BTreeMap<String, ObservedGroup>>,
) -> Observation {
    let health = cluster.health_status.as_ref();
    let health = health.map(magnum::HealthStatus::as_str);
    let observation = Observation {
        groups,
        ..Observation::of(model, health, None)
    };
    complete(observation, cluster).bounded()
}

fn complete(mut observation: Observation, cluster: &magnum::Cluster) -> Observation {
    let record = &mut observation.record;
    let yes_or_no = |value: Option<bool>| value.map(|is_on| if is_on { "yes" } else { "no" });
    let volume = cluster.docker_volume_size.map(|size| size.to_string());
    for (key, value) in [
        ("keypair", cluster.keypair.as_deref()),
        ("flavor", cluster.flavor_id.as_deref()),
        ("master_flavor", cluster.master_flavor_id.as_deref()),
        ("network", cluster.fixed_network.as_deref()),
        ("subnet", cluster.fixed_subnet.as_deref()),
        ("floating_ips", yes_or_no(cluster.floating_ip_enabled)),
        ("load_balancer", yes_or_no(cluster.master_lb_enabled)),
        ("docker_volume", volume.as_deref()),
        ("driver_id", cluster.backend_id()),
        ("discovery_url", cluster.discovery_url.as_deref()),
        ("runtime", cluster.container_version.as_deref()),
    ] {
        record.value(key, value);
    }
    record.map("labels", &cluster.labels.applied);
    record.map("faults", &cluster.faults);
    record.map("health_reasons", &cluster.health_status_reason);
    record.list("node_addresses", &cluster.node_addresses);
    record.list("master_addresses", &cluster.master_addresses);
    observation
}

/// Returns what is observed of node groups, by name. One that is deleted is left out.
pub fn groups(read: ReadGroups<'_>) -> BTreeMap<String, ObservedGroup> {
    let observed: Vec<(String, bool, ObservedGroup)> = match read {
        ReadGroups::Listed(groups) => groups.iter().map(listed).collect(),
        ReadGroups::Detailed(groups) => groups.iter().map(detailed).collect(),
    };
    observed
        .into_iter()
        .filter(|(_, is_deleted, _)| !is_deleted)
        .take(MAX_GROUPS)
        .map(|(name, _, group)| (name, group))
        .collect()
}

fn listed(group: &magnum::NodeGroupSummary) -> (String, bool, ObservedGroup) {
    let mut observed = ObservedGroup::of(&mapping::group(group));
    add_summary(&mut observed.record, group);
    (group.name.clone(), is_deleted(group), observed)
}

fn detailed(group: &magnum::NodeGroup) -> (String, bool, ObservedGroup) {
    let mut observed = ObservedGroup::of(&mapping::detailed_group(group));
    let record = &mut observed.record;
    add_summary(record, &group.summary);
    let volume = group.docker_volume_size.map(|size| size.to_string());
    record.value("docker_volume", volume.as_deref());
    record.value("version", group.version.as_deref());
    record.map("labels", &group.labels.applied);
    record.list("addresses", &group.node_addresses);
    let name = group.summary.name.clone();
    (name, is_deleted(&group.summary), observed)
}

fn add_summary(record: &mut RecordFields, group: &magnum::NodeGroupSummary) {
    record.value("image", group.image_id.as_deref());
    record.value("driver_id", group.stack_id.as_deref());
}

fn is_deleted(group: &magnum::NodeGroupSummary) -> bool {
    let status = group.status.as_ref();
    status.is_some_and(|status| status.as_str() == "DELETE_COMPLETE")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Drivers;
    use serde_json::{Value, json};

    fn cluster(more: &Value) -> Observation {
        let mut fields = json!({"uuid": "900e3758-8071-430e-a8cf-5c48f428dc0e", "name": "shop",
            "status": "CREATE_COMPLETE", "project_id": "acme", "user_id": "ada-id", "keypair": "key",
            "labels": {"auto_healing_enabled": true}, "health_status": "HEALTHY",
            "health_status_reason": {"node-1.Ready": "True"}, "node_addresses": ["192.0.2.5"]});
        if let (Some(fields), Some(more)) = (fields.as_object_mut(), more.as_object()) {
            fields.extend(more.clone());
        }
        let read: magnum::Cluster = serde_json::from_value(fields).unwrap();
        let model = mapping::cluster(&read, None, &Drivers::default());
        of_cluster(&read, &model, None)
    }

    fn group(more: &Value) -> magnum::NodeGroup {
        let mut fields = json!({"uuid": "6a4bd3b1-4a5f-4b6c-8a2a-0b7f6e1a0c11", "name": "gpu",
            "role": "worker", "flavor_id": "g1", "image_id": "i1", "node_count": 2,
            "status": "CREATE_COMPLETE", "min_node_count": 1, "max_node_count": 3,
            "node_labels": {"tier": "gpu"}, "node_addresses": ["192.0.2.6"]});
        if let (Some(fields), Some(more)) = (fields.as_object_mut(), more.as_object()) {
            fields.extend(more.clone());
        }
        serde_json::from_value(fields).unwrap()
    }

    fn fields(before: &Observation, after: &Observation) -> Vec<String> {
        let all = after.differences(before).into_iter();
        all.map(|one| one.field).collect()
    }

    #[test]
    fn every_field_of_a_cluster_that_differs_is_named() {
        let before = cluster(&json!({}));
        assert_eq!(fields(&before, &cluster(&json!({}))), Vec::<String>::new());
        for (field, more) in [
            ("Owner", json!({"user_id": "grace-id"})),
            ("Keypair", json!({"keypair": null})),
            ("Flavor", json!({"flavor_id": "m1"})),
            (
                "Flavor of the control plane",
                json!({"master_flavor_id": "m1"}),
            ),
            ("Network", json!({"fixed_network": "net"})),
            ("Floating IPs", json!({"floating_ip_enabled": true})),
            (
                "Discovery URL",
                json!({"discovery_url": "https://etcd.test/1"}),
            ),
            (
                "ID of the stack or the Cluster API cluster",
                json!({"stack_id": "kube-1"}),
            ),
            (
                "Label auto_healing_enabled",
                json!({"labels": {"auto_healing_enabled": false}}),
            ),
            (
                "Health of node-1.Ready",
                json!({"health_status_reason": {"node-1.Ready": "False"}}),
            ),
            ("Failure of gpu", json!({"faults": {"gpu": "no room"}})),
            (
                "Addresses of nodes",
                json!({"node_addresses": ["192.0.2.7"]}),
            ),
            (
                "Addresses of the control plane",
                json!({"master_addresses": ["192.0.2.8"]}),
            ),
        ] {
            assert_eq!(fields(&before, &cluster(&more)), [field]);
        }
    }

    #[test]
    fn every_field_of_a_node_group_that_differs_is_named() {
        let of = |group: magnum::NodeGroup| Observation {
            groups: Some(groups(ReadGroups::Detailed(&[group]))),
            ..cluster(&json!({}))
        };
        let before = of(group(&json!({})));
        for (field, more) in [
            ("Minimum of gpu", json!({"min_node_count": 0})),
            ("Maximum of gpu", json!({"max_node_count": null})),
            ("Reason of gpu", json!({"status_reason": "no room"})),
            ("Role of gpu", json!({"role": "gpu"})),
            ("Flavor of gpu", json!({"flavor_id": "g2"})),
            ("Image of gpu", json!({"image_id": "i2"})),
            ("Kubernetes version of gpu", json!({"version": "v1.32.0"})),
            ("ID of the stack of gpu", json!({"stack_id": "s2"})),
            ("Node label tier of gpu", json!({"node_labels": {}})),
            (
                "Label kube_tag of gpu",
                json!({"labels": {"kube_tag": "v1"}}),
            ),
            (
                "Taints of gpu",
                json!({"node_taints": [{"key": "gpu", "effect": "NoSchedule"}]}),
            ),
            ("Addresses of gpu", json!({"node_addresses": ["192.0.2.7"]})),
        ] {
            assert_eq!(fields(&before, &of(group(&more))), [field]);
        }
    }

    #[test]
    fn a_list_of_groups_changes_nothing_that_it_does_not_have() {
        let detail = group(&json!({"status_reason": "no room"}));
        let summary = detail.summary.clone();
        let of = |read: ReadGroups<'_>| Observation {
            groups: Some(groups(read)),
            ..cluster(&json!({}))
        };
        let before = of(ReadGroups::Detailed(&[detail]));
        let listed = of(ReadGroups::Listed(&[summary]));
        assert_eq!(listed.differences(&before), []);
        assert_eq!(listed.completed_by(&before), before);
    }

    #[test]
    fn a_group_that_is_deleted_is_left_out() {
        let deleted = group(&json!({"status": "DELETE_COMPLETE"}));
        assert!(groups(ReadGroups::Detailed(&[deleted])).is_empty());
    }
}
