//! Node groups that a plan makes smaller or deletes: whether the remaining nodes have room for the pods of
//! the nodes that leave, of which Magnum chooses the ones of a smaller group.
use super::arguments::PodArgs;
use super::checks;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::nodes::in_group;
use super::part::Target;
use super::pods;
use portico_lifecycle::model::NodeGroup;
use portico_lifecycle::placement::{Leaving, Placement};
use portico_lifecycle::plan::{Action, Plan};
use portico_lifecycle::preflight::before_nodes_leave;
use uuid::Uuid;

/// Returns which pods have no place when a group has `wanted` nodes.
pub async fn of_group(
    connection: &Connection,
    target: &Target,
    group: &NodeGroup,
    wanted: u32,
) -> Placement {
    let number = group.node_count.saturating_sub(wanted);
    if number == 0 || group.is_control_plane() {
        return Placement::NotNeeded;
    }
    match in_group(connection, target, &group.name).await {
        Ok(nodes) => {
            let leaving = Leaving::Any { nodes, number };
            pods::read(connection, target.uuid, &leaving).await
        }
        Err(reason) => Placement::NotChecked(reason),
    }
}

/// Returns the same for each group that a plan for an existing cluster makes smaller or deletes; nothing for a
/// plan that cannot be carried out. Each group is looked at alone: neither the other groups that shrink nor the
/// nodes that the plan adds are counted.
///
/// # Errors
/// If Magnum cannot be asked.
pub async fn of_plan(
    connection: &Connection,
    cluster: Uuid,
    plan: &Plan,
) -> Result<Vec<Placement>, ClusterError> {
    let smaller: Vec<_> = plan
        .steps
        .iter()
        .filter_map(|step| smaller(&step.action))
        .collect();
    if smaller.is_empty() || !plan.can_be_applied() {
        return Ok(Vec::new());
    }
    let target = Target::read_named(connection, &cluster.to_string()).await?;
    let mut found = Vec::new();
    for (name, wanted) in smaller {
        let mut groups = target.groups.iter();
        // the control plane may have no group, and is not checked
        let Some(group) = groups.find(|group| group.name == name) else {
            continue;
        };
        found.push(of_group(connection, &target, group, wanted).await);
    }
    Ok(found)
}

/// Returns the group that an action makes smaller, with its new size.
fn smaller(action: &Action) -> Option<(&str, u32)> {
    match action {
        Action::Resize { group, from, to } => (to < from).then_some((group.as_str(), *to)),
        Action::DeleteGroup { group } => Some((group.as_str(), 0)),
        // the nodes that a user chose are checked with the choice
        Action::RemoveNodes { .. }
        | Action::Create
        | Action::CreateGroup(_)
        | Action::SetBounds { .. }
        | Action::SetLabelsAndTaints(_)
        | Action::Upgrade { .. } => None,
    }
}

/// Writes what was found to standard error.
pub fn warn(found: &[Placement], console: &mut Console) {
    for one in found {
        checks::warn(&before_nodes_leave(one), console);
    }
}

/// Asks whether pods may stay pending, once for each group.
///
/// # Errors
/// As [`pods::accept`].
pub fn accept(
    console: &mut Console,
    args: &PodArgs,
    found: &[Placement],
) -> Result<(), ClusterError> {
    for one in found {
        pods::accept(console, args, one)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_removes_nodes_is_looked_at() {
        let resize = |from, to| Action::Resize {
            group: "gpu".to_owned(),
            from,
            to,
        };
        assert_eq!(smaller(&resize(3, 1)), Some(("gpu", 1)));
        assert_eq!(smaller(&resize(1, 3)), None);
        // which settles a cluster
        assert_eq!(smaller(&resize(3, 3)), None);
        let deletion = Action::DeleteGroup {
            group: "gpu".to_owned(),
        };
        assert_eq!(smaller(&deletion), Some(("gpu", 0)));
        assert_eq!(smaller(&Action::Create), None);
    }
}
