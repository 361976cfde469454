//! Which pods have no place when nodes leave.
use crate::{
    placement::{Leaving, Placement, Unplaced, names, node_of, placement},
    plan::ChosenNode,
};
use serde_json::{Value, json};

/// A node that is ready, with a number of CPUs, 4 GiB and room for ten pods.
fn node(name: &str, cpu: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
           "spec": {"providerID": format!("openstack:///server-of-{name}")},
           "status": {"allocatable": {"cpu": cpu, "memory": "4Gi", "pods": "10"},
                      "conditions": [{"type": "Ready", "status": "True"}]}})
}

/// A running pod of a ReplicaSet; `more` is merged into it.
fn pod(name: &str, node: &str, cpu: &str, more: Value) -> Value {
    let mut pod = json!({"metadata": {"namespace": "shop", "name": name,
                                      "ownerReferences": [{"kind": "ReplicaSet", "controller": true}]},
        "spec": {"nodeName": node,
                 "containers": [{"resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}]},
        "status": {"phase": "Running"}});
    merge(&mut pod, more);
    pod
}

fn merge(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, value) in more {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more,
    }
}

fn chosen(name: &str) -> ChosenNode {
    ChosenNode {
        server: format!("server-of-{name}"),
        name: format!("{name}.of-nova"),
    }
}

/// Returns what has no place when the node one leaves.
fn without_one(nodes: &[Value], pods: &[Value]) -> Unplaced {
    checked(placement(
        nodes,
        pods,
        &Leaving::Chosen(vec![chosen("one")]),
    ))
}

fn checked(found: Placement) -> Unplaced {
    match found {
        Placement::Checked(unplaced) => unplaced,
        other => panic!("not checked: {other:?}"),
    }
}

fn two() -> [Value; 2] {
    [node("one", "2"), node("two", "2")]
}

#[test]
fn a_pod_for_which_no_node_has_room_is_named() {
    let pods = [
        pod("large", "one", "1500m", json!({})),
        pod("small", "one", "400m", json!({})),
        pod("present", "two", "1", json!({})),
    ];
    let unplaced = without_one(&two(), &pods);
    assert_eq!(unplaced.without_place, ["shop/large"]);
    assert!(unplaced.uncertain.is_empty() && unplaced.lost.is_empty());
    assert!(!unplaced.depends_on_choice);
}

#[test]
fn the_sum_of_the_requests_counts_and_not_each_one() {
    let pods = [
        pod("a", "one", "1500m", json!({})),
        pod("b", "one", "1500m", json!({})),
    ];
    assert_eq!(without_one(&two(), &pods).without_place, ["shop/b"]);
    let memory = json!({"spec": {"containers": [{"resources": {"requests": {"memory": "3Gi"}}}]}});
    let pods = [
        pod("a", "one", "1", memory.clone()),
        pod("b", "two", "1", memory),
    ];
    assert_eq!(without_one(&two(), &pods).without_place, ["shop/a"]);
}

#[test]
fn pods_of_the_node_and_those_that_have_ended_need_no_place() {
    let daemon =
        json!({"metadata": {"ownerReferences": [{"kind": "DaemonSet", "controller": true}]}});
    let mirror = json!({"metadata": {"annotations": {"kubernetes.io/config.mirror": "x"}}});
    let pods = [
        pod("daemon", "one", "2", daemon),
        pod("mirror", "one", "2", mirror),
        pod(
            "ended",
            "one",
            "2",
            json!({"status": {"phase": "Succeeded"}}),
        ),
        pod("full", "two", "2", json!({})),
    ];
    assert_eq!(without_one(&two(), &pods), Unplaced::default());
}

#[test]
fn a_pod_without_a_controller_is_lost() {
    let bare = pod(
        "bare",
        "one",
        "1",
        json!({"metadata": {"ownerReferences": []}}),
    );
    let unplaced = without_one(&two(), &[bare]);
    assert_eq!(unplaced.lost, ["shop/bare"]);
    assert!(Placement::Checked(unplaced).pending().is_empty());
}

#[test]
fn taints_selectors_and_affinity_are_respected() {
    let mut nodes = two().to_vec();
    let taint = json!({"spec": {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]},
                       "metadata": {"labels": {"disk": "ssd"}}});
    merge(&mut nodes[1], taint);
    let tolerations = json!([{"key": "gpu", "operator": "Exists"}]);
    let affinity = |key: &str| {
        json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": key, "operator": "In", "values": ["ssd", "nvme"]}]}]}}})
    };
    let with = |name: &str, spec: Value| {
        let mut more = json!({"spec": {"tolerations": tolerations}});
        merge(&mut more, json!({"spec": spec}));
        pod(name, "one", "100m", more)
    };
    let pods = [
        pod("intolerant", "one", "100m", json!({})),
        with("tolerant", json!({})),
        with("selected", json!({"nodeSelector": {"disk": "ssd"}})),
        with("elsewhere", json!({"nodeSelector": {"disk": "tape"}})),
        with("attached", json!({"affinity": affinity("disk")})),
        with("detached", json!({"affinity": affinity("tape")})),
        with(
            "other-taint",
            json!({"tolerations": [{"key": "gpu", "value": "no"}]}),
        ),
    ];
    let unplaced = without_one(&nodes, &pods);
    let expected = [
        "shop/detached",
        "shop/elsewhere",
        "shop/intolerant",
        "shop/other-taint",
    ];
    assert_eq!(unplaced.without_place, expected);
    assert!(unplaced.uncertain.is_empty(), "{:?}", unplaced.uncertain);
}

#[test]
fn what_is_not_understood_may_not_fit() {
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let apart =
        json!({"spec": {"affinity": {"podAntiAffinity": {required: [{"topologyKey": "zone"}]}}}});
    let strange = json!({"spec": {"affinity": {"nodeAffinity": {required: {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "a", "operator": "Near", "values": []}]}]}}}}});
    let port = json!({"spec": {"containers": [{"ports": [{"hostPort": 80}]}]}});
    let unreadable =
        json!({"spec": {"containers": [{"resources": {"requests": {"cpu": "many"}}}]}});
    let pods = [
        pod("apart", "one", "1m", apart),
        pod("strange", "one", "1m", strange),
        pod("port", "one", "1m", port),
        pod("unreadable", "one", "1m", unreadable),
    ];
    let unplaced = without_one(&two(), &pods);
    let expected = ["shop/apart", "shop/port", "shop/strange", "shop/unreadable"];
    assert_eq!(unplaced.uncertain, expected);
    let found = Placement::Checked(unplaced);
    assert_eq!(found.pending(), expected);
    let accepted = expected[..3].iter().map(|&name| name.to_owned());
    let accepted: Vec<_> = accepted.collect();
    assert_eq!(found.not_accepted(&accepted), ["shop/unreadable"]);
}

