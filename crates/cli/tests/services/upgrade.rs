//! Upgrades: targets, checks, approval, and the way out of a failed change.
use crate::creation::new_template;
use crate::service_proxy::Rules;
use crate::stand_in::StandIn;
use crate::tenant::{FULL, HEAT, Tenant, cluster, json};
use portico_openstack::magnum::{NewClusterTemplate, Resize, Status};

/// The template of the next minor version.
const NEXT: &str = "kubernetes-1.32";

#[tokio::test]
async fn case_34_a_minor_version_is_not_skipped() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("skips");
        tenant.make_complete(&name, FULL, &[]).await;
        let newer = tenant.name("newer");
        let mut template = NewClusterTemplate {
            name: Some(newer.clone()),
            ..new_template()
        };
        template
            .labels
            .insert("kube_tag".to_owned(), "v1.33.0".to_owned());
        let created = tenant
            .magnum
            .create_template(&tenant.token, &template)
            .await;
        created.unwrap();
        let (person, proxy) = tenant.through(Rules::default()).await;
        let ran = cluster(&person, &["upgrade", &name, "--to", "v1.33"]).await;
        assert_eq!(ran.code, 1, "{}", ran.err);
        let text = "Kubernetes moves up one minor version at a time";
        assert!(ran.out.contains(text), "{}", ran.out);
        let words = ["upgrade", &name, "--to", &newer, "--approve"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 4, "{}", ran.err);
        let ran = cluster(&person, &["versions", &name, "-o", "json"]).await;
        let targets = json(&ran);
        let targets = targets.as_array().unwrap();
        let refusal = |template: &str| {
            let mut targets = targets.iter();
            let found = targets.find(|target| target["template"] == template);
            found.unwrap()["refusal"].clone()
        };
        assert!(refusal(NEXT).is_null(), "{targets:?}");
        assert!(refusal(&newer).is_string(), "{targets:?}");
        assert!(proxy.changes().is_empty());
    })
    .await;
}

#[tokio::test]
async fn case_36_a_driver_without_upgrades_is_not_asked() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("heat");
        tenant.make_complete(&name, HEAT, &[]).await;
        let (person, proxy) = tenant.through(Rules::default()).await;
        let words = ["upgrade", &name, "--to", NEXT, "--approve"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 13, "{}", ran.err);
        assert!(ran.err.contains("Create a new cluster"), "{}", ran.err);
        assert!(proxy.changes().is_empty());
    })
    .await;
}

#[tokio::test]
async fn case_35_a_failed_change_is_settled_before_the_upgrade() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("settle");
        let made = tenant.make_complete(&name, FULL, &[]).await;
        let stand_in = StandIn::of(&tenant);
        let used = stand_in.used("instances").await;
        stand_in.set_quota(&tenant, "instances", used).await;
        // the program would refuse it
        let resize = Resize {
            node_count: 3,
            nodes_to_remove: Vec::new(),
            node_group: None,
        };
        let magnum = &tenant.magnum;
        let sent = magnum
            .resize_cluster(&tenant.token, made.uuid, &resize)
            .await;
        sent.unwrap();
        tenant.cluster(&["wait", &name, "--for", "nodes=3"]).await;
        assert_eq!(tenant.settled(made.uuid).await.status, Status::UpdateFailed);
        let words = ["upgrade", &name, "--to", NEXT, "--approve", "--wait"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 4, "{}", ran.err);
        assert!(ran.err.contains("Settle the cluster first"), "{}", ran.err);
        stand_in.set_quota(&tenant, "instances", used + 10).await;
        let count = tenant.magnum.node_groups(&tenant.token, made.uuid).await;
        let count = count.unwrap().items;
        let count = count.iter().find(|group| group.name == "default-worker");
        let count = count.unwrap().node_count.to_string();
        let ran = tenant.cluster(&["resize", &name, &count, "--wait"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let words = ["wait", &name, "--for", "version=v1.32", "--timeout", "10s"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
    })
    .await;
}
