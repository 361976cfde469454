//! Upgrades, with Magnum inside of the test.
use super::{options::read, request::send};
use crate::service::lifecycle::{
    change::Sent,
    changing_magnum::{Answer, CLUSTER, ChangingMagnum, Received, TEMPLATE, cluster, error},
    fixtures::NOW,
    viewer::Viewer,
};
use app::error::UiErrorKind;
use portico_cluster_operations::inside::Inside;
use portico_domain::panel::lifecycle::{ChangeOutcome, UpgradeOptions};
use portico_lifecycle::{plan::UpgradeChoice, preflight::Reading};
use serde_json::{Value, json};
use uuid::Uuid;

const NEXT: Uuid = Uuid::from_u128(32);
const SKIPPED: Uuid = Uuid::from_u128(33);
const OTHER_DRIVER: Uuid = Uuid::from_u128(34);
const PATCH: Uuid = Uuid::from_u128(35);

fn template(uuid: &str, name: &str, version: &str, driver: &str) -> Value {
    json!({"uuid": uuid, "name": name, "project_id": "acme", "public": true, "driver": driver,
           "cluster_distro": "ubuntu", "coe": "kubernetes", "image_id": "ubuntu",
           "labels": {"kube_tag": version, "monitoring_enabled": "true"}})
}

/// Answers for the templates, and accepts upgrades.
fn reply(request: &Received) -> Option<Answer> {
    let driver = "k8s_cluster_api_ubuntu_v1";
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "clustertemplates/detail") => {
            let templates = [
                template(&SKIPPED.to_string(), "k8s-1.33", "v1.33.0", driver),
                template(TEMPLATE, "k8s-1.31", "v1.31.0", driver),
                template(&NEXT.to_string(), "k8s-1.32", "v1.32.0", driver),
                template(
                    &OTHER_DRIVER.to_string(),
                    "heat",
                    "v1.32.0",
                    "k8s_fedora_coreos_v1",
                ),
            ];
            Some((200, json!({"clustertemplates": templates})))
        }
        ("POST", path) if path.ends_with("/actions/upgrade") => {
            Some((202, json!({"uuid": CLUSTER})))
        }
        _ => None,
    }
}

fn unchecked() -> Inside {
    Inside::not_checked("The cluster is not enrolled.")
}

async fn magnum(status: &str) -> ChangingMagnum {
    ChangingMagnum::start(vec![cluster("shop", status)], |request, _| reply(request)).await
}

async fn options(magnum: &ChangingMagnum, who: &Viewer, template: Option<Uuid>) -> UpgradeOptions {
    let inside = unchecked();
    let choice = UpgradeChoice::default();
    let chosen = template.map(|template| (template, &choice));
    let found = read(&magnum.clients, who, CLUSTER, chosen, &inside, NOW).await;
    found.unwrap()
}

async fn sent(magnum: &ChangingMagnum, who: &Viewer, template: Uuid, typed: &str) -> Sent {
    let clients = &magnum.clients;
    let choice = UpgradeChoice::default();
    let sent = send(clients, who, CLUSTER, (template, &choice), typed, NOW).await;
    sent.unwrap()
}

fn ada(magnum: &ChangingMagnum) -> Viewer {
    magnum.viewer("ada", &["member", "reader"])
}

#[tokio::test]
async fn case_34_what_is_offered_comes_first_and_a_skipped_version_has_its_reason() {
    let magnum = magnum("CREATE_COMPLETE").await;
    let found = options(&magnum, &ada(&magnum), None).await;
    assert_eq!(found.version.as_deref(), Some("v1.31.0"));
    assert_eq!(found.template.name, "k8s-1.31");
    assert!(found.upgrade.is_offered());
    insta::assert_json_snapshot!("targets", found.targets);
    assert_eq!(found.review, None);
}

#[tokio::test]
async fn a_running_change_is_named_and_no_upgrade_is_offered_beside_it() {
    for (status, is_busy) in [("UPDATE_IN_PROGRESS", true), ("UPDATE_COMPLETE", false)] {
        let magnum = magnum(status).await;
        let found = options(&magnum, &ada(&magnum), None).await;
        assert_eq!(found.is_busy, is_busy, "{status}");
        assert_eq!(found.upgrade.is_offered(), !is_busy, "{status}");
    }
}

#[tokio::test]
async fn the_review_has_the_checks_and_the_labels_that_the_driver_takes_over() {
    let magnum = magnum("CREATE_COMPLETE").await;
    let found = options(&magnum, &ada(&magnum), Some(NEXT)).await;
    let review = found.review.unwrap();
    insta::assert_json_snapshot!("review", review);
    assert!(review.can_be_sent(&found.upgrade, "shop", "shop"));
    assert_eq!(magnum.calls(), [""; 0]);
}

