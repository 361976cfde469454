use super::Machine;
use super::stand_in::{CLUSTER, StandIn, WORKERS, cluster};
use serde_json::json;

fn server(id: &str, name: &str) -> serde_json::Value {
    json!({"id": id, "name": name, "status": "ACTIVE", "metadata": {"nodegroup": WORKERS},
           "addresses": {"net": [{"addr": "10.0.0.3"}]}})
}

#[tokio::test]
async fn a_cluster_is_a_tree_of_steps_node_groups_and_nodes() {
    let mut complete = cluster(CLUSTER, "shop", "CREATE_COMPLETE");
    complete["health_status"] = json!("UNHEALTHY");
    complete["health_status_reason"] = json!({"node-1.Ready": "False"});
    let (machine, cloud) = (Machine::new(), StandIn::with(vec![complete]).await);
    cloud.show_servers(vec![server("s0", "shop-abc-node-0")]);
    let ran = machine.run(&cloud, &["describe", "shop"], None).await;
    assert_ran!("tree", ran);
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn a_running_operation_has_its_steps_and_a_failed_one_its_explanation() {
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_IN_PROGRESS")];
    let (machine, cloud) = (Machine::new(), StandIn::with(clusters).await);
    let ran = machine
        .run(&cloud, &["describe", "shop", "-o", "json"], None)
        .await;
    let found = ran.json();
    let steps = found["steps"].as_array().unwrap();
    assert!(
        steps.iter().any(|step| step["step"] == "Control plane"),
        "{found}"
    );
    assert_eq!(found["portico"]["phase"], "creating");
    assert_eq!(found["node_groups"][1]["name"], "default-worker");
    assert!(found["node_groups"][1]["nodes"].is_array(), "{found}");

    let mut failed = cluster(CLUSTER, "shop", "CREATE_FAILED");
    failed["faults"] = json!({"default-worker": "Quota exceeded for cores"});
    let cloud = StandIn::with(vec![failed]).await;
    let ran = machine.run(&cloud, &["describe", "shop"], None).await;
    assert_ran!("tree_with_a_failure", ran);
}
