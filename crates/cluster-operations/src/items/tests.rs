use super::*;
use portico_lifecycle::status::Status;
use portico_openstack::rest::{Cut, Effect, ErrorKind, Service};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const UUID: &str = "900e3758-8071-430e-a8cf-5c48f428dc0e";

/// A cluster of a driver that knows it by an ID.
fn cluster(driver_id: &str) -> Cluster {
    Cluster {
        driver_id: Some(driver_id.to_owned()),
        api_address: Some("https://192.0.2.10:6443".to_owned()),
        ..Cluster::deleted(UUID.to_owned(), "shop".to_owned())
    }
}

fn balancer(id: &str, name: &str, more: &Value) -> LoadBalancer {
    let mut balancer = json!({"id": id, "name": name, "provisioning_status": "ACTIVE",
        "operating_status": "ONLINE", "vip_address": format!("10.0.0.{id}"),
        "vip_port_id": format!("port-{id}")});
    if let (Some(all), Some(more)) = (balancer.as_object_mut(), more.as_object()) {
        all.extend(more.clone());
    }
    serde_json::from_value(balancer).unwrap()
}

fn floating_ip(id: &str, address: &str, port: Option<&str>) -> FloatingIp {
    let floating_ip = json!({"id": id, "floating_ip_address": address, "port_id": port});
    serde_json::from_value(floating_ip).unwrap()
}

/// Returns kinds and IDs of what is found among load balancers and floating IPs.
fn found(
    cluster: &Cluster,
    balancers: &[LoadBalancer],
    floating_ips: &[FloatingIp],
) -> Vec<(Kind, String)> {
    let names = ClusterNames {
        uuid: &cluster.uuid,
        driver_id: cluster.driver_id.as_deref(),
    };
    let mut found = Found::default();
    found.balancers(cluster, &names, balancers, floating_ips);
    let items = found.items.into_iter();
    items.map(|item| (item.kind, item.id)).collect()
}

#[test]
fn load_balancers_of_a_similarly_named_cluster_are_not_found() {
    let balancers = [
        "kube_service_my-kube-33oj6_web_front",
        "kube_service_kube-33oj6-2_web_front",
        "kube_service_other_kube-33oj6_front",
        "kube_service_other_web_kube-33oj6",
        "k8s-clusterapi-cluster-magnum-system-my-kube-33oj6-kubeapi",
        "k8s-clusterapi-cluster-magnum-system-kube-33oj6-2-kubeapi",
        "kube-33oj6",
        "about-kube-33oj6",
    ];
    let balancers = balancers.map(|name| balancer("1", name, &json!({})));
    assert!(found(&cluster("kube-33oj6"), &balancers, &[]).is_empty());
}

#[test]
fn load_balancers_of_the_cluster_are_found_by_their_exact_names() {
    let balancers = [
        balancer("1", "kube_service_kube-33oj6_web_front", &json!({})),
        balancer("2", &format!("kube_service_{UUID}_web_front"), &json!({})),
        balancer(
            "3",
            "k8s-clusterapi-cluster-magnum-system-kube-33oj6-kubeapi",
            &json!({}),
        ),
    ];
    let items = found(&cluster("kube-33oj6"), &balancers, &[]);
    let expected = [
        (Kind::ServiceLoadBalancer, "1".to_owned()),
        (Kind::ServiceLoadBalancer, "2".to_owned()),
        (Kind::ApiLoadBalancer, "3".to_owned()),
    ];
    assert_eq!(items, expected);
}

#[test]
fn load_balancer_of_the_api_is_found_by_the_address_of_the_api() {
    // Heat has the name of a stack in it
    let stack = cluster("6e03b504-1563-4dc7-9cda-eaeed562ea66");
    let balancers = [
        balancer(
            "1",
            "shop-abc-api_lb",
            &json!({"vip_address": "192.0.2.10"}),
        ),
        balancer("2", "shop-abc-api_lb", &json!({})),
        balancer("3", "shop-abc-etcd_lb", &json!({})),
        balancer(
            "4",
            "kube_service_other_web_front",
            &json!({"vip_address": "192.0.2.10"}),
        ),
    ];
    let addresses = [
        floating_ip("api", "192.0.2.10", Some("port-2")),
        floating_ip("other", "192.0.2.11", Some("port-3")),
        floating_ip("unused", "192.0.2.12", None),
    ];
    let items = found(&stack, &balancers, &addresses);
    let expected = [
        (Kind::ApiLoadBalancer, "1".to_owned()),
        (Kind::ApiLoadBalancer, "2".to_owned()),
        (Kind::ClusterFloatingIp, "api".to_owned()),
    ];
    assert_eq!(items, expected);
}

fn server(id: &str, name: &str, volumes: &[&str]) -> Server {
    let volumes: Vec<_> = volumes.iter().map(|id| json!({"id": id})).collect();
    let server = json!({"id": id, "name": name, "status": "ACTIVE",
        "os-extended-volumes:volumes_attached": volumes});
    serde_json::from_value(server).unwrap()
}

