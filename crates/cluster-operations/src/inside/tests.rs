//! What is read inside of a cluster, from answers of an API server.
use super::*;
use portico_lifecycle::progress::NodeSurvey;
use portico_lifecycle::version::KubernetesVersion;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Answers by path; another path is not found.
#[derive(Default)]
struct Answers {
    json: BTreeMap<&'static str, Value>,
    text: BTreeMap<&'static str, &'static str>,
    /// Paths that the user may not read.
    refused: Vec<&'static str>,
    /// Path and parameters of each request.
    asked: Mutex<Vec<String>>,
}

impl Answers {
    fn with(mut self, path: &'static str, items: Value) -> Self {
        let list = json!({"metadata": {}, "items": items});
        self.json.insert(path, list);
        self
    }

    fn metrics(mut self, text: &'static str) -> Self {
        self.text.insert("/metrics", text);
        self
    }

    fn note(&self, text: String) {
        let asked = self.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner).push(text);
    }

    fn asked(&self, part: &str) -> usize {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|one| one.contains(part)).count()
    }
}

fn missing() -> ReadError {
    ReadError::NotFound("The cluster does not have this.".to_owned())
}

impl ApiServer for Answers {
    async fn json(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, ReadError> {
        self.note(format!("{path} {query:?}"));
        if self.refused.contains(&path) {
            return Err(ReadError::Refused(
                "Your roles do not permit it.".to_owned(),
            ));
        }
        self.json.get(path).cloned().ok_or_else(missing)
    }

    async fn text(&self, path: &str) -> Result<String, ReadError> {
        let found = self.text.get(path).map(|text| (*text).to_owned());
        found.ok_or_else(missing)
    }
}

fn node(name: &str, version: &str, is_cordoned: bool) -> Value {
    json!({"metadata": {"name": name}, "spec": {"unschedulable": is_cordoned},
           "status": {"conditions": [{"type": "Ready", "status": "True"}],
                      "nodeInfo": {"kubeletVersion": version}}})
}

fn budget(name: &str, allowed: u32, pods: u32, selector: &Value) -> Value {
    json!({"metadata": {"name": name, "namespace": "shop"}, "spec": {"selector": selector},
           "status": {"disruptionsAllowed": allowed, "expectedPods": pods}})
}

fn pod(name: &str, owner: Option<&str>, phase: &str) -> Value {
    let owners = owner.map(|kind| json!({"kind": kind, "controller": true}));
    json!({"metadata": {"name": name, "namespace": "shop", "labels": {"app": name, "tier": "front"},
                        "ownerReferences": owners.into_iter().collect::<Vec<_>>()},
           "spec": {"volumes": []}, "status": {"phase": phase}})
}

fn known(reading: Reading<Vec<String>>) -> Vec<String> {
    match reading {
        Reading::Known(names) => names,
        Reading::NotChecked(reason) => panic!("{reason}"),
    }
}

#[tokio::test]
async fn a_node_is_ready_only_if_its_condition_is() {
    let mut two = node("two", "v1.31.0", false);
    two["status"]["conditions"][0]["status"] = json!("Unknown");
    let nodes = json!([node("one", "v1.31.0", false), two, {"metadata": {"name": "new"}}]);
    let inside = read(&Answers::default().with(NODES, nodes)).await;
    assert_eq!(known(inside.unready_nodes), ["two", "new"]);
}

#[tokio::test]
async fn case_38_a_budget_without_a_permitted_disruption_delays_a_drain() {
    let all = json!({});
    let budgets = json!([
        budget("web", 0, 1, &all),
        budget("db", 1, 3, &all),
        budget("unused", 0, 0, &all)
    ]);
    // also of an API server before Kubernetes 1.21
    for path in [BUDGETS, BETA_BUDGETS] {
        let inside = read(&Answers::default().with(path, budgets.clone())).await;
        assert_eq!(known(inside.blocking_budgets), ["shop/web"], "{path}");
    }
}

#[tokio::test]
async fn a_user_with_roles_in_each_namespace_gets_the_lists_of_all_of_them() {
    let namespaces = json!([{"metadata": {"name": "shop"}}, {"metadata": {"name": "kube-system"}}]);
    let of_shop = "/apis/policy/v1/namespaces/shop/poddisruptionbudgets";
    let of_system = "/apis/policy/v1/namespaces/kube-system/poddisruptionbudgets";
    let mut api = Answers::default()
        .with("/api/v1/namespaces", namespaces)
        .with(of_shop, json!([budget("web", 0, 1, &json!({}))]))
        .with(of_system, json!([]));
    api.refused = vec![BUDGETS, PODS];
    let inside = read(&api).await;
    assert_eq!(known(inside.blocking_budgets), ["shop/web"]);
    // a namespace that is not readable could have more of them
    api.refused.push(of_system);
    let inside = read(&api).await;
    let found = ["shop/web", "not checked in the namespaces kube-system"];
    assert_eq!(known(inside.blocking_budgets), found);
    assert!(matches!(inside.bare_pods, Reading::NotChecked(_)));
    // where the others have none, nothing is known
    let mut api = api.with(of_shop, json!([]));
    api.refused = vec![BUDGETS, PODS, of_system];
    let inside = read(&api).await;
    let reason = "Your roles do not permit to read the namespaces kube-system.".to_owned();
    assert_eq!(inside.blocking_budgets, Reading::NotChecked(reason));
}

#[tokio::test]
async fn a_pod_without_a_controller_is_lost_unless_it_has_ended() {
    let pods = json!([
        pod("owned", Some("ReplicaSet"), "Running"),
        pod("bare", None, "Running"),
        pod("ended", None, "Succeeded")
    ]);
    let inside = read(&Answers::default().with(PODS, pods)).await;
    assert_eq!(known(inside.bare_pods), ["shop/bare"]);
}

#[tokio::test]
async fn pods_with_data_on_their_node_are_named_with_the_kinds_of_their_volumes() {
    let with = |name: &str, owner: Option<&str>, phase: &str, volumes: Value| {
        let mut pod = pod(name, owner, phase);
        pod["spec"]["volumes"] = volumes;
        pod
    };
    let local = json!([{"name": "a", "hostPath": {"path": "/data"}}, {"name": "b", "emptyDir": {}},
                       {"name": "c", "emptyDir": {}}]);
    let claim = json!([{"name": "a", "persistentVolumeClaim": {"claimName": "data"}}]);
    let pods = json!([
        with("cache", Some("ReplicaSet"), "Running", local.clone()),
        with("db", Some("StatefulSet"), "Running", claim),
        with("agent", Some("DaemonSet"), "Running", local.clone()),
        with("mirror", Some("Node"), "Running", local.clone()),
        with("ended", None, "Failed", local)
    ]);
    let inside = read(&Answers::default().with(PODS, pods)).await;
    assert_eq!(
        known(inside.local_data_pods),
        ["shop/cache (emptyDir, hostPath)"]
    );
}

#[tokio::test]
async fn an_incomplete_list_is_not_a_check_and_a_long_one_is_shortened() {
    let mut cut = Answers::default().with(PODS, json!([]));
    cut.json.get_mut(PODS).unwrap()["metadata"]["continue"] = json!("next");
    let inside = read(&cut).await;
    assert!(matches!(inside.bare_pods, Reading::NotChecked(reason) if reason.contains("500")));
    // what could not be read has its reason
    let Reading::NotChecked(reason) = inside.unready_nodes else {
        panic!("there are no nodes");
    };
    assert_eq!(reason, missing().into_sentence());
    let many: Vec<_> = (0..12)
        .map(|number| pod(&format!("pod-{number}"), None, "Running"))
        .collect();
    let inside = read(&Answers::default().with(PODS, json!(many))).await;
    let names = known(inside.bare_pods);
    assert_eq!((names.len(), names[10].as_str()), (11, "2 more"));
}

const METRICS: &str = r#"# HELP apiserver_requested_deprecated_apis [STABLE] Gauge of deprecated APIs
# TYPE apiserver_requested_deprecated_apis gauge
apiserver_requested_deprecated_apis{group="policy",removed_release="1.25",resource="poddisruptionbudgets",subresource="",version="v1beta1"} 1
apiserver_requested_deprecated_apis{group="policy",removed_release="1.25",resource="poddisruptionbudgets",subresource="status",version="v1beta1"} 1
apiserver_requested_deprecated_apis{group="flowcontrol.apiserver.k8s.io",removed_release="1.32",resource="flowschemas",subresource="",version="v1beta3"} 1
apiserver_requested_deprecated_apis{group="",removed_release="",resource="componentstatuses",subresource="",version="v1"} 1
apiserver_requested_deprecated_apis{group="batch",removed_release="1.25",resource="cronjobs",subresource="",version="v1beta1"} 0
apiserver_request_total{code="200"} 7
"#;

fn version(minor: u16) -> Option<KubernetesVersion> {
    Some(KubernetesVersion {
        major: 1,
        minor,
        patch: 0,
    })
}

#[tokio::test]
async fn requested_apis_are_named_if_the_new_version_is_without_them() {
    let inside = read(&Answers::default().metrics(METRICS)).await;
    let removed = |minor| known(removed_by(&inside.deprecated_apis, version(minor)));
    assert!(removed(24).is_empty());
    let budgets = "policy/v1beta1 poddisruptionbudgets (removed in v1.25)";
    assert_eq!(removed(25), [budgets]);
    assert_eq!(
        removed(32),
        [
            "flowcontrol.apiserver.k8s.io/v1beta3 flowschemas (removed in v1.32)",
            budgets
        ]
    );
    let unknown = removed_by(&inside.deprecated_apis, None);
    assert!(matches!(unknown, Reading::NotChecked(_)));
}

#[tokio::test]
async fn metrics_without_the_name_of_a_deprecated_api_are_an_answer_and_a_page_is_not() {
    let of = |text| async move {
        read(&Answers::default().metrics(text))
            .await
            .deprecated_apis
    };
    let none = of("apiserver_request_total{code=\"200\"} 7\n").await;
    assert_eq!(none, Reading::Known(Vec::new()));
    for page in ["", "<html></html>", "process_start_time_seconds 1\n"] {
        assert!(matches!(of(page).await, Reading::NotChecked(_)), "{page}");
    }
    let refused = read(&Answers::default()).await.deprecated_apis;
    assert!(matches!(refused, Reading::NotChecked(_)));
}

fn survey(inspection: Inspection) -> NodeSurvey {
    inspection.nodes.unwrap()
}

#[tokio::test]
async fn nodes_have_their_versions_and_only_a_cordoned_one_costs_more() {
    let nodes = json!([node("two", "v1.31.0", false), node("one", "v1.32.0", false)]);
    let api = Answers::default().with(NODES, nodes);
    let inspection = inspect(&api).await;
    // no one has asked whether it is ready
    assert_eq!(inspection.is_api_ready, None);
    let found = survey(inspection);
    let names: Vec<_> = found.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(found.nodes[0].version, "v1.32.0");
    assert!(found.nodes[0].is_ready && found.is_complete);
    assert_eq!(api.asked("pods") + api.asked("poddisruptionbudgets"), 0);
}

#[tokio::test]
async fn a_drain_that_waits_names_the_budget_of_the_pods_that_are_left() {
    let of = |name: &str| json!({"matchLabels": {"app": name}});
    let front = json!({"matchExpressions": [{"key": "tier", "operator": "In", "values": ["front"]},
                                            {"key": "app", "operator": "NotIn", "values": ["db"]}]});
    let budgets = json!([
        budget("web", 0, 1, &of("web")),
        budget("other", 0, 1, &of("other")),
        budget("open", 1, 2, &of("web")),
        budget("front", 0, 2, &front),
        budget("agents", 0, 1, &of("agent"))
    ]);
    let pods = json!([
        pod("web", Some("ReplicaSet"), "Running"),
        pod("agent", Some("DaemonSet"), "Running")
    ]);
    let nodes = json!([node("one", "v1.31.0", true), node("two", "v1.32.0", false)]);
    let api = Answers::default()
        .with(NODES, nodes.clone())
        .with(BUDGETS, budgets)
        .with("/api/v1/namespaces/shop/pods", pods);
    let found = survey(inspect(&api).await);
    assert_eq!(found.nodes[0].waits_for, ["shop/web", "shop/front"]);
    assert!(found.nodes[1].waits_for.is_empty());
    assert_eq!(api.asked("spec.nodeName=one"), 1);
    // a user who may not list them learns that
    let api = Answers::default().with(NODES, nodes);
    let found = survey(inspect(&api).await);
    assert!(found.nodes[0].waits_for.is_empty());
    assert!(found.note.unwrap().contains("not checked"));
}

#[tokio::test]
async fn nodes_that_cannot_be_read_have_a_reason() {
    let mut api = Answers::default();
    api.text.insert("/readyz", "ok");
    let inspection = inspect(&api).await;
    assert_eq!(inspection.is_api_ready, Some(true));
    assert_eq!(inspection.nodes, Err(missing().into_sentence()));
    // others than the one who was refused may see it
    api.refused = vec![NODES];
    let reason = inspect(&api).await.nodes.unwrap_err();
    assert!(reason.starts_with("The roles"), "{reason}");
}
