//! What is offered with which driver.
use std::collections::BTreeMap;

use crate::{
    capabilities::{FEATURES, Feature, Support, capability},
    driver::{ApiVersion, Cloud, Driver, DriverHints, Evidence, Family},
};

const NEWEST: Cloud = Cloud {
    api: ApiVersion(14),
    release: None,
};

fn driver(family: Family) -> Driver {
    Driver {
        family,
        evidence: Evidence::TemplateField,
    }
}

fn support(family: Family, feature: Feature) -> Support {
    capability(driver(family), NEWEST, feature).support
}

fn detect(hints: &DriverHints<'_>) -> (Family, Evidence) {
    let driver = Driver::detect(hints, &BTreeMap::new());
    (driver.family, driver.evidence)
}

#[test]
fn the_template_names_the_driver() {
    for (name, family) in [
        ("k8s_fedora_coreos_v1", Family::Heat),
        ("k8s_capi_helm_v1", Family::CapiHelm),
        ("k8s_cluster_api_ubuntu_v1", Family::ClusterApi),
        ("k8s_cluster_api_flatcar", Family::ClusterApi),
        ("k8s_sim_v1", Family::Unknown),
    ] {
        let hints = DriverHints {
            template_driver: Some(name),
            // not conclusive beside the name
            cluster_id: Some("6e03b504-1563-4dc7-9cda-eaeed562ea66"),
            ..DriverHints::default()
        };
        assert_eq!(detect(&hints), (family, Evidence::TemplateField), "{name}");
    }
}

#[test]
fn the_configuration_precedes_the_names() {
    let configured = BTreeMap::from([("k8s_sim_v1".to_owned(), Family::Complete)]);
    let hints = DriverHints {
        template_driver: Some("k8s_sim_v1"),
        ..DriverHints::default()
    };
    let driver = Driver::detect(&hints, &configured);
    assert_eq!(driver.family, Family::Complete);
    assert_eq!(driver.evidence, Evidence::Configuration);
}

#[test]
fn older_clouds_are_recognised_by_the_id_of_the_cluster() {
    for (id, family) in [
        ("6e03b504-1563-4dc7-9cda-eaeed562ea66", Family::Heat),
        ("kube-bvufq", Family::ClusterApi),
        ("my-shop-jde45zh7dcud", Family::CapiHelm),
    ] {
        let hints = DriverHints {
            cluster_id: Some(id),
            cluster_name: Some("My_shop"),
            ..DriverHints::default()
        };
        assert_eq!(detect(&hints), (family, Evidence::ClusterId), "{id}");
    }
    let hints = DriverHints {
        cluster_id: Some("something-else"),
        cluster_name: Some("shop"),
        ..DriverHints::default()
    };
    assert_eq!(detect(&hints).0, Family::Unknown);
}

#[test]
fn templates_of_older_clouds_are_recognised_by_label_or_distribution() {
    let labels = BTreeMap::from([("capi_helm_chart_version".to_owned(), "0.4.0".to_owned())]);
    let hints = DriverHints {
        labels: Some(&labels),
        distribution: Some("ubuntu"),
        ..DriverHints::default()
    };
    assert_eq!(detect(&hints), (Family::CapiHelm, Evidence::Label));
    let hints = DriverHints {
        distribution: Some("fedora-coreos"),
        ..DriverHints::default()
    };
    assert_eq!(detect(&hints), (Family::Heat, Evidence::Distribution));
    // two drivers use Ubuntu
    let hints = DriverHints {
        distribution: Some("ubuntu"),
        ..DriverHints::default()
    };
    assert_eq!(detect(&hints), (Family::Unknown, Evidence::Nothing));
}

#[test]
fn the_ca_is_never_rotated_where_that_damages_the_record() {
    for family in [Family::CapiHelm, Family::ClusterApi, Family::Unknown] {
        let rotation = capability(driver(family), NEWEST, Feature::RotateCa);
        assert_eq!(rotation.support, Support::Damages, "{family:?}");
        assert!(!rotation.is_offered());
        assert!(rotation.reason.contains("record"), "{}", rotation.reason);
    }
    assert_eq!(support(Family::Heat, Feature::RotateCa), Support::Works);
    assert_eq!(support(Family::Complete, Feature::RotateCa), Support::Works);
}

#[test]
fn what_a_driver_ignores_is_not_offered() {
    for (family, feature) in [
        (Family::CapiHelm, Feature::ChosenNodes),
        (Family::CapiHelm, Feature::UpgradeBatchSize),
        (Family::ClusterApi, Feature::UpgradeBatchSize),
        (Family::ClusterApi, Feature::UpgradeOfOneGroup),
        (Family::CapiHelm, Feature::CreateTimeout),
        (Family::CapiHelm, Feature::NodeLabelsAndTaints),
        (Family::ClusterApi, Feature::NodeLabelsAndTaints),
        (Family::ClusterApi, Feature::Proxy),
        (Family::ClusterApi, Feature::AllowedCidrs),
        (Family::CapiHelm, Feature::VersionLabel),
    ] {
        let capability = capability(driver(family), NEWEST, feature);
        assert_eq!(
            capability.support,
            Support::Ignored,
            "{family:?} {feature:?}"
        );
        assert!(!capability.is_offered());
    }
    assert_eq!(
        support(Family::ClusterApi, Feature::ChosenNodes),
        Support::Works
    );
}

#[test]
fn heat_upgrades_only_before_magnum_18() {
    let with = |release| {
        let cloud = Cloud { release, ..NEWEST };
        capability(driver(Family::Heat), cloud, Feature::Upgrade)
    };
    assert_eq!(with(Some(17)).support, Support::Works);
    for release in [Some(18), Some(22), None] {
        let upgrade = with(release);
        assert_eq!(upgrade.support, Support::Unsupported);
        assert!(upgrade.reason.contains("new cluster"));
    }
}

#[test]
fn older_versions_of_the_api_are_explained() {
    let cloud = Cloud {
        api: "1.8".parse().unwrap(),
        release: None,
    };
    let groups = capability(driver(Family::ClusterApi), cloud, Feature::NodeGroups);
    assert_eq!(
        groups.reason,
        "A list of node groups needs version 1.9 of Magnum's API; this cloud has 1.8."
    );
    assert!(!groups.is_offered());
    let cloud = Cloud {
        api: ApiVersion(13),
        release: None,
    };
    let taints = capability(
        driver(Family::Complete),
        cloud,
        Feature::NodeLabelsAndTaints,
    );
    assert!(
        taints.reason.contains("needs version 1.14"),
        "{}",
        taints.reason
    );
    for text in ["2.1", "1.", "1.x", ""] {
        assert!(text.parse::<ApiVersion>().is_err(), "{text}");
    }
}

#[test]
fn labels_cannot_be_changed_with_any_driver() {
    for family in [
        Family::Heat,
        Family::CapiHelm,
        Family::ClusterApi,
        Family::Complete,
    ] {
        assert_eq!(support(family, Feature::ChangeLabels), Support::Unsupported);
    }
}

#[test]
fn every_entry_is_a_sentence() {
    for family in [
        Family::Heat,
        Family::CapiHelm,
        Family::ClusterApi,
        Family::Complete,
        Family::Unknown,
    ] {
        for feature in FEATURES {
            let reason = capability(driver(family), NEWEST, feature).reason;
            assert!(
                reason.len() > 15 && reason.ends_with('.'),
                "{family:?} {feature:?}"
            );
        }
    }
}
