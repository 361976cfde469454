//! Removals of several nodes, with Magnum, Nova and the objects of Kubernetes inside of the test.
use super::send;
use crate::service::lifecycle::{
    changing_magnum::CLUSTER,
    nodes::tests::{NAME, ONE, TWO, cloud, reason, removal, server, servers},
    pods::PodSource,
};
use portico_domain::panel::lifecycle::{ChangeOutcome, NodeRemoval};
use serde_json::{Value, json};
use std::slice;

/// Returns a node as Kubernetes has it, and a pod of a ReplicaSet on it.
fn node_with_pod(id: &str, name: &str, is_cordoned: bool) -> (Value, Value) {
    let node = json!({"metadata": {"name": name},
                      "spec": {"providerID": format!("openstack:///{id}"), "unschedulable": is_cordoned},
                      "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
                                 "conditions": [{"type": "Ready", "status": "True"}]}});
    let owner = json!([{"kind": "ReplicaSet", "name": "web", "controller": true}]);
    let pod = json!({"metadata": {"namespace": "shop", "name": format!("web-{name}"), "ownerReferences": owner},
                     "spec": {"nodeName": name, "containers": []}, "status": {"phase": "Running"}});
    (node, pod)
}

#[tokio::test]
async fn the_second_of_several_chosen_nodes_that_is_not_drained_is_named_and_none_leaves() {
    let magnum = cloud("CREATE_COMPLETE", 3).await;
    let third = "kube-x1y2z-default-worker-ddddd";
    let mut all = servers();
    all.push(server("3", third, None));
    let magnum = magnum.with_servers(all);
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let second = "kube-x1y2z-default-worker-bbbbb";
    let (first_node, _) = node_with_pod(ONE, NAME, true);
    let (second_node, left) = node_with_pod(TWO, second, true);
    let (third_node, stays) = node_with_pod("3", third, false);
    let (open_node, _) = node_with_pod(TWO, second, false);
    let of = async |nodes: &[Value], pods: &[Value]| {
        let both = NodeRemoval {
            others: vec![TWO.to_owned()],
            ..removal(ONE, &NodeRemoval::confirmation(NAME, 1))
        };
        let source = PodSource::Listed { nodes, pods };
        let sent = send(&magnum.clients, &ada, CLUSTER, &both, source).await;
        sent.unwrap().outcome
    };
    let nodes = [first_node.clone(), second_node.clone(), third_node.clone()];
    let refused = reason(of(&nodes, &[stays.clone(), left]).await);
    assert!(refused.starts_with(&format!("{second}: ")), "{refused}");
    let pod = format!("it still runs shop/web-{second}.");
    assert!(refused.contains(&pod), "{refused}");
    let approval = NodeRemoval::without_draining(&NodeRemoval::confirmation(NAME, 1));
    assert!(refused.contains(&approval), "{refused}");
    // one on which pods can start, and both
    let nodes = [first_node, open_node, third_node.clone()];
    let refused = reason(of(&nodes, slice::from_ref(&stays)).await);
    assert!(refused.contains("is not cordoned"), "{refused}");
    let nodes = [&nodes[1], &third_node].map(Value::clone);
    let refused = reason(of(&nodes, slice::from_ref(&stays)).await);
    let both = format!("Not drained either: {second}.");
    assert!(
        refused.contains(NAME) && refused.contains(&both),
        "{refused}"
    );
    assert_eq!(magnum.calls(), [""; 0]);
    // control case: only the node that stays has pods that would have to move
    let (first_node, _) = node_with_pod(ONE, NAME, true);
    let nodes = [first_node, second_node, third_node];
    assert_eq!(
        of(&nodes, slice::from_ref(&stays)).await,
        ChangeOutcome::Accepted
    );
}
