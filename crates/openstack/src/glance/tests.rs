use super::*;
use crate::rest::test_server::{Reply, TestServer};
use serde_json::json;

#[tokio::test]
async fn images_and_their_properties_are_read_from_all_pages() {
    let server = TestServer::start(|request| {
        Reply::Json(
            200,
            match request.target.contains("marker=1") {
                false => json!({"images": [{"id": "1", "name": "ubuntu-k8s", "status": "active",
                "visibility": "public", "size": 734_003_200_u64, "min_disk": 20, "min_ram": 0,
                "os_distro": "ubuntu", "kube_version": "v1.31.0", "tags": [], "os_hidden": false,
                "created_at": "2026-11-21T11:13:55Z"}],
                "first": "/v2/images?limit=1", "next": "/v2/images?limit=1&marker=1"}),
                true => json!({"images": [{"id": "2", "name": null, "status": "melted",
                "size": null, "os_distro": 7}], "first": "/v2/images"}),
            },
        )
    })
    .await;
    let client = Client::new(TestServer::client());
    let images = client.images(&server.token()).await.unwrap().items;
    assert_eq!(images[0].os_distro(), Some("ubuntu"));
    assert_eq!(images[0].kube_version(), Some("v1.31.0"));
    assert_eq!(
        (images[0].min_disk, images[0].size),
        (20, Some(734_003_200))
    );
    assert_eq!(images[1].status, ImageStatus::Other("melted".to_owned()));
    assert_eq!((images[1].os_distro(), images[1].size), (None, None));
    assert_eq!(
        server.calls()[1],
        "GET /glance/v2/images?limit=500&marker=1"
    );
}
