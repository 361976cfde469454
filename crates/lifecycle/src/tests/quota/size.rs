//! Sizes from specifications.
use std::collections::BTreeMap;

use super::SMALL;
use crate::{
    driver::Family,
    labels::merge,
    quota::{ClusterSize, FlavorSize, Resource, UnknownFlavor, creation, size},
    spec::{ClusterDocument, effective, request_labels},
    tests::{
        examples::{labels, template},
        spec::shop,
    },
};

const MEDIUM: FlavorSize = FlavorSize {
    vcpus: 4,
    ram_mib: 8192,
};

fn shop_size(family: Family) -> Result<ClusterSize, UnknownFlavor> {
    let mut template = template("k8s-1.32-b", "v1.32.0");
    template.labels.extend(labels(&[
        ("boot_volume_size", "20"),
        ("etcd_volume_size", "5"),
    ]));
    let document = ClusterDocument::read(shop()).unwrap();
    let document = effective(&document, &template).document;
    let merged = merge(&template.labels, &request_labels(&document.spec, family));
    let flavors = BTreeMap::from([
        ("m1.small".to_owned(), SMALL),
        ("m1.medium".to_owned(), MEDIUM),
        ("m1.large".to_owned(), MEDIUM),
    ]);
    size(&document, &merged, &flavors, family)
}

#[test]
fn a_specification_has_a_size() {
    let change = creation(&shop_size(Family::ClusterApi).unwrap());
    // 3 masters, 3 workers, 1 of the group gpu
    assert_eq!(change[&Resource::Instances], 7);
    assert_eq!(change[&Resource::Cores], 3 * 4 + 3 * 2 + 4);
    assert_eq!(change[&Resource::Volumes], 7 + 3);
    assert_eq!(change[&Resource::VolumeGib], 7 * 20 + 3 * 5);
    assert_eq!(change[&Resource::FloatingIps], 1);
    assert_eq!(change[&Resource::LoadBalancers], 1);
}

#[test]
fn a_flavor_without_a_size_is_named() {
    let document = ClusterDocument::read(shop()).unwrap();
    let unknown = size(&document, &labels(&[]), &BTreeMap::new(), Family::Heat);
    assert_eq!(unknown, Err(UnknownFlavor("m1.medium".to_owned())));
}

#[test]
fn the_address_of_the_api_follows_label_and_driver() {
    let mut document = ClusterDocument::read(shop()).unwrap();
    document.spec.node_groups.clear();
    let flavors = BTreeMap::from([("m1.medium".to_owned(), MEDIUM)]);
    for (label, family, expected) in [
        (Some("false"), Family::ClusterApi, false),
        (Some("True"), Family::Heat, true),
        (None, Family::ClusterApi, true),
        (None, Family::Heat, false),
    ] {
        let labels =
            label.map(|value| ("master_lb_floating_ip_enabled".to_owned(), value.to_owned()));
        let labels = labels.into_iter().collect();
        let size = size(&document, &labels, &flavors, family).unwrap();
        assert_eq!(size.is_public, expected, "{label:?} {family:?}");
    }
}
