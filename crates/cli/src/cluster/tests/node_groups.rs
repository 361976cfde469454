use super::Machine;
use super::stand_in::{CLUSTER, StandIn, cluster};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};

async fn cloud(status: &str) -> StandIn {
    StandIn::with(vec![cluster(CLUSTER, "shop", status)]).await
}

#[tokio::test]
async fn case_24_a_cluster_that_is_being_deleted_is_not_resized() {
    let (machine, cloud) = (Machine::new(), cloud("DELETE_IN_PROGRESS").await);
    for words in [
        vec!["resize", "shop", "3"],
        vec!["resize", "shop", "3", "--wait"],
        vec!["nodegroup", "create", "shop", "more", "--wait"],
    ] {
        let ran = machine.run(&cloud, &words, None).await;
        assert_eq!(ran.code, 4, "{words:?}: {}", ran.err);
        assert!(ran.err.contains("DELETE_IN_PROGRESS"), "{}", ran.err);
    }
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn case_32_a_default_group_is_not_deleted_alone() {
    let (machine, cloud) = (Machine::new(), cloud("CREATE_COMPLETE").await);
    let words = ["nodegroup", "delete", "shop", "default-worker", "--yes"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_ran!("default_group", ran);
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn case_33_a_restricted_label_is_named_before_it_is_sent() {
    let (machine, cloud) = (Machine::new(), cloud("CREATE_COMPLETE").await);
    let words = [
        "nodegroup",
        "create",
        "shop",
        "more",
        "--node-label",
        "kubernetes.io/role=x",
    ];
    let ran = machine.run(&cloud, &words, None).await;
    assert_ran!("restricted_label", ran);
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn a_dry_run_shows_the_step_and_sends_nothing() {
    let (machine, cloud) = (Machine::new(), cloud("CREATE_COMPLETE").await);
    let words = ["resize", "shop", "4", "--dry-run"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_ran!("dry_run", ran);
    let ran = machine.run(&cloud, &["resize", "shop", "2"], None).await;
    assert_ran!("same_size", ran);
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn a_resize_is_sent_from_the_reviewed_size_only() {
    let reads = AtomicUsize::new(0);
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let cloud = StandIn::start(clusters, move |request, clusters| {
        let is_list = request.path == format!("clusters/{CLUSTER}/nodegroups");
        // another client resizes the group after the steps were shown
        if is_list && reads.fetch_add(1, Ordering::SeqCst) == 1 {
            clusters[0]["node_count"] = json!(5);
        }
        None
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    for (name, words) in [
        ("resized_meanwhile", &["resize", "shop", "4"][..]),
        (
            "another_size_than_expected",
            &["resize", "shop", "6", "--from", "2"][..],
        ),
    ] {
        let ran = machine.run(&cloud, words, None).await;
        assert_ran!(name, ran);
    }
    assert!(cloud.calls().is_empty());
    // control case
    let words = ["resize", "shop", "6", "--from", "5", "--dry-run"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.out.contains("(5 to 6)"), "{}", ran.out);
}

#[tokio::test]
async fn fewer_nodes_need_the_name_of_the_cluster() {
    let (machine, cloud) = (Machine::new(), cloud("CREATE_COMPLETE").await);
    let words = ["resize", "shop", "1"];
    let ran = machine.run(&cloud, &words, Some("other")).await;
    assert_eq!(ran.code, 1, "{}", ran.err);
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn waiting_for_a_deleted_cluster_ends_at_once() {
    let (machine, cloud) = (Machine::new(), cloud("CREATE_FAILED").await);
    let words = ["wait", "gone", "--for", "deleted"];
    assert_eq!(machine.run(&cloud, &words, None).await.code, 0);
    let words = ["wait", "shop", "--for", "complete"];
    assert_eq!(machine.run(&cloud, &words, None).await.code, 8);
}
