//! The pods of nodes that leave: those without a place are accepted, and nodes are drained.
use super::Machine;
use super::api_server::{ApiServer, node, pod};
use super::nodes::{capi_helm, cloud, servers};
use super::stand_in::{CLUSTER, StandIn, cluster};
use serde_json::json;
use std::sync::atomic::{AtomicU32, Ordering};

/// The API of the cluster: two nodes, and the named pods on the first.
async fn inside(pods: &[(&str, &str)]) -> ApiServer {
    let nodes = vec![node("shop-abc-node-0", "s0"), node("shop-abc-node-1", "s1")];
    let pods = pods.iter();
    let mut pods: Vec<_> = pods
        .map(|(name, cpu)| pod(name, "shop-abc-node-0", cpu, "ReplicaSet"))
        .collect();
    pods.push(pod("agent", "shop-abc-node-0", "100m", "DaemonSet"));
    ApiServer::start(nodes, pods).await
}

const REMOVE: [&str; 5] = ["nodes", "remove", "shop", "shop-abc-node-0", "--yes"];

fn with<'w>(words: &[&'w str], more: &[&'w str]) -> Vec<&'w str> {
    words.iter().chain(more).copied().collect()
}

#[tokio::test]
async fn a_node_is_drained_before_it_is_removed() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let api = inside(&[("web", "100m"), ("db", "100m")]).await;
    let words = with(&REMOVE, &["--dry-run"]);
    let ran = machine.run_inside(&cloud, &api, &words, None).await;
    assert_ran!("dry_run", ran);
    assert!(api.evicted().is_empty() && api.cordoned().is_empty());
    let ran = machine.run_inside(&cloud, &api, &REMOVE, None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(api.evicted(), ["web", "db"]);
    assert_eq!(api.cordoned(), ["shop-abc-node-0"]);
    assert_eq!(cloud.changes().len(), 1);
}

#[tokio::test]
async fn a_budget_that_blocks_is_named_and_the_node_is_not_removed() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let api = inside(&[("web", "100m")]).await;
    api.protect("web");
    let words = with(&REMOVE, &["--drain-timeout", "1s"]);
    let ran = machine.run_inside(&cloud, &api, &words, None).await;
    assert_ran!("budget_that_blocks", ran);
    assert!(cloud.calls().is_empty());
    // the user decides otherwise
    let words = with(&REMOVE, &["--no-drain"]);
    let ran = machine.run_inside(&cloud, &api, &words, None).await;
    assert_ran!("removal_without_draining", ran);
    assert!(api.evicted().is_empty());
    assert_eq!(cloud.changes().len(), 1);
}

#[tokio::test]
async fn what_would_be_lost_is_accepted_before_anything_is_changed() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let mut bare = pod("bare", "shop-abc-node-0", "1m", "ReplicaSet");
    bare["metadata"]["ownerReferences"] = json!([]);
    let api = ApiServer::start(vec![node("shop-abc-node-0", "s0")], vec![bare]).await;
    let ran = machine.run_inside(&cloud, &api, &REMOVE, None).await;
    assert_ran!("pods_that_would_be_lost", ran);
    assert!(api.cordoned().is_empty() && cloud.calls().is_empty());
    let words = with(&REMOVE, &["--force-unmanaged"]);
    let ran = machine.run_inside(&cloud, &api, &words, None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(api.evicted(), ["bare"]);
}

#[tokio::test]
async fn pods_without_a_place_are_named_and_accepted() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let api = inside(&[("large", "1900m"), ("small", "200m")]).await;
    let ran = machine.run_inside(&cloud, &api, &REMOVE, None).await;
    assert_ran!("pods_without_a_place", ran);
    let ran = machine.run_inside(&cloud, &api, &REMOVE, Some("no")).await;
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(cloud.calls().is_empty() && api.cordoned().is_empty());
    let ran = machine
        .run_inside(&cloud, &api, &REMOVE, Some("accept"))
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    // Magnum would choose the nodes
    let words = ["resize", "shop", "1", "--yes", "--accept-pending-pods"];
    let (other, api) = (super::nodes::cloud().await, inside(&[("large", "3")]).await);
    let ran = machine.run_inside(&other, &api, &words, None).await;
    assert_ran!("resize_with_pods_without_a_place", ran);
}

