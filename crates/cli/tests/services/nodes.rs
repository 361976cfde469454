//! Nodes: listed with their servers, added, removed and replaced.
use crate::service_proxy::Rules;
use crate::tenant::{CLUSTER_API, FULL, HEAT, Tenant, cluster, json};
use std::collections::BTreeSet;

/// Returns the IDs of the servers of a node group.
async fn servers(tenant: &Tenant, name: &str, group: &str) -> BTreeSet<String> {
    let words = ["nodes", "list", name, "-g", group, "-o", "json"];
    let ran = tenant.cluster(&words).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let nodes = json(&ran);
    let nodes = nodes.as_array().unwrap().iter();
    nodes
        .map(|node| {
            assert_eq!(node["status"], "ACTIVE", "{node} {}", ran.err);
            assert_eq!(node["addresses"].as_array().unwrap().len(), 1, "{node}");
            node["server_id"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[tokio::test]
async fn nodes_are_added_replaced_and_removed_by_their_servers() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("nodes");
        tenant.make_complete(&name, FULL, &[]).await;
        assert_eq!(servers(&tenant, &name, "default-master").await.len(), 1);
        let first = servers(&tenant, &name, "default-worker").await;
        assert_eq!(first.len(), 1);
        let ran = tenant.cluster(&["nodes", "add", &name, "--wait"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let before = servers(&tenant, &name, "default-worker").await;
        assert!(
            before.len() == 2 && before.is_superset(&first),
            "{before:?}"
        );
        // the oldest: without a choice, the newest would leave
        let leaves = first.first().unwrap();
        let ran = tenant
            .cluster(&["nodes", "replace", &name, leaves, "--yes"])
            .await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let after = servers(&tenant, &name, "default-worker").await;
        assert_eq!(after.len(), 2);
        assert!(!after.contains(leaves), "{after:?}");
        assert!(after.is_superset(&(&before - &first)), "{after:?}");
        let leaves = after.intersection(&before).next().unwrap();
        let words = ["nodes", "remove", &name, leaves, "--yes", "--wait"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let last = servers(&tenant, &name, "default-worker").await;
        assert_eq!(last, &after - &BTreeSet::from([leaves.clone()]));
    })
    .await;
}

#[tokio::test]
async fn a_chosen_node_is_not_sent_to_a_driver_that_ignores_the_choice() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("ignored");
        tenant.make_complete(&name, CLUSTER_API, &[]).await;
        let nodes = servers(&tenant, &name, "default-worker").await;
        let node = nodes.first().unwrap();
        let (person, proxy) = tenant.through(Rules::default()).await;
        for verb in ["remove", "replace"] {
            let ran = cluster(&person, &["nodes", verb, &name, node, "--yes"]).await;
            assert_eq!(ran.code, 13, "{verb}: {}", ran.err);
            let text = "ignores the chosen nodes";
            assert!(ran.err.contains(text), "{verb}: {}", ran.err);
        }
        assert!(proxy.changes().is_empty());
        // a number works with every driver
        let words = ["nodes", "add", &name, "-n", "1", "--wait"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let words = ["nodes", "remove", &name, "-n", "1", "--yes", "--wait"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
    })
    .await;
}

#[tokio::test]
async fn a_heat_driver_removes_the_named_server() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("stack");
        tenant.make_complete(&name, HEAT, &[]).await;
        let ran = tenant.cluster(&["nodes", "add", &name, "--wait"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let before = servers(&tenant, &name, "default-worker").await;
        let node = before.first().unwrap();
        let words = ["nodes", "remove", &name, node, "--yes", "--wait"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let after = servers(&tenant, &name, "default-worker").await;
        assert_eq!(after, &before - &BTreeSet::from([node.clone()]));
    })
    .await;
}
