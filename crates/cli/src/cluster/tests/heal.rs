use super::Machine;
use super::stand_in::{CLUSTER, StandIn, cluster};
use serde_json::{Value, json};

async fn cloud(labels: Value) -> StandIn {
    let mut cluster = cluster(CLUSTER, "shop", "CREATE_COMPLETE");
    cluster["labels"] = labels;
    StandIn::with(vec![cluster]).await
}

#[tokio::test]
async fn case_48_auto_healing_is_shown_and_cannot_be_changed() {
    let labels = json!({"auto_healing_enabled": "false", "other": "x"});
    let (machine, cloud) = (Machine::new(), cloud(labels).await);
    let ran = machine.run(&cloud, &["heal", "shop", "status"], None).await;
    assert_ran!("off", ran);
    let words = ["heal", "shop", "status", "-o", "json"];
    let shown = machine.run(&cloud, &words, None).await.json();
    assert_eq!(shown["labels"], json!({"auto_healing_enabled": "false"}));
    assert_eq!(shown["can_be_changed"], false);
}

#[tokio::test]
async fn case_48_without_the_label_the_default_of_the_driver_is_named() {
    let (machine, cloud) = (Machine::new(), cloud(json!({})).await);
    let ran = machine.run(&cloud, &["heal", "shop", "status"], None).await;
    assert_ran!("default_of_the_driver", ran);
}