#[test]
fn a_volume_may_be_bound_to_its_zone() {
    let mut nodes = two().to_vec();
    let zone = |name: &str| json!({"metadata": {"labels": {"topology.kubernetes.io/zone": name}}});
    merge(&mut nodes[0], zone("a"));
    merge(&mut nodes[1], zone("b"));
    let claim = json!({"spec": {"volumes": [{"persistentVolumeClaim": {"claimName": "data"}}]}});
    let pods = [pod("db", "one", "1", claim)];
    assert_eq!(without_one(&nodes, &pods).uncertain, ["shop/db"]);
    merge(&mut nodes[1], zone("a"));
    assert_eq!(without_one(&nodes, &pods), Unplaced::default());
}

#[test]
fn nodes_that_are_cordoned_or_not_ready_take_no_pods() {
    let pods = [pod("web", "one", "1", json!({}))];
    for more in [
        json!({"spec": {"unschedulable": true}}),
        json!({"status": {"conditions": []}}),
        json!({"status": {"allocatable": {"cpu": "unreadable"}}}),
    ] {
        let mut nodes = two().to_vec();
        merge(&mut nodes[1], more);
        assert_eq!(without_one(&nodes, &pods).without_place, ["shop/web"]);
    }
}

#[test]
fn containers_that_run_before_count_where_they_need_more() {
    let init = json!({"spec": {"initContainers": [
        {"resources": {"requests": {"cpu": "1900m"}}},
        {"restartPolicy": "Always", "resources": {"requests": {"cpu": "200m"}}}]}});
    let pods = [pod("web", "one", "100m", init)];
    assert_eq!(without_one(&two(), &pods).without_place, ["shop/web"]);
}

