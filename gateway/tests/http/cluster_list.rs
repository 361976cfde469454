//! The signed list of enrolled clusters, as kube-auth fetches it.
use http::{Method, StatusCode};
use jiff::Timestamp;
use portico_assertion::{
    SigningKey,
    cluster_list::{LIFETIME_SECONDS, ListRefused, ListVerifier},
};
use portico_domain::enrolled_cluster::{ClusterSource, EnrolledCluster};
use serde_json::json;
use uuid::Uuid;

use crate::support::{
    browser::Browser,
    stack::{MAIN, Stack, Wanted},
};

fn cluster(id: u128) -> EnrolledCluster {
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    EnrolledCluster {
        id: Uuid::from_u128(id),
        name: format!("cluster-{id}"),
        owner_project: "acme".to_owned(),
        accepted_projects: vec!["acme".to_owned()],
        accepted_roles: Vec::new(),
        api_url: "https://192.0.2.7:6443".to_owned(),
        ca: pem.to_owned(),
        client_ca: pem.to_owned(),
        api_audiences: vec!["https://kubernetes.default.svc".to_owned()],
        source: ClusterSource::Magnum,
    }
}

#[tokio::test]
async fn the_list_of_enrolled_clusters_is_signed_and_changes_with_the_store() {
    let dir = tempfile::tempdir().expect("directory");
    let key = SigningKey::generate();
    let path = dir.path().join("list.pem");
    key.write_new(&path).expect("key file");
    let stack = Stack::start(Wanted {
        gateway: json!({ "cluster_list": { "signing_key_file": path } }),
        ..Wanted::on_sqlite()
    })
    .await;
    let now = Timestamp::now();
    let enrolled = stack.store.enrolled_clusters();
    enrolled.put(&cluster(1), now).await.expect("stored");
    let url = format!("{MAIN}/.well-known/portico-clusters");
    let mut kube_auth = Browser::new(stack.address);
    let page = kube_auth.send(Method::GET, &url, &[], String::new()).await;
    assert_eq!(page.status, StatusCode::OK);
    let verifier = ListVerifier::from_pem(&key.public_pem().expect("PEM"), MAIN).expect("key");
    let list = verifier.verify(&page.body, now).expect("verified");
    assert_eq!(list.sequence, 1);
    assert_eq!(list.exp - list.iat, LIFETIME_SECONDS);
    assert_eq!(list.clusters, [cluster(1).listed()]);
    let stranger = SigningKey::generate().public_pem().expect("PEM");
    let stranger = ListVerifier::from_pem(&stranger, MAIN).expect("key");
    assert_eq!(
        stranger.verify(&page.body, now),
        Err(ListRefused::UnknownKey)
    );

    let etag = page.headers["etag"].to_str().expect("text").to_owned();
    let known = [("if-none-match", etag.as_str())];
    let again = kube_auth
        .send(Method::GET, &url, &known, String::new())
        .await;
    // unless a full hour has begun since
    if again.headers["etag"] == page.headers["etag"] {
        assert_eq!(again.status, StatusCode::NOT_MODIFIED);
        assert_eq!(again.body, "");
    }

    enrolled.remove(Uuid::from_u128(1)).await.expect("removed");
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let page = kube_auth
        .send(Method::GET, &url, &known, String::new())
        .await;
    let list = verifier
        .verify(&page.body, Timestamp::now())
        .expect("verified");
    assert_eq!((list.sequence, list.clusters.len()), (2, 0));
}

#[tokio::test]
async fn without_a_signing_key_there_is_no_list() {
    let stack = Stack::start(Wanted::default()).await;
    let url = format!("{MAIN}/.well-known/portico-clusters");
    let mut kube_auth = Browser::new(stack.address);
    let page = kube_auth.send(Method::GET, &url, &[], String::new()).await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
}
