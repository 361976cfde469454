//! Creation: what is sent, what is refused before it is sent, and that nothing is made twice.
use crate::service_proxy::Rules;
use crate::tenant::{FULL, Tenant, cluster, create, json};
use portico_lifecycle::idempotency::MARKER_LABEL;
use portico_openstack::magnum::{NewCluster, NewClusterTemplate};
use portico_openstack::rest::ErrorKind;
use reqwest::Method;
use serde_json::json;
use std::collections::BTreeMap;

#[tokio::test]
async fn case_08_a_body_for_magnum_with_nulls_is_accepted_as_it_is() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("seed");
        let body = json!({
            "name": name, "cluster_template_id": FULL, "keypair": "ops", "master_count": 1,
            "node_count": 1, "create_timeout": 60, "flavor_id": null, "master_flavor_id": null,
            "docker_volume_size": null, "discovery_url": null, "fixed_network": null,
            "fixed_subnet": null, "floating_ip_enabled": null, "master_lb_enabled": null,
            "labels": {"sim_seconds": 1}, "merge_labels": true,
        });
        let path = tenant.person.write("body.json", &body.to_string()).unwrap();
        let path = path.to_str().unwrap();
        let words = ["create", "--json", path, "--wait", "-o", "json"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(json(&ran)[0]["status"], "CREATE_COMPLETE");
        let made = &tenant.named(&name).await[0];
        // the template's
        assert_eq!(made.flavor_id.as_deref(), Some("m1.medium"));
        assert_eq!(made.master_lb_enabled, Some(true));
        assert_eq!(made.labels.applied["kube_tag"], "v1.31.4");
    })
    .await;
}

#[tokio::test]
async fn case_09_an_unknown_field_is_named_and_nothing_is_sent() {
    Tenant::run(|tenant| async move {
        let (person, proxy) = tenant.through(Rules::default()).await;
        let body = json!({"name": tenant.name("a"), "cluster_template_id": FULL, "bogus": 3});
        let path = person.write("body.json", &body.to_string()).unwrap();
        let words = ["create", "--json", path.to_str().unwrap()];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 7, "{}", ran.err);
        assert!(ran.err.contains("\"bogus\""), "{}", ran.err);
        assert!(proxy.changes().is_empty());
    })
    .await;
}

#[tokio::test]
async fn case_10_labels_are_merged_and_an_overridden_one_is_marked() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("labels");
        let words = create(&name, &["--set", "kube_tag=v1.31.2", "--dry-run"]);
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        for part in [
            "kube_tag=v1.31.2  (yours; the template has v1.31.4)",
            "auto_healing_enabled=true  (template)",
            "sim_seconds=1  (yours)",
        ] {
            assert!(ran.out.contains(part), "{part}: {}", ran.out);
        }
        let words = create(&name, &["--set", "kube_tag=v1.31.2", "--no-wait"]);
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let made = &tenant.named(&name).await[0];
        assert_eq!(made.labels.applied["auto_healing_enabled"], "true");
        assert_eq!(made.labels.applied["kube_tag"], "v1.31.2");
        assert_eq!(made.labels.overridden["kube_tag"], "v1.31.4");
    })
    .await;
}

#[tokio::test]
async fn case_11_two_control_plane_nodes_are_refused_before_they_are_sent() {
    Tenant::run(|tenant| async move {
        let (person, proxy) = tenant.through(Rules::default()).await;
        let name = tenant.name("even");
        let words = create(&name, &["--masters", "2"]);
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 7, "{}", ran.err);
        let rule = "size cannot be an even number";
        assert!(ran.err.contains(rule), "{}", ran.err);
        assert!(proxy.changes().is_empty());
        // the quoted rule is the server's
        let new = NewCluster {
            master_count: Some(2),
            ..tenant.new_cluster(&name, FULL, &[]).await
        };
        let created = tenant.magnum.create_cluster(&tenant.token, &new).await;
        let error = created.unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Invalid(_)), "{error}");
        assert!(error.to_string().contains(rule), "{error}");
    })
    .await;
}

