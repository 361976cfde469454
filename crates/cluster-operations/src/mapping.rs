//! Magnum's objects as the engine has them.
use crate::drivers::Drivers;
use portico_lifecycle::driver::{Driver, DriverHints};
use portico_lifecycle::journal::StackEvent;
use portico_lifecycle::model::{Bounds, Cluster, NodeGroup, Template};
use portico_lifecycle::status::Status;
use portico_openstack::{heat, magnum};
use std::collections::BTreeMap;

/// Maximum length of the ID of an event, in bytes; they are UUIDs.
const MAX_EVENT_ID_BYTES: usize = 64;

/// Returns a template.
pub fn template(template: &magnum::ClusterTemplate, drivers: &Drivers) -> Template {
    let hints = DriverHints {
        template_driver: template.driver.as_deref(),
        distribution: template.cluster_distro.as_deref(),
        labels: Some(&template.labels),
        ..DriverHints::default()
    };
    let is_set = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    Template {
        uuid: template.uuid.to_string(),
        name: template.name.clone(),
        driver: Driver::detect(&hints, drivers.families()),
        flavor: template.flavor_id.clone(),
        master_flavor: template.master_flavor_id.clone(),
        keypair: template.keypair_id.clone(),
        network: template.fixed_network.clone(),
        subnet: template.fixed_subnet.clone(),
        has_floating_ips: template.floating_ip_enabled,
        has_load_balancer: template.master_lb_enabled,
        docker_volume_size: template.docker_volume_size,
        labels: template.labels.clone(),
        image_version: None,
        distribution: template.cluster_distro.clone(),
        network_driver: template.network_driver.clone(),
        is_hidden: template.hidden,
        has_proxy: is_set(&template.http_proxy)
            || is_set(&template.https_proxy)
            || is_set(&template.insecure_registry),
    }
}

/// Returns a cluster; its template, where it is known, names the driver.
pub fn cluster(
    cluster: &magnum::Cluster,
    template: Option<&magnum::ClusterTemplate>,
    drivers: &Drivers,
) -> Cluster {
    let hints = DriverHints {
        template_driver: template.and_then(|template| template.driver.as_deref()),
        cluster_id: cluster.backend_id(),
        cluster_name: Some(&cluster.name),
        distribution: template.and_then(|template| template.cluster_distro.as_deref()),
        labels: Some(&cluster.labels.applied),
    };
    Cluster {
        uuid: cluster.uuid.to_string(),
        name: cluster.name.clone(),
        template: cluster.cluster_template_id.clone(),
        driver: Driver::detect(&hints, drivers.families()),
        status: Status::parse(cluster.status.as_str()),
        reason: cluster.status_reason.clone(),
        faults: cluster.faults.clone(),
        health: cluster.health_status_reason.clone(),
        keypair: cluster.keypair.clone(),
        flavor: cluster.flavor_id.clone(),
        master_flavor: cluster.master_flavor_id.clone(),
        master_count: cluster.master_count.unwrap_or_default(),
        network: cluster.fixed_network.clone(),
        subnet: cluster.fixed_subnet.clone(),
        has_floating_ips: cluster.floating_ip_enabled.unwrap_or_default(),
        has_load_balancer: cluster.master_lb_enabled.unwrap_or_default(),
        docker_volume_size: cluster.docker_volume_size,
        labels: cluster.labels.applied.clone(),
        driver_id: cluster.backend_id().map(str::to_owned),
        api_address: cluster.api_address.clone(),
        version: cluster.coe_version.clone(),
        user_id: Some(cluster.user_id.clone()).filter(|id| !id.is_empty()),
        created_at: cluster.created_at,
        updated_at: cluster.updated_at,
    }
}