#[tokio::test]
async fn pods_without_a_place_are_accepted_before_a_file_makes_a_group_smaller() {
    let machine = Machine::new();
    let head = "apiVersion: portico.dev/v1alpha1\nkind: Cluster\nmetadata: {name: shop}\n";
    let groups = "nodeGroups: [{name: default-worker, replicas: 1}]";
    let content = format!("{head}spec: {{template: small, {groups}}}\n");
    let path = machine.file("shop.yaml", &content);
    let apply = ["apply", "-f", &path, "--yes"];
    let (cloud, api) = (cloud().await, inside(&[("large", "3")]).await);
    // the plan is read and shown only
    let words = with(&apply, &["--dry-run"]);
    let ran = machine.run_inside(&cloud, &api, &words, None).await;
    assert_ran!("dry_run_of_a_smaller_group", ran);
    // --yes is about the nodes, not about the pods
    let ran = machine.run_inside(&cloud, &api, &apply, None).await;
    assert_ran!("smaller_group_with_pods_without_a_place", ran);
    let ran = machine.run_inside(&cloud, &api, &apply, Some("no")).await;
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(cloud.calls().is_empty());
    let words = with(&apply, &["--accept-pending-pods"]);
    let ran = machine.run_inside(&cloud, &api, &words, None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(cloud.changes()[0].body["node_count"], 1);
    // control case: there is room
    let (other, api) = (super::nodes::cloud().await, inside(&[("web", "1")]).await);
    let ran = machine.run_inside(&other, &api, &apply, None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!ran.err.contains("Pods:"), "{}", ran.err);
}

#[tokio::test]
async fn what_may_not_be_read_is_reported_as_not_checked() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let api = inside(&[("large", "3")]).await;
    api.forbid();
    let words = with(&REMOVE, &["--no-drain"]);
    let ran = machine.run_inside(&cloud, &api, &words, None).await;
    assert_ran!("pods_that_may_not_be_read", ran);
    // without access to the cluster as well
    let (other, words) = (super::nodes::cloud().await, with(&REMOVE, &["--drain"]));
    let ran = machine.run(&other, &words, None).await;
    assert_ran!("drain_without_access", ran);
    assert!(other.calls().is_empty());
    let ran = machine.run(&other, &REMOVE, None).await;
    assert_ran!("removal_without_access", ran);
}

const REPLACE: [&str; 5] = ["nodes", "replace", "shop", "shop-abc-node-0", "--yes"];

#[tokio::test]
async fn a_replaced_node_is_drained_when_the_new_one_is_ready() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let api = inside(&[("web", "100m")]).await;
    let words = with(&REPLACE, &["--drain-timeout", "1s"]);
    let ran = machine.run_inside(&cloud, &api, &words, None).await;
    assert_eq!(ran.code, 14, "{}", ran.err);
    assert!(ran.err.contains("is not ready"), "{}", ran.err);
    assert!(api.evicted().is_empty());
    assert_eq!(cloud.changes().len(), 1);
    let (other, api) = (
        super::nodes::cloud().await,
        inside(&[("web", "100m")]).await,
    );
    let running = machine.run_inside(&other, &api, &REPLACE, None);
    let later = async {
        while other.changes().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        api.add(node("shop-abc-node-2", "s2"));
    };
    let (ran, ()) = tokio::join!(running, later);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(api.evicted(), ["web"]);
    assert_eq!(other.changes().len(), 2);
}

#[tokio::test]
async fn where_the_driver_ignores_the_choice_a_node_is_drained_for_auto_healing() {
    let (machine, cloud) = (Machine::new(), capi_helm().await);
    let api = inside(&[("web", "100m")]).await;
    // one of two nodes are too many
    let ran = machine.run_inside(&cloud, &api, &REPLACE, None).await;
    assert_ran!("replacement_where_too_few_nodes_are_healthy", ran);
    assert!(api.cordoned().is_empty());
    api.add(node("shop-abc-master-0", "m0"));
    let ran = machine.run_inside(&cloud, &api, &REPLACE, None).await;
    assert_ran!("replacement_by_auto_healing", ran);
    assert_eq!(api.evicted(), ["web"]);
    assert!(cloud.calls().is_empty());
    // without access to the cluster nothing is done
    let ran = machine.run(&cloud, &REPLACE, None).await;
    assert_ran!("replacement_without_access", ran);
}

#[tokio::test]
async fn in_place_the_node_leaves_before_the_new_one_is_added() {
    let changes = AtomicU32::new(0);
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let cloud = StandIn::start(clusters, move |request, clusters| {
        if !request.path.ends_with("/actions/resize") {
            return None;
        }
        let minute = changes.fetch_add(1, Ordering::Relaxed) + 1;
        clusters[0]["status"] = json!("UPDATE_COMPLETE");
        clusters[0]["updated_at"] = json!(format!("2026-11-21T12:0{minute}:00+00:00"));
        clusters[0]["node_count"] = request.body["node_count"].clone();
        Some((202, json!({"uuid": CLUSTER})))
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    cloud.show_servers(servers());
    let api = inside(&[("web", "100m")]).await;
    let words = with(&REPLACE, &["--in-place"]);
    let ran = machine.run_inside(&cloud, &api, &words, None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(api.evicted(), ["web"]);
    let sizes: Vec<_> = cloud
        .changes()
        .into_iter()
        .map(|one| one.body["node_count"].clone())
        .collect();
    assert_eq!(sizes, [1, 2]);
}