fn volume(id: &str, owner: Option<&str>) -> Volume {
    let metadata = owner.map_or_else(|| json!({}), |owner| json!({CSI_METADATA: owner}));
    let volume = json!({"id": id, "name": "", "size": 10, "status": "in-use",
        "metadata": metadata});
    serde_json::from_value(volume).unwrap()
}

fn group(name: &str, node_count: u32) -> NodeGroup {
    NodeGroup {
        uuid: format!("uuid-of-{name}"),
        name: name.to_owned(),
        role: "worker".to_owned(),
        is_default: true,
        flavor: None,
        node_count,
        bounds: None,
        status: Status::parse("CREATE_COMPLETE"),
        reason: None,
        node_labels: BTreeMap::new(),
        node_taints: Vec::new(),
    }
}

#[test]
fn servers_are_those_whose_names_begin_with_the_id_of_the_driver() {
    let servers = [
        server("1", "kube-33oj6-worker-0", &[]),
        server("2", "kube-33oj66-worker-0", &[]),
        server("3", "my-kube-33oj6-worker-0", &[]),
        server("4", "kube-33oj6", &[]),
    ];
    let mut found = Found::default();
    found.servers(
        &cluster("kube-33oj6"),
        &[group("default-worker", 1)],
        &servers,
    );
    let ids: Vec<_> = found.items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["1"]);
}

#[test]
fn node_groups_stand_for_servers_whose_names_are_not_known() {
    let servers = [server("1", "shop-abc-worker-0", &[])];
    let stack = cluster("6e03b504-1563-4dc7-9cda-eaeed562ea66");
    let groups = [
        group("default-master", 1),
        group("default-worker", 3),
        group("empty", 0),
    ];
    let mut found = Found::default();
    found.servers(&stack, &groups, &servers);
    let names: Vec<_> = found.items.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(
        names,
        ["1 node of default-master", "3 nodes of default-worker"]
    );
}

#[test]
fn volumes_are_those_of_claims_and_those_of_the_nodes() {
    let servers = [
        server("1", "kube-33oj6-worker-0", &["root", "claim", "foreign"]),
        server("2", "another", &["else"]),
    ];
    let volumes = [
        volume("claim", Some(UUID)),
        volume("detached", Some("kube-33oj6")),
        // of another cluster, though attached to a node of this one
        volume("foreign", Some("my-kube-33oj6")),
        volume("root", None),
        volume("else", None),
    ];
    let cluster = cluster("kube-33oj6");
    let names = ClusterNames {
        uuid: &cluster.uuid,
        driver_id: cluster.driver_id.as_deref(),
    };
    let mut found = Found::default();
    let claims = found.volumes(&names, &servers, &volumes);
    assert_eq!(claims, BTreeSet::from(["claim", "detached"]));
    let items = found.items.into_iter();
    let items: Vec<_> = items.map(|item| (item.kind, item.name)).collect();
    // a volume without a name has its ID
    let of_claim = Kind::PersistentVolume(Reclaim::Unknown);
    let expected = [
        (of_claim.clone(), "claim".to_owned()),
        (of_claim, "detached".to_owned()),
        (Kind::NodeVolume, "root".to_owned()),
    ];
    assert_eq!(items, expected);
}

#[test]
fn floating_ips_have_the_kind_of_their_load_balancer() {
    let balancers = [
        balancer("1", "kube_service_kube-33oj6_web_front", &json!({})),
        balancer(
            "2",
            "k8s-clusterapi-cluster-magnum-system-kube-33oj6-kubeapi",
            &json!({}),
        ),
        balancer("3", "another", &json!({})),
    ];
    let addresses = [
        floating_ip("service", "192.0.2.20", Some("port-1")),
        floating_ip("api", "192.0.2.10", Some("port-2")),
        floating_ip("another", "192.0.2.30", Some("port-3")),
        floating_ip("unused", "192.0.2.40", None),
    ];
    let items = found(&cluster("kube-33oj6"), &balancers, &addresses);
    let expected = [
        (Kind::ServiceFloatingIp, "service".to_owned()),
        (Kind::ClusterFloatingIp, "api".to_owned()),
    ];
    assert_eq!(items[2..], expected);
}

#[test]
fn a_list_that_is_missing_or_incomplete_is_a_gap() {
    let mut found = Found::default();
    let cut = Listing {
        items: vec![volume("1", None)],
        cut: Some(Cut::TooLong),
    };
    assert_eq!(found.read("volumes", Ok(cut)).len(), 1);
    let failed = Error {
        service: Service::Octavia,
        operation: "load_balancers",
        request_id: None,
        status: Some(403),
        effect: Effect::None,
        kind: ErrorKind::Forbidden(String::new()),
    };
    let listing: Result<Listing<LoadBalancer>, _> = Err(failed);
    assert!(found.read("load balancers", listing).is_empty());
    let complete = Listing {
        items: vec![volume("2", None)],
        cut: None,
    };
    assert_eq!(found.read("volumes", Ok(complete)).len(), 1);
    assert_eq!(found.gaps.len(), 2);
    assert!(found.gaps[0].starts_with("The list of volumes is incomplete: "));
    assert!(found.gaps[1].starts_with("The load balancers were not checked: "));
    assert!(found.items.is_empty());
}
