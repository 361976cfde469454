//! Nodes and their removal, with Magnum and Nova inside of the test.
use super::{
    healing,
    kubernetes::{InKubernetes, of_list},
    reading::{find, view},
    removal::{reviewed, send},
};
use crate::service::lifecycle::{
    changing_magnum::{CLUSTER, ChangingMagnum, TEMPLATE, cluster},
    pods::PodSource,
    viewer::Viewer,
};
use app::error::UiErrorKind;
use portico_domain::panel::{
    Health,
    lifecycle::{ChangeOutcome, CheckLevel, ClusterNodes, NodeRemoval},
};
use portico_lifecycle::placement::{Placement, Unplaced};
use serde_json::{Value, json};

pub const ONE: &str = "11111111-0000-4000-8000-000000000001";
pub const TWO: &str = "11111111-0000-4000-8000-000000000002";
pub const NAME: &str = "kube-x1y2z-default-worker-aaaaa";

pub fn server(id: &str, name: &str, task: Option<&str>) -> Value {
    json!({"id": id, "name": name, "status": "ACTIVE", "OS-EXT-STS:task_state": task,
           "flavor": {"id": "f"}, "metadata": {},
           "addresses": {"net": [{"addr": "10.0.0.3"}]}})
}

pub fn servers() -> Vec<Value> {
    vec![
        server(ONE, NAME, None),
        server(TWO, "kube-x1y2z-default-worker-bbbbb", None),
        server("other", "wiki-default-worker-ccccc", None),
    ]
}

/// Magnum with a cluster that has this number of nodes, and Nova with two servers of it.
pub async fn cloud(status: &str, nodes: u32) -> ChangingMagnum {
    let mut cluster = cluster("shop", status);
    cluster["node_count"] = json!(nodes);
    let magnum = ChangingMagnum::start(vec![cluster], |request, _| {
        (request.method == "POST").then(|| (202, json!({"uuid": CLUSTER})))
    });
    magnum.await.with_servers(servers())
}

async fn shown(magnum: &ChangingMagnum, role: &str, nodes: InKubernetes) -> ClusterNodes {
    let viewer = magnum.viewer("ada", &[role, "reader"]);
    let found = find(&magnum.clients, &viewer, CLUSTER).await.unwrap();
    view(&found, &viewer, nodes, &Ok(None))
}

async fn removed(magnum: &ChangingMagnum, role: &str, server: &str, typed: &str) -> ChangeOutcome {
    let viewer = magnum.viewer("ada", &[role, "reader"]);
    removed_with(
        magnum,
        &viewer,
        removal(server, typed),
        &Placement::NotNeeded,
    )
    .await
}

pub fn removal(server: &str, typed: &str) -> NodeRemoval {
    NodeRemoval {
        server: server.to_owned(),
        others: Vec::new(),
        typed: typed.to_owned(),
        accepted_pods: Vec::new(),
    }
}

/// Sends a removal when this is known about the pods.
async fn removed_with(
    magnum: &ChangingMagnum,
    viewer: &Viewer,
    node: NodeRemoval,
    pods: &Placement,
) -> ChangeOutcome {
    let source = PodSource::Given(pods);
    let sent = send(&magnum.clients, viewer, CLUSTER, &node, source).await;
    sent.unwrap().outcome
}

