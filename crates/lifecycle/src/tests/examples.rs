//! Objects that several tests use.
use std::collections::BTreeMap;

use crate::{
    driver::{ApiVersion, Cloud, Driver, Evidence, Family},
    labels::Labels,
    model::{Bounds, Cluster, NodeGroup, Template},
    status::Status,
};

pub(super) const NEWEST: Cloud = Cloud {
    api: ApiVersion(14),
    release: Some(23),
};

pub(super) fn driver(family: Family) -> Driver {
    Driver {
        family,
        evidence: Evidence::TemplateField,
    }
}

pub(super) fn labels(entries: &[(&str, &str)]) -> Labels {
    entries
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

pub(super) fn template(name: &str, version: &str) -> Template {
    Template {
        uuid: format!("uuid-of-{name}"),
        name: name.to_owned(),
        driver: driver(Family::ClusterApi),
        flavor: Some("m1.small".to_owned()),
        master_flavor: Some("m1.medium".to_owned()),
        keypair: Some("ops".to_owned()),
        network: None,
        subnet: None,
        has_floating_ips: false,
        has_load_balancer: false,
        docker_volume_size: None,
        labels: labels(&[("kube_tag", version)]),
        image_version: None,
        distribution: Some("ubuntu".to_owned()),
        network_driver: Some("calico".to_owned()),
        is_hidden: false,
        has_proxy: false,
    }
}

/// A cluster of one control plane node, made from `template("k8s-1.31", "v1.31.0")`.
pub(super) fn cluster(status: &str) -> Cluster {
    Cluster {
        uuid: "900e3758-8071-430e-a8cf-5c48f428dc0e".to_owned(),
        name: "shop".to_owned(),
        template: "uuid-of-k8s-1.31".to_owned(),
        driver: driver(Family::ClusterApi),
        status: Status::parse(status),
        reason: None,
        faults: BTreeMap::new(),
        health: BTreeMap::new(),
        keypair: Some("ops".to_owned()),
        flavor: Some("m1.small".to_owned()),
        master_flavor: Some("m1.medium".to_owned()),
        master_count: 1,
        network: None,
        subnet: None,
        has_floating_ips: false,
        has_load_balancer: true,
        docker_volume_size: None,
        labels: labels(&[("kube_tag", "v1.31.0")]),
        driver_id: Some("kube-x1y2z".to_owned()),
        api_address: Some("https://192.0.2.10:6443".to_owned()),
        version: Some("v1.31.0".to_owned()),
        user_id: Some("ada".to_owned()),
        created_at: None,
        updated_at: None,
    }
}

pub(super) fn workers(name: &str, node_count: u32) -> NodeGroup {
    NodeGroup {
        uuid: format!("uuid-of-{name}"),
        name: name.to_owned(),
        role: "worker".to_owned(),
        is_default: name == "default-worker",
        flavor: Some("m1.small".to_owned()),
        node_count,
        bounds: Some(Bounds::default()),
        status: Status::parse("CREATE_COMPLETE"),
        reason: None,
        node_labels: BTreeMap::new(),
        node_taints: Vec::new(),
    }
}

pub(super) fn masters(node_count: u32) -> NodeGroup {
    NodeGroup {
        role: "master".to_owned(),
        is_default: true,
        flavor: Some("m1.medium".to_owned()),
        ..workers("default-master", node_count)
    }
}
