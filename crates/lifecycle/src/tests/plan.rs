//! Plans from a cluster to a specification.
use serde_json::{Value, json};

use super::{
    examples::{NEWEST, cluster, driver, masters, template, workers},
    text::{of_plan, titled},
};
use crate::{
    driver::{ApiVersion, Cloud, Family},
    model::{Bounds, Cluster, NodeGroup, Template},
    plan::{Action, Impact, Plan, PlanContext, Present, UpgradeChoice, plan},
    spec::{ClusterDocument, effective},
};

fn desired(spec: Value) -> ClusterDocument {
    let mut spec = spec;
    if spec.get("template").is_none() {
        spec["template"] = json!("k8s-1.31");
    }
    ClusterDocument::read(json!({
        "apiVersion": "portico.dev/v1alpha1",
        "kind": "Cluster",
        "metadata": { "name": "shop" },
        "spec": spec,
    }))
    .unwrap()
}

struct Case {
    cluster: Cluster,
    groups: Vec<NodeGroup>,
    template: Template,
    cloud: Cloud,
    prune: bool,
}

impl Case {
    fn new() -> Self {
        Self {
            cluster: cluster("CREATE_COMPLETE"),
            groups: vec![masters(1), workers("default-worker", 3)],
            template: template("k8s-1.31", "v1.31.0"),
            cloud: NEWEST,
            prune: false,
        }
    }

    fn context(&self) -> PlanContext<'_> {
        PlanContext {
            template: &self.template,
            cloud: self.cloud,
            prune: self.prune,
        }
    }

    fn plan(&self, spec: Value) -> Plan {
        let present = Present {
            cluster: &self.cluster,
            groups: &self.groups,
        };
        plan(Some(present), &desired(spec), self.context())
    }

    fn creation(&self, spec: Value) -> Plan {
        plan(None, &desired(spec), self.context())
    }
}

fn actions(plan: &Plan) -> Vec<Action> {
    plan.steps.iter().map(|step| step.action.clone()).collect()
}

fn resize(group: &str, from: u32, to: u32) -> Action {
    Action::Resize {
        group: group.to_owned(),
        from,
        to,
    }
}

fn limits(min: u32, max: u32) -> Option<Bounds> {
    let max = Some(max);
    Some(Bounds { min, max })
}

fn bounds(group: &str, min: u32, max: Option<u32>) -> Action {
    Action::SetBounds {
        group: group.to_owned(),
        min,
        max,
    }
}

#[test]
fn a_creation_is_followed_by_its_further_groups() {
    let plan = Case::new().creation(json!({
        "controlPlane": { "replicas": 3 },
        "nodeGroups": [
            { "name": "default-worker", "replicas": 2, "min": 1, "max": 5 },
            { "name": "gpu", "replicas": 1, "flavor": "m1.large" },
        ],
    }));
    assert_eq!(plan.steps[1].action, bounds("default-worker", 1, Some(5)));
    insta::assert_snapshot!("creation", of_plan(&plan));
    assert_eq!(plan.impact(), Impact::None);
    assert!(plan.can_be_applied());
}

#[test]
fn the_same_specification_twice_needs_no_step() {
    let case = Case::new();
    let document = desired(json!({
        "nodeGroups": [{ "name": "default-worker", "replicas": 3, "flavor": "m1.small" }],
    }));
    let present = Present {
        cluster: &case.cluster,
        groups: &case.groups,
    };
    let again = plan(Some(present), &document, case.context());
    assert!(again.is_empty(), "{again:?}");
    // nor does the printed specification with all defaults, apart from what the template sets
    let mut filled = effective(&document, &case.template).document;
    filled.spec.control_plane.load_balancer = Some(true);
    assert!(plan(Some(present), &filled, case.context()).is_empty());
}

#[test]
fn only_the_named_group_is_resized() {
    let mut case = Case::new();
    case.groups.push(workers("gpu", 2));
    let grown = case.plan(json!({ "nodeGroups": [{ "name": "default-worker", "replicas": 4 }] }));
    assert_eq!(actions(&grown), [resize("default-worker", 3, 4)]);
    assert_eq!(grown.impact(), Impact::None);
    let shrunk = case.plan(json!({ "nodeGroups": [{ "name": "default-worker", "replicas": 1 }] }));
    assert_eq!(shrunk.impact(), Impact::Destructive);
    insta::assert_snapshot!(
        "resize",
        titled([("grown", of_plan(&grown)), ("shrunk", of_plan(&shrunk))])
    );
}

