use super::*;
use crate::rest::test_server::{PROJECT, Reply, TestServer};
use serde_json::json;

#[tokio::test]
async fn lists_are_those_of_the_project_in_neutrons_format() {
    let server = TestServer::start(|request| {
        Reply::Json(
            200,
            match request.path().trim_start_matches("/neutron/v2.0/") {
                "networks" => json!({"networks": [
                {"id": "1", "name": "public", "router:external": true, "status": "ACTIVE",
                 "project_id": "admin", "subnets": ["s"], "shared": false},
                {"id": "2", "name": "own", "project_id": PROJECT, "status": "MELTED"},
                {"id": "3", "name": "theirs", "project_id": "another"}]}),
                "subnets" => json!({"subnets": [{"id": "s", "name": "", "network_id": "2",
                "cidr": "10.0.0.0/24", "ip_version": 4, "gateway_ip": null}]}),
                "routers" => json!({"routers": [{"id": "r", "name": "r", "status": "ACTIVE"}]}),
                "ports" => json!({"ports": [{"id": "p", "name": "", "network_id": "2",
                "device_id": "srv", "device_owner": "compute:nova", "status": "ACTIVE",
                "fixed_ips": [{"ip_address": "10.0.0.5", "subnet_id": "s"}],
                "security_groups": ["g"]}]}),
                "floatingips" => json!({"floatingips": [{"id": "f", "port_id": null,
                "floating_ip_address": "198.51.100.7", "fixed_ip_address": null,
                "status": "DOWN", "description": null, "created_at": "2026-11-21T11:13:55Z"}]}),
                "security-groups" => json!({"security_groups": [{"id": "g", "name": "k8s",
                "description": "", "security_group_rules": []}]}),
                other => panic!("{other}"),
            },
        )
    })
    .await;
    let (client, token) = (Client::new(TestServer::client()), server.token());
    let networks = client.networks(&token).await.unwrap().items;
    let names: Vec<_> = networks.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["public", "own"]);
    let melted = NetworkStatus::Other("MELTED".to_owned());
    assert_eq!(networks[1].status, Some(melted));
    let subnets = client.usable_subnets(&token).await.unwrap().items;
    assert_eq!(subnets[0].cidr, "10.0.0.0/24");
    assert_eq!(client.routers(&token).await.unwrap().items.len(), 1);
    let ports = client.ports(&token).await.unwrap().items;
    assert_eq!(ports[0].fixed_ips[0].ip_address, "10.0.0.5");
    let addresses = client.floating_ips(&token).await.unwrap().items;
    assert_eq!(
        (
            addresses[0].port_id.as_ref(),
            addresses[0].description.as_str()
        ),
        (None, "")
    );
    assert_eq!(
        client.security_groups(&token).await.unwrap().items[0].name,
        "k8s"
    );
    let calls = server.calls();
    assert!(calls[1].ends_with("/subnets?limit=500"));
    for call in &calls[2..] {
        assert!(call.contains(&format!("project_id={PROJECT}")), "{call}");
    }
}

#[tokio::test]
async fn reservations_count_as_used_and_the_extension_may_be_missing() {
    let path = format!("/neutron/v2.0/quotas/{PROJECT}/details.json");
    let server = TestServer::start(move |request| {
        assert_eq!(request.path(), path);
        Reply::Json(
            200,
            json!({"quota": {
            "network": {"limit": 10, "used": 9, "reserved": 1},
            "port": {"limit": -1, "used": 40, "reserved": 0},
            "floatingip": {"limit": 5, "used": 2}}}),
        )
    })
    .await;
    let client = Client::new(TestServer::client());
    let quota = client.quota(&server.token()).await.unwrap();
    assert_eq!(quota.networks.unwrap().free(), Some(0));
    assert_eq!(quota.ports.unwrap().free(), None);
    assert_eq!(
        (quota.floating_ips.unwrap().free(), quota.routers),
        (Some(3), None)
    );
    let missing = json!({"NeutronError": {"type": "HTTPNotFound", "detail": "",
                                          "message": "The resource could not be found."}});
    let server = TestServer::start(move |_| Reply::Json(404, missing.clone())).await;
    let error = client.quota(&server.token()).await.unwrap_err();
    assert!(error.is_not_found(), "{error}");
}
