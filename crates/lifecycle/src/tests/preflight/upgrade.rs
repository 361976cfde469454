//! Checks before an upgrade.
use super::one;
use crate::{
    driver::Family,
    model::{Cluster, Template},
    plan::UpgradeChoice,
    preflight::{Checks, Level, Reading, UpgradeContext, before_upgrade},
    tests::{
        examples::{NEWEST, cluster, driver, template},
        text::of_checks,
    },
};

fn context<'a>(
    cluster: &'a Cluster,
    target: &'a Template,
    present: &'a Template,
    choice: &'a UpgradeChoice,
) -> UpgradeContext<'a> {
    UpgradeContext {
        cluster,
        target,
        cloud: NEWEST,
        present: Some(present),
        is_healthy: Reading::Known(true),
        unready_nodes: Reading::Known(Vec::new()),
        blocking_budgets: Reading::Known(Vec::new()),
        bare_pods: Reading::Known(Vec::new()),
        local_data_pods: Reading::Known(Vec::new()),
        removed_apis: Reading::Known(Vec::new()),
        surge: &[],
        certificate_days: Reading::Known(900),
        choice,
    }
}

fn checks(
    cluster: &Cluster,
    target: &Template,
    change: impl FnOnce(&mut UpgradeContext<'_>),
) -> Checks {
    let present = template("k8s-1.31", "v1.31.0");
    let choice = UpgradeChoice::default();
    let mut context = context(cluster, target, &present, &choice);
    change(&mut context);
    before_upgrade(&context)
}

#[test]
fn a_settled_healthy_cluster_passes() {
    let checks = checks(
        &cluster("CREATE_COMPLETE"),
        &template("k8s-1.32", "v1.32.0"),
        |_| {},
    );
    // Portico does not know of backups
    let mut others = checks.0.iter().filter(|check| check.subject != "Backup");
    assert!(others.all(|check| check.level == Level::Ok), "{checks:?}");
    insta::assert_snapshot!("settled_cluster", of_checks(&checks));
}

#[test]
fn state_version_and_driver_block() {
    let target = template("k8s-1.33", "v1.33.0");
    let skipped = checks(&cluster("UPDATE_FAILED"), &target, |_| {});
    insta::assert_snapshot!("failed_update_and_skipped_version", of_checks(&skipped));
    let mut heat = cluster("CREATE_COMPLETE");
    heat.driver = driver(Family::Heat);
    let refused = checks(&heat, &template("k8s-1.32", "v1.32.0"), |_| {});
    assert_eq!(one(&refused, "Driver").level, Level::Blocks);
    insta::assert_snapshot!("heat", of_checks(&refused));
}

#[test]
fn the_version_of_magnum_capi_helm_is_the_images() {
    let mut helm = cluster("CREATE_COMPLETE");
    helm.driver = driver(Family::CapiHelm);
    let mut target = template("k8s-1.32", "v1.32.0");
    target.driver = driver(Family::CapiHelm);
    target.image_version = Some("v1.34.0".to_owned());
    let skipped = checks(&helm, &target, |_| {});
    assert_eq!(one(&skipped, "Version").level, Level::Blocks);
    target.image_version = None;
    let unknown = checks(&helm, &target, |_| {});
    assert_eq!(one(&unknown, "Version").level, Level::Warning);
}

#[test]
fn a_blocking_disruption_budget_is_named() {
    let checks = checks(
        &cluster("CREATE_COMPLETE"),
        &template("k8s-1.32", "v1.32.0"),
        |context| {
            context.blocking_budgets = Reading::Known(vec!["shop/db".to_owned()]);
            context.unready_nodes = Reading::Known(vec!["node-3".to_owned()]);
            context.bare_pods = Reading::Known(vec!["shop/debug".to_owned()]);
            context.local_data_pods = Reading::Known(vec!["shop/cache (emptyDir)".to_owned()]);
            context.removed_apis = Reading::Known(vec!["batch/v1beta1 cronjobs".to_owned()]);
            context.certificate_days = Reading::Known(7);
        },
    );
    insta::assert_snapshot!("obstacles_within_the_cluster", of_checks(&checks));
}

#[test]
fn what_was_not_checked_is_not_reported_as_passed() {
    let checks = checks(
        &cluster("CREATE_COMPLETE"),
        &template("k8s-1.32", "v1.32.0"),
        |context| {
            let reason = || "The API server does not respond.".to_owned();
            context.is_healthy = Reading::NotChecked(reason());
            context.removed_apis = Reading::NotChecked(reason());
            context.local_data_pods = Reading::NotChecked(reason());
            context.certificate_days = Reading::NotChecked(reason());
        },
    );
    insta::assert_snapshot!("not_checked", of_checks(&checks));
    for subject in ["Health", "Removed APIs", "Local data", "Certificates"] {
        let check = one(&checks, subject);
        assert_eq!(
            (check.level, check.text.as_str()),
            (
                Level::Warning,
                "Not checked: The API server does not respond."
            )
        );
    }
}

#[test]
fn an_ignored_batch_size_and_another_distribution_block() {
    let mut target = template("k8s-1.32", "v1.32.0");
    target.distribution = Some("flatcar".to_owned());
    let choice = UpgradeChoice {
        max_batch_size: Some(2),
        ..UpgradeChoice::default()
    };
    let present = template("k8s-1.31", "v1.31.0");
    let before = cluster("CREATE_COMPLETE");
    let checks = before_upgrade(&context(&before, &target, &present, &choice));
    assert_eq!(one(&checks, "Node group").level, Level::Blocks);
    assert_eq!(one(&checks, "Template").level, Level::Blocks);
    insta::assert_snapshot!("batch_size_and_another_distribution", of_checks(&checks));
}

#[test]
fn a_chosen_group_gets_the_version_of_the_clusters_template() {
    let mut before = cluster("CREATE_COMPLETE");
    before.driver = driver(Family::Complete);
    let mut target = template("k8s-1.31", "v1.31.0");
    target.driver = driver(Family::Complete);
    let choice = UpgradeChoice {
        group: Some("gpu".to_owned()),
        ..UpgradeChoice::default()
    };
    let present = target.clone();
    let checks = before_upgrade(&context(&before, &target, &present, &choice));
    assert_eq!(one(&checks, "Version").level, Level::Ok);
    insta::assert_snapshot!("chosen_group", of_checks(&checks));
    assert!(checks.0.iter().all(|check| check.subject != "Node group"));
}
