//! Checks before a creation.
use super::{about, one};
use crate::{
    driver::{ApiVersion, Cloud, Family},
    model::Template,
    preflight::{Checks, CreationContext, Level, before_creation},
    quota::FlavorSize,
    spec::{Api, ClusterDocument, ClusterSpec, Exposure, Metadata, NodeGroupSpec, effective},
    tests::{
        examples::{NEWEST, driver, template},
        text::{of_checks, titled},
    },
};

/// Checks a specification, after the context was changed.
fn checks(
    change_spec: impl FnOnce(&mut ClusterSpec),
    change_template: impl FnOnce(&mut Template),
    change: impl FnOnce(&mut CreationContext<'_>),
) -> Checks {
    let mut template = template("k8s-1.31", "v1.31.0");
    change_template(&mut template);
    let mut spec = ClusterSpec {
        template: template.name.clone(),
        ..ClusterSpec::default()
    };
    change_spec(&mut spec);
    let metadata = Metadata {
        name: "shop".to_owned(),
        ..Metadata::default()
    };
    let document = effective(&ClusterDocument::new(metadata, spec), &template).document;
    let mut context = CreationContext {
        document: &document,
        template: &template,
        cloud: NEWEST,
        is_permitted: Some(true),
        has_conductor: Some(true),
        same_name: &[],
        quotas: &[],
        flavors: &[],
        free_addresses: None,
        client: None,
    };
    change(&mut context);
    before_creation(&context)
}

#[test]
fn a_plain_creation_passes() {
    let checks = checks(|_| {}, |_| {}, |_| {});
    assert_eq!(checks.level(), Level::Ok, "{checks:?}");
    insta::assert_snapshot!("plain", of_checks(&checks));
}

#[test]
fn every_problem_of_the_specification_blocks() {
    let checks = checks(|spec| spec.control_plane.replicas = Some(2), |_| {}, |_| {});
    let problem = one(&checks, "Specification");
    assert_eq!(problem.level, Level::Blocks);
    assert!(problem.text.starts_with("spec.controlPlane.replicas: "));
}

#[test]
fn missing_rights_and_a_missing_conductor_block_with_the_reason() {
    let checks = checks(
        |_| {},
        |_| {},
        |context| {
            context.is_permitted = Some(false);
            context.has_conductor = Some(false);
        },
    );
    assert_eq!(one(&checks, "Rights").level, Level::Blocks);
    assert_eq!(one(&checks, "Magnum").level, Level::Blocks);
    insta::assert_snapshot!("no_rights_and_no_conductor", of_checks(&checks));
}

#[test]
fn an_open_api_warns_and_closed_networks_are_compared_with_the_user() {
    let public = |spec: &mut ClusterSpec| spec.api.exposure = Some(Exposure::Public);
    let helm = |template: &mut Template| template.driver = driver(Family::CapiHelm);
    let open = checks(
        |spec| {
            public(spec);
            spec.control_plane.load_balancer = Some(true);
        },
        helm,
        |_| {},
    );
    assert_eq!(one(&open, "API").level, Level::Warning);
    let limited = |spec: &mut ClusterSpec| {
        spec.control_plane.load_balancer = Some(true);
        spec.api = Api {
            exposure: Some(Exposure::Public),
            allowed_cidrs: vec!["198.51.100.0/24".to_owned()],
        };
    };
    let inside = checks(limited, helm, |context| {
        context.client = Some("198.51.100.9".parse().unwrap());
    });
    assert_eq!(one(&inside, "API").level, Level::Ok);
    let outside = checks(limited, helm, |context| {
        context.client = Some("203.0.113.9".parse().unwrap());
    });
    assert_ne!(one(&outside, "API").level, Level::Ok);
    // a driver that ignores the networks would leave the API open
    let ignored = checks(limited, |_| {}, |_| {});
    assert_eq!(one(&ignored, "API").level, Level::Blocks);
    let unknown = |template: &mut Template| template.driver = driver(Family::Unknown);
    let unverified = checks(limited, unknown, |_| {});
    assert_eq!(one(&unverified, "API").level, Level::Warning);
    let text = |checks: &Checks| format!("{}\n", one(checks, "API").text);
    let texts = [
        ("open", text(&open)),
        ("limited to networks with the user", text(&inside)),
        ("limited to networks without the user", text(&outside)),
        ("ignored by the driver", text(&ignored)),
        ("with an unknown driver", text(&unverified)),
    ];
    insta::assert_snapshot!("api", titled(texts));
}

#[test]
fn small_flavors_block_where_the_driver_refuses_them() {
    let tiny = [(
        "m1.tiny".to_owned(),
        FlavorSize {
            vcpus: 1,
            ram_mib: 512,
        },
    )];
    for (family, level) in [
        (Family::CapiHelm, Level::Blocks),
        (Family::Heat, Level::Warning),
    ] {
        let mut template = template("k8s-1.31", "v1.31.0");
        template.driver = driver(family);
        let metadata = Metadata {
            name: "shop".to_owned(),
            ..Metadata::default()
        };
        let spec = ClusterSpec {
            template: "k8s-1.31".to_owned(),
            ..ClusterSpec::default()
        };
        let document = ClusterDocument::new(metadata, spec);
        let checks = before_creation(&CreationContext {
            document: &document,
            template: &template,
            cloud: NEWEST,
            is_permitted: None,
            has_conductor: None,
            same_name: &[],
            quotas: &[],
            flavors: &tiny,
            free_addresses: None,
            client: None,
        });
        assert_eq!(one(&checks, "Flavor").level, level, "{family:?}");
    }
}

#[test]
fn what_the_driver_ignores_is_named() {
    let checks = checks(
        |spec| {
            spec.docker_volume_size = Some(20);
            spec.zone = Some("az1".to_owned());
            let zone = "boot_volume_availability_zone".to_owned();
            spec.labels.insert(zone, "nova".to_owned());
        },
        |template| template.has_proxy = true,
        |context| context.free_addresses = Some(1),
    );
    insta::assert_snapshot!("ignored_by_the_driver", of_checks(&checks));
}

#[test]
fn groups_need_what_api_and_driver_offer() {
    let old = Cloud {
        api: ApiVersion(8),
        release: None,
    };
    let group = |name: &str| NodeGroupSpec {
        name: name.to_owned(),
        replicas: Some(0),
        min: Some(0),
        taints: vec!["gpu=true:NoSchedule".parse().unwrap()],
        ..NodeGroupSpec::default()
    };
    let checks = checks(
        |spec| {
            spec.node_groups = vec![group("gpu")];
            spec.labels
                .insert("auto_scaling_enabled".to_owned(), "true".to_owned());
        },
        |_| {},
        |context| context.cloud = old,
    );
    assert_eq!(about(&checks, "Node groups").len(), 3);
    insta::assert_snapshot!("groups_with_an_older_magnum", of_checks(&checks));
    assert_eq!(one(&checks, "Autoscaler").level, Level::Warning);
}

#[test]
fn an_equal_name_and_a_hidden_template_warn() {
    let same = ["u1".to_owned(), "u2".to_owned()];
    let mut template = template("k8s-1.31", "v1.31.0");
    template.is_hidden = true;
    let document =
        ClusterDocument::read(super::super::spec::minimal("shop", "k8s-1.31").to_value());
    let checks = before_creation(&CreationContext {
        document: &document.unwrap(),
        template: &template,
        cloud: NEWEST,
        is_permitted: None,
        has_conductor: None,
        same_name: &same,
        quotas: &[],
        flavors: &[],
        free_addresses: None,
        client: None,
    });
    assert_eq!(one(&checks, "Template").level, Level::Warning);
    assert_eq!(checks.level(), Level::Warning);
    insta::assert_snapshot!("same_name_and_hidden_template", of_checks(&checks));
}
