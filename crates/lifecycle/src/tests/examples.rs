//! Objects that several tests use.
use crate::{
    driver::{Driver, Evidence, Family},
    labels::Labels,
    model::Template,
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
