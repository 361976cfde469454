//! The drain of a node that the test makes: no kubelet belongs to it, so that its pods leave at once.
use crate::{
    own_namespace::{OwnNamespace, Removal},
    stack::Stack,
};
use app::{error::UiErrorKind, ports::Objects as _};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{
    Api,
    api::{DynamicObject, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
    discovery::ApiResource,
};
use portico_domain::panel::{
    Action, DrainOptions, DrainProgress, DrainState, ObjectRef, ResourceRef,
};
use serde_json::json;
use std::time::Duration;

const UNMANAGED: DrainOptions = DrainOptions {
    unmanaged: true,
    local_data: false,
};

/// Makes a ready node on which nothing is scheduled.
async fn make_node(own: &OwnNamespace) -> Node {
    let node = json!({"metadata": {"name": own.name},
        "spec": {"taints": [{"key": "portico.dev/test", "effect": "NoSchedule"}]}});
    let nodes = Api::<Node>::all(own.client.clone());
    let node = serde_json::from_value(node).unwrap();
    nodes.create(&PostParams::default(), &node).await.unwrap();
    let now = jiff::Timestamp::now().to_string();
    let status = json!({"status": {"conditions": [{"type": "Ready", "status": "True",
        "reason": "Test", "message": "", "lastHeartbeatTime": now, "lastTransitionTime": now}]}});
    nodes
        .patch_status(&own.name, &PatchParams::default(), &Patch::Merge(status))
        .await
        .unwrap()
}

/// Makes a pod on the node that is running and ready by its status.
async fn make_pod(own: &OwnNamespace, name: &str) {
    let pod = json!({"metadata": {"name": name, "labels": {"app": name}}, "spec": {
        "nodeName": own.name, "terminationGracePeriodSeconds": 0,
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "c", "image": "none"}]}});
    let pods = Api::<Pod>::namespaced(own.client.clone(), &own.name);
    let pod = serde_json::from_value(pod).unwrap();
    // the new namespace's service account is made first
    let mut tries = 0;
    while let Err(error) = pods.create(&PostParams::default(), &pod).await {
        assert!(tries < 50, "{error}");
        tries += 1;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let status = json!({"status": {"phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}]}});
    pods.patch_status(name, &PatchParams::default(), &Patch::Merge(status))
        .await
        .unwrap();
}

/// Makes a budget that allows no disruption of a pod, and waits until it counts.
async fn protect(own: &OwnNamespace, name: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("policy", "v1beta1", "PodDisruptionBudget");
    let resource = ApiResource::from_gvk(&kind);
    let client = own.client.clone();
    let budgets = Api::<DynamicObject>::namespaced_with(client, &own.name, &resource);
    let spec = json!({"minAvailable": 1, "selector": {"matchLabels": {"app": name}}});
    let budget = DynamicObject::new(name, &resource).data(json!({ "spec": spec }));
    budgets
        .create(&PostParams::default(), &budget)
        .await
        .unwrap();
    for _ in 0..100 {
        let now = budgets.get(name).await.unwrap();
        if now.data["status"]["currentHealthy"] == 1 {
            return budgets;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the budget was not counted in time");
}

fn states(progress: &DrainProgress) -> Vec<(&str, DrainState)> {
    let pods = progress.pods.iter();
    pods.map(|pod| (pod.name.as_str(), pod.state)).collect()
}

#[tokio::test]
async fn need_22_a_drain_respects_a_disruption_budget_and_continues() {
    let stack = Stack::open();
    let own = stack.namespace("drain").await;
    // the scheduler counts it in what it reports about the pods of other tests
    let _node = Removal::at_acme(&stack, &["node", &own.name]);
    let made = make_node(&own).await;
    for name in ["guarded", "single"] {
        make_pod(&own, name).await;
    }
    let budgets = protect(&own, "guarded").await;
    let nodes = Api::<Node>::all(own.client.clone());
    let is_cordoned = async || {
        let spec = nodes.get(&own.name).await.unwrap().spec.unwrap();
        spec.unschedulable == Some(true)
    };
    let node = ObjectRef {
        resource: ResourceRef::core("nodes"),
        namespace: None,
        name: own.name.clone(),
    };
    let uid = made.metadata.uid.unwrap();
    let ada = stack.panel("ada").await;
    let step = async |options| {
        let (node, uid) = (node.clone(), uid.clone());
        ada.drain(stack.acme(), node, uid, options).await.unwrap()
    };

    let view = ada.object(stack.acme(), node.clone()).await.unwrap();
    let offered = view.actions.iter().find(|one| one.action == Action::Drain);
    assert!(offered.unwrap().allowed);
    let plan = ada
        .plan_drain(stack.acme(), node.clone(), DrainOptions::default())
        .await
        .unwrap();
    assert_eq!(plan.count(DrainState::NeedsUser), 2, "{plan:?}");
    assert!(!is_cordoned().await);

    // another node of that name, and a user without the right: nothing happens
    let other = ada
        .drain(stack.acme(), node.clone(), "other".to_owned(), UNMANAGED)
        .await
        .unwrap_err();
    assert_eq!(other.kind, UiErrorKind::Conflict);
    let vera = stack.panel("vera").await;
    let refused = vera
        .drain(stack.acme(), node.clone(), uid.clone(), UNMANAGED)
        .await
        .unwrap_err();
    assert_eq!(refused.kind, UiErrorKind::NotPermitted);
    assert!(!is_cordoned().await);

    // pods that nothing creates again stay without the option
    let stuck = step(DrainOptions::default()).await;
    assert!(stuck.is_stuck() && is_cordoned().await, "{stuck:?}");

    let first = step(UNMANAGED).await;
    assert_eq!(
        states(&first),
        [
            ("guarded", DrainState::Blocked),
            ("single", DrainState::Terminating)
        ]
    );
    let reason = first.pods[0].reason.as_deref().unwrap();
    assert!(reason.contains("disruption budget guarded"), "{reason}");
    let second = step(UNMANAGED).await;
    assert_eq!(states(&second), [("guarded", DrainState::Blocked)]);

    // it continues where it stopped, once the budget allows it
    budgets
        .delete("guarded", &Default::default())
        .await
        .unwrap();
    let third = step(UNMANAGED).await;
    assert_eq!(states(&third), [("guarded", DrainState::Terminating)]);
    assert!(step(UNMANAGED).await.is_done());

    nodes.delete(&own.name, &Default::default()).await.unwrap();
    own.done().await;
}
