use super::checks;
use super::document::{Bootstrap, Nodes};
use super::fix;
use super::inventory::{Inventory, Read};
use super::report::{Check, Outcome, is_ready};
use portico_domain::identity::{Identity, Named, User};
use portico_lifecycle::quota::{Limit, Resource, Usage};
use portico_openstack::keystone::CatalogEndpoint;
use portico_openstack::rest::Listing;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn listed<T: DeserializeOwned>(items: Value) -> Read<T> {
    Ok(Listing {
        items: serde_json::from_value(items).unwrap(),
        cut: None,
    })
}

fn named(name: &str) -> Named {
    Named {
        id: format!("{name}-id"),
        name: name.to_owned(),
    }
}

/// A cloud with all that is needed.
fn complete() -> Inventory {
    let types = [
        "container-infra",
        "compute",
        "network",
        "image",
        "volumev3",
        "load-balancer",
    ];
    let endpoint = |service_type: &str| CatalogEndpoint {
        service_type: service_type.to_owned(),
        interface: "public".to_owned(),
        region: Some("one".to_owned()),
        url: "https://cloud.example.org".parse().unwrap(),
    };
    let usage = |limit| Usage {
        used: 0,
        limit: Limit::Max(limit),
    };
    Inventory {
        endpoints: types.into_iter().map(endpoint).collect(),
        networks: listed(json!([
            {"id": "n1", "name": "public", "router:external": true},
            {"id": "n2", "name": "own"}])),
        flavors: listed(json!([
            {"id": "1", "name": "m1.tiny", "vcpus": 1, "ram": 512},
            {"id": "2", "name": "m1.medium", "vcpus": 2, "ram": 4096}])),
        images: listed(json!([
            {"id": "i1", "name": "ubuntu-kube", "status": "active", "os_distro": "ubuntu",
             "kube_version": "v1.32.1"},
            {"id": "i2", "name": "plain", "status": "active"}])),
        key_pairs: listed(json!([{"name": "ops"}])),
        templates: listed(json!([
            {"uuid": "f7617ea3-8060-4dd2-9479-e441e1a40404", "name": "small",
             "http_proxy": "http://proxy:3128", "labels": {"boot_volume_size": "20"}}])),
        usages: Resource::ALL.map(|one| (one, usage(100_000))).into(),
        identity: Ok(Identity {
            user: User {
                id: "u1".to_owned(),
                name: "alice".to_owned(),
                domain: named("Default"),
            },
            project: None,
            roles: vec![named("member"), named("k8s_admin")],
        }),
    }
}

fn of<'a>(checks: &'a [Check], subject: &str) -> &'a Check {
    let mut found = checks.iter().filter(|check| check.subject == subject);
    found.next().unwrap()
}

/// Returns result and text of a check, and the text of its task.
fn result(inventory: &Inventory, wanted: &Bootstrap, subject: &str) -> (Outcome, String, String) {
    let checks = checks::run(inventory, wanted);
    let check = of(&checks, subject);
    let task = check.task.as_ref().map(|task| task.text.clone());
    (check.result, check.detail.clone(), task.unwrap_or_default())
}

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

#[test]
fn a_cloud_with_all_that_is_needed_is_ready_with_and_without_a_file() {
    let wanted = Bootstrap {
        region: text("one"),
        external_network: text("public"),
        template: text("small"),
        image: text("ubuntu-kube"),
        keypair: text("ops"),
        control_plane: Nodes {
            replicas: Some(3),
            flavor: text("m1.medium"),
        },
        workers: Nodes {
            replicas: None,
            flavor: text("2"),
        },
        proxy: text("http://proxy:3128"),
        ..Bootstrap::default()
    };
    for wanted in [Bootstrap::default(), wanted] {
        let checks = checks::run(&complete(), &wanted);
        assert!(is_ready(&checks), "{checks:?}");
        assert!(
            checks.iter().all(|check| check.result == Outcome::Ok),
            "{checks:?}"
        );
    }
}

#[test]
fn a_service_that_the_catalogue_lacks_is_the_operators_task() {
    let mut inventory = complete();
    inventory
        .endpoints
        .retain(|one| one.service_type != "network");
    let wanted = Bootstrap::default();
    let (outcome, detail, task) = result(&inventory, &wanted, "Catalogue");
    assert_eq!(outcome, Outcome::Missing);
    assert_eq!(detail, "the catalogue has no Neutron");
    assert!(task.contains("offer Neutron"), "{task}");
    let mut inventory = complete();
    inventory
        .endpoints
        .retain(|one| one.service_type != "load-balancer");
    assert_eq!(result(&inventory, &wanted, "Catalogue").0, Outcome::Warning);
    let elsewhere = Bootstrap {
        region: text("two"),
        ..Bootstrap::default()
    };
    let (outcome, detail, _) = result(&complete(), &elsewhere, "Catalogue");
    assert_eq!(outcome, Outcome::Missing);
    assert!(detail.ends_with("in the region two"), "{detail}");
}

#[test]
fn what_is_named_must_exist_and_be_of_use() {
    let with = |change: fn(&mut Bootstrap)| {
        let mut wanted = Bootstrap::default();
        change(&mut wanted);
        wanted
    };
    let mut texts = String::new();
    for (wanted, subject) in [
        (
            with(|one| one.external_network = text("own")),
            "External network",
        ),
        (
            with(|one| one.external_network = text("no")),
            "External network",
        ),
        (with(|one| one.template = text("no")), "Template"),
        (with(|one| one.image = text("plain")), "Image"),
        (with(|one| one.keypair = text("no")), "Key pair"),
        (with(|one| one.workers.flavor = text("m1.tiny")), "Flavor"),
        (with(|one| one.dns_zone = text("example.org.")), "Catalogue"),
    ] {
        let (outcome, detail, task) = result(&complete(), &wanted, subject);
        assert_eq!(outcome, Outcome::Missing, "{detail}");
        assert!(!task.is_empty(), "{detail}");
        texts.push_str(&format!("{subject}: {detail}\n  {task}\n"));
    }
    insta::assert_snapshot!("missing_objects", texts);
}