#[tokio::test]
async fn case_38_a_budget_that_permits_no_disruption_is_named_and_does_not_block() {
    let magnum = magnum("CREATE_COMPLETE").await;
    let inside = Inside {
        blocking_budgets: Reading::Known(vec!["shop/web".to_owned()]),
        ..unchecked()
    };
    let ada = ada(&magnum);
    let choice = UpgradeChoice::default();
    let chosen = Some((NEXT, &choice));
    let found = read(&magnum.clients, &ada, CLUSTER, chosen, &inside, NOW).await;
    let found = found.unwrap();
    let review = found.review.unwrap();
    let mut checks = review.checks.iter();
    let check = checks.find(|check| check.subject == "Disruption budgets");
    let check = check.unwrap();
    insta::assert_json_snapshot!("check_of_budgets", check);
    assert!(review.can_be_sent(&found.upgrade, "shop", "shop"));
}

#[tokio::test]
async fn only_the_typed_name_upgrades_and_the_change_is_followed() {
    let magnum = magnum("CREATE_COMPLETE").await;
    let ada = ada(&magnum);
    for typed in ["", "Shop", "shop "] {
        let refused = sent(&magnum, &ada, NEXT, typed).await;
        assert!(matches!(refused.outcome, ChangeOutcome::Refused { .. }));
    }
    assert_eq!(magnum.calls(), [""; 0]);
    let accepted = sent(&magnum, &ada, NEXT, "shop").await;
    assert_eq!(accepted.outcome, ChangeOutcome::Accepted);
    assert!(accepted.accepted.is_some());
    let changes = magnum.changes();
    assert_eq!(
        magnum.calls(),
        [format!("POST clusters/{CLUSTER}/actions/upgrade")]
    );
    assert_eq!(changes[0].body["cluster_template"], json!(NEXT));
}

/// Starts Magnum with a template of a patch release too.
async fn magnum_with_patch() -> ChangingMagnum {
    let clusters = vec![cluster("shop", "CREATE_COMPLETE")];
    let with_patch = |request: &Received, _: &mut Vec<Value>| {
        let mut answer = reply(request)?;
        if let Some(Value::Array(templates)) = answer.1.get_mut("clustertemplates") {
            let driver = "k8s_cluster_api_ubuntu_v1";
            let id = PATCH.to_string();
            templates.push(template(&id, "k8s-1.31.4", "v1.31.4", driver));
        }
        Some(answer)
    };
    ChangingMagnum::start(clusters, with_patch).await
}

#[tokio::test]
async fn a_patch_release_needs_no_name_and_a_minor_version_does_whatever_the_request_has() {
    let magnum = magnum_with_patch().await;
    let ada = ada(&magnum);
    for (template, needs_name) in [(PATCH, false), (NEXT, true)] {
        let found = options(&magnum, &ada, Some(template)).await;
        let review = found.review.unwrap();
        assert_eq!(review.needs_name, needs_name, "{template}");
        let can = review.can_be_sent(&found.upgrade, "shop", "");
        assert_eq!(can, !needs_name, "{template}");
    }
    // a template that is not a target, a minor version, and the name of another cluster
    for (template, typed) in [(Uuid::nil(), ""), (NEXT, ""), (PATCH, "web")] {
        let refused = sent(&magnum, &ada, template, typed).await;
        assert!(matches!(refused.outcome, ChangeOutcome::Refused { .. }));
    }
    assert_eq!(magnum.calls(), [""; 0]);
    let accepted = sent(&magnum, &ada, PATCH, "").await;
    assert_eq!(accepted.outcome, ChangeOutcome::Accepted);
    assert_eq!(magnum.changes()[0].body["cluster_template"], json!(PATCH));
    let named = sent(&magnum, &ada, PATCH, "shop").await;
    assert_eq!(named.outcome, ChangeOutcome::Accepted);
}

#[tokio::test]
async fn case_34_a_forced_upgrade_is_refused_before_it_is_sent() {
    let settled = magnum("CREATE_COMPLETE").await;
    let ada_there = ada(&settled);
    for template in [
        SKIPPED,
        OTHER_DRIVER,
        TEMPLATE.parse().unwrap(),
        Uuid::nil(),
    ] {
        let refused = sent(&settled, &ada_there, template, "shop").await;
        let ChangeOutcome::Refused { reason, .. } = refused.outcome else {
            panic!("{template} was sent");
        };
        assert!(reason.ends_with('.'), "{reason}");
    }
    let bob = settled.viewer("bob", &["reader"]);
    let refused = sent(&settled, &bob, NEXT, "shop").await;
    assert!(matches!(refused.outcome, ChangeOutcome::Refused { .. }));
    assert_eq!(settled.calls(), [""; 0]);
    let failed = magnum("UPDATE_FAILED").await;
    let refused = sent(&failed, &ada(&failed), NEXT, "shop").await;
    let ChangeOutcome::Refused { reason, .. } = refused.outcome else {
        panic!("a failed change is settled first");
    };
    insta::assert_snapshot!("upgrade_of_a_failed_cluster", reason);
    assert_eq!(failed.calls(), [""; 0]);
}

