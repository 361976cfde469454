//! The drain of a node before it is removed, in a cluster that answers.
use crate::local::Kubectl;
use crate::panel::Panel;
use crate::story::log_in;
use crate::tenant::{Tenant, json};
use serde_json::{Value, json as value};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const PAUSE: Duration = Duration::from_secs(1);
/// Maximum time until the gateway lists an enrolled cluster, or its API server accepts a token.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes a pod on a node that is running by its status, with a budget that permits no disruption.
async fn make_protected_pod(kubectl: &Kubectl<'_>, node: &str) {
    kubectl.make_pod(node).await;
    let budgets = "/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets";
    let budget = value!({"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}});
    kubectl.send("create", budgets, &budget).await;
    let deadline = Instant::now() + PATIENCE;
    let words = ["get", "poddisruptionbudget", "web", "-o", "json"];
    loop {
        let read: Value = serde_json::from_str(&kubectl.run(&words).await).unwrap();
        if read["status"]["currentHealthy"] == 1 {
            return;
        }
        assert!(Instant::now() < deadline, "{read}");
        sleep(PAUSE).await;
    }
}

#[tokio::test]
async fn a_node_is_drained_before_it_is_removed_and_a_budget_in_the_way_is_named() {
    Tenant::run(|tenant| async move {
        let role = tenant.env.get("ROLE_ID_K8S_DEVELOPER").unwrap();
        let granted = tenant.admin.grant(&tenant.member.id, &tenant.project, role);
        granted.await.unwrap();
        let name = tenant.name("drain");
        let template = "kubernetes-local";
        let words = ["create", &name, "-t", template, "--keypair", "ops"];
        let more = ["--workers", "2", "--wait", "--timeout", "120s"];
        let words: Vec<_> = words.iter().chain(&more).copied().collect();
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let made = tenant.named(&name).await.remove(0);
        let kubectl = Kubectl::administrator(&tenant, &name).await;
        log_in(&tenant).await;
        let mut panel = Panel::sign_in(&tenant).await;
        panel.enrol(made.uuid).await;
        let deadline = Instant::now() + PATIENCE;
        while !log_in(&tenant).await.err.contains(&name) {
            assert!(Instant::now() < deadline, "the cluster is not listed");
            sleep(PAUSE).await;
        }
        let words = ["nodes", "list", &name, "-g", "default-worker", "-o", "json"];
        let nodes = json(&tenant.cluster(&words).await);
        let node = nodes[0]["name"].as_str().unwrap().to_owned();

        // a developer may not read the nodes: that is said, and nothing is drained
        let removal = ["nodes", "remove", &name, &node, "--yes"];
        let with = |more: &[&'static str]| -> Vec<String> {
            let words = removal.iter().copied().chain(more.iter().copied());
            words.map(str::to_owned).collect()
        };
        let cluster = async |words: Vec<String>| {
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            tenant.cluster(&words).await
        };
        let ran = cluster(with(&["--dry-run"])).await;
        assert!(ran.err.contains("Not checked"), "{} {}", ran.out, ran.err);
        kubectl.permit_all().await;
        make_protected_pod(&kubectl, &node).await;
        loop {
            let ran = cluster(with(&["--dry-run"])).await;
            assert_eq!(ran.code, 1, "{}", ran.err);
            if !ran.err.contains("Not checked") {
                assert!(ran.out.contains("cordoned and drained"), "{}", ran.out);
                break;
            }
            assert!(Instant::now() < deadline, "{}", ran.err);
            sleep(PAUSE).await;
        }

        let ran = cluster(with(&["--drain-timeout", "5s", "--accept-pending-pods"])).await;
        assert_eq!(ran.code, 9, "{} {}", ran.out, ran.err);
        assert!(ran.err.contains("disruption budget"), "{}", ran.err);
        assert!(ran.err.contains("default/web"), "{}", ran.err);
        let words = ["nodes", "list", &name, "-g", "default-worker", "-o", "json"];
        let nodes = json(&tenant.cluster(&words).await);
        assert_eq!(nodes.as_array().unwrap().len(), 2, "{nodes}");

        kubectl.run(&["delete", "poddisruptionbudget", "web"]).await;
        let ran = cluster(with(&[
            "--accept-pending-pods",
            "--wait",
            "--timeout",
            "60s",
        ]))
        .await;
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
        let nodes = json(&tenant.cluster(&words).await);
        assert_eq!(nodes.as_array().unwrap().len(), 1, "{nodes}");
        assert_ne!(nodes[0]["name"], node);

        let words = ["delete", &name, "--yes", "--wait", "--timeout", "60s"];
        assert_eq!(tenant.cluster(&words).await.code, 0);
        assert!(panel.remove_record(made.uuid).await);
    })
    .await;
}
