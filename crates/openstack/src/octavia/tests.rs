use super::*;
use crate::rest::test_server::{PROJECT, Reply, TestServer};
use serde_json::json;

#[tokio::test]
async fn load_balancers_of_the_project_and_its_quota_are_read() {
    let quota = format!("/octavia/v2/lbaas/quotas/{PROJECT}");
    let server = TestServer::start(move |request| {
        Reply::Json(
            200,
            match request.path() {
                "/octavia/v2/lbaas/loadbalancers" => json!({"loadbalancers": [
                {"id": "1", "name": "kube_service_c_default_web", "project_id": PROJECT,
                 "description": "Kubernetes external service default/web from cluster c",
                 "provisioning_status": "PENDING_DELETE", "operating_status": "MELTING",
                 "vip_address": "10.0.0.9", "vip_port_id": "p", "provider": "ovn", "tags": ["a"],
                 "created_at": "2026-11-21T11:13:55", "updated_at": null, "listeners": []},
                {"id": "2", "name": "x", "project_id": "another", "provisioning_status": "ACTIVE",
                 "operating_status": "ONLINE"}], "loadbalancers_links": []}),
                path if path == quota => json!({"quota": {"load_balancer": 5, "loadbalancer": 4,
                "listener": -1, "pool": null, "member": 50}}),
                other => panic!("{other}"),
            },
        )
    })
    .await;
    let (client, token) = (Client::new(TestServer::client()), server.token());
    let balancers = client.load_balancers(&token).await.unwrap().items;
    assert_eq!(balancers.len(), 1);
    assert_eq!(
        balancers[0].provisioning_status,
        ProvisioningStatus::PendingDelete
    );
    let other = OperatingStatus::Other("MELTING".to_owned());
    assert_eq!(balancers[0].operating_status, other);
    assert!(balancers[0].created_at.is_some());
    assert_eq!(
        client.quota(&token).await.unwrap(),
        LoadBalancerQuota {
            load_balancers: Some(5),
            listeners: None,
            pools: None,
            members: Some(50),
        }
    );
    let filtered = format!("project_id={PROJECT}&limit=500");
    assert!(server.calls()[0].ends_with(&filtered));
}
