//! What a deletion leaves.
use crate::{
    driver::Family,
    inventory::{
        ClusterNames, DeleteOptions, Fate, Inventory, Item, Kind, OfService, Reclaim, inventory,
        leftovers, service_of_load_balancer,
    },
};

fn item(kind: Kind, id: &str) -> Item {
    Item {
        kind,
        id: id.to_owned(),
        name: format!("name-of-{id}"),
    }
}

fn everything() -> Vec<Item> {
    vec![
        item(Kind::Server, "server"),
        item(Kind::NodeVolume, "boot"),
        item(Kind::ServiceLoadBalancer, "lb"),
        item(Kind::ServiceFloatingIp, "fip"),
        item(Kind::PersistentVolume(Reclaim::Retain), "retain"),
        item(Kind::PersistentVolume(Reclaim::Delete), "delete"),
        item(Kind::VolumeSnapshot, "snapshot"),
        item(Kind::ExistingNetwork, "network"),
    ]
}

fn ids(list: &[(Item, &'static str)]) -> Vec<String> {
    list.iter().map(|(item, _)| item.id.clone()).collect()
}

fn lists(family: Family, options: DeleteOptions) -> [Vec<String>; 3] {
    let Inventory {
        goes,
        depends,
        stays,
    } = inventory(everything(), family, options);
    for (_, rule) in goes.iter().chain(&depends).chain(&stays) {
        assert!(rule.ends_with('.'), "{rule}");
    }
    [ids(&goes), ids(&depends), ids(&stays)]
}

#[test]
fn each_driver_has_its_own_rule_for_volumes_and_load_balancers() {
    let [goes, depends, stays] = lists(Family::ClusterApi, DeleteOptions::default());
    assert_eq!(goes, ["server", "boot", "lb", "fip"]);
    assert!(depends.is_empty());
    assert_eq!(stays, ["retain", "delete", "snapshot", "network"]);
    let [goes, depends, stays] = lists(Family::CapiHelm, DeleteOptions::default());
    assert_eq!(goes, ["server", "boot", "lb", "fip"]);
    // the policy is the operator's: also a retained volume can be destroyed
    assert_eq!(depends, ["retain", "delete"]);
    assert_eq!(stays, ["snapshot", "network"]);
    let [goes, depends, stays] = lists(Family::Heat, DeleteOptions::default());
    assert_eq!(goes, ["server", "boot", "lb"]);
    assert_eq!(depends, ["fip"]);
    assert_eq!(stays, ["retain", "delete", "snapshot", "network"]);
    let [goes, depends, _] = lists(Family::Unknown, DeleteOptions::default());
    assert_eq!(goes, ["server", "boot"]);
    assert_eq!(depends, ["lb", "fip", "retain", "delete"]);
}

#[test]
fn what_portico_deletes_first_goes_with_every_driver() {
    let options = DeleteOptions {
        services_first: true,
        claims_first: true,
    };
    for family in [Family::Heat, Family::ClusterApi, Family::Unknown] {
        let [goes, ..] = lists(family, options);
        for id in ["lb", "fip", "delete"] {
            assert!(goes.contains(&id.to_owned()), "{family:?} {id}");
        }
        // its claim is deleted, the volume is not
        assert!(!goes.contains(&"retain".to_owned()));
    }
}

#[test]
fn a_volume_whose_policy_was_not_read_may_go_with_its_claim() {
    let options = DeleteOptions {
        services_first: false,
        claims_first: true,
    };
    let volume = || vec![item(Kind::PersistentVolume(Reclaim::Unknown), "unread")];
    let assumed = "assume that the data is lost";
    for (family, words) in [
        (Family::Heat, "The reclaim policy is not known"),
        (Family::ClusterApi, "The reclaim policy is not known"),
        // with any policy
        (Family::CapiHelm, assumed),
        (Family::Complete, assumed),
        (Family::Unknown, assumed),
    ] {
        let found = inventory(volume(), family, options);
        assert_eq!(ids(&found.depends), ["unread"], "{family:?}");
        assert!(found.depends[0].1.contains(words), "{family:?}");
    }
    // without the option, a driver that deletes no volumes keeps it
    let found = inventory(volume(), Family::Heat, DeleteOptions::default());
    assert_eq!(ids(&found.stays), ["unread"]);
}

#[test]
fn what_still_exists_is_compared_with_what_was_announced() {
    let before = inventory(everything(), Family::ClusterApi, DeleteOptions::default());
    assert_eq!(before.expected_gone().count(), 4);
    let left = leftovers(
        &before,
        vec![
            item(Kind::PersistentVolume(Reclaim::Unknown), "retain"),
            item(Kind::ServiceFloatingIp, "new"),
            item(Kind::ServiceLoadBalancer, "lb"),
        ],
    );
    let found: Vec<_> = left
        .iter()
        .map(|one| (one.item.id.as_str(), one.predicted))
        .collect();
    assert_eq!(
        found,
        [
            ("lb", Some(Fate::Goes)),
            ("new", None),
            ("retain", Some(Fate::Stays)),
        ]
    );
    assert_eq!(
        left[0].text,
        "The load balancer of a Service name-of-lb should have been deleted and may incur costs."
    );
    assert!(leftovers(&before, Vec::new()).is_empty());
}

fn names() -> ClusterNames<'static> {
    ClusterNames {
        uuid: "900e3758-8071-430e-a8cf-5c48f428dc0e",
        driver_id: Some("my_shop-x1y2z"),
    }
}

#[test]
fn load_balancers_are_found_by_name_or_description() {
    let service = |namespace: &str, service: &str| {
        Some(OfService {
            namespace: namespace.to_owned(),
            service: service.to_owned(),
        })
    };
    for (name, description, expected) in [
        (
            "kube_service_my_shop-x1y2z_web_front",
            "",
            service("web", "front"),
        ),
        (
            "kube_service_900e3758-8071-430e-a8cf-5c48f428dc0e_web_front",
            "",
            service("web", "front"),
        ),
        (
            "lb",
            "Kubernetes external service web/front from cluster 900e3758-8071-430e-a8cf-5c48f428dc0e",
            service("web", "front"),
        ),
        // of a cluster of the same name, whose name ends alike, of another cluster, of nothing
        ("kube_service_my_shop_web_front", "", None),
        ("kube_service_shop-x1y2z_web_front", "", None),
        ("kube_service_kube-zzzzz_web_front", "", None),
        ("kube_service_my_shop-x1y2z-2_web_front", "", None),
        ("kube_service_a_my_shop-x1y2z_web_front", "", None),
        (
            "lb",
            "Kubernetes external service web/front from cluster other",
            None,
        ),
        ("kube_service_", "Kubernetes", None),
    ] {
        let found = service_of_load_balancer(&names(), name, description);
        assert_eq!(found, expected, "{name} {description}");
    }
}

#[test]
fn volumes_are_not_claimed_by_the_name_alone() {
    assert!(names().is_one("my_shop-x1y2z"));
    assert!(names().is_one("900e3758-8071-430e-a8cf-5c48f428dc0e"));
    assert!(!names().is_one("my_shop"));
}

#[test]
fn networks_of_a_cluster_are_recognised_by_its_uuid_or_the_drivers_id() {
    let uuid = "900e3758-8071-430e-a8cf-5c48f428dc0e";
    let names = |driver_id| ClusterNames { uuid, driver_id };
    let capi = names(Some("shop-jde45zh7dcud"));
    let described = format!("Kubernetes cluster {uuid}");
    assert!(capi.has_made("anything", &described));
    assert!(!capi.has_made("anything", "Kubernetes cluster 900e3758"));
    assert!(!capi.has_made("anything", &format!("{described}-2x")[..40]));
    for (driver_id, name) in [
        (
            "shop-jde45zh7dcud",
            "k8s-clusterapi-cluster-magnum-acme-shop-jde45zh7dcud",
        ),
        (
            "kube-33oj6",
            "k8s-clusterapi-cluster-magnum-system-kube-33oj6",
        ),
        (
            "kube-33oj6",
            "k8s-cluster-magnum-system-kube-33oj6-secgroup-controlplane",
        ),
    ] {
        assert!(names(Some(driver_id)).has_made(name, ""), "{name}");
        assert!(!names(Some("kube-33oj7")).has_made(name, ""), "{name}");
        assert!(!names(Some("")).has_made(name, ""), "{name}");
        assert!(!names(None).has_made(name, ""), "{name}");
    }
    // of a cluster whose ID begins or ends alike
    for name in [
        "k8s-clusterapi-cluster-magnum-system-a-kube-33oj6",
        "k8s-cluster-magnum-system-a-kube-33oj6-secgroup-worker",
        "k8s-clusterapi-cluster-magnum-system-kube-33oj6-2",
        "k8s-cluster-magnum-system-kube-33oj6-2-secgroup-worker",
    ] {
        assert!(!names(Some("kube-33oj6")).has_made(name, ""), "{name}");
    }
    // what a user calls alike
    assert!(!names(Some("kube-33oj6")).has_made("kube-33oj6", ""));
    assert!(!names(Some("kube-33oj6")).has_made("k8s-cluster-mine-kube-33oj6", ""));
}

#[test]
fn load_balancer_of_the_api_has_the_exact_name_of_cluster_api() {
    let uuid = "900e3758-8071-430e-a8cf-5c48f428dc0e";
    let names = |driver_id| ClusterNames { uuid, driver_id };
    for (driver_id, name) in [
        (
            "shop-jde45zh7dcud",
            "k8s-clusterapi-cluster-magnum-acme-shop-jde45zh7dcud-kubeapi",
        ),
        (
            "kube-33oj6",
            "k8s-clusterapi-cluster-magnum-system-kube-33oj6-kubeapi",
        ),
    ] {
        let is_found = |driver_id| names(driver_id).has_made_api_balancer(name, "");
        assert!(is_found(Some(driver_id)), "{name}");
        assert!(!is_found(Some("kube-33oj7")), "{name}");
        assert!(!is_found(Some("")), "{name}");
        assert!(!is_found(None), "{name}");
    }
    let described = format!("Kubernetes cluster {uuid}");
    assert!(names(None).has_made_api_balancer("shop-900e3758-api", &described));
    // of a cluster named alike, of a Service, of a user
    for name in [
        "k8s-clusterapi-cluster-magnum-system-a-kube-33oj6-kubeapi",
        "k8s-clusterapi-cluster-magnum-system-kube-33oj6-2-kubeapi",
        "k8s-clusterapi-cluster-mine-kube-33oj6-kubeapi",
        "kube_service_kube-33oj6_web_front",
        "kube-33oj6-kubeapi",
        "kube-33oj6",
    ] {
        let is_found = names(Some("kube-33oj6")).has_made_api_balancer(name, "");
        assert!(!is_found, "{name}");
    }
}
