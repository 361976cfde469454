//! The step of an upgrade without a specification, and the labels that it changes.
use super::examples::{NEWEST, cluster, driver, labels, template};
use crate::{
    driver::Family,
    model::{Cluster, Template},
    plan::{Action, LabelChange, label_changes, upgrade_refusal, upgrade_to},
};

fn newer() -> Template {
    Template {
        labels: labels(&[("kube_tag", "v1.32.0"), ("monitoring_enabled", "true")]),
        ..template("k8s-1.32", "v1.32.0")
    }
}

fn applied(changes: &[LabelChange]) -> Vec<(&str, bool)> {
    let changes = changes.iter();
    changes
        .map(|change| (change.key.as_str(), change.is_applied))
        .collect()
}

#[test]
fn a_settled_cluster_gets_the_step_to_another_template() {
    let step = upgrade_to(&cluster("CREATE_COMPLETE"), &newer(), NEWEST).unwrap();
    let template = newer().uuid;
    assert_eq!(step.action, Action::Upgrade { template });
    assert_eq!(step.refusal, None);
    assert!(
        step.effect.contains("from v1.31.0 to v1.32.0"),
        "{}",
        step.effect
    );
    let own = template_of_cluster();
    assert_eq!(upgrade_to(&cluster("CREATE_COMPLETE"), &own, NEWEST), None);
}

fn template_of_cluster() -> Template {
    template("k8s-1.31", "v1.31.0")
}

#[test]
fn the_state_refuses_the_step_and_not_the_template() {
    let busy = cluster("UPDATE_IN_PROGRESS");
    let step = upgrade_to(&busy, &newer(), NEWEST).unwrap();
    assert!(step.refusal.is_some());
    assert_eq!(upgrade_refusal(&busy, &newer(), NEWEST), None);
    let skipped = upgrade_refusal(&busy, &template("k8s-1.33", "v1.33.0"), NEWEST).unwrap();
    assert!(skipped.contains("one minor version at a time"), "{skipped}");
}

#[test]
fn only_labels_that_the_driver_takes_over_are_applied() {
    let of = |family| Cluster {
        driver: driver(family),
        ..cluster("CREATE_COMPLETE")
    };
    let changes = label_changes(&of(Family::ClusterApi), &newer(), NEWEST);
    assert_eq!(
        applied(&changes),
        [("kube_tag", true), ("monitoring_enabled", false)]
    );
    assert_eq!(changes[0].present.as_deref(), Some("v1.31.0"));
    assert_eq!(changes[1].present, None);
    let changes = label_changes(&of(Family::CapiHelm), &newer(), NEWEST);
    assert_eq!(
        applied(&changes),
        [("kube_tag", false), ("monitoring_enabled", false)]
    );
    let changes = label_changes(&of(Family::Complete), &newer(), NEWEST);
    assert_eq!(
        applied(&changes),
        [("kube_tag", true), ("monitoring_enabled", true)]
    );
}
