use super::{Level, cluster, one};
use crate::{
    model::Cluster,
    preflight::{Checks, HealingContext, before_healing, healing_hint},
};
use serde_json::{Value, json};

fn with_label(value: Option<&str>) -> Cluster {
    let mut cluster = cluster("CREATE_COMPLETE");
    cluster.labels.remove("auto_healing_enabled");
    if let Some(value) = value {
        let key = "auto_healing_enabled".to_owned();
        cluster.labels.insert(key, value.to_owned());
    }
    cluster
}

/// Nodes of which the first ones are not ready.
fn nodes(all: usize, unready: usize) -> Vec<Value> {
    let node = |index: usize| {
        let ready = if index < unready { "False" } else { "True" };
        json!({"metadata": {"name": format!("node-{index}")},
               "status": {"conditions": [{"type": "Ready", "status": ready}]}})
    };
    (0..all).map(node).collect()
}

fn checked(cluster: &Cluster, nodes: Result<&[Value], &str>) -> Checks {
    before_healing(&HealingContext {
        cluster,
        nodes,
        leaving: "node-4",
    })
}

#[test]
fn a_cluster_without_auto_healing_makes_no_new_node() {
    let nodes = nodes(5, 0);
    for (label, level) in [
        (Some("true"), Level::Ok),
        (Some("False"), Level::Blocks),
        (None, Level::Warning),
    ] {
        let cluster = with_label(label);
        let checks = checked(&cluster, Ok(&nodes));
        assert_eq!(one(&checks, "Auto-healing").level, level, "{label:?}");
        assert!(healing_hint(&cluster).ends_with('.'));
    }
}

#[test]
fn above_forty_percent_of_unhealthy_nodes_nothing_is_replaced() {
    let cluster = with_label(Some("true"));
    for (unready, level) in [(0, Level::Ok), (1, Level::Ok), (2, Level::Blocks)] {
        let nodes = nodes(5, unready);
        let checks = checked(&cluster, Ok(&nodes));
        assert_eq!(one(&checks, "Nodes").level, level, "{unready}");
    }
    let unread = checked(&cluster, Err("The API server cannot be reached."));
    let check = one(&unread, "Nodes");
    assert_eq!(check.level, Level::Warning);
    assert!(check.text.starts_with("Not checked"), "{}", check.text);
}
