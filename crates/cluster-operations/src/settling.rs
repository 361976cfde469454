//! The way out of a failed change: Magnum upgrades a cluster and rotates its authorities only while it is
//! settled, and a resize to the present size settles one in `UPDATE_FAILED`.
use crate::target::Target;
use portico_lifecycle::{
    model::NodeGroup,
    plan::{Action, Impact, Plan, Step},
    status::{Activity, Operation, Phase, Status, check},
};

/// Returns whether a resize to the present size settles a cluster in this state.
pub fn is_needed(status: &Status) -> bool {
    *status == Status::Known(Activity::Update, Phase::Failed)
}

/// Returns the node group whose present size is requested: one that failed itself, because the cluster is
/// failed as long as one of its groups is, else the default workers, else other workers.
///
/// The control plane is left out: not every driver can resize it.
pub fn group(target: &Target) -> Option<&NodeGroup> {
    let workers = || {
        let groups = target.groups.iter();
        groups.filter(|group| !group.is_control_plane() && !group.status.is_deletion())
    };
    let failed = workers().filter(|group| group.status.is_failed());
    failed
        .min_by(|one, other| one.name.cmp(&other.name))
        .or_else(|| workers().find(|group| group.is_default))
        .or_else(|| workers().min_by(|one, other| one.name.cmp(&other.name)))
}

/// Returns the step that requests the present size of a node group again.
pub fn step(target: &Target, group: &NodeGroup) -> Step {
    let name = &group.name;
    let refusal = check(&target.cluster.status, Operation::Resize).err();
    Step {
        effect: format!("Requests the present size of {name} again, which settles the cluster."),
        action: Action::Resize {
            group: name.clone(),
            from: group.node_count,
            to: group.node_count,
        },
        impact: Impact::None,
        refusal: refusal.map(|forbidden| forbidden.reason),
    }
}

/// Returns a plan that asks for the present size again where that is what a failed cluster needs; `nodes` is
/// the wanted size. Other plans stay as they are.
pub fn settling(target: &Target, group: &NodeGroup, nodes: u32, plan: Plan) -> Plan {
    if !plan.is_empty() || nodes != group.node_count || !is_needed(&target.cluster.status) {
        return plan;
    }
    Plan {
        steps: vec![step(target, group)],
        ..plan
    }
}

