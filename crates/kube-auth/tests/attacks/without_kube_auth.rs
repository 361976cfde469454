//! The two other ways in: the root certificate, and an identity provider of one's own.
use crate::lab::{Lab, eventually};
use crate::world::World;
use axum::routing::post;
use axum::{Json, Router};
use portico_testkit::KubeApiServer;
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[tokio::test]
async fn the_root_certificate_opens_a_cluster_while_kube_auth_is_away() {
    let world = World::new().await;
    let mut lab = Lab::start(
        &world,
        None,
        &["--authentication-token-webhook-cache-ttl=1s"],
    )
    .await;
    let token = lab.token(&world.sign_in(&world.user("tenant").await).await);
    let cluster = lab.cluster();
    let tenant = cluster.with_token(&token);
    assert!(tenant.is_known().await.unwrap());
    lab.served = None;
    eventually("no review says who the tenant is", async || {
        !tenant.is_known().await.unwrap()
    })
    .await;
    let kubectl = async |arguments: &[&str]| lab.api_server.kubectl(arguments).await.unwrap();
    kubectl(&["create", "namespace", "rescued"]).await;
    let found = kubectl(&["get", "namespace", "rescued", "--output=name"]).await;
    assert_eq!(found.trim(), "namespace/rescued");
    world.end().await;
}

/// A provider as an operator would write one, in place of theirs; it knows one token.
async fn own_provider() -> String {
    let review = |Json(review): Json<Value>| async move {
        let status = if review["spec"]["token"] == "token-of-our-own" {
            json!({"authenticated": true, "user": {"username": "owner", "groups": ["owners"]}})
        } else {
            json!({"authenticated": false})
        };
        Json(json!({"apiVersion": review["apiVersion"], "kind": "TokenReview", "status": status}))
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let router = Router::new().route("/", post(review));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    url
}

#[tokio::test]
async fn a_cluster_with_a_provider_of_its_own_takes_its_tokens_and_none_of_ours() {
    let world = World::new().await;
    let url = own_provider().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("own.kubeconfig");
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config",
        "clusters": [{"name": "own", "cluster": {"server": url}}],
        "contexts": [{"name": "own", "context": {"cluster": "own", "user": ""}}],
        "current-context": "own",
    });
    std::fs::write(&file, kubeconfig.to_string()).unwrap();
    let flags = [
        format!(
            "--authentication-token-webhook-config-file={}",
            file.display()
        ),
        "--authentication-token-webhook-version=v1".to_owned(),
    ];
    let own = KubeApiServer::start(&world.env, &flags).await.unwrap();
    let kubectl = async |arguments: &[&str]| own.kubectl(arguments).await.unwrap();
    kubectl(&[
        "create",
        "clusterrolebinding",
        "owners",
        "--clusterrole=cluster-admin",
        "--group=owners",
    ])
    .await;
    let cluster = own.cluster(crate::reviews::CLUSTER, &file).unwrap();
    let owner = cluster.with_token("token-of-our-own");
    eventually("the owner's rights", async || {
        owner.get("/api/v1/secrets").await.unwrap().0 == 200
    })
    .await;
    let issued = world.sign_in(&world.user("tenant").await).await;
    let ours = cluster
        .with_token(&world.sealed(&issued))
        .is_known()
        .await
        .unwrap();
    assert!(!ours);
    world.end().await;
}