#[test]
fn steps_are_in_the_order_that_keeps_capacity() {
    let mut case = Case::new();
    case.groups.push(workers("old", 2));
    case.groups.push(workers("batch", 4));
    case.template = template("k8s-1.32", "v1.32.1");
    case.prune = true;
    let plan = case.plan(json!({
        "template": "k8s-1.32",
        "nodeGroups": [
            { "name": "batch", "replicas": 2 },
            { "name": "default-worker", "replicas": 5, "max": 6 },
            { "name": "gpu", "replicas": 1 },
        ],
    }));
    assert!(matches!(plan.steps[0].action, Action::CreateGroup(_)));
    assert_eq!(
        actions(&plan)[1..],
        [
            bounds("default-worker", 0, Some(6)),
            resize("default-worker", 3, 5),
            Action::Upgrade {
                template: "uuid-of-k8s-1.32".to_owned(),
                choice: UpgradeChoice::default(),
            },
            resize("batch", 4, 2),
            Action::DeleteGroup {
                group: "old".to_owned(),
            },
        ]
    );
    assert!(plan.can_be_applied());
    insta::assert_snapshot!("many_steps", of_plan(&plan));
}

#[test]
fn a_group_that_is_not_named_stays_unless_pruned() {
    let mut case = Case::new();
    case.groups.push(workers("gpu", 2));
    let plan = case.plan(json!({}));
    assert!(plan.is_empty());
    case.prune = true;
    let pruned = case.plan(json!({}));
    assert_eq!(pruned.impact(), Impact::Destructive);
    insta::assert_snapshot!(
        "unnamed_group",
        titled([("kept", of_plan(&plan)), ("pruned", of_plan(&pruned))])
    );
}

#[test]
fn bounds_outside_the_present_size_are_set_around_the_resize() {
    let mut case = Case::new();
    case.groups[1].bounds = limits(0, 3);
    // the minimum is above the present size: it follows the resize
    let grown = case.plan(json!({
        "nodeGroups": [{ "name": "default-worker", "replicas": 5, "min": 4, "max": 6 }],
    }));
    assert_eq!(
        actions(&grown),
        [
            bounds("default-worker", 0, Some(6)),
            resize("default-worker", 3, 5),
            bounds("default-worker", 4, Some(6)),
        ]
    );
    // the maximum is below the present size: it follows the resize
    case.groups[1].bounds = limits(2, 3);
    let shrunk = case.plan(json!({
        "nodeGroups": [{ "name": "default-worker", "replicas": 1, "min": 1, "max": 2 }],
    }));
    assert_eq!(
        actions(&shrunk),
        [
            bounds("default-worker", 1, Some(3)),
            resize("default-worker", 3, 1),
            bounds("default-worker", 1, Some(2)),
        ]
    );
}

#[test]
fn bounds_that_were_not_read_are_set_only_where_the_file_has_some() {
    let mut case = Case::new();
    case.groups[1].bounds = None;
    let silent = case.plan(json!({ "nodeGroups": [{ "name": "default-worker", "replicas": 3 }] }));
    assert!(silent.is_empty(), "{silent:?}");
    let stated = case.plan(json!({
        "nodeGroups": [{ "name": "default-worker", "replicas": 3, "min": 0 }],
    }));
    assert_eq!(actions(&stated), [bounds("default-worker", 0, None)]);
}

#[test]
fn a_size_outside_the_bounds_is_refused_with_the_bounds() {
    let mut case = Case::new();
    case.groups[1].bounds = limits(0, 4);
    let plan = case.plan(json!({ "nodeGroups": [{ "name": "default-worker", "replicas": 9 }] }));
    assert!(!plan.can_be_applied());
    insta::assert_snapshot!("size_outside_the_bounds", of_plan(&plan));
}

#[test]
fn another_flavor_cannot_be_applied() {
    let mut case = Case::new();
    case.groups.push(workers("gpu", 1));
    let plan = case.plan(json!({
        "controlPlane": { "flavor": "m1.large" },
        "nodeGroups": [
            { "name": "default-worker", "replicas": 9, "flavor": "m1.large" },
            { "name": "gpu", "flavor": "m1.large" },
        ],
    }));
    assert!(!plan.can_be_applied() && !plan.is_empty());
    let fields: Vec<_> = plan
        .immutable
        .iter()
        .map(|one| one.field.as_str())
        .collect();
    assert_eq!(
        fields,
        [
            "spec.controlPlane.flavor",
            "spec.nodeGroups[0].flavor",
            "spec.nodeGroups[1].flavor",
        ]
    );
    insta::assert_snapshot!("another_flavor", of_plan(&plan));
}

#[test]
fn labels_compare_by_their_effective_value() {
    let mut case = Case::new();
    case.cluster
        .labels
        .insert("auto_healing_enabled".to_owned(), "True".to_owned());
    // the value of the template and another case of the same flag are no difference
    let same = json!({ "labels": { "auto_healing_enabled": "true", "kube_tag": "v1.31.0" } });
    assert!(case.plan(same).is_empty());
    let other = case.plan(json!({
        "zone": "az2",
        "labels": { "auto_healing_enabled": "false" },
        "api": { "exposure": "private" },
    }));
    let fields: Vec<_> = other
        .immutable
        .iter()
        .map(|one| one.field.as_str())
        .collect();
    assert_eq!(
        fields,
        [
            "spec.labels.auto_healing_enabled",
            "spec.zone",
            "spec.api.exposure",
        ]
    );
}