/// Returns a node group without what a list does not have: bounds, and labels and taints of its nodes.
pub fn group(group: &magnum::NodeGroupSummary) -> NodeGroup {
    NodeGroup {
        uuid: group.uuid.to_string(),
        name: group.name.clone(),
        role: group.role.clone(),
        is_default: group.is_default,
        flavor: group.flavor_id.clone(),
        node_count: group.node_count,
        bounds: None,
        status: Status::parse(group.status.as_ref().map_or("", magnum::Status::as_str)),
        reason: None,
        node_labels: BTreeMap::new(),
        node_taints: Vec::new(),
    }
}

/// Returns a node group that was read by itself.
pub fn detailed_group(detail: &magnum::NodeGroup) -> NodeGroup {
    let taint = |taint: &magnum::NodeTaint| {
        let value = taint.value.as_ref().map(|value| format!("={value}"));
        let value = value.unwrap_or_default();
        format!("{}{value}:{}", taint.key, taint.effect.as_str())
    };
    NodeGroup {
        bounds: Some(Bounds {
            min: detail.min_node_count,
            max: detail.max_node_count,
        }),
        reason: detail.status_reason.clone(),
        node_labels: detail.node_labels.clone(),
        node_taints: detail.node_taints.iter().map(taint).collect(),
        ..group(&detail.summary)
    }
}