#[test]
fn where_magnum_chooses_each_node_is_tried() {
    let nodes = [node("one", "2"), node("two", "2"), node("three", "2")];
    let gpu = json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": "three"}}});
    let pods = [
        pod("web", "one", "100m", json!({})),
        pod("pinned", "three", "100m", gpu),
    ];
    let all = ["one", "two", "three"].map(chosen).to_vec();
    let leaving = |number| Leaving::Any {
        nodes: all.clone(),
        number,
    };
    let unplaced = checked(placement(&nodes, &pods, &leaving(1)));
    assert_eq!(unplaced.without_place, ["shop/pinned"]);
    assert!(unplaced.depends_on_choice);
    // all leave: nothing is chosen
    let unplaced = checked(placement(&nodes, &pods, &leaving(3)));
    assert_eq!(unplaced.without_place, ["shop/pinned", "shop/web"]);
    assert!(!unplaced.depends_on_choice);
    assert_eq!(placement(&nodes, &pods, &leaving(0)), Placement::NotNeeded);
}

#[test]
fn a_new_node_in_place_of_the_old_one_takes_its_pods() {
    let mut nodes = two().to_vec();
    // the old node may be broken
    merge(&mut nodes[0], json!({"status": {"conditions": []}}));
    let daemon =
        json!({"metadata": {"ownerReferences": [{"kind": "DaemonSet", "controller": true}]}});
    let pinned = json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": "one"}}});
    let pods = [
        pod("agent", "one", "500m", daemon),
        pod("web", "one", "1500m", json!({})),
        pod("pinned", "one", "100m", pinned),
        pod("full", "two", "2", json!({})),
    ];
    let leaving = Leaving::Replaced(chosen("one"));
    let unplaced = checked(placement(&nodes, &pods, &leaving));
    assert_eq!(unplaced.without_place, ["shop/pinned"]);
    let other = placement(&nodes, &pods, &Leaving::Replaced(chosen("other")));
    assert!(matches!(other, Placement::NotChecked(_)), "{other:?}");
}

#[test]
fn a_server_without_a_node_is_not_a_check() {
    let leaving = Leaving::Chosen(vec![chosen("other")]);
    let found = placement(&two(), &[], &leaving);
    let Placement::NotChecked(reason) = found else {
        panic!("{found:?}");
    };
    assert_eq!(
        reason,
        "Kubernetes has no node for the server other.of-nova."
    );
    let nothing = placement(&two(), &[], &Leaving::Chosen(Vec::new()));
    assert!(matches!(nothing, Placement::NotChecked(_)), "{nothing:?}");
    assert_eq!(placement(&two(), &[], &Leaving::None), Placement::NotNeeded);
}

#[test]
fn a_node_is_also_found_by_the_name_of_its_server() {
    let mut nodes = two().to_vec();
    nodes[0]["spec"] = json!({});
    let one = ChosenNode {
        server: "unknown".to_owned(),
        name: "one".to_owned(),
    };
    let pods = [pod("large", "one", "3", json!({}))];
    let found = placement(&nodes, &pods, &Leaving::Chosen(vec![one]));
    assert_eq!(checked(found).without_place, ["shop/large"]);
}

#[test]
fn a_new_server_with_the_name_of_one_that_has_left_is_another_node() {
    let nodes = two();
    let gone = ChosenNode {
        server: "gone".to_owned(),
        name: "one".to_owned(),
    };
    assert_eq!(node_of(&nodes, &gone), None);
    let found = placement(&nodes, &[], &Leaving::Chosen(vec![gone]));
    assert!(matches!(found, Placement::NotChecked(_)), "{found:?}");
    assert_eq!(node_of(&nodes, &chosen("one")), Some(&nodes[0]));
    // of another provider, whose IDs are not those of servers
    let mut nodes = nodes.to_vec();
    nodes[0]["spec"] = json!({"providerID": "k3s://one"});
    let named = ChosenNode {
        server: "unknown".to_owned(),
        name: "one".to_owned(),
    };
    assert_eq!(node_of(&nodes, &named), Some(&nodes[0]));
}

#[test]
fn a_sentence_has_ten_names_at_most() {
    let pods: Vec<_> = (0..12).map(|number| format!("shop/{number}")).collect();
    assert!(names(&pods).ends_with("shop/9 and 2 more"));
    assert_eq!(names(&pods[..2]), "shop/0, shop/1");
}
