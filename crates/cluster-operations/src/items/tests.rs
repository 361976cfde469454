use super::*;
use serde_json::{Value, json};

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