#[tokio::test]
async fn case_12_three_control_plane_nodes_switch_the_load_balancer_on() {
    Tenant::run(|tenant| async move {
        let template = NewClusterTemplate {
            name: Some(tenant.name("no-balancer")),
            master_lb_enabled: Some(false),
            ..new_template()
        };
        let template = tenant
            .magnum
            .create_template(&tenant.token, &template)
            .await
            .unwrap();
        let name = tenant.name("three");
        let template = template.uuid.to_string();
        let words = |last| {
            let words = ["create", &name, "-t", &template, "--keypair", "ops"];
            let more = ["--masters", "3", "--workers", "1", last];
            words
                .iter()
                .chain(&more)
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        for last in ["--dry-run", "--no-wait"] {
            let words = words(last);
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            let ran = tenant.cluster(&words).await;
            assert_eq!(ran.code, 0, "{}", ran.err);
            let text = "The load balancer of the API is switched on: 3 control plane nodes";
            let shown = format!("{}{}", ran.out, ran.err);
            assert!(shown.contains(text), "{shown}");
        }
        let made = &tenant.named(&name).await[0];
        assert_eq!(made.master_lb_enabled, Some(true));
        assert_eq!(made.master_count, Some(3));
    })
    .await;
}

#[tokio::test]
async fn case_13_a_reader_is_refused_with_the_rule() {
    Tenant::run(|tenant| async move {
        let reader = tenant.user("reader").await;
        let person = tenant.person_of(&reader);
        let name = tenant.name("reader");
        let ran = cluster(&person, &create(&name, &["--no-wait"])).await;
        assert_eq!(ran.code, 5, "{}", ran.err);
        for part in ["cluster:create", "ask a project administrator"] {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
        }
        let ran = cluster(&person, &["list", "-o", "name"]).await;
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    })
    .await;
}

#[tokio::test]
async fn case_14_a_full_quota_is_not_called_forbidden() {
    Tenant::run(|tenant| async move {
        let (magnum, root) = (&tenant.magnum, tenant.administrator().await);
        tenant.make(&tenant.name("first"), FULL, &[]).await;
        magnum
            .create_quota(&root, &tenant.project, 1)
            .await
            .unwrap();
        let (person, proxy) = tenant.through(Rules::default()).await;
        let name = tenant.name("second");
        let ran = cluster(&person, &create(&name, &["--no-wait"])).await;
        assert_eq!(ran.code, 6, "{}", ran.err);
        assert!(ran.err.contains("1 of 1 clusters used"), "{}", ran.err);
        assert!(proxy.changes().is_empty());
        // sent anyway
        let new = tenant.new_cluster(&name, FULL, &[]).await;
        let error = magnum
            .create_cluster(&tenant.token, &new)
            .await
            .unwrap_err();
        assert!(matches!(error.kind, ErrorKind::QuotaExceeded(_)), "{error}");
        assert!(
            error.to_string().contains("You may delete a cluster"),
            "{error}"
        );
        magnum.delete_quota(&root, &tenant.project).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn case_15_a_name_of_two_clusters_is_ambiguous_and_both_are_named() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("twice");
        let (first, second) = (
            tenant.make(&name, FULL, &[]).await,
            tenant.make(&name, FULL, &[]).await,
        );
        for words in [
            ["show", &name, "-o", "json"],
            ["delete", &name, "-o", "json"],
        ] {
            let ran = tenant.cluster(&words).await;
            assert_eq!(ran.code, 4, "{}", ran.err);
            for uuid in [first.uuid, second.uuid] {
                assert!(ran.err.contains(&uuid.to_string()), "{}", ran.err);
            }
        }
        let uuid = second.uuid.to_string();
        let ran = tenant.cluster(&["show", &uuid, "-o", "json"]).await;
        assert_eq!(json(&ran)["uuid"], uuid.as_str(), "{}", ran.err);
    })
    .await;
}

#[tokio::test]
async fn case_16_a_lost_response_makes_no_second_cluster() {
    Tenant::run(|tenant| async move {
        let rules = Rules {
            loses_creations: true,
            ..Rules::default()
        };
        let (person, proxy) = tenant.through(rules).await;
        let name = tenant.name("lost");
        let words = create(&name, &["--no-wait", "-o", "json"]);
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("The response was lost"), "{}", ran.err);
        let made = tenant.named(&name).await;
        assert_eq!(made.len(), 1, "{made:?}");
        assert_eq!(json(&ran)[0]["uuid"], made[0].uuid.to_string());
        assert!(made[0].labels.applied.contains_key(MARKER_LABEL));
        assert_eq!(proxy.changes().len(), 1);
        assert_eq!(proxy.changes()[0].method, Method::POST);
    })
    .await;
}

#[tokio::test]
async fn case_23_a_cluster_that_another_client_made_is_listed() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("openstack");
        let made = tenant.make(&name, FULL, &[]).await;
        assert!(!made.labels.applied.contains_key(MARKER_LABEL));
        let ran = tenant.cluster(&["list", "-o", "name"]).await;
        assert_eq!(ran.out, format!("{name}\n"), "{}", ran.err);
    })
    .await;
}

/// Returns a private template of the full driver.
pub fn new_template() -> NewClusterTemplate {
    let text = |text: &str| Some(text.to_owned());
    NewClusterTemplate {
        coe: "kubernetes".to_owned(),
        image_id: "ubuntu-24.04-kube-v1.31.4".to_owned(),
        driver: text("k8s_sim_full"),
        external_network_id: text("public"),
        flavor_id: text("m1.medium"),
        master_flavor_id: text("m1.medium"),
        network_driver: text("calico"),
        volume_driver: text("cinder"),
        server_type: text("vm"),
        master_lb_enabled: Some(true),
        floating_ip_enabled: Some(false),
        labels: BTreeMap::from([("kube_tag".to_owned(), "v1.31.4".to_owned())]),
        ..NewClusterTemplate::default()
    }
}
