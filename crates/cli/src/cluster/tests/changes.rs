use super::Machine;
use super::stand_in::{CLUSTER, StandIn, WORKERS, cluster};
use serde_json::json;

fn file(machine: &Machine, spec: &str) -> String {
    let head = "apiVersion: portico.dev/v1alpha1\nkind: Cluster\nmetadata: {name: shop}\n";
    machine.file(
        "shop.yaml",
        &format!("{head}spec: {{template: small, {spec}}}\n"),
    )
}

async fn cloud() -> StandIn {
    StandIn::with(vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")]).await
}

#[tokio::test]
async fn case_57_a_file_that_agrees_sends_nothing() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let groups = "nodeGroups: [{name: default-worker, replicas: 2, min: 1}]";
    let path = file(&machine, groups);
    for words in [["diff", "-f", &path], ["apply", "-f", &path]] {
        let ran = machine.run(&cloud, &words, None).await;
        assert_ran!(format!("{}_without_differences", words[0]), ran);
    }
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn what_only_the_panel_does_for_a_file_is_named() {
    let machine = Machine::new();
    let path = file(&machine, "services: [monitoring]");
    let notices = ["Services: Portico does not install services yet"];
    for words in [["create", "-f", &path], ["apply", "-f", &path]] {
        let cloud = StandIn::with(vec![]).await;
        let words: Vec<_> = words.iter().chain(&["--dry-run"]).copied().collect();
        let ran = machine.run(&cloud, &words, None).await;
        for notice in notices {
            assert_eq!(ran.err.matches(notice).count(), 1, "{}", ran.err);
            assert!(!ran.out.contains(notice), "{}", ran.out);
        }
    }
    // control case: a file without them
    let path = file(&machine, "services: []");
    let cloud = cloud().await;
    let ran = machine.run(&cloud, &["apply", "-f", &path], None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!ran.err.contains("Services"), "{}", ran.err);
}

#[tokio::test]
async fn without_a_session_a_file_with_a_protection_is_refused_before_anything_is_sent() {
    let machine = Machine::new();
    for wanted in ["protection: true", "protection: false"] {
        let path = file(&machine, wanted);
        for words in [
            ["create", "-f", &path],
            ["apply", "-f", &path],
            ["diff", "-f", &path],
        ] {
            let cloud = cloud().await;
            let ran = machine.run(&cloud, &words, None).await;
            assert_eq!(ran.code, 2, "{words:?}: {} {}", ran.out, ran.err);
            assert!(ran.err.contains("spec.protection"), "{}", ran.err);
            assert!(ran.err.contains("portico login"), "{}", ran.err);
            assert!(cloud.calls().is_empty());
        }
    }
}

#[tokio::test]
async fn case_56_another_flavor_of_the_control_plane_changes_nothing() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let path = file(
        &machine,
        "controlPlane: {flavor: m1.large}, nodeGroups: [{name: default-worker, replicas: 3}]",
    );
    let ran = machine.run(&cloud, &["apply", "-f", &path], None).await;
    assert_ran!("another_flavor", ran);
    let ran = machine.run(&cloud, &["diff", "-f", &path], None).await;
    assert_ran!("differences", ran);
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn a_group_is_resized_by_its_uuid_and_followed() {
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let cloud = StandIn::start(clusters, |request, clusters| {
        if request.method != "POST" {
            return None;
        }
        clusters[0]["status"] = json!("UPDATE_COMPLETE");
        clusters[0]["updated_at"] = json!("2026-11-21T12:00:00+00:00");
        clusters[0]["node_count"] = request.body["node_count"].clone();
        Some((202, json!({"uuid": CLUSTER})))
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    let path = file(
        &machine,
        "nodeGroups: [{name: default-worker, replicas: 3}]",
    );
    let words = ["apply", "-f", &path, "--dry-run"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!((ran.code, cloud.calls().len()), (1, 0), "{}", ran.err);
    let ran = machine.run(&cloud, &["apply", "-f", &path], None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let path = format!("POST clusters/{CLUSTER}/actions/resize");
    assert_eq!(cloud.calls(), [path]);
    let body = json!({"node_count": 3, "nodegroup": WORKERS});
    assert_eq!(cloud.changes()[0].body, body);
}

#[tokio::test]
async fn a_file_is_applied_without_waiting_where_it_has_one_step() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let groups = "nodeGroups: [{name: default-worker, replicas: 3, min: 2}]";
    let path = file(&machine, groups);
    let words = ["apply", "-f", &path, "--no-wait"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("leave out --no-wait"), "{}", ran.err);
    assert!(cloud.calls().is_empty());

    // Magnum accepts the only step, and does nothing within the time of this test
    let cloud = StandIn::start(
        vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")],
        |request, _| (request.method == "POST").then(|| (202, json!({"uuid": CLUSTER}))),
    );
    let cloud = cloud.await;
    let path = file(
        &machine,
        "nodeGroups: [{name: default-worker, replicas: 3}]",
    );
    let words = ["apply", "-f", &path, "--no-wait"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("portico cluster watch"), "{}", ran.err);
    assert_eq!(
        cloud.calls(),
        [format!("POST clusters/{CLUSTER}/actions/resize")]
    );
}

#[tokio::test]
async fn nodes_are_removed_only_with_the_name() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let path = file(
        &machine,
        "nodeGroups: [{name: default-worker, replicas: 1}]",
    );
    for (typed, code) in [(None, 2), (Some("other"), 1)] {
        let ran = machine.run(&cloud, &["apply", "-f", &path], typed).await;
        assert_eq!(ran.code, code, "{}", ran.err);
    }
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn an_incomplete_list_does_not_mean_that_the_cluster_is_missing() {
    let cloud = StandIn::start(vec![], |request, _| {
        let next = "http://magnum.internal/v1/clusters/detail?marker=again";
        (request.path == "clusters/detail").then(|| (200, json!({"clusters": [], "next": next})))
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    let path = file(&machine, "keypair: ops");
    for words in [["diff", "-f", &path], ["apply", "-f", &path]] {
        let ran = machine.run(&cloud, &words, None).await;
        assert_eq!(ran.code, 11, "{words:?}: {}", ran.err);
    }
    assert!(cloud.calls().is_empty());
    let ran = machine.run(&cloud, &["list"], None).await;
    assert!(ran.err.contains("The list is incomplete"), "{}", ran.err);
}

#[tokio::test]
async fn a_file_and_an_option_must_name_the_same_project() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let path = machine.file(
        "shop.yaml",
        "apiVersion: portico.dev/v1alpha1\nkind: Cluster\nmetadata: {name: shop, project: one}\n\
         spec: {template: small}\n",
    );
    let command = ["portico", "diff", "-f", &path, "--project", "two"];
    let command = <super::Program as clap::Parser>::try_parse_from(command).unwrap();
    let command = command.cluster.command;
    let specification = super::specification(&command).unwrap().unwrap();
    let refused = specification.choice(command.shared()).unwrap_err();
    assert_eq!(refused.exit_code(), 2, "{refused}");
    assert!(cloud.calls().is_empty());
}
