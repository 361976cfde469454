use super::{
    planning::{Planned, outdated, plan, size},
    reading::view,
    request::{send, target_of},
};
use crate::service::lifecycle::{
    changing_magnum::{CLUSTER, ChangingMagnum, cluster},
    fixtures,
    pods::PodSource,
    stand_in::{Mode, StandIn},
    viewer::{Viewer, tests::viewer},
};
use portico_cluster_operations::target::Target;
use portico_domain::panel::{
    Reading,
    lifecycle::{ChangeOutcome, NewNodeGroup, NodeGroupChange, NodeGroups},
};
use portico_lifecycle::{
    driver::{ApiVersion, Cloud, Driver, Evidence, Family},
    labels::Labels,
    model::{Bounds, NodeGroup, Template},
    placement::Placement,
    status::Status,
};
use serde_json::json;
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
};

fn group(name: &str, role: &str, nodes: u32, status: &str) -> NodeGroup {
    NodeGroup {
        uuid: format!("uuid-of-{name}"),
        name: name.to_owned(),
        role: role.to_owned(),
        is_default: name.starts_with("default-"),
        flavor: Some("m1.small".to_owned()),
        node_count: nodes,
        bounds: Some(Bounds {
            min: 1,
            max: Some(4),
        }),
        status: Status::parse(status),
        reason: None,
        node_labels: BTreeMap::new(),
        node_taints: Vec::new(),
    }
}

pub(super) fn target(status: &str, minor: u16) -> Target {
    let mut cluster = fixtures::model(status);
    let driver = Driver {
        family: Family::Complete,
        evidence: Evidence::Configuration,
    };
    cluster.driver = driver;
    Target {
        uuid: fixtures::CLUSTER,
        groups: vec![
            group("gpu", "worker", 2, "CREATE_COMPLETE"),
            group("default-worker", "worker", 2, "CREATE_COMPLETE"),
            group("default-master", "master", 1, "CREATE_COMPLETE"),
            group("gone", "worker", 0, "DELETE_COMPLETE"),
        ],
        cut: None,
        template: Template {
            uuid: cluster.template.clone(),
            name: "small".to_owned(),
            driver,
            flavor: None,
            master_flavor: None,
            keypair: None,
            network: None,
            subnet: None,
            has_floating_ips: false,
            has_load_balancer: false,
            docker_volume_size: None,
            labels: Labels::default(),
            image_version: None,
            distribution: None,
            network_driver: None,
            is_hidden: false,
            has_proxy: false,
        },
        has_template: true,
        cloud: Cloud {
            api: ApiVersion(minor),
            release: None,
        },
        cluster,
    }
}

fn shown(status: &str, minor: u16, viewer: &Viewer) -> NodeGroups {
    let flavors = Reading::Known(Vec::new());
    view(&target(status, minor), viewer, flavors, Vec::new())
}

fn resize(group: &str, nodes: u32, max: Option<u32>) -> NodeGroupChange {
    NodeGroupChange::Resize {
        group: group.to_owned(),
        from: 2,
        nodes,
        min: None,
        max,
        accepted_pods: Vec::new(),
    }
}

/// Magnum with a cluster that has two nodes and accepts changes; at the read with this number of the list of
/// node groups, another client has added three.
async fn changed_at(read: usize) -> ChangingMagnum {
    let mut shop = cluster("shop", "CREATE_COMPLETE");
    shop["node_count"] = json!(2);
    let reads = AtomicUsize::new(0);
    let magnum = ChangingMagnum::start(vec![shop], move |request, clusters| {
        let is_list = request.path == format!("clusters/{CLUSTER}/nodegroups");
        if is_list && reads.fetch_add(1, Ordering::SeqCst) + 1 == read {
            clusters[0]["node_count"] = json!(5);
        }
        (request.method == "POST").then(|| (202, json!({"uuid": CLUSTER})))
    });
    magnum.await
}

