use super::Machine;
use super::api_server::{ApiServer, node};
use super::stand_in::{CLUSTER, StandIn, cluster, error};
use serde_json::{Value, json};

const OTHER: &str = "900e3758-8071-430e-a8cf-5c48f428dc0f";
const THIRD: &str = "900e3758-8071-430e-a8cf-5c48f428dc10";

#[tokio::test]
async fn lists_have_every_format() {
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let (machine, cloud) = (Machine::new(), StandIn::with(clusters).await);
    let ran = machine.run(&cloud, &["list"], None).await;
    assert_ran!("list", ran);
    let ran = machine.run(&cloud, &["list", "-o", "wide"], None).await;
    assert_ran!("wide_list", ran);
    let ran = machine.run(&cloud, &["ls", "-o", "json"], None).await;
    assert_eq!(
        ran.json()[0]["cluster_template_id"].as_str().unwrap().len(),
        36
    );
    let ran = machine.run(&cloud, &["list", "-o", "name"], None).await;
    assert_eq!(ran.out, "shop\n");
    let ran = machine.run(&cloud, &["templates"], None).await;
    assert_ran!("templates", ran);
    let ran = machine.run(&cloud, &["show", "shop"], None).await;
    assert_ran!("cluster", ran);
    let ran = machine
        .run(&cloud, &["show", "shop", "-o", "wide"], None)
        .await;
    assert_ran!("wide_cluster", ran);
}

#[tokio::test]
async fn case_45_a_list_has_the_worst_reason_of_bad_health_in_words() {
    let mut ill = cluster(CLUSTER, "shop", "CREATE_COMPLETE");
    ill["health_status"] = json!("UNHEALTHY");
    ill["health_status_reason"] =
        json!({"api": "ok", "node-0.Ready": "True", "node-1.Ready": "False"});
    let mut new = cluster(OTHER, "lab", "CREATE_COMPLETE");
    new["health_status"] = json!(null);
    let mut stalled = cluster(THIRD, "edge", "CREATE_IN_PROGRESS");
    stalled["health_status"] = json!("UNHEALTHY");
    stalled["health_status_reason"] =
        json!({"infrastructure": "Waiting on ['LoadBalancerReady', 'NetworkReady']"});
    let (machine, cloud) = (Machine::new(), StandIn::with(vec![ill, new, stalled]).await);
    let ran = machine.run(&cloud, &["list"], None).await;
    assert_ran!("list_with_bad_health", ran);
    let words = ["list", "-o", "json"];
    let found = machine.run(&cloud, &words, None).await.json();
    assert_eq!(found[0]["health_status"], "UNHEALTHY");
    assert_eq!(found[0]["health_status_reason"]["node-1.Ready"], "False");
}

#[tokio::test]
async fn paths_and_templates_select_from_lists_and_objects() {
    let running = cluster(OTHER, "lab", "CREATE_IN_PROGRESS");
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE"), running];
    let (machine, cloud) = (Machine::new(), StandIn::with(clusters).await);
    for (words, expected) in [
        (["list", "-o", "jsonpath={.items[*].name}"], "shop lab\n"),
        (["list", "-o", "jsonpath={[1].portico.phase}"], "creating\n"),
        (
            [
                "list",
                "-o",
                "template={% for one in items %}{{ one.name }};{% endfor %}",
            ],
            "shop;lab;\n",
        ),
    ] {
        let ran = machine.run(&cloud, &words, None).await;
        assert_eq!((ran.code, ran.out.as_str()), (0, expected), "{}", ran.err);
    }
    let words = ["show", "shop", "-o", "jsonpath={.portico.phase} {.status}"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.out, "running CREATE_COMPLETE\n", "{}", ran.err);
    let words = ["show", "lab", "-o", "json"];
    let found = machine.run(&cloud, &words, None).await.json();
    assert_eq!(found["portico"]["phase"], "creating");
    assert!(found["portico"]["step"].is_string(), "{found}");
    assert!(found["portico"]["blocked_reason"].is_null(), "{found}");
}

