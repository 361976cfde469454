//! Checks before an upgrade.
use super::one;
use crate::{
    driver::Family,
    model::{Cluster, Template},
    preflight::{Checks, Level, Reading, UpgradeContext, before_upgrade},
    tests::examples::{NEWEST, cluster, driver, template},
};

fn checks(
    cluster: &Cluster,
    target: &Template,
    change: impl FnOnce(&mut UpgradeContext<'_>),
) -> Checks {
    let present = template("k8s-1.31", "v1.31.0");
    let mut context = UpgradeContext {
        cluster,
        target,
        cloud: NEWEST,
        present: Some(&present),
        is_healthy: Reading::Known(true),
        unready_nodes: Reading::Known(Vec::new()),
        blocking_budgets: Reading::Known(Vec::new()),
        bare_pods: Reading::Known(Vec::new()),
        removed_apis: Reading::Known(Vec::new()),
        surge: &[],
        certificate_days: Reading::Known(900),
        has_options: false,
    };
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
    assert_eq!(checks.level(), Level::Ok, "{checks:?}");
    assert_eq!(
        one(&checks, "Version").text,
        "Kubernetes changes from v1.31.0 to v1.32.0."
    );
    assert!(
        one(&checks, "Labels")
            .text
            .contains("Only kube_tag follows")
    );
}

#[test]
fn state_version_and_driver_block() {
    let target = template("k8s-1.33", "v1.33.0");
    let skipped = checks(&cluster("UPDATE_FAILED"), &target, |_| {});
    assert!(
        one(&skipped, "State")
            .text
            .contains("Settle the cluster first")
    );
    assert!(one(&skipped, "Version").text.contains("v1.32 first"));
    let mut heat = cluster("CREATE_COMPLETE");
    heat.driver = driver(Family::Heat);
    let refused = checks(&heat, &template("k8s-1.32", "v1.32.0"), |_| {});
    assert_eq!(one(&refused, "Driver").level, Level::Blocks);
    assert!(one(&refused, "Template").text.contains("same driver"));
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
            context.certificate_days = Reading::Known(7);
        },
    );
    let budget = one(&checks, "Disruption budgets");
    assert_eq!(budget.level, Level::Warning);
    assert!(budget.text.contains("shop/db"));
    assert!(one(&checks, "Nodes").text.contains("node-3"));
    assert!(one(&checks, "Pods").text.contains("shop/debug"));
    assert!(one(&checks, "Certificates").text.contains("7 days"));
}

#[test]
fn what_was_not_checked_is_not_reported_as_passed() {
    let checks = checks(
        &cluster("CREATE_COMPLETE"),
        &template("k8s-1.32", "v1.32.0"),
        |context| {
            context.is_healthy = Reading::NotChecked;
            context.removed_apis = Reading::NotChecked;
            context.certificate_days = Reading::NotChecked;
        },
    );
    for subject in ["Health", "Removed APIs", "Certificates"] {
        let check = one(&checks, subject);
        assert_eq!(
            (check.level, check.text.as_str()),
            (Level::Warning, "Not checked.")
        );
    }
}

#[test]
fn an_ignored_batch_size_and_another_distribution_block() {
    let mut target = template("k8s-1.32", "v1.32.0");
    target.distribution = Some("flatcar".to_owned());
    let checks = checks(&cluster("CREATE_COMPLETE"), &target, |context| {
        context.has_options = true;
    });
    assert!(
        one(&checks, "Node group")
            .text
            .contains("ignore a node group or batch size")
    );
    assert!(
        one(&checks, "Template")
            .text
            .contains("from ubuntu to flatcar")
    );
}
