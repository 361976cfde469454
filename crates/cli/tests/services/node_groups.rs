//! Node groups: sizes, bounds, taints, and one change at a time.
use crate::service_proxy::Rules;
use crate::stand_in::StandIn;
use crate::tenant::{CLUSTER_API, FULL, Tenant, cluster, json};
use portico_openstack::magnum::{Cluster, Resize};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const PAUSE: Duration = Duration::from_millis(300);
/// Maximum time until a command has begun to wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the number of nodes of each group.
async fn sizes(tenant: &Tenant, made: &Cluster) -> BTreeMap<String, u32> {
    let groups = tenant.magnum.node_groups(&tenant.token, made.uuid).await;
    let groups = groups.unwrap().items.into_iter();
    groups.map(|group| (group.name, group.node_count)).collect()
}

fn expected(sizes: &[(&str, u32)]) -> BTreeMap<String, u32> {
    let sizes = sizes.iter().map(|(name, size)| ((*name).to_owned(), *size));
    sizes.collect()
}

#[tokio::test]
async fn case_25_a_change_that_magnum_accepts_and_drops_ends_with_exit_code_12() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("dropped");
        let made = tenant.make_complete(&name, FULL, &[]).await;
        let before = sizes(&tenant, &made).await;
        let rules = Rules {
            swallows: Some("/actions/resize"),
            ..Rules::default()
        };
        let (person, proxy) = tenant.through(rules).await;
        let words = ["resize", &name, "4", "--wait", "--timeout", "90s"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 12, "{}", ran.err);
        for part in [
            "accepted the request but did not act on it",
            "CREATE_COMPLETE",
        ] {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
        }
        assert_eq!(proxy.changes().len(), 1);
        assert_eq!(sizes(&tenant, &made).await, before);
    })
    .await;
}

#[tokio::test]
async fn case_26_a_group_is_resized_and_the_others_are_not_touched() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("scale");
        let made = tenant.make_complete(&name, FULL, &[]).await;
        let words = [
            "nodegroup",
            "create",
            &name,
            "more",
            "--nodes",
            "2",
            "--wait",
        ];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let ran = tenant.cluster(&["resize", &name, "4", "--wait"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let all = [("default-master", 1), ("default-worker", 4), ("more", 2)];
        assert_eq!(sizes(&tenant, &made).await, expected(&all));
        let read = tenant.magnum.cluster(&tenant.token, made.uuid).await;
        assert_eq!(read.unwrap().node_count, Some(6));
        let words = ["wait", &name, "--for", "nodes=6", "--timeout", "10s"];
        assert_eq!(tenant.cluster(&words).await.code, 0);
        // fewer nodes are confirmed
        let ran = tenant.cluster(&["resize", &name, "1", "-g", "more"]).await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        let words = ["nodegroup", "delete", &name, "more", "--yes", "--wait"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let ran = tenant
            .cluster(&["nodegroup", "list", &name, "-o", "name"])
            .await;
        assert_eq!(ran.out, "default-master\ndefault-worker\n", "{}", ran.err);
    })
    .await;
}

#[tokio::test]
async fn case_27_a_size_above_the_maximum_is_refused_with_the_bounds() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("bounds");
        let made = tenant.make_complete(&name, FULL, &[]).await;
        let group = ["nodegroup", "update", &name, "default-worker"];
        let words: Vec<_> = group
            .iter()
            .chain(&["--max", "3", "--wait"])
            .copied()
            .collect();
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let (person, proxy) = tenant.through(Rules::default()).await;
        let ran = cluster(&person, &["resize", &name, "5"]).await;
        assert_eq!(ran.code, 7, "{}", ran.err);
        let text = "5 is above the maximum 3 of default-worker";
        assert!(ran.err.contains(text), "{}", ran.err);
        assert!(proxy.changes().is_empty());
        // both at once: the bounds first
        let words = ["resize", &name, "5", "--max", "6", "--wait"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(sizes(&tenant, &made).await["default-worker"], 5);
    })
    .await;
}

#[tokio::test]
async fn case_28_a_size_beyond_the_quota_of_cores_is_refused_before_it_is_sent() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("cores");
        tenant.make_complete(&name, FULL, &[]).await;
        let stand_in = StandIn::of(&tenant);
        // room for one more m1.medium
        let used = stand_in.used("cores").await;
        stand_in.set_quota(&tenant, "cores", used + 2).await;
        let (person, proxy) = tenant.through(Rules::default()).await;
        let ran = cluster(&person, &["resize", &name, "3"]).await;
        assert_eq!(ran.code, 6, "{}", ran.err);
        assert!(ran.err.contains("cores used"), "{}", ran.err);
        assert!(proxy.changes().is_empty());
        let ran = cluster(&person, &["resize", &name, "2", "--wait"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
    })
    .await;
}

