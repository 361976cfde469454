//! The requests that are left of a change that waits.
use super::super::reading::is_gone;
use crate::service::lifecycle::error;
use portico_cluster_operations::target::Target;
use portico_domain::panel::lifecycle::NodeGroupChange;
use portico_lifecycle::{
    plan::{Plan, group_deletion},
    spec::{NodeGroupSpec, Problem, Taint},
};

/// Returns the requests of a change from the present state; quotas are compared when it is sent.
///
/// # Errors
/// Why it cannot be planned, as a sentence.
pub fn plan_of(target: &Target, change: &NodeGroupChange) -> Result<Plan, String> {
    let gone = |group: &str| format!("The cluster has no node group {group}.");
    let spec = match change {
        NodeGroupChange::Create(new) => NodeGroupSpec {
            name: new.name.clone(),
            replicas: Some(new.nodes),
            flavor: new.flavor.clone(),
            min: new.min,
            max: new.max,
            labels: new.labels.clone(),
            taints: taints(&new.taints)?,
        },
        NodeGroupChange::Resize {
            group,
            nodes,
            min,
            max,
            ..
        } => {
            let found = target.group(group).ok_or_else(|| gone(group))?;
            if found.is_control_plane() {
                return of_problems(target.plan_of_control_plane(*nodes));
            }
            NodeGroupSpec {
                name: group.clone(),
                replicas: Some(*nodes),
                min: *min,
                max: *max,
                ..NodeGroupSpec::default()
            }
        }
        NodeGroupChange::Settings {
            group,
            min,
            max,
            labels,
            taints: texts,
        } => {
            target.group(group).ok_or_else(|| gone(group))?;
            NodeGroupSpec {
                name: group.clone(),
                min: *min,
                max: *max,
                labels: labels.clone(),
                taints: taints(texts)?,
                ..NodeGroupSpec::default()
            }
        }
        NodeGroupChange::Delete { group, .. } => {
            let found = target.group(group).filter(|group| !is_gone(group));
            let step = found.map(|found| group_deletion(&target.cluster, found));
            return Ok(Plan {
                steps: step.into_iter().collect(),
                ..Plan::default()
            });
        }
    };
    of_problems(target.plan_of_group(spec))
}

fn of_problems(plan: Result<Plan, Vec<Problem>>) -> Result<Plan, String> {
    plan.map_err(|problems| {
        let texts: Vec<_> = problems.into_iter().map(|one| one.message).collect();
        texts.join(" ")
    })
}

fn taints(texts: &[String]) -> Result<Vec<Taint>, String> {
    let read = texts.iter().map(|text| text.parse::<Taint>());
    let read: Result<Vec<_>, _> = read.collect();
    read.map_err(|error| error::sentence(&error.to_string()))
}