pub fn reason(outcome: ChangeOutcome) -> String {
    match outcome {
        ChangeOutcome::Refused { reason, .. } => reason,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_node_has_its_group_its_server_and_what_kubernetes_reports() {
    let magnum = cloud("CREATE_COMPLETE", 2).await;
    let condition = json!([{"type": "Ready", "status": "True"}]);
    let items = json!([
        {"metadata": {"name": NAME}, "status": {"conditions": condition, "nodeInfo": {"kubeletVersion": "v1.31.0"}}},
        {"metadata": {"name": "stranger"}, "status": {}}
    ]);
    let in_kubernetes = of_list(Ok(json!({"metadata": {}, "items": items})));
    let shown = shown(&magnum, "member", in_kubernetes).await;
    assert_eq!(shown.cluster.name, "shop");
    assert_eq!(shown.nodes.len(), 2, "{:?}", shown.nodes);
    let first = &shown.nodes[0];
    assert_eq!(first.shown_name(), NAME);
    assert_eq!(first.group.as_deref(), Some("default-worker"));
    assert_eq!(first.server.as_deref(), Some(ONE));
    assert_eq!(first.addresses, ["10.0.0.3"]);
    assert_eq!(
        (first.status.as_str(), first.health),
        ("ACTIVE", Health::Ok)
    );
    let in_kubernetes = first.kubernetes.as_ref().unwrap();
    assert_eq!(in_kubernetes.status, "Ready");
    assert_eq!(in_kubernetes.version, "v1.31.0");
    assert_eq!(first.removal_refusal, None);
    assert_eq!(shown.nodes[1].kubernetes, None);
    insta::assert_snapshot!("node_without_a_server", shown.gaps.join("\n"));
}

#[tokio::test]
async fn a_cloud_without_nova_has_a_gap_and_not_an_error() {
    let magnum = ChangingMagnum::with(vec![cluster("shop", "CREATE_COMPLETE")]).await;
    let items = json!([{"metadata": {"name": NAME}}]);
    let in_kubernetes = of_list(Ok(json!({"metadata": {}, "items": items})));
    let shown = shown(&magnum, "member", in_kubernetes).await;
    assert!(shown.nodes.is_empty());
    insta::assert_snapshot!("cloud_without_nova", shown.gaps.join("\n"));
}

#[tokio::test]
async fn the_nodes_of_another_project_are_not_found() {
    let mut other = cluster("shop", "CREATE_COMPLETE");
    other["project_id"] = json!("globex");
    let magnum = ChangingMagnum::with(vec![other]).await;
    let root = magnum.viewer("root", &["admin"]);
    let error = find(&magnum.clients, &root, CLUSTER).await.err().unwrap();
    assert_eq!(error.kind, UiErrorKind::NotFound);
}

#[tokio::test]
async fn a_reader_sees_the_nodes_and_removes_none() {
    let magnum = cloud("CREATE_COMPLETE", 2).await;
    let shown = shown(&magnum, "reader", InKubernetes::default()).await;
    assert_eq!(shown.nodes.len(), 2);
    for node in shown.nodes {
        insta::assert_snapshot!("refusal_for_a_reader", node.removal_refusal.unwrap());
    }
    let refused = reason(removed(&magnum, "reader", ONE, NAME).await);
    insta::assert_snapshot!("removal_by_a_reader", refused);
    assert_eq!(magnum.calls(), [""; 0]);
}

#[tokio::test]
async fn the_chosen_server_is_removed_from_its_group_after_its_name() {
    let magnum = cloud("CREATE_COMPLETE", 2).await;
    let viewer = magnum.viewer("ada", &["member", "reader"]);
    let found = find(&magnum.clients, &viewer, CLUSTER).await.unwrap();
    let source = PodSource::Given(&Placement::NotNeeded);
    let review = reviewed(&found, &viewer, &[ONE], source).await;
    assert!(review.can_be_sent(), "{review:?}");
    insta::assert_json_snapshot!("review_of_one_node", review);
    let refused = reason(removed(&magnum, "member", ONE, "another").await);
    insta::assert_snapshot!("removal_with_another_name", refused);
    assert_eq!(magnum.calls(), [""; 0]);
    let outcome = removed(&magnum, "member", ONE, NAME).await;
    assert_eq!(outcome, ChangeOutcome::Accepted);
    let sent = magnum.changes();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].path, format!("clusters/{CLUSTER}/actions/resize"));
    assert_eq!(sent[0].body["node_count"], 1);
    assert_eq!(sent[0].body["nodes_to_remove"], json!([ONE]));
    assert!(sent[0].body["nodegroup"].is_string(), "{:?}", sent[0].body);
}