/// Returns an event of a cluster's stack; `None` if Heat does not write when it happened, or with an ID that
/// is not one.
pub fn stack_event(event: &heat::Event) -> Option<StackEvent> {
    let of_stack = event.stack_name().unwrap_or_default();
    let event = StackEvent {
        id: event.id.clone(),
        at: event.at?,
        stack: of_stack.to_owned(),
        resource: event.resource_name.clone(),
        physical_id: event.physical_resource_id.clone(),
        status: event.status.clone(),
        reason: Some(event.reason.clone()),
    };
    Some(event.limited()).filter(|event| (1..=MAX_EVENT_ID_BYTES).contains(&event.id.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_lifecycle::driver::{Evidence, Family};
    use serde_json::json;

    const TEMPLATE: &str = "f7617ea3-8060-4dd2-9479-e441e1a40404";

    fn drivers() -> Drivers {
        let families = BTreeMap::from([("k8s_acme".to_owned(), Family::CapiHelm)]);
        Drivers::new(families, None)
    }

    fn of_driver(name: &str) -> magnum::ClusterTemplate {
        let template = json!({"uuid": TEMPLATE, "name": "small", "coe": "kubernetes", "public": true,
            "project_id": "acme", "driver": name, "cluster_distro": "fedora-coreos", "labels": {}});
        serde_json::from_value(template).unwrap()
    }

    fn made() -> magnum::Cluster {
        // the ID is that of a stack, as a Heat driver has it
        let cluster = json!({"uuid": "900e3758-8071-430e-a8cf-5c48f428dc0e", "name": "shop",
            "status": "CREATE_COMPLETE", "project_id": "acme", "user_id": "ada",
            "cluster_template_id": TEMPLATE, "labels": {},
            "stack_id": "6e03b504-1563-4dc7-9cda-eaeed562ea66"});
        serde_json::from_value(cluster).unwrap()
    }

    fn concluded(name: &str, drivers: &Drivers) -> [(Family, Evidence); 2] {
        let named = of_driver(name);
        let of_template = template(&named, drivers).driver;
        let of_cluster = cluster(&made(), Some(&named), drivers).driver;
        [of_template, of_cluster].map(|driver| (driver.family, driver.evidence))
    }

    #[test]
    fn a_configured_driver_has_its_family_in_templates_and_clusters() {
        let configured = (Family::CapiHelm, Evidence::Configuration);
        assert_eq!(concluded("k8s_acme", &drivers()), [configured; 2]);
    }

    #[test]
    fn a_driver_that_is_not_configured_is_recognised_by_its_name() {
        let unknown = (Family::Unknown, Evidence::TemplateField);
        assert_eq!(concluded("k8s_acme", &Drivers::default()), [unknown; 2]);
        let cluster_api = (Family::ClusterApi, Evidence::TemplateField);
        let found = concluded("k8s_cluster_api_ubuntu_v1", &drivers());
        assert_eq!(found, [cluster_api; 2]);
    }

    #[test]
    fn a_template_has_its_fields_and_whether_a_proxy_is_set() {
        let with = |more: serde_json::Value| {
            let mut fields = json!({"uuid": TEMPLATE, "name": "small", "flavor_id": "m1",
                "master_flavor_id": "m2", "keypair_id": "key", "fixed_network": "net",
                "fixed_subnet": "subnet", "network_driver": "calico", "docker_volume_size": 20,
                "floating_ip_enabled": true, "master_lb_enabled": true, "hidden": true,
                "labels": {"kube_tag": "v1.31.0", "monitoring_enabled": true}});
            if let (Some(fields), Some(more)) = (fields.as_object_mut(), more.as_object()) {
                fields.extend(more.clone());
            }
            let read: magnum::ClusterTemplate = serde_json::from_value(fields).unwrap();
            template(&read, &Drivers::default())
        };
        let plain = with(json!({}));
        assert_eq!(plain.uuid, TEMPLATE);
        assert_eq!(plain.flavor.as_deref(), Some("m1"));
        assert_eq!(plain.master_flavor.as_deref(), Some("m2"));
        assert_eq!(plain.keypair.as_deref(), Some("key"));
        assert_eq!(plain.network.as_deref(), Some("net"));
        assert_eq!(plain.subnet.as_deref(), Some("subnet"));
        assert_eq!(plain.network_driver.as_deref(), Some("calico"));
        assert_eq!(plain.docker_volume_size, Some(20));
        assert!(plain.has_floating_ips && plain.has_load_balancer && plain.is_hidden);
        // Magnum's values of labels are of several types
        assert_eq!(plain.labels["monitoring_enabled"], "true");
        assert_eq!(
            plain
                .kubernetes_version()
                .map(|version| version.to_string()),
            Some("v1.31.0".to_owned())
        );
        assert!(!plain.has_proxy);
        assert!(!with(json!({"http_proxy": "", "https_proxy": null})).has_proxy);
        for key in ["http_proxy", "https_proxy", "insecure_registry"] {
            assert!(with(json!({key: "proxy.test:3128"})).has_proxy, "{key}");
        }
    }

    #[test]
    fn a_cluster_has_its_state_and_the_name_that_its_driver_uses() {
        let mut read = made();
        read.status = magnum::Status::from("UPDATE_FAILED".to_owned());
        read.status_reason = Some("quota".to_owned());
        read.coe_version = Some("v1.31.0".to_owned());
        read.master_count = None;
        read.floating_ip_enabled = Some(true);
        let found = cluster(&read, None, &Drivers::default());
        assert!(found.status.is_failed());
        assert_eq!(found.reason.as_deref(), Some("quota"));
        assert_eq!(found.version.as_deref(), Some("v1.31.0"));
        assert_eq!((found.template.as_str(), found.master_count), (TEMPLATE, 0));
        assert!(found.has_floating_ips && !found.has_load_balancer);
        assert_eq!(found.user_id.as_deref(), Some("ada"));
        let stack = "6e03b504-1563-4dc7-9cda-eaeed562ea66";
        assert_eq!(found.driver_id.as_deref(), Some(stack));
        // since microversion 1.13
        read.cluster_id = Some("kube-33oj6".to_owned());
        read.user_id = String::new();
        let found = cluster(&read, None, &Drivers::default());
        assert_eq!(found.driver_id.as_deref(), Some("kube-33oj6"));
        assert_eq!(found.user_id, None);
    }

    #[test]
    fn the_driver_of_a_cluster_without_a_template_is_concluded_from_its_id() {
        let of_id = |id: Option<&str>| {
            let mut read = made();
            read.stack_id = id.map(str::to_owned);
            let driver = cluster(&read, None, &Drivers::default()).driver;
            (driver.family, driver.evidence)
        };
        let stack = Some("6e03b504-1563-4dc7-9cda-eaeed562ea66");
        assert_eq!(of_id(stack), (Family::Heat, Evidence::ClusterId));
        let cluster_api = (Family::ClusterApi, Evidence::ClusterId);
        assert_eq!(of_id(Some("kube-33oj6")), cluster_api);
        let helm = (Family::CapiHelm, Evidence::ClusterId);
        assert_eq!(of_id(Some("shop-jde45zh7dcud")), helm);
        assert_eq!(of_id(None), (Family::Unknown, Evidence::Nothing));
    }

    #[test]
    fn only_a_group_that_was_read_by_itself_has_bounds_labels_and_taints() {
        let read = json!({"uuid": "6a4bd3b1-4a5f-4b6c-8a2a-0b7f6e1a0c11", "name": "gpu",
            "role": "worker", "is_default": false, "flavor_id": "g1", "node_count": 2,
            "status": "UPDATE_FAILED", "status_reason": "no room", "min_node_count": 1,
            "max_node_count": 4, "node_labels": {"gpu": "yes"},
            "node_taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"},
                {"key": "slow", "effect": "PreferNoSchedule"}]});
        let listed: magnum::NodeGroupSummary = serde_json::from_value(read.clone()).unwrap();
        let listed = group(&listed);
        assert_eq!((listed.name.as_str(), listed.node_count), ("gpu", 2));
        assert_eq!((listed.bounds, listed.reason.as_deref()), (None, None));
        assert!(listed.node_labels.is_empty() && listed.node_taints.is_empty());
        assert!(listed.status.is_failed());
        let detail: magnum::NodeGroup = serde_json::from_value(read).unwrap();
        let detail = detailed_group(&detail);
        let bounds = Bounds {
            min: 1,
            max: Some(4),
        };
        assert_eq!(detail.bounds, Some(bounds));
        assert_eq!(detail.reason.as_deref(), Some("no room"));
        assert_eq!(detail.node_labels["gpu"], "yes");
        let taints = ["gpu=yes:NoSchedule", "slow:PreferNoSchedule"];
        assert_eq!(detail.node_taints, taints);
        assert_eq!((detail.uuid, detail.flavor), (listed.uuid, listed.flavor));
    }

    #[test]
    fn a_group_that_was_just_requested_has_no_known_state() {
        let read = json!({"uuid": "6a4bd3b1-4a5f-4b6c-8a2a-0b7f6e1a0c11", "name": "gpu"});
        let listed: magnum::NodeGroupSummary = serde_json::from_value(read).unwrap();
        let status = group(&listed).status;
        assert!(!status.is_in_progress() && !status.is_complete() && !status.is_failed());
    }

    #[test]
    fn an_event_of_a_stack_has_a_time_and_an_id() {
        let links = json!([{"rel": "stack", "href": "http://h:8004/v1/p/stacks/k8s-cluster/6e03"}]);
        let read = |id: &str, time: &str| {
            let event = json!({"id": id, "event_time": time, "resource_name": "api_lb",
                "physical_resource_id": "k8s-cluster-api_lb-x", "links": links,
                "resource_status": "CREATE_IN_PROGRESS", "resource_status_reason": ""});
            stack_event(&serde_json::from_value(event).unwrap())
        };
        let event = read("e1", "2026-11-28T06:47:05Z").unwrap();
        assert_eq!(
            (event.stack.as_str(), event.resource.as_str()),
            ("k8s-cluster", "api_lb")
        );
        assert_eq!(event.physical_id.as_deref(), Some("k8s-cluster-api_lb-x"));
        assert_eq!(event.reason, None);
        assert_eq!(read("e1", "yesterday"), None);
        assert_eq!(read(&"e".repeat(65), "2026-11-28T06:47:05Z"), None);
    }
}
