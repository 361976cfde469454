//! The roles of the user: Magnum's, and those to which rights in clusters are bound.
use super::inventory::Inventory;
use super::report::{Assignee, Check, Task};
use portico_lifecycle::rights::{Call, Caller, Owner, Permission, permission};

/// Checks the roles. Operators override policies, so Magnum's own answer decides in the end.
pub fn roles(inventory: &Inventory) -> Vec<Check> {
    const SUBJECT: &str = "Roles";
    let identity = match &inventory.identity {
        Ok(identity) => identity,
        Err(cause) => return vec![Check::not_checked(SUBJECT, cause.clone())],
    };
    let names: Vec<_> = identity
        .roles
        .iter()
        .map(|role| role.name.clone())
        .collect();
    let project = identity.project.as_ref().map(|project| project.id.as_str());
    let project_id = project.unwrap_or_default();
    let user_id = identity.user.id.as_str();
    let caller = Caller {
        user_id,
        project_id,
        roles: &names,
    };
    let owner = Owner {
        project_id,
        user_id,
    };
    let grant = |role: &str| {
        Task::of(
            Assignee::ProjectAdministrator,
            format!(
                "grant the user {} the role {role} in this project",
                identity.user.name
            ),
        )
    };
    let all = names.join(", ");
    let mut checks = Vec::new();
    if permission(caller, Call::CreateCluster, owner) != Permission::Permitted {
        let detail =
            format!("by its default policy Magnum refuses to create clusters; you have: {all}");
        checks.push(Check::missing(SUBJECT, detail, grant("member")));
    }
    if !names.iter().any(|name| name.starts_with("k8s_")) {
        let detail = format!(
            "you have no role k8s_*, to which rights in clusters are bound; you have: {all}"
        );
        let task = grant("k8s_admin, k8s_developer or k8s_viewer");
        checks.push(Check::warning(SUBJECT, detail, task));
    }
    if checks.is_empty() {
        checks.push(Check::ok(SUBJECT, all));
    }
    checks
}