#[tokio::test]
async fn several_chosen_servers_leave_with_one_request_after_the_name_and_their_number() {
    let magnum = cloud("CREATE_COMPLETE", 3).await;
    let mut all = servers();
    all.push(server("3", "kube-x1y2z-default-worker-ddddd", None));
    let magnum = magnum.with_servers(all);
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let found = find(&magnum.clients, &ada, CLUSTER).await.unwrap();
    let pods = Placement::NotNeeded;
    let review = reviewed(&found, &ada, &[ONE, TWO], PodSource::Given(&pods)).await;
    assert!(review.can_be_sent(), "{review:?}");
    insta::assert_json_snapshot!("review_of_two_nodes", review);
    let both = |typed: &str| NodeRemoval {
        others: vec![TWO.to_owned()],
        ..removal(ONE, typed)
    };
    // the name is the text for one node alone
    let refused = reason(removed_with(&magnum, &ada, both(NAME), &pods).await);
    insta::assert_snapshot!("removal_with_one_of_two_names", refused);
    let stranger = NodeRemoval {
        others: vec!["other".to_owned()],
        ..removal(ONE, &NodeRemoval::confirmation(NAME, 1))
    };
    reason(removed_with(&magnum, &ada, stranger, &pods).await);
    let others = 0..NodeRemoval::MAX_NODES;
    let too_many = NodeRemoval {
        others: others.map(|number| number.to_string()).collect(),
        ..removal(ONE, NAME)
    };
    let refused = reason(removed_with(&magnum, &ada, too_many, &pods).await);
    assert!(refused.starts_with("At most 50 nodes"), "{refused}");
    assert_eq!(magnum.calls(), [""; 0]);
    let typed = NodeRemoval::confirmation(NAME, 1);
    let outcome = removed_with(&magnum, &ada, both(&typed), &pods).await;
    assert_eq!(outcome, ChangeOutcome::Accepted);
    let sent = magnum.changes();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].body["node_count"], 1);
    assert_eq!(sent[0].body["nodes_to_remove"], json!([ONE, TWO]));
}

#[tokio::test]
async fn pods_without_a_place_are_named_and_accepted_before_a_node_leaves() {
    let magnum = cloud("CREATE_COMPLETE", 2).await;
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let found = find(&magnum.clients, &ada, CLUSTER).await.unwrap();
    let pods = Placement::Checked(Unplaced {
        without_place: vec!["shop/web".to_owned()],
        uncertain: vec!["shop/db".to_owned()],
        ..Unplaced::default()
    });
    let review = reviewed(&found, &ada, &[ONE], PodSource::Given(&pods)).await;
    assert!(review.can_be_sent(), "{review:?}");
    assert_eq!(review.pending_pods, ["shop/web", "shop/db"]);
    insta::assert_json_snapshot!("checks_of_pods_without_a_place", review.checks);
    let mut node = removal(ONE, NAME);
    node.accepted_pods = vec!["shop/web".to_owned()];
    let refused = reason(removed_with(&magnum, &ada, node.clone(), &pods).await);
    insta::assert_snapshot!("pod_that_was_not_accepted", refused);
    assert_eq!(magnum.calls(), [""; 0]);
    node.accepted_pods = review.pending_pods.clone();
    let outcome = removed_with(&magnum, &ada, node, &pods).await;
    assert_eq!(outcome, ChangeOutcome::Accepted);
}

#[tokio::test]
async fn a_node_that_is_not_known_to_be_drained_is_removed_with_a_typed_approval_only() {
    let magnum = cloud("CREATE_COMPLETE", 2).await;
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let pods = Placement::NotChecked("The API server cannot be reached.".to_owned());
    let refused = reason(removed_with(&magnum, &ada, removal(ONE, NAME), &pods).await);
    insta::assert_snapshot!("node_that_is_not_known_to_be_drained", refused);
    let approval = NodeRemoval::without_draining(NAME);
    assert!(refused.contains(&approval), "{refused}");
    assert_eq!(magnum.calls(), [""; 0]);
    let outcome = removed_with(&magnum, &ada, removal(ONE, &approval), &pods).await;
    assert_eq!(outcome, ChangeOutcome::Accepted);
}

#[tokio::test]
async fn pods_that_cannot_be_read_are_a_warning_with_the_reason() {
    let magnum = cloud("CREATE_COMPLETE", 2).await;
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let found = find(&magnum.clients, &ada, CLUSTER).await.unwrap();
    let pods = Placement::NotChecked("Your roles do not permit it.".to_owned());
    let review = reviewed(&found, &ada, &[ONE], PodSource::Given(&pods)).await;
    let mut checks = review.checks.iter();
    let check = checks.find(|check| check.text.starts_with("Not checked"));
    assert_eq!(check.unwrap().level, CheckLevel::Warning);
}

