use super::Machine;
use super::stand_in::{CLUSTER, StandIn, WORKERS, cluster};
use serde_json::json;

/// Starts a cloud with a cluster for which the autoscaler was chosen or not.
async fn cloud(enabled: &str) -> StandIn {
    let mut cluster = cluster(CLUSTER, "shop", "CREATE_COMPLETE");
    cluster["labels"] = json!({"auto_scaling_enabled": enabled, "max_node_count": "9"});
    StandIn::start(vec![cluster], |request, _| {
        (request.method == "PATCH").then(|| (202, json!({"uuid": WORKERS})))
    })
    .await
}

#[tokio::test]
async fn the_autoscaler_is_shown_with_the_bounds_of_the_workers() {
    let (machine, cloud) = (Machine::new(), cloud("true").await);
    let words = ["autoscale", "shop", "status"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_ran!("status", ran);
    let words = ["autoscale", "shop", "status", "-o", "json"];
    let ran = machine.run(&cloud, &words, None).await;
    let bounds = json!([{"name": "default-worker", "node_count": 2, "min_node_count": 1,
                         "max_node_count": null}]);
    assert_eq!(ran.json()["node_groups"], bounds);
}

#[tokio::test]
async fn bounds_are_set_and_a_missing_autoscaler_is_named() {
    let (machine, cloud) = (Machine::new(), cloud("false").await);
    let words = ["autoscale", "shop", "set", "--min", "2", "--max", "5"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("Autoscaler: off"), "{}", ran.err);
    let expected = json!([
        {"op": "replace", "path": "/min_node_count", "value": 2},
        {"op": "replace", "path": "/max_node_count", "value": 5},
    ]);
    assert_eq!(cloud.changes()[0].body, expected);
}

#[tokio::test]
async fn bounds_that_cannot_be_set_are_refused_before_they_are_sent() {
    let (machine, cloud) = (Machine::new(), cloud("true").await);
    for (words, code) in [
        // two nodes run
        (vec!["--max", "1"], 4),
        (vec!["-g", "default-master", "--max", "3"], 13),
        (vec!["-g", "nowhere", "--max", "3"], 3),
    ] {
        let words: Vec<_> = ["autoscale", "shop", "set"]
            .into_iter()
            .chain(words)
            .collect();
        let ran = machine.run(&cloud, &words, None).await;
        assert_eq!(ran.code, code, "{words:?}: {}", ran.err);
    }
    assert!(cloud.calls().is_empty());
}