/// Sends the resize of the workers from 2 nodes.
async fn resized(magnum: &ChangingMagnum, nodes: u32) -> ChangeOutcome {
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let change = resize("default-worker", nodes, None);
    let source = PodSource::Given(&Placement::NotNeeded);
    let sent = send(&magnum.clients, &ada, CLUSTER, &change, source).await;
    sent.unwrap().outcome
}

/// Plans a change when nothing is known about pods.
async fn plan_of(
    magnum: &StandIn,
    viewer: &Viewer,
    target: &Target,
    change: &NodeGroupChange,
) -> Planned {
    let source = PodSource::Given(&Placement::NotNeeded);
    plan(&magnum.clients, viewer, target, change, source).await
}

#[test]
fn the_control_plane_is_first_and_deleted_groups_are_left_out() {
    let shown = shown("CREATE_COMPLETE", 14, &viewer("ada", &["member"]));
    let names: Vec<_> = shown
        .groups
        .iter()
        .map(|group| group.name.as_str())
        .collect();
    assert_eq!(names, ["default-master", "default-worker", "gpu"]);
    assert_eq!(shown.groups[2].max, Some(4));
}

#[test]
fn case_32_a_default_group_cannot_be_deleted_and_others_can() {
    let shown = shown("CREATE_COMPLETE", 14, &viewer("ada", &["member"]));
    let refusal = |name: &str| {
        let group = shown.groups.iter().find(|group| group.name == name);
        group.unwrap().deletion_refusal.clone()
    };
    assert!(refusal("default-worker").unwrap().contains("only with it"));
    assert_eq!(refusal("gpu"), None);
}

#[test]
fn case_24_nothing_is_offered_while_the_cluster_is_being_deleted() {
    let shown = shown("DELETE_IN_PROGRESS", 14, &viewer("ada", &["member"]));
    assert!(shown.creation_refusal.is_some());
    for group in &shown.groups {
        assert!(group.resize_refusal.is_some(), "{}", group.name);
        assert!(group.deletion_refusal.is_some(), "{}", group.name);
    }
}

#[test]
fn a_reader_sees_the_groups_and_changes_none() {
    let shown = shown("CREATE_COMPLETE", 14, &viewer("vera", &["reader"]));
    assert_eq!(shown.groups.len(), 3);
    let refusal = shown.creation_refusal.unwrap();
    assert!(refusal.contains("nodegroup:create"), "{refusal}");
    for group in shown.groups {
        for refusal in [group.resize_refusal, group.settings_refusal] {
            assert!(refusal.is_some(), "{}", group.name);
        }
    }
}

#[tokio::test]
async fn case_27_a_size_above_the_maximum_is_refused_unless_the_maximum_is_raised() {
    let magnum = StandIn::start(Mode::Missing).await;
    let ada = magnum.viewer("ada", &["member"]);
    let target = target("CREATE_COMPLETE", 14);
    let planned = plan_of(&magnum, &ada, &target, &resize("gpu", 6, None)).await;
    let texts: Vec<_> = planned.checks.0.iter().map(|check| &check.text).collect();
    assert!(
        texts
            .iter()
            .any(|text| text.contains("above the maximum 4")),
        "{texts:?}"
    );
    let planned = plan_of(&magnum, &ada, &target, &resize("gpu", 6, Some(8))).await;
    assert_eq!(planned.plan.steps.len(), 2);
    assert!(planned.problems.is_empty());
    // only the resize remains once the bounds are set
    let planned = plan_of(&magnum, &ada, &target, &resize("gpu", 2, None)).await;
    assert!(planned.plan.steps.is_empty());
}

