use super::Machine;
use super::stand_in::{CLUSTER, Received, StandIn, TEMPLATE, WORKERS, cluster, template};
use serde_json::{Value, json};

const RESIZE: &str = "/actions/resize";

/// Returns a server of the worker group.
fn server(id: &str, name: &str, address: &str) -> Value {
    json!({"id": id, "name": name, "status": "ACTIVE", "metadata": {"nodegroup": WORKERS},
           "addresses": {"net": [{"addr": address}]}})
}

pub fn servers() -> Vec<Value> {
    vec![
        server("s0", "shop-abc-node-0", "10.0.0.3"),
        server("s1", "shop-abc-node-1", "10.0.0.4"),
    ]
}

/// Carries out a resize at once.
fn resized(request: &Received, clusters: &mut [Value]) -> Option<(u16, Value)> {
    if !request.path.ends_with(RESIZE) {
        return None;
    }
    let is_removal = request.body.get("nodes_to_remove").is_some();
    let minute = if is_removal { 2 } else { 1 };
    clusters[0]["status"] = json!("UPDATE_COMPLETE");
    clusters[0]["updated_at"] = json!(format!("2026-11-21T12:0{minute}:00+00:00"));
    clusters[0]["node_count"] = request.body["node_count"].clone();
    Some((202, json!({"uuid": CLUSTER})))
}

pub async fn cloud() -> StandIn {
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let cloud = StandIn::start(clusters, |request, clusters| resized(request, clusters)).await;
    cloud.show_servers(servers());
    cloud
}

/// A cloud whose driver ignores which nodes are chosen.
pub async fn capi_helm() -> StandIn {
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let cloud = StandIn::start(clusters, |request, _| {
        let is_template = request.path == format!("clustertemplates/{TEMPLATE}");
        let mut template = template();
        template["driver"] = json!("k8s_capi_helm_v1");
        is_template.then_some((200, template))
    })
    .await;
    cloud.show_servers(servers());
    cloud
}

