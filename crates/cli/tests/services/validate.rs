//! `portico cluster validate` and `services`: with a simulated cluster, and with one that answers.
use crate::panel::Panel;
use crate::story::log_in;
use crate::tenant::{FULL, Tenant, json};
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Pause between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum time until the gateway lists an enrolled cluster, or its API server accepts a token.
const PATIENCE: Duration = Duration::from_secs(60);

fn result<'a>(report: &'a Value, name: &str) -> &'a str {
    let mut parts = report["parts"].as_array().unwrap().iter();
    let found = parts.find(|part| part["part"] == name);
    found.unwrap()["result"].as_str().unwrap()
}

#[tokio::test]
async fn without_access_to_the_cluster_only_magnum_is_checked() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("unseen");
        tenant.make_complete(&name, FULL, &[]).await;
        let ran = tenant.cluster(&["validate", &name, "-o", "json"]).await;
        assert_eq!(ran.code, 1, "{}", ran.err);
        let report = json(&ran);
        assert_eq!(report["is_valid"], false);
        assert_eq!(result(&report, "magnum"), "ok");
        for part in ["nodes", "dns", "authentication", "certificates", "volume"] {
            assert_eq!(result(&report, part), "not_checked", "{report}");
        }
        assert!(ran.out.contains("portico login"), "{}", ran.out);
        assert!(ran.err.contains("--waive"), "{}", ran.err);
        // a volume and a load balancer are checked with --full only
        let waive = "api,nodes,dns,authentication,certificates,volume,load-balancer";
        let ran = tenant.cluster(&["validate", &name, "--waive", waive]).await;
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    })
    .await;
}

#[tokio::test]
async fn an_enrolled_cluster_is_checked_with_the_users_own_token() {
    Tenant::run(|tenant| async move {
        let role = tenant.env.get("ROLE_ID_K8S_DEVELOPER").unwrap();
        let granted = tenant.admin.grant(&tenant.member.id, &tenant.project, role);
        granted.await.unwrap();
        let name = tenant.name("validate");
        let words = [
            "create",
            &name,
            "-t",
            "kubernetes-local",
            "--keypair",
            "ops",
        ];
        let more = ["--workers", "1", "--wait", "--timeout", "120s"];
        let words: Vec<_> = words.iter().chain(&more).copied().collect();
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let made = tenant.named(&name).await.remove(0);
        log_in(&tenant).await;
        let mut panel = Panel::sign_in(&tenant).await;
        panel.enrol(made.uuid).await;
        let deadline = Instant::now() + PATIENCE;
        while !log_in(&tenant).await.err.contains(&name) {
            assert!(Instant::now() < deadline, "the cluster is not listed");
            sleep(PAUSE).await;
        }

        // the local cluster has an API server only, of a version without SelfSubjectReview
        let words = [
            "validate",
            &name,
            "-o",
            "json",
            "--waive",
            "nodes,dns,authentication,volume,load-balancer",
        ];
        let report = loop {
            let ran = tenant.cluster(&words).await;
            if ran.code == 0 {
                break json(&ran);
            }
            assert!(Instant::now() < deadline, "{} {}", ran.out, ran.err);
            sleep(PAUSE).await;
        };
        for part in ["api", "magnum", "certificates"] {
            assert_eq!(result(&report, part), "ok", "{report}");
        }
        let ran = tenant.cluster(&["validate", &name]).await;
        assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
        assert!(ran.out.contains("not checked"), "{}", ran.out);

        // nothing is waived: the parts that this user may not check are named, and none is made up
        let words = [
            "validate",
            &name,
            "--full",
            "-o",
            "json",
            "--timeout",
            "30s",
        ];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
        let report = json(&ran);
        for part in ["api", "magnum", "certificates"] {
            assert_eq!(result(&report, part), "ok", "{report}");
        }
        for part in ["dns", "authentication", "volume", "load-balancer"] {
            assert_ne!(result(&report, part), "ok", "{report}");
            assert_ne!(result(&report, part), "waived", "{report}");
        }
        assert!(ran.out.contains("not checked: the "), "{}", ran.out);

        // the owner gets the authority from Magnum, so the certificate is checked
        let shown = json(&tenant.cluster(&["health", &name, "-o", "json"]).await);
        assert_eq!(shown["api"]["is_reachable"], true, "{shown}");
        assert_ne!(shown["api"]["is_ready"], false, "{shown}");
        let note = shown["api"]["note"].as_str().unwrap_or_default();
        assert!(!note.contains("certificate"), "{note}");
        let ran = tenant.cluster(&["versions", &name]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("API server"), "{} {}", ran.out, ran.err);
        let versions = json(&tenant.cluster(&["versions", &name, "-o", "json"]).await);
        assert!(!versions["templates"].as_array().unwrap().is_empty());
        let first = &versions["components"][0];
        assert_eq!(first["component"], "API server", "{versions}");
        let ran = tenant.cluster(&["describe", &name]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("Node groups"), "{}", ran.out);
        assert!(!ran.out.contains("no session"), "{}", ran.out);
        let ran = tenant.cluster(&["kubeconfig", &name, "--stdout"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("exec"), "{}", ran.out);

        // nothing is deployed in it, and a developer may not list all namespaces
        let ran = tenant.cluster(&["services", "list", &name]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        for service in ["monitoring", "logging", "registry", "ingress", "backup"] {
            assert!(ran.out.contains(service), "{}", ran.out);
        }
        let words = ["services", "status", &name, "ingress"];
        assert_eq!(tenant.cluster(&words).await.code, 1);

        let words = ["delete", &name, "--yes", "--wait", "--timeout", "60s"];
        assert_eq!(tenant.cluster(&words).await.code, 0);
        assert!(panel.remove_record(made.uuid).await);
    })
    .await;
}
