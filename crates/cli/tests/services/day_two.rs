//! Health, auto-healing, export and templates.
use crate::tenant::{FULL, Tenant, cluster, json};
use portico_openstack::magnum::{ClusterChange, HealthStatus};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn case_45_what_magnum_reports_as_unhealthy_comes_first() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("health");
        let made = tenant.make_complete(&name, FULL, &[]).await;
        let reasons = [("api", "ok"), ("node-1.Ready", "False")];
        let reasons = reasons.map(|(part, reason)| (part.to_owned(), reason.to_owned()));
        let change = ClusterChange {
            health_status: Some(HealthStatus::Unhealthy),
            health_status_reason: Some(BTreeMap::from(reasons)),
            ..ClusterChange::default()
        };
        let (magnum, token) = (&tenant.magnum, &tenant.token);
        // Magnum measures by itself too, and may do so in between
        let deadline = Instant::now() + PATIENCE;
        let path = ["list", "-o", "jsonpath={.items[*].health_status}"];
        let (ran, list) = loop {
            magnum
                .change_cluster(token, made.uuid, &change)
                .await
                .unwrap();
            let ran = tenant.cluster(&["health", &name]).await;
            let list = tenant.cluster(&["list"]).await;
            let value = tenant.cluster(&path).await;
            if ran.out.contains("Unhealthy (") && value.out == "UNHEALTHY\n" {
                break (ran, list);
            }
            let shown = [&ran.out, &value.out, &value.err];
            assert!(Instant::now() < deadline, "{shown:?}");
        };
        assert_eq!(ran.code, 1, "{}", ran.err);
        let place = |text: &str| ran.out.find(text).unwrap_or_else(|| panic!("{}", ran.out));
        assert!(place("Unhealthy (Magnum last changed the record ") < place("node-1: not ready"));
        assert!(place("node-1: not ready") < place("API server: ok"));
        // whether something listens at the address of the simulated cluster depends on the machine
        assert!(ran.out.contains("this machine"), "{}", ran.out);
        let row = list.out.lines().find(|line| line.starts_with(&name));
        let row = row.unwrap_or_else(|| panic!("{}", list.out));
        assert!(row.contains("Unhealthy: node-1 is not ready"), "{row}");
    })
    .await;
}

#[tokio::test]
async fn case_48_auto_healing_is_shown_and_cannot_be_changed() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("heal");
        let labels = [("auto_healing_enabled", "false")];
        tenant.make(&name, FULL, &labels).await;
        let ran = tenant.cluster(&["heal", &name, "status"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let text = "off (label auto_healing_enabled=false)";
        assert!(ran.out.contains(text), "{}", ran.out);
        assert!(ran.out.contains("It cannot be changed."), "{}", ran.out);
        let words = ["heal", &name, "status", "-o", "json"];
        assert_eq!(json(&tenant.cluster(&words).await)["can_be_changed"], false);
    })
    .await;
}

#[tokio::test]
async fn an_exported_cluster_agrees_with_its_own_file() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("export");
        tenant.make_complete(&name, FULL, &[]).await;
        let ran = tenant.cluster(&["export", &name]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let path = tenant.person.write("export.yaml", &ran.out).unwrap();
        let ran = tenant
            .cluster(&["diff", "-f", path.to_str().unwrap()])
            .await;
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
        let ran = tenant.cluster(&["export", &name, "-o", "terraform"]).await;
        let resource = "resource \"openstack_containerinfra_cluster_v1\"";
        for part in [resource, "  master_lb_enabled = ", "  node_count = "] {
            assert!(ran.out.contains(part), "{part}: {}", ran.out);
        }
        let words = ["export", &name, "--as", "terraform"];
        assert_eq!(tenant.cluster(&words).await.out, ran.out);
    })
    .await;
}

#[tokio::test]
async fn case_54_a_template_in_use_names_the_clusters_that_use_it() {
    Tenant::run(|tenant| async move {
        let (template, name) = (tenant.name("copy"), tenant.name("user"));
        let words = [
            "template", "create", &template, "--from", FULL, "--set", "a=b", "-o", "json",
        ];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let created = json(&ran);
        assert_eq!(created[0]["labels"]["a"], "b");
        assert_eq!(created[0]["public"], false);
        tenant.make(&name, &template, &[]).await;
        let ran = tenant.cluster(&["template", "delete", &template]).await;
        assert_eq!(ran.code, 4, "{}", ran.err);
        assert!(
            ran.err.contains(&format!("is used by {name}")),
            "{}",
            ran.err
        );
        let ran = tenant.cluster(&["template", "publish", &template]).await;
        assert_eq!(ran.code, 5, "{}", ran.err);
        let root = tenant.user("admin").await;
        let root = tenant.person_of(&root);
        let hide = ["template", "hide", &template];
        assert_eq!(cluster(&root, &hide).await.code, 0);
        let words = ["delete", &name, "--yes", "--wait"];
        assert_eq!(tenant.cluster(&words).await.code, 0);
        let ran = cluster(&root, &["template", "delete", &template]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
    })
    .await;
}