#[tokio::test]
async fn case_24_nothing_is_removed_while_another_change_runs() {
    let magnum = cloud("UPDATE_IN_PROGRESS", 2).await;
    let viewer = magnum.viewer("ada", &["member", "reader"]);
    let found = find(&magnum.clients, &viewer, CLUSTER).await.unwrap();
    let source = PodSource::Given(&Placement::NotNeeded);
    let review = reviewed(&found, &viewer, &[ONE], source).await;
    assert!(review.is_busy);
    assert!(!review.can_be_sent());
    let blocks = |level| level == CheckLevel::Blocks;
    assert!(review.checks.iter().any(|check| blocks(check.level)));
    reason(removed(&magnum, "member", ONE, NAME).await);
    assert_eq!(magnum.calls(), [""; 0]);
}

#[tokio::test]
async fn a_group_with_more_servers_than_magnum_counts_is_resized_first() {
    let magnum = cloud("CREATE_COMPLETE", 1).await;
    let refused = reason(removed(&magnum, "member", ONE, NAME).await);
    insta::assert_snapshot!("group_with_more_servers", refused);
    assert_eq!(magnum.calls(), [""; 0]);
}

#[tokio::test]
async fn a_server_that_left_or_is_being_deleted_is_not_removed_again() {
    let magnum = cloud("CREATE_COMPLETE", 1).await;
    let magnum = magnum.with_servers(vec![
        server(ONE, NAME, Some("deleting")),
        server(TWO, "kube-x1y2z-default-worker-bbbbb", None),
    ]);
    let refused = reason(removed(&magnum, "member", ONE, NAME).await);
    insta::assert_snapshot!("node_that_is_being_deleted", refused);
    let refused = reason(removed(&magnum, "member", "gone", NAME).await);
    insta::assert_snapshot!("unknown_server", refused);
    assert_eq!(magnum.calls(), [""; 0]);
}

#[tokio::test]
async fn a_driver_that_ignores_the_choice_is_not_asked() {
    let mut helm = cluster("shop", "CREATE_COMPLETE");
    helm["node_count"] = json!(2);
    let magnum = ChangingMagnum::start(vec![helm], |request, _| {
        request.path.starts_with("clustertemplates/").then(|| {
            let template = json!({"uuid": TEMPLATE, "name": "small", "project_id": "acme", "public": true,
                                  "flavor_id": "m1.small", "master_flavor_id": "m1.medium",
                                  "driver": "k8s_capi_helm_v1", "cluster_distro": "ubuntu",
                                  "coe": "kubernetes", "labels": {}});
            (200, template)
        })
    });
    let magnum = magnum.await.with_servers(servers());
    let unknown = shown(&magnum, "member", InKubernetes::default()).await;
    let refusal = unknown.nodes[0].removal_refusal.clone().unwrap();
    insta::assert_snapshot!("driver_that_ignores_the_choice", refusal);
    assert!(!unknown.nodes[0].can_be_healed);
    // a node that Kubernetes has is drained for auto-healing, unless too many are unhealthy then
    let node = |name: &str| {
        json!({"metadata": {"name": name},
               "status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    };
    let nodes = [node(NAME), node("b"), node("c")];
    let list = || of_list(Ok(json!({"metadata": {}, "items": nodes})));
    let known = shown(&magnum, "member", list()).await;
    assert!(known.nodes[0].can_be_healed, "{:?}", known.nodes[0]);
    let of_reader = shown(&magnum, "reader", list()).await;
    assert!(!of_reader.nodes[0].can_be_healed);
    let viewer = magnum.viewer("ada", &["member", "reader"]);
    let found = find(&magnum.clients, &viewer, CLUSTER).await.unwrap();
    let cluster = &found.target.cluster;
    assert_eq!(healing::refusal(cluster, &nodes, NAME), None);
    let refused = healing::refusal(cluster, &nodes[..2], NAME).unwrap();
    insta::assert_snapshot!("too_few_healthy_nodes", refused);
    let refused = reason(removed(&magnum, "member", ONE, NAME).await);
    insta::assert_snapshot!("removal_where_the_choice_is_ignored", refused);
    assert_eq!(magnum.calls(), [""; 0]);
}
