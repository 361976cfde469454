//! What needs attention, and when.
use crate::stack::Stack;
use app::ports::Panel;
use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};
use kube::{Api, api::PostParams};
use portico_domain::panel::{Attention, Health};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn finding_p19_replicas_just_asked_for_need_no_attention_until_their_deadline() {
    let stack = Stack::open();
    let own = stack.namespace("starts").await;
    // no scheduler takes its pods, so they never become ready
    let deployment = serde_json::from_value(json!({
        "metadata": { "name": "web" },
        "spec": {
            "replicas": 2, "progressDeadlineSeconds": 20,
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "schedulerName": "none", "containers": [{ "name": "c", "image": "none" }] },
            },
        },
    }));
    Api::<Deployment>::namespaced(own.client.clone(), &own.name)
        .create(&PostParams::default(), &deployment.unwrap())
        .await
        .unwrap();
    let vera = stack.panel("vera").await;
    let troubles = async || {
        let all = vera.cluster(stack.acme(), true).await.unwrap().attention;
        let is_own = |item: &Attention| {
            let object = item.object.as_ref();
            object.and_then(|object| object.namespace.as_ref()) == Some(&own.name)
        };
        all.into_iter().filter(is_own).collect::<Vec<_>>()
    };
    let pods = Api::<Pod>::namespaced(own.client.clone(), &own.name);
    let made = async {
        while pods.list(&Default::default()).await.unwrap().items.len() < 2 {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(15), made)
        .await
        .expect("its pods are made");
    assert_eq!(troubles().await, []);
    let late = async {
        loop {
            let found = troubles().await;
            if !found.is_empty() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(60), late)
        .await
        .expect("after the deadline it needs attention");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].health, Health::Failed);
    assert_eq!(found[0].title, "0 of 2 ready");
    own.done().await;
}
