use super::*;
use crate::rest::test_server::{PROJECT, Reply, TestServer};
use serde_json::json;

#[tokio::test]
async fn limits_and_lists_are_read_in_cinders_format() {
    let base = format!("/cinder/v3/{PROJECT}");
    let server = TestServer::start(move |request| {
        let path = request.path().strip_prefix(&base).unwrap();
        Reply::Json(
            200,
            match path {
                "/limits" => json!({"limits": {"rate": [], "absolute": {
                "maxTotalVolumes": 10, "totalVolumesUsed": 2, "maxTotalVolumeGigabytes": 1000,
                "totalGigabytesUsed": 120, "maxTotalSnapshots": 10, "totalSnapshotsUsed": 0,
                "maxTotalBackups": 10}}}),
                "/volumes/detail" if request.target.contains("marker=v1") => json!({"volumes": []}),
                "/volumes/detail" => json!({"volumes": [{"id": "v1", "name": null, "size": 20,
                "status": "in-use", "volume_type": "ssd", "availability_zone": "nova",
                "metadata": {"cinder.csi.openstack.org/cluster": "prod"},
                "attachments": [{"server_id": "s1", "device": "/dev/vdb"}],
                "created_at": "2026-11-21T11:13:55.770785", "bootable": "false"}],
                "volumes_links": [{"rel": "next", "href": "http://c/volumes/detail?marker=v1"}]}),
                "/snapshots/detail" => {
                    json!({"snapshots": [{"id": "s", "name": "before", "size": 20,
                "volume_id": "v1", "status": "backing-up", "metadata": {}}]})
                }
                "/types" => {
                    json!({"volume_types": [{"id": "t", "name": "ssd", "is_public": true}]})
                }
                "/os-availability-zone" => json!({"availabilityZoneInfo": [
                {"zoneName": "nova", "zoneState": {"available": false}}]}),
                other => panic!("{other}"),
            },
        )
    })
    .await;
    let (client, token) = (Client::new(TestServer::client()), server.token());
    let limits = client.limits(&token).await.unwrap();
    assert_eq!(limits.gigabytes.free(), Some(880));
    let volumes = client.volumes(&token).await.unwrap();
    assert_eq!((volumes.items.len(), volumes.cut), (1, None));
    let volume = &volumes.items[0];
    assert_eq!(
        (volume.name.as_str(), volume.status.as_str()),
        ("", "in-use")
    );
    assert_eq!(
        volume.created_at.unwrap().to_string(),
        "2026-11-21T11:13:55.770785Z"
    );
    assert_eq!(volume.attachments[0].server_id.as_deref(), Some("s1"));
    let snapshots = client.snapshots(&token).await.unwrap();
    let status = VolumeStatus::Other("backing-up".to_owned());
    assert_eq!(snapshots.items[0].status, status);
    assert_eq!(
        client.volume_types(&token).await.unwrap().items[0].name,
        "ssd"
    );
    assert!(!client.availability_zones(&token).await.unwrap()[0].available);
}