#[tokio::test]
async fn nodes_are_listed_with_group_and_server() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let words = ["nodes", "list", "shop", "-o", "json"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let nodes = ran.json();
    assert_eq!(nodes.as_array().unwrap().len(), 2);
    assert_eq!(
        nodes[1],
        json!({"name": "shop-abc-node-1", "nodegroup": "default-worker", "role": "worker",
               "server_id": "s1", "flavor_id": "m1.small", "addresses": ["10.0.0.4"],
               "status": "ACTIVE", "task_state": null, "kubernetes_status": null,
               "kubelet_version": null, "joined_at": null})
    );
    // this machine has no access to the cluster; only a reading command states that
    let text = "Readiness, versions and ages were not checked";
    assert!(!ran.err.contains(text), "{}", ran.err);
    // the control plane's server was not recognised
    assert!(ran.err.contains("default-master is 1"), "{}", ran.err);
    let words = ["nodes", "list", "shop", "-g", "default-master"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_ran!("group_without_known_servers", ran);
    let ran = machine.run(&cloud, &["nodes", "list", "shop"], None).await;
    assert_ran!("list", ran);
}

#[tokio::test]
async fn without_nova_the_list_names_what_was_not_checked() {
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let (machine, cloud) = (Machine::new(), StandIn::with(clusters).await);
    let ran = machine.run(&cloud, &["nodes", "list", "shop"], None).await;
    assert_ran!("list_without_nova", ran);
}

#[tokio::test]
async fn added_nodes_are_those_that_the_group_has_and_more() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let words = ["nodes", "add", "shop", "-n", "2", "--dry-run"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_ran!("dry_run_of_add", ran);
    assert!(cloud.calls().is_empty());
    let ran = machine.run(&cloud, &["nodes", "add", "shop"], None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let expected = json!({"node_count": 3, "nodegroup": WORKERS});
    assert_eq!(cloud.changes()[0].body, expected);
}

#[tokio::test]
async fn a_named_node_leaves_by_the_id_of_its_server() {
    for word in ["shop-abc-node-1", "s1", "10.0.0.4"] {
        let (machine, cloud) = (Machine::new(), cloud().await);
        let words = ["nodes", "remove", "shop", word, "--yes"];
        let ran = machine.run(&cloud, &words, None).await;
        assert_eq!(ran.code, 0, "{word}: {}", ran.err);
        assert!(ran.out.contains("shop-abc-node-1"), "{}", ran.out);
        let expected = json!({"node_count": 1, "nodes_to_remove": ["s1"], "nodegroup": WORKERS});
        assert_eq!(cloud.changes()[0].body, expected);
    }
}

#[tokio::test]
async fn what_cannot_be_removed_is_refused_before_it_is_sent() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let (first, second) = ("shop-abc-node-0", "shop-abc-node-1");
    for (words, name) in [
        (vec!["nowhere"], "unknown_node"),
        (vec![first, second], "below_the_minimum"),
        (vec![first, "-g", "default-master"], "node_of_another_group"),
        (vec!["-n", "3"], "more_than_the_group_has"),
        (vec![first], "node_that_is_not_confirmed"),
        (vec!["-n", "1"], "number_that_is_not_confirmed"),
    ] {
        let words: Vec<_> = ["nodes", "remove", "shop"]
            .into_iter()
            .chain(words)
            .collect();
        let ran = machine.run(&cloud, &words, None).await;
        assert_ran!(name, ran);
    }
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn a_driver_that_ignores_the_choice_is_not_asked() {
    let (machine, cloud) = (Machine::new(), capi_helm().await);
    for verb in ["remove", "replace"] {
        let words = ["nodes", verb, "shop", "shop-abc-node-0", "--yes"];
        let ran = machine.run(&cloud, &words, None).await;
        assert_ran!(format!("{verb}_where_the_choice_is_ignored"), ran);
    }
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn a_replaced_node_leaves_after_the_new_one_was_added() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let words = ["nodes", "replace", "shop", "shop-abc-node-0", "--dry-run"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(cloud.calls().is_empty());
    let words = ["nodes", "replace", "shop", "shop-abc-node-0", "--yes"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let bodies: Vec<_> = cloud.changes().into_iter().map(|one| one.body).collect();
    let expected = [
        json!({"node_count": 3, "nodegroup": WORKERS}),
        json!({"node_count": 2, "nodes_to_remove": ["s0"], "nodegroup": WORKERS}),
    ];
    assert_eq!(bodies, expected);
    // this Nova never deletes a server
    let text = "Nova still shows the server of shop-abc-node-0";
    assert!(ran.err.contains(text), "{}", ran.err);
}

#[tokio::test]
async fn a_replacement_stops_before_the_removal_with_the_command_that_continues() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let words = ["nodes", "replace", "shop", "shop-abc-node-0"];
    // the name of the cluster, and not that of the node
    let ran = machine.run(&cloud, &words, Some("shop")).await;
    assert_eq!(ran.code, 14, "{}", ran.err);
    assert!(ran.err.contains("kubectl drain"), "{}", ran.err);
    let text = format!("portico cluster nodes remove {CLUSTER} shop-abc-node-0");
    assert!(ran.err.contains(&text), "{}", ran.err);
    assert_eq!(cloud.calls().len(), 1);
}

#[tokio::test]
async fn a_replacement_does_not_remove_what_another_has_added_meanwhile() {
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let (machine, cloud) = (
        Machine::new(),
        StandIn::start(clusters, |request, clusters| {
            let answer = resized(request, clusters);
            if answer.is_some() {
                return answer;
            }
            // the first detailed look after the new node: an autoscaler has added two
            let is_detail = request.path.ends_with(WORKERS);
            if is_detail && clusters[0]["node_count"] == 3 {
                clusters[0]["node_count"] = json!(5);
            }
            None
        })
        .await,
    );
    cloud.show_servers(servers());
    let words = ["nodes", "replace", "shop", "shop-abc-node-0", "--yes"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 14, "{}", ran.err);
    let text = "it has 5 nodes, 3 were expected";
    assert!(ran.err.contains(text), "{}", ran.err);
    assert_eq!(cloud.calls().len(), 1);
}