#[tokio::test]
async fn case_29_a_second_change_waits_for_the_first_one() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("queue");
        let made = tenant.make_complete(&name, CLUSTER_API, &[]).await;
        // this driver tries again until the quota suffices: the first change runs as long as the test wants
        let stand_in = StandIn::of(&tenant);
        let used = stand_in.used("cores").await;
        stand_in.set_quota(&tenant, "cores", used).await;
        let resize = Resize {
            node_count: 3,
            nodes_to_remove: Vec::new(),
            node_group: None,
        };
        let resized = tenant
            .magnum
            .resize_cluster(&tenant.token, made.uuid, &resize);
        resized.await.unwrap();
        tenant.busy(made.uuid).await;
        // without waiting it is refused
        let ran = tenant.cluster(&["resize", &name, "2", "--yes"]).await;
        assert_eq!(ran.code, 4, "{}", ran.err);
        let text = "Another change of the cluster is running";
        assert!(ran.err.contains(text), "{}", ran.err);
        let (person, proxy) = tenant.through(Rules::default()).await;
        let words = ["nodegroup", "create", &name, "next", "--wait"];
        let end_of_first = async {
            let cluster = format!("/clusters/{}", made.uuid);
            let deadline = Instant::now() + PATIENCE;
            // it looks at the cluster itself only while it waits
            while !proxy
                .received()
                .iter()
                .any(|one| one.path.ends_with(&cluster))
            {
                assert!(Instant::now() < deadline, "{:?}", proxy.received());
                sleep(PAUSE).await;
            }
            assert!(proxy.changes().is_empty());
            stand_in.set_quota(&tenant, "cores", used + 20).await;
        };
        let (ran, ()) = tokio::join!(cluster(&person, &words), end_of_first);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(
            ran.err.contains("waiting until it has finished"),
            "{}",
            ran.err
        );
        let all = [("default-master", 1), ("default-worker", 3), ("next", 1)];
        assert_eq!(sizes(&tenant, &made).await, expected(&all));
    })
    .await;
}

#[tokio::test]
async fn case_30_a_group_with_a_taint_has_it_in_magnum() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("taint");
        tenant.make_complete(&name, FULL, &[]).await;
        let taint = "gpu=true:NoSchedule";
        let words = [
            "nodegroup",
            "create",
            &name,
            "gpu",
            "--taint",
            taint,
            "--node-label",
            "tier=gpu",
            "--wait",
        ];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let words = ["nodegroup", "show", &name, "gpu", "-o", "json"];
        let shown = json(&tenant.cluster(&words).await);
        assert_eq!(shown["node_taints"], json!([taint]));
        assert_eq!(shown["node_labels"], json!({"tier": "gpu"}));
    })
    .await;
}

#[tokio::test]
async fn case_31_taints_need_a_newer_magnum_and_are_refused_with_both_versions() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("older");
        tenant.make_complete(&name, FULL, &[]).await;
        let rules = Rules {
            max_version: Some("1.13"),
            ..Rules::default()
        };
        let (person, proxy) = tenant.through(rules).await;
        let words = [
            "nodegroup",
            "create",
            &name,
            "gpu",
            "--taint",
            "gpu:NoSchedule",
        ];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 13, "{}", ran.err);
        let text = "needs version 1.14 of Magnum's API; this cloud has 1.13";
        assert!(ran.err.contains(text), "{}", ran.err);
        assert!(proxy.changes().is_empty());
    })
    .await;
}

#[tokio::test]
async fn the_bounds_of_the_autoscaler_are_those_of_the_group() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("autoscale");
        let labels = [("auto_scaling_enabled", "true")];
        tenant.make_complete(&name, FULL, &labels).await;
        let words = [
            "autoscale",
            &name,
            "set",
            "--min",
            "1",
            "--max",
            "4",
            "--wait",
        ];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let words = ["autoscale", &name, "status", "-o", "json"];
        let shown = json(&tenant.cluster(&words).await);
        assert_eq!(shown["labels"]["auto_scaling_enabled"], "true");
        let bounds = json!([{"name": "default-worker", "node_count": 1, "min_node_count": 1,
                             "max_node_count": 4}]);
        assert_eq!(shown["node_groups"], bounds);
        // the present size must be within them
        let words = ["autoscale", &name, "set", "--min", "2"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 4, "{}", ran.err);
    })
    .await;
}
