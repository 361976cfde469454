use super::*;
use crate::rest::test_server::{Reply, TestServer};
use serde_json::json;

#[tokio::test]
async fn limits_and_lists_are_read_in_novas_format() {
    let server = TestServer::start(|request| {
        Reply::Json(
            200,
            match request.path() {
                "/nova/v2.1/limits" => json!({"limits": {"rate": [], "absolute": {
                "maxTotalInstances": 10, "totalInstancesUsed": 3, "maxTotalCores": -1,
                "totalCoresUsed": 6, "maxTotalRAMSize": 51200, "totalRAMUsed": 12288,
                "maxServerGroups": 10, "maxTotalKeypairs": 100}}}),
                "/nova/v2.1/flavors/detail" => json!({"flavors": [{"id": "1", "name": "m1.small",
                "vcpus": 1, "ram": 2048, "disk": 20, "swap": "", "links": [],
                "os-flavor-access:is_public": true}]}),
                "/nova/v2.1/os-keypairs" => json!({"keypairs": [{"keypair": {"name": "ops",
                "fingerprint": "00:11", "public_key": "ssh-ed25519 AAAA"}}]}),
                "/nova/v2.1/os-availability-zone" => json!({"availabilityZoneInfo": [
                {"zoneName": "nova", "zoneState": {"available": true}, "hosts": null}]}),
                other => panic!("{other}"),
            },
        )
    })
    .await;
    let (client, token) = (Client::new(TestServer::client()), server.token());
    let limits = client.limits(&token).await.unwrap();
    assert_eq!(limits.instances.free(), Some(7));
    assert_eq!((limits.cores.used, limits.cores.limit), (6, None));
    assert_eq!(limits.ram.limit, Some(51200));
    let flavors = client.flavors(&token).await.unwrap();
    assert_eq!(
        (flavors.items[0].ram, flavors.items[0].disabled),
        (2048, false)
    );
    assert_eq!(client.key_pairs(&token).await.unwrap()[0].name, "ops");
    assert!(client.availability_zones(&token).await.unwrap()[0].available);
}

#[tokio::test]
async fn a_key_pair_is_made_from_a_public_key() {
    let server = TestServer::start(|_| Reply::Json(201, json!({"keypair": {"name": "ops"}}))).await;
    let client = Client::new(TestServer::client());
    let key = "ssh-ed25519 AAAA";
    let made = client.create_key_pair(&server.token(), "ops", key).await;
    made.unwrap();
    let received = server.received();
    assert_eq!(received[0].path(), "/nova/v2.1/os-keypairs");
    let body = json!({"keypair": {"name": "ops", "public_key": key}});
    assert_eq!(received[0].body, body);
}

#[tokio::test]
async fn servers_are_those_with_the_prefix_also_where_nova_returns_more() {
    let server = TestServer::start(|_| {
        Reply::Json(
            200,
            json!({"servers": [
            {"id": "1", "name": "prod.a-master-0", "status": "ACTIVE", "metadata": {},
             "addresses": {"net": [{"addr": "10.0.0.5", "version": 4,
                                    "OS-EXT-IPS:type": "fixed"}]},
             "flavor": {"id": "2", "links": []}, "created": "2026-11-21T11:13:55Z",
             "os-extended-volumes:volumes_attached": [{"id": "v1"}]},
            {"id": "2", "name": "x-prod.a-master-0", "status": "ACTIVE"},
            {"id": "5", "name": "prod.a-node-2", "status": "ACTIVE",
             "flavor": {"original_name": "m1.small", "vcpus": 1, "ram": 2048, "disk": 10}},
            {"id": "3", "name": "prod.a-node-0", "status": "ERROR", "image": "",
             "fault": {"code": 500, "message": "No valid host was found."}},
            {"id": "4", "name": "prod.a-node-1", "status": "TELEPORTING"}]}),
        )
    })
    .await;
    let client = Client::new(TestServer::client());
    let servers = client
        .servers(&server.token(), "prod.a")
        .await
        .unwrap()
        .items;
    let ids: Vec<_> = servers.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["1", "5", "3", "4"]);
    // from version 2.47 on, a server has the name of its flavor, and no ID
    let flavor = servers[1].flavor.as_ref().unwrap();
    assert_eq!(flavor.name.as_deref(), Some("m1.small"));
    assert_eq!(servers[0].addresses["net"][0].address, "10.0.0.5");
    assert_eq!(servers[0].volumes[0].id, "v1");
    let fault = servers[2].fault.as_ref().unwrap();
    assert_eq!(fault.message, "No valid host was found.");
    assert_eq!(
        servers[3].status,
        ServerStatus::Other("TELEPORTING".to_owned())
    );
    // what could be an expression of its own is not sent
    client.servers(&server.token(), "a.*|b").await.unwrap();
    assert_eq!(
        server.calls(),
        [
            "GET /nova/v2.1/servers/detail?limit=500&name=prod.a",
            "GET /nova/v2.1/servers/detail?limit=500"
        ]
    );
}