#[test]
fn a_name_of_two_things_needs_the_id() {
    let mut inventory = complete();
    inventory.images = listed(json!([
        {"id": "i1", "name": "twice", "status": "active", "os_distro": "ubuntu"},
        {"id": "i2", "name": "twice", "status": "active", "os_distro": "ubuntu"}]));
    let mut wanted = Bootstrap {
        image: text("twice"),
        ..Bootstrap::default()
    };
    let (outcome, detail, task) = result(&inventory, &wanted, "Image");
    assert_eq!(outcome, Outcome::Missing);
    assert_eq!(detail, "2 have the name twice");
    assert!(task.contains("ID"), "{task}");
    wanted.image = text("i2");
    assert_eq!(result(&inventory, &wanted, "Image").0, Outcome::Ok);
}

#[test]
fn a_service_that_does_not_answer_is_not_taken_for_one_without_objects() {
    let mut inventory = complete();
    inventory.images = Err("Glance: it is unavailable".to_owned());
    let (outcome, detail, _) = result(&inventory, &Bootstrap::default(), "Image");
    assert_eq!(outcome, Outcome::NotChecked);
    assert!(detail.contains("unavailable"), "{detail}");
    assert!(!is_ready(&checks::run(&inventory, &Bootstrap::default())));
}

#[test]
fn quotas_are_compared_with_one_cluster() {
    let mut inventory = complete();
    let cores = |limit| Usage {
        used: 2,
        limit: Limit::Max(limit),
    };
    let wanted = Bootstrap::default();
    // two nodes of two cores, and two more in an upgrade
    for (limit, outcome) in [
        (5, Outcome::Missing),
        (6, Outcome::Warning),
        (10, Outcome::Ok),
    ] {
        inventory.usages.insert(Resource::Cores, cores(limit));
        assert_eq!(result(&inventory, &wanted, "Quota").0, outcome, "{limit}");
    }
    inventory.usages.remove(&Resource::Cores);
    assert_eq!(result(&inventory, &wanted, "Quota").0, Outcome::Warning);
}

#[test]
fn a_user_without_the_role_of_magnum_is_sent_to_the_project_administrator() {
    let mut inventory = complete();
    let mut identity = inventory.identity.clone().unwrap();
    identity.roles = vec![named("reader")];
    inventory.identity = Ok(identity);
    let checks = checks::run(&inventory, &Bootstrap::default());
    let roles: Vec<_> = checks
        .iter()
        .filter(|check| check.subject == "Roles")
        .map(|check| check.result)
        .collect();
    assert_eq!(roles, [Outcome::Missing, Outcome::Warning]);
    let task = of(&checks, "Roles").task.clone().unwrap();
    assert_eq!(
        task.text,
        "grant the user alice the role member in this project"
    );
}

#[test]
fn a_proxy_is_a_value_of_the_template() {
    let wanted = Bootstrap {
        proxy: text("http://other:3128"),
        template: text("small"),
        ..Bootstrap::default()
    };
    let (outcome, detail, _) = result(&complete(), &wanted, "Proxy");
    assert_eq!(outcome, Outcome::Warning);
    assert!(detail.contains("http://other:3128"), "{detail}");
}

#[test]
fn a_template_is_made_with_the_values_of_the_file_and_of_the_image() {
    let mut wanted = Bootstrap {
        image: text("ubuntu-kube"),
        external_network: text("public"),
        driver: text("k8s_capi_helm_v1"),
        proxy: text("http://proxy:3128"),
        workers: Nodes {
            replicas: Some(3),
            flavor: text("m1.medium"),
        },
        ..Bootstrap::default()
    };
    let mut cloud = complete();
    let made = fix::template("own", &cloud, &wanted).unwrap();
    assert_eq!((made.name, made.image_id.as_str()), (text("own"), "i1"));
    assert_eq!(made.labels["kube_tag"], "v1.32.1");
    assert_eq!(made.driver, text("k8s_capi_helm_v1"));
    assert_eq!(made.external_network_id, text("public"));
    assert_eq!(made.flavor_id, text("m1.medium"));
    assert_eq!(made.https_proxy, text("http://proxy:3128"));
    assert_eq!(made.volume_driver, text("cinder"));
    assert_eq!(made.master_lb_enabled, Some(true));
    // an ID that Magnum does not have is not the name of another one
    let id = "4f1a6c2e-0d0b-4a57-9a42-6d1f5be2a001";
    let reason = fix::template(id, &cloud, &wanted).unwrap_err();
    assert!(reason.contains("ID"), "{reason}");
    // Magnum refuses an image without the property
    wanted.image = text("plain");
    let reason = fix::template("own", &cloud, &wanted).unwrap_err();
    assert!(reason.contains("os_distro"), "{reason}");
    cloud.images = Err("it does not answer".to_owned());
    let reason = fix::template("own", &cloud, &wanted).unwrap_err();
    assert!(reason.contains("could not be read"), "{reason}");
    wanted.external_network = None;
    assert!(fix::template("own", &cloud, &wanted).is_err());
}