#[tokio::test]
async fn case_31_taints_need_version_1_14() {
    let magnum = StandIn::start(Mode::Missing).await;
    let ada = magnum.viewer("ada", &["member"]);
    let new = |taint: &str| {
        NodeGroupChange::Create(NewNodeGroup {
            name: "batch".to_owned(),
            nodes: 1,
            taints: vec![taint.to_owned()],
            ..NewNodeGroup::default()
        })
    };
    let change = new("batch=true:NoSchedule");
    let old = target("CREATE_COMPLETE", 13);
    let planned = plan_of(&magnum, &ada, &old, &change).await;
    assert!(planned.problems[0].contains("1.14"), "{planned:?}");
    let newer = target("CREATE_COMPLETE", 14);
    let planned = plan_of(&magnum, &ada, &newer, &change).await;
    assert_eq!(planned.plan.steps.len(), 1, "{planned:?}");
    let planned = plan_of(&magnum, &ada, &newer, &new("batch:Never")).await;
    assert_eq!(planned.problems.len(), 1, "{planned:?}");
}

#[tokio::test]
async fn a_change_that_policy_forbids_is_not_planned() {
    let magnum = StandIn::start(Mode::Missing).await;
    let vera = magnum.viewer("vera", &["reader"]);
    let target = target("CREATE_COMPLETE", 14);
    let planned = plan_of(&magnum, &vera, &target, &resize("gpu", 3, None)).await;
    assert!(planned.plan.steps.is_empty());
    assert!(
        planned.problems[0].contains("cluster:resize"),
        "{planned:?}"
    );
}

#[tokio::test]
async fn a_resize_is_sent_from_the_reviewed_size_only() {
    // it has changed before the request, and between its plan and its step
    for read in [1, 2] {
        let magnum = changed_at(read).await;
        let outcome = resized(&magnum, 4).await;
        let ChangeOutcome::Refused {
            reason, next_step, ..
        } = outcome
        else {
            panic!("read {read}: {outcome:?}");
        };
        assert!(reason.contains("has 5 nodes now, and not 2"), "{reason}");
        assert!(next_step.unwrap().starts_with("Nothing was sent."));
        assert_eq!(magnum.calls(), [""; 0], "read {read}");
    }
    // control case
    let magnum = changed_at(0).await;
    assert_eq!(resized(&magnum, 4).await, ChangeOutcome::Accepted);
    assert_eq!(magnum.changes()[0].body["node_count"], 4);
}

#[tokio::test]
async fn a_review_shows_the_present_size_and_that_it_is_another_one() {
    let magnum = StandIn::start(Mode::Missing).await;
    let ada = magnum.viewer("ada", &["member"]);
    let mut target = target("CREATE_COMPLETE", 14);
    let change = resize("gpu", 4, None);
    assert_eq!(size(&target, &change), Some(2));
    assert_eq!(outdated(&target, &change), None);
    target.groups[0].node_count = 3;
    assert_eq!(size(&target, &change), Some(3));
    let note = outdated(&target, &change).unwrap();
    assert!(note.contains("has 3 nodes now, and not 2"), "{note}");
    let source = PodSource::Given(&Placement::NotNeeded);
    let planned = plan(&magnum.clients, &ada, &target, &change, source).await;
    let effect = &planned.plan.steps[0].effect;
    assert!(effect.contains("(3 to 4)"), "{effect}");
    // the resize itself has had its effect, and only bounds remain
    target.groups[0].node_count = 4;
    assert_eq!(outdated(&target, &change), None);
    let deletion = NodeGroupChange::Delete {
        group: "gpu".to_owned(),
        typed: "gpu".to_owned(),
    };
    assert_eq!(size(&target, &deletion), None);
}

#[test]
fn the_journal_names_the_group_and_the_wanted_size() {
    assert_eq!(target_of(&resize("gpu", 3, None)), "gpu to 3");
    // requests for other settings of the group are distinguished
    let settings = |max: Option<u32>, label: Option<(&str, &str)>| NodeGroupChange::Settings {
        group: "gpu".to_owned(),
        min: None,
        max,
        labels: label
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into_iter()
            .collect(),
        taints: Vec::new(),
    };
    let wanted = settings(Some(6), Some(("tier", "web")));
    assert_eq!(target_of(&wanted), "gpu to maximum 6, label tier=web");
    assert_eq!(target_of(&settings(None, None)), "gpu");
}