#[tokio::test]
async fn case_15_an_ambiguous_name_lists_the_candidates() {
    let clusters = vec![
        cluster(CLUSTER, "shop", "CREATE_COMPLETE"),
        cluster(OTHER, "shop", "CREATE_FAILED"),
    ];
    let (machine, cloud) = (Machine::new(), StandIn::with(clusters).await);
    for words in [vec!["show", "shop"], vec!["delete", "shop", "--yes"]] {
        let ran = machine.run(&cloud, &words, None).await;
        assert_ran!(format!("{}_of_an_ambiguous_name", words[0]), ran);
    }
    assert!(cloud.calls().is_empty());
    let ran = machine
        .run(&cloud, &["show", OTHER, "-o", "json"], None)
        .await;
    assert_eq!(ran.json()["status"], "CREATE_FAILED");
    assert_eq!(ran.json()["node_groups"][1]["name"], "default-worker");
}

#[tokio::test]
async fn a_failed_cluster_is_explained() {
    let mut failed = cluster(CLUSTER, "shop", "CREATE_FAILED");
    failed["status_reason"] =
        json!("No valid host was found. There are not enough hosts available.");
    failed["health_status"] = json!(null);
    failed["health_status_reason"] = json!({"api": "The cluster is not accessible."});
    let (machine, cloud) = (Machine::new(), StandIn::with(vec![failed]).await);
    let ran = machine.run(&cloud, &["show", "shop"], None).await;
    assert_ran!("failed_cluster", ran);
    let ran = machine.run(&cloud, &["watch", "shop"], None).await;
    assert_ran!("watch_of_a_failed_cluster", ran);
}