#[test]
fn an_upgrade_moves_one_minor_version_at_a_time() {
    let mut case = Case::new();
    case.template = template("k8s-1.33", "v1.33.0");
    let plan = case.plan(json!({ "template": "k8s-1.33" }));
    case.template = template("k8s-1.30", "v1.30.0");
    let back = case.plan(json!({ "template": "k8s-1.30" }));
    case.template = template("k8s-1.32", "v1.32.0");
    let next = case.plan(json!({ "template": "k8s-1.32" }));
    assert!(next.can_be_applied());
    assert_eq!(next.impact(), Impact::Disruptive);
    assert!(!plan.can_be_applied() && !back.can_be_applied());
    insta::assert_snapshot!(
        "upgrade",
        titled([
            ("two versions", of_plan(&plan)),
            ("an older version", of_plan(&back)),
            ("the next version", of_plan(&next)),
        ])
    );
}

#[test]
fn an_upgrade_that_the_driver_refuses_is_never_sent() {
    let mut case = Case::new();
    case.template = template("k8s-1.32", "v1.32.0");
    case.template.driver = driver(Family::Heat);
    case.cluster.driver = driver(Family::Heat);
    let plan = case.plan(json!({ "template": "k8s-1.32" }));
    assert!(!plan.can_be_applied());
    insta::assert_snapshot!("upgrade_of_heat", of_plan(&plan));
}

#[test]
fn a_template_of_another_driver_is_refused() {
    let mut case = Case::new();
    case.template = template("k8s-1.32", "v1.32.0");
    case.template.driver = driver(Family::Complete);
    let plan = case.plan(json!({ "template": "k8s-1.32" }));
    assert!(!plan.can_be_applied());
    insta::assert_snapshot!("template_of_another_driver", of_plan(&plan));
}

#[test]
fn nothing_is_sent_while_another_change_runs() {
    let mut case = Case::new();
    case.cluster = cluster("UPDATE_IN_PROGRESS");
    let plan = case.plan(json!({ "nodeGroups": [{ "name": "default-worker", "replicas": 4 }] }));
    assert!(!plan.can_be_applied());
    insta::assert_snapshot!("another_change_runs", of_plan(&plan));
}

#[test]
fn an_upgrade_after_a_failed_update_asks_to_settle_first() {
    let mut case = Case::new();
    case.cluster = cluster("UPDATE_FAILED");
    case.template = template("k8s-1.32", "v1.32.0");
    let plan = case.plan(json!({ "template": "k8s-1.32" }));
    assert!(!plan.can_be_applied());
    let resize = case.plan(json!({
        "template": "k8s-1.32",
        "nodeGroups": [{ "name": "default-worker", "replicas": 4 }],
    }));
    // the resize settles it, and the upgrade follows
    assert!(resize.can_be_applied());
    insta::assert_snapshot!(
        "upgrade_after_a_failed_update",
        titled([
            ("alone", of_plan(&plan)),
            ("after a resize", of_plan(&resize))
        ])
    );
}

#[test]
fn taints_need_a_newer_api_and_are_refused_with_the_version() {
    let mut case = Case::new();
    case.cluster.driver = driver(Family::Complete);
    case.cloud.api = ApiVersion(13);
    let spec = json!({ "nodeGroups": [{ "name": "gpu", "taints": ["gpu=true:NoSchedule"] }] });
    let plan = case.plan(spec.clone());
    assert!(!plan.can_be_applied());
    insta::assert_snapshot!("taints_with_an_older_magnum", of_plan(&plan));
    case.cloud.api = ApiVersion(14);
    assert!(case.plan(spec).can_be_applied());
}

#[test]
fn the_control_plane_is_resized_where_the_driver_can() {
    let mut case = Case::new();
    let plan = case.plan(json!({ "controlPlane": { "replicas": 3 } }));
    assert_eq!(actions(&plan), [resize("default-master", 1, 3)]);
    assert!(plan.can_be_applied());
    case.cluster.driver = driver(Family::Heat);
    let plan = case.plan(json!({ "controlPlane": { "replicas": 3 } }));
    assert!(!plan.can_be_applied());
    insta::assert_snapshot!("control_plane_of_heat", of_plan(&plan));
}

#[test]
fn a_group_left_in_delete_complete_does_not_count() {
    let mut case = Case::new();
    let mut gone = workers("gpu", 2);
    gone.status = crate::status::Status::parse("DELETE_COMPLETE");
    case.groups.push(gone);
    let plan = case.plan(json!({ "nodeGroups": [{ "name": "gpu", "replicas": 1 }] }));
    assert!(matches!(plan.steps[0].action, Action::CreateGroup(_)));
    assert!(case.plan(json!({})).notes.is_empty());
}

#[test]
fn the_autoscaler_is_mentioned_where_the_size_differs() {
    let mut case = Case::new();
    case.cluster
        .labels
        .insert("auto_scaling_enabled".to_owned(), "true".to_owned());
    let plan = case.plan(json!({ "nodeGroups": [{ "name": "default-worker", "replicas": 2 }] }));
    insta::assert_snapshot!("resize_with_an_autoscaler", of_plan(&plan));
}