/// Returns what settling a cluster by a node group does, as sentences.
pub fn effects(target: &Target, group: &NodeGroup) -> Vec<String> {
    let NodeGroup {
        name, node_count, ..
    } = group;
    let nodes = if *node_count == 1 { "node" } else { "nodes" };
    let mut effects = vec![
        format!(
            "Portico requests {node_count} {nodes} for {name}. Magnum has this number already, so no size \
             changes."
        ),
        format!(
            "The driver completes what the failed change has left: if {name} has fewer nodes than \
             {node_count}, it adds them, for which the quotas need room; if it has more, it removes the \
             rest. After a failed upgrade it may replace nodes that have the old version."
        ),
        "If the driver succeeds, the state becomes UPDATE_COMPLETE. Then the cluster can be upgraded, and \
         its authorities rotated."
            .to_owned(),
        "If it fails again, the state stays UPDATE_FAILED: remedy the cause that Magnum reports, and settle \
         the cluster again."
            .to_owned(),
    ];
    let label = target.cluster.labels.get("auto_scaling_enabled");
    if label.is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        effects.push(format!(
            "The autoscaler is on, so Magnum's number of {name} may be old: nodes that the autoscaler has added \
             would be removed, and none is drained. Compare it with the nodes first."
        ));
    }
    effects
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_lifecycle::{
        driver::{ApiVersion, Cloud, Driver, Evidence, Family},
        labels::Labels,
        model::{Bounds, Cluster, Template},
    };
    use std::collections::BTreeMap;
    use uuid::Uuid;

    fn named(name: &str, role: &str, status: &str) -> NodeGroup {
        NodeGroup {
            uuid: format!("uuid-of-{name}"),
            name: name.to_owned(),
            role: role.to_owned(),
            is_default: name.starts_with("default-"),
            flavor: None,
            node_count: 2,
            bounds: Some(Bounds::default()),
            status: Status::parse(status),
            reason: None,
            node_labels: BTreeMap::new(),
            node_taints: Vec::new(),
        }
    }

    fn target(status: &str, groups: Vec<NodeGroup>) -> Target {
        let driver = Driver {
            family: Family::Complete,
            evidence: Evidence::Configuration,
        };
        let cluster = Cluster {
            status: Status::parse(status),
            ..Cluster::deleted(Uuid::nil().to_string(), "shop".to_owned())
        };
        Target {
            uuid: Uuid::nil(),
            cluster,
            groups,
            cut: None,
            template: Template {
                uuid: String::new(),
                name: String::new(),
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
                api: ApiVersion(14),
                release: None,
            },
        }
    }

    fn chosen(groups: Vec<NodeGroup>) -> Option<String> {
        group(&target("UPDATE_FAILED", groups)).map(|group| group.name.clone())
    }

    #[test]
    fn the_group_that_failed_is_preferred_and_the_control_plane_left_out() {
        let master = || named("default-master", "master", "UPDATE_FAILED");
        let default = || named("default-worker", "worker", "UPDATE_COMPLETE");
        let failed = named("gpu", "worker", "UPDATE_FAILED");
        let found = chosen(vec![master(), default(), failed]);
        assert_eq!(found.as_deref(), Some("gpu"));
        let leaving = named("gpu", "worker", "DELETE_FAILED");
        let found = chosen(vec![master(), leaving, default()]);
        assert_eq!(found.as_deref(), Some("default-worker"));
        let other = named("other", "worker", "UPDATE_COMPLETE");
        assert_eq!(chosen(vec![master(), other]).as_deref(), Some("other"));
        assert_eq!(chosen(vec![master()]), None);
    }

    #[test]
    fn only_a_failed_change_is_settled_and_only_by_the_present_size() {
        for (status, nodes, steps) in [
            ("UPDATE_FAILED", 2, 1),
            ("UPDATE_FAILED", 3, 0),
            ("UPDATE_COMPLETE", 2, 0),
            ("CREATE_FAILED", 2, 0),
            ("DELETE_FAILED", 2, 0),
        ] {
            let worker = named("default-worker", "worker", "UPDATE_COMPLETE");
            let target = target(status, vec![worker.clone()]);
            let plan = settling(&target, &worker, nodes, Plan::default());
            assert_eq!(plan.steps.len(), steps, "{status} {nodes}");
        }
    }

    #[test]
    fn the_step_has_the_same_size_before_and_after_and_is_possible_while_it_is_needed() {
        let worker = named("default-worker", "worker", "UPDATE_FAILED");
        let failed = step(&target("UPDATE_FAILED", vec![worker.clone()]), &worker);
        assert_eq!(
            failed.action,
            Action::Resize {
                group: "default-worker".to_owned(),
                from: 2,
                to: 2
            }
        );
        assert_eq!(failed.refusal, None);
        let created = step(&target("CREATE_FAILED", vec![worker.clone()]), &worker);
        assert!(created.refusal.unwrap().contains("CREATE_FAILED"));
        let mut failed = target("UPDATE_FAILED", vec![worker.clone()]);
        let all = effects(&failed, &worker);
        assert!(all[0].contains("2 nodes for default-worker"), "{all:?}");
        assert!(!all.iter().any(|text| text.contains("autoscaler")));
        let label = ("auto_scaling_enabled".to_owned(), "True".to_owned());
        failed.cluster.labels = [label].into_iter().collect();
        let all = effects(&failed, &worker);
        assert!(all.iter().any(|text| text.contains("autoscaler")));
    }
}