#[tokio::test]
async fn watching_prints_json_lines() {
    let running = cluster(CLUSTER, "shop", "CREATE_IN_PROGRESS");
    let cloud = StandIn::start(vec![running], |request, clusters| {
        // it has ended when it is read by itself
        if request.path == format!("clusters/{CLUSTER}") {
            clusters[0]["status"] = json!("CREATE_COMPLETE");
        }
        None
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    let ran = machine
        .run(&cloud, &["watch", "shop", "-o", "json"], None)
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    for line in ran.out.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(
            line["step"].is_string() && line["state"].is_string(),
            "{line}"
        );
    }
    assert!(ran.out.lines().count() > 1, "{}", ran.out);
    let ran = machine.run(&cloud, &["watch", "shop"], None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("Nothing is running"), "{}", ran.err);
}

#[tokio::test]
async fn errors_have_exit_codes_and_the_next_step() {
    for (status, body) in [
        (401, error("no")),
        (403, error("policy")),
        (500, error("broken")),
        (503, json!("<html></html>")),
    ] {
        let cloud = StandIn::start(vec![], move |_, _| Some((status, body.clone())));
        let (machine, cloud) = (Machine::new(), cloud.await);
        let ran = machine.run(&cloud, &["list"], None).await;
        assert_ran!(format!("error_{status}"), ran);
        let words = ["list", "-o", "json"];
        let ran = machine.run(&cloud, &words, None).await;
        assert_ran!(format!("error_{status}_for_programs"), ran);
    }
    let (machine, cloud) = (Machine::new(), StandIn::with(vec![]).await);
    let ran = machine.run(&cloud, &["show", "nosuch"], None).await;
    assert_ran!("unknown_cluster", ran);
}

#[tokio::test]
async fn a_token_that_ends_while_a_command_waits_leads_to_the_command_that_resumes() {
    let running = cluster(CLUSTER, "shop", "CREATE_IN_PROGRESS");
    let cloud = StandIn::start(vec![running], |request, _| {
        (request.path == format!("clusters/{CLUSTER}")).then(|| (401, error("no")))
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    let watch = vec!["watch", "shop"];
    let wait = vec!["wait", "shop", "--for", "complete"];
    for words in [watch, wait] {
        let ran = machine.run(&cloud, &words, None).await;
        assert_eq!(ran.code, 10, "{}", ran.err);
        let resume = format!("portico cluster watch {CLUSTER}");
        for part in ["the operation continues", &resume] {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
        }
    }
}

#[tokio::test]
async fn what_the_cloud_lacks_is_listed_by_who_can_provide_it() {
    let (machine, cloud) = (Machine::new(), StandIn::with(Vec::new()).await);
    // this cloud has Magnum only
    let ran = machine.run(&cloud, &["preconfigure"], None).await;
    assert_ran!("what_the_cloud_lacks", ran);
    let path = machine.file("other.yaml", "kind: Bootstrap\nspec: {}\n");
    let ran = machine
        .run(&cloud, &["preconfigure", "-f", &path], None)
        .await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("apiVersion"), "{}", ran.err);
    let text = "apiVersion: portico.dev/v1alpha1\nkind: Bootstrap\nspec: {template: none}\n";
    let path = machine.file("bootstrap.yaml", text);
    let words = ["preconfigure", "-f", &path, "-o", "json"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 1, "{}", ran.err);
    let checks = ran.json()["checks"].clone();
    let mut checks = checks.as_array().unwrap().iter();
    let template = checks.find(|one| one["check"] == "Template").unwrap();
    assert_eq!(template["result"], "missing");
    assert_eq!(template["task"]["assignee"], "operator");
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn versions_are_those_of_the_cloud_or_of_a_cluster() {
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let (machine, cloud) = (Machine::new(), StandIn::with(clusters).await);
    let ran = machine.run(&cloud, &["versions"], None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in ["Portico", "1.1 to 1.14", "v1.31.0", "templates: small"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let words = ["versions", "-o", "jsonpath={.items[0].version}"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.out.trim(), env!("CARGO_PKG_VERSION"));
    let ran = machine.run(&cloud, &["versions", "shop"], None).await;
    assert_ran!("versions_without_access_to_the_cluster", ran);
    let text = "Kubelets and components were not checked";
    // an object has the same
    let words = ["versions", "shop", "-o", "json"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let versions = ran.json();
    assert_eq!(versions["version"], "v1.31.0");
    assert_eq!(versions["templates"][0]["is_current"], true);
    assert_eq!(versions["components"], json!([]));
    let reason = versions["not_checked"].as_str().unwrap();
    assert!(reason.contains(text), "{reason}");
    assert!(!ran.err.contains(text), "{}", ran.err);
    let words = ["versions", "shop", "-o", "name"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.out, "small\n", "{}", ran.err);
}

#[tokio::test]
async fn versions_of_a_cluster_that_answers_have_its_kubelets_and_components() {
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let (machine, cloud) = (Machine::new(), StandIn::with(clusters).await);
    let mut node = node("shop-abc-node-0", "s0");
    node["status"]["nodeInfo"] = json!({"kubeletVersion": "v1.31.0"});
    let api = ApiServer::start(vec![node], Vec::new()).await;
    let words = ["versions", "shop", "-o", "json"];
    let ran = machine.run_inside(&cloud, &api, &words, None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let versions = ran.json();
    assert_eq!(versions["not_checked"], Value::Null);
    let expected = [
        json!({"component": "API server", "version": "v1.31.0", "note": null}),
        json!({"component": "kubelet", "version": "v1.31.0", "note": "shop-abc-node-0"}),
        json!({"component": "coredns", "version": "v1.11.1", "note": "coredns:v1.11.1"}),
    ];
    assert_eq!(versions["components"], json!(expected));
    // control case: the table has the same
    let ran = machine
        .run_inside(&cloud, &api, &["versions", "shop"], None)
        .await;
    assert_ran!("versions", ran);
}

#[tokio::test]
async fn direct_access_has_no_events() {
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let (machine, cloud) = (Machine::new(), StandIn::with(clusters).await);
    let ran = machine.run(&cloud, &["events", "shop"], None).await;
    assert_ran!("events_without_a_gateway", ran);
}