#[tokio::test]
async fn case_36_what_magnum_refuses_nevertheless_is_shown_with_its_words() {
    let magnum = ChangingMagnum::start(vec![cluster("shop", "CREATE_COMPLETE")], |request, _| {
        let is_upgrade = request.path.ends_with("/actions/upgrade");
        match is_upgrade {
            true => Some((400, error("Upgrade is not supported by this driver."))),
            false => reply(request),
        }
    });
    let magnum = magnum.await;
    let refused = sent(&magnum, &ada(&magnum), NEXT, "shop").await;
    insta::assert_json_snapshot!("refusal_of_magnum", refused.outcome);
    assert!(refused.accepted.is_none());
}

#[tokio::test]
async fn a_cluster_of_another_project_is_not_found() {
    let mut other = cluster("shop", "CREATE_COMPLETE");
    other["project_id"] = json!("globex");
    let magnum = ChangingMagnum::start(vec![other], |request, _| reply(request)).await;
    let root = magnum.viewer("root", &["admin"]);
    let inside = unchecked();
    let found = read(&magnum.clients, &root, CLUSTER, None, &inside, NOW).await;
    assert_eq!(found.unwrap_err().kind, UiErrorKind::NotFound);
    let choice = UpgradeChoice::default();
    let found = send(
        &magnum.clients,
        &root,
        CLUSTER,
        (NEXT, &choice),
        "shop",
        NOW,
    )
    .await;
    assert_eq!(found.unwrap_err().kind, UiErrorKind::NotFound);
    assert_eq!(magnum.calls(), [""; 0]);
}

/// Answers for a cluster of a driver that is not known, with a group of the user's beside the default one.
fn with_groups(request: &Received) -> Option<Answer> {
    let group = |uuid: u128, name: &str, is_default: bool| {
        json!({"uuid": Uuid::from_u128(uuid), "name": name, "role": "worker", "is_default": is_default,
               "node_count": 2, "min_node_count": 0, "max_node_count": null,
               "status": "CREATE_COMPLETE", "flavor_id": "m1.small"})
    };
    let groups =
        || json!({"nodegroups": [group(1, "default-worker", true), group(2, "gpu", false)]});
    let own = || template(TEMPLATE, "k8s-1.31", "v1.31.0", "k8s_other");
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "clustertemplates/detail") => {
            let templates = [
                own(),
                template(&NEXT.to_string(), "k8s-1.32", "v1.32.0", "k8s_other"),
            ];
            Some((200, json!({"clustertemplates": templates})))
        }
        ("GET", path) if path.starts_with("clustertemplates/") => Some((200, own())),
        ("GET", path) if path.ends_with("/nodegroups") => Some((200, groups())),
        ("GET", path) if path.contains("/nodegroups/") => Some((200, group(2, "gpu", false))),
        _ => reply(request),
    }
}

#[tokio::test]
async fn a_single_group_and_a_batch_size_are_sent_where_the_driver_heeds_them() {
    let clusters = vec![cluster("shop", "CREATE_COMPLETE")];
    let magnum = ChangingMagnum::start(clusters, |request, _| with_groups(request)).await;
    let ada = ada(&magnum);
    let found = options(&magnum, &ada, None).await;
    assert_eq!(found.groups, ["gpu"]);
    assert!(found.has_batch_size);
    let choice = UpgradeChoice {
        group: Some("gpu".to_owned()),
        max_batch_size: Some(2),
    };
    let own: Uuid = TEMPLATE.parse().unwrap();
    let inside = unchecked();
    let chosen = Some((own, &choice));
    let read = read(&magnum.clients, &ada, CLUSTER, chosen, &inside, NOW).await;
    let review = read.unwrap().review.unwrap();
    insta::assert_json_snapshot!("review_of_a_group", review);
    assert!(
        review.can_be_sent(&found.upgrade, "shop", "shop"),
        "{review:?}"
    );
    // Magnum upgrades a group only to the template of its cluster
    let clients = &magnum.clients;
    let refused = send(clients, &ada, CLUSTER, (NEXT, &choice), "shop", NOW).await;
    let refused = refused.unwrap().outcome;
    assert!(matches!(refused, ChangeOutcome::Refused { .. }));
    let sent = send(clients, &ada, CLUSTER, (own, &choice), "shop", NOW).await;
    assert_eq!(sent.unwrap().outcome, ChangeOutcome::Accepted);
    let changes = magnum.changes();
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].body["nodegroup"], json!(Uuid::from_u128(2)));
    assert_eq!(changes[0].body["max_batch_size"], 2);
}

#[tokio::test]
async fn a_driver_that_ignores_groups_and_batches_is_not_offered_them_and_never_sent_them() {
    let magnum = magnum("CREATE_COMPLETE").await;
    let ada = ada(&magnum);
    let found = options(&magnum, &ada, None).await;
    assert!(found.groups.is_empty() && !found.has_batch_size);
    let choice = UpgradeChoice {
        group: None,
        max_batch_size: Some(3),
    };
    let sent = send(&magnum.clients, &ada, CLUSTER, (NEXT, &choice), "shop", NOW).await;
    let ChangeOutcome::Refused { reason, .. } = sent.unwrap().outcome else {
        panic!("the driver ignores it");
    };
    insta::assert_snapshot!("batch_size_that_is_ignored", reason);
    assert_eq!(magnum.calls(), [""; 0]);
}
