//! The step of an upgrade without a specification, and the labels that it changes.
use super::{
    examples::{NEWEST, cluster, driver, labels, masters, template, workers},
    text::of_step,
};
use crate::{
    driver::Family,
    model::{Cluster, NodeGroup, Template},
    plan::{
        Action, LabelChange, UpgradeChoice, is_patch, label_changes, upgradable_groups,
        upgrade_refusal, upgrade_to, upgrade_with, version_change,
    },
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
    let choice = UpgradeChoice::default();
    assert_eq!(step.action, Action::Upgrade { template, choice });
    assert_eq!(step.refusal, None);
    insta::assert_snapshot!("upgrade", of_step(&step));
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
    insta::assert_snapshot!("skipped_version", skipped);
}

#[test]
fn only_a_newer_patch_of_the_whole_cluster_is_a_patch() {
    let settled = cluster("CREATE_COMPLETE");
    let of = |version: &str, choice: &UpgradeChoice| {
        is_patch(&settled, &template("k8s", version), NEWEST, choice)
    };
    let whole = UpgradeChoice::default();
    assert!(of("v1.31.4", &whole));
    assert!(of("v1.31.4", &choice(None, Some(2))));
    for other in ["v1.31.0", "v1.30.9", "v1.32.0", "v1.32.1", "v2.31.4"] {
        assert!(!of(other, &whole), "{other}");
    }
    assert!(!of("v1.31.4", &choice(Some("gpu"), None)));
    let unknown = Cluster {
        version: None,
        labels: labels(&[]),
        ..settled.clone()
    };
    let patch = template("k8s", "v1.31.4");
    assert!(!is_patch(&unknown, &patch, NEWEST, &whole));
}

#[test]
fn a_patch_with_further_labels_that_the_driver_takes_over_is_not_only_a_patch() {
    let is_patch_with = |family, further: &[(&str, &str)]| {
        let present = Cluster {
            driver: driver(family),
            ..cluster("CREATE_COMPLETE")
        };
        let entries = [&[("kube_tag", "v1.31.4")][..], further].concat();
        let target = Template {
            labels: labels(&entries),
            image_version: Some("v1.31.4".to_owned()),
            ..of(family, template("k8s", "v1.31.4"))
        };
        is_patch(&present, &target, NEWEST, &UpgradeChoice::default())
    };
    let monitoring = [("monitoring_enabled", "true")];
    let chart = [("capi_helm_chart_version", "0.16.0")];
    for (family, further, expected) in [
        (Family::Complete, &[][..], true),
        (Family::Complete, &monitoring[..], false),
        (Family::ClusterApi, &monitoring[..], true),
        (Family::CapiHelm, &monitoring[..], true),
        (Family::CapiHelm, &chart[..], false),
    ] {
        assert_eq!(
            is_patch_with(family, further),
            expected,
            "{family:?} {further:?}"
        );
    }
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

/// A cluster of a driver that does what is chosen, with the control plane, its own workers, and a group.
fn complete() -> (Cluster, Vec<NodeGroup>) {
    let cluster = Cluster {
        driver: driver(Family::Complete),
        ..cluster("CREATE_COMPLETE")
    };
    let groups = vec![masters(1), workers("default-worker", 3), workers("gpu", 2)];
    (cluster, groups)
}

fn of(family: Family, template: Template) -> Template {
    Template {
        driver: driver(family),
        ..template
    }
}

fn choice(group: Option<&str>, max_batch_size: Option<u32>) -> UpgradeChoice {
    UpgradeChoice {
        group: group.map(str::to_owned),
        max_batch_size,
    }
}

#[test]
fn a_group_is_upgraded_to_the_template_that_the_cluster_has() {
    let (cluster, groups) = complete();
    let own = of(Family::Complete, template_of_cluster());
    let chosen = choice(Some("gpu"), Some(2));
    let step = upgrade_with(&cluster, &groups, &own, NEWEST, &chosen).unwrap();
    assert_eq!(step.refusal, None);
    let template = own.uuid.clone();
    let expected = Action::Upgrade {
        template,
        choice: chosen.clone(),
    };
    assert_eq!(step.action, expected);
    let mut steps = vec![of_step(&step)];
    let newer = of(Family::Complete, newer());
    for (group, target) in [
        ("gpu", &newer),
        ("default-worker", &own),
        ("default-master", &own),
        ("cpu", &own),
    ] {
        let chosen = choice(Some(group), None);
        let step = upgrade_with(&cluster, &groups, target, NEWEST, &chosen).unwrap();
        assert!(step.refusal.is_some(), "{group}");
        steps.push(of_step(&step));
    }
    insta::assert_snapshot!("upgrade_of_a_group", steps.concat());
}

#[test]
fn a_batch_size_is_that_of_the_whole_cluster_too_and_at_least_one() {
    let (cluster, groups) = complete();
    let newer = of(Family::Complete, newer());
    let with = |size| upgrade_with(&cluster, &groups, &newer, NEWEST, &choice(None, Some(size)));
    let step = with(3).unwrap();
    assert_eq!(step.refusal, None);
    let none = with(0).unwrap();
    assert!(none.refusal.is_some());
    insta::assert_snapshot!("batch_size", of_step(&step) + &of_step(&none));
}

#[test]
fn a_driver_that_ignores_the_choice_is_not_offered_it() {
    let (complete, groups) = complete();
    let names = |cluster: &Cluster| {
        let found = upgradable_groups(cluster, &groups, NEWEST).into_iter();
        found.map(|group| group.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&complete), ["gpu"]);
    let ignoring = cluster("CREATE_COMPLETE");
    assert!(names(&ignoring).is_empty());
    let mut steps = Vec::new();
    for chosen in [choice(Some("gpu"), None), choice(None, Some(2))] {
        let target = match chosen.group {
            Some(_) => template_of_cluster(),
            None => newer(),
        };
        let step = upgrade_with(&ignoring, &groups, &target, NEWEST, &chosen).unwrap();
        assert!(step.refusal.is_some());
        steps.push(of_step(&step));
    }
    insta::assert_snapshot!("choice_that_the_driver_ignores", steps.concat());
}

#[test]
fn the_versions_of_nodes_count_where_all_of_them_change() {
    let target = newer();
    let change = version_change(&cluster("CREATE_COMPLETE"), &target, &choice(None, None));
    let change = change.unwrap();
    assert_eq!(change.from.to_string(), "v1.31.0");
    assert_eq!(change.to.to_string(), "v1.32.0");
    assert!(change.is_of_all_nodes);
    // the groups beside the default one stay as they are
    let (complete, _) = complete();
    let of_some = version_change(&complete, &target, &choice(None, None)).unwrap();
    assert!(!of_some.is_of_all_nodes);
    let of_group = choice(Some("gpu"), None);
    let found = version_change(&cluster("CREATE_COMPLETE"), &target, &of_group);
    assert!(!found.unwrap().is_of_all_nodes);
}
