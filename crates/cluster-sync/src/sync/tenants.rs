//! The projects that a cluster accepts, and their current role assignments in Keystone.
use futures::{StreamExt as _, TryStreamExt as _, stream};
use portico_domain::cluster::ClusterRecord;
use portico_openstack::keystone::{
    ListedProject, RoleAssignment, ServiceAccount, ServiceAccountError,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of concurrent calls to Keystone.
const MAX_CONCURRENT_CALLS: usize = 4;

/// A project with the roles that users hold in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    pub id: String,
    pub name: String,
    pub domain_id: String,
    /// By the role's ID.
    pub roles: BTreeMap<String, HeldRole>,
}

/// A role with its holders in one project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldRole {
    pub name: String,
    pub users: BTreeSet<String>,
}

/// Keystone's projects and assignments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tenants {
    pub tenants: Vec<Tenant>,
    /// IDs of disabled projects: they cannot be used, but have not been deleted.
    pub disabled: BTreeSet<String>,
    pub notes: Vec<String>,
}

/// Reads the tenants from Keystone. If anything cannot be read, it is an error: a partial result
/// would look like revoked roles.
pub(super) async fn tenants(
    account: &ServiceAccount,
    cluster: &ClusterRecord,
    roles_too: bool,
) -> Result<Tenants, ServiceAccountError> {
    let mut found = Tenants::default();
    let mut projects = BTreeMap::new();
    for id in cluster.projects() {
        match account
            .call(async |client, token| client.project(&token, id).await)
            .await?
        {
            Some(project) => {
                projects.insert(project.id.clone(), project);
            }
            None => found
                .notes
                .push(format!("project {id} does not exist at Keystone")),
        }
    }
    for domain in &cluster.accepted_domains {
        let listed = account
            .call(async |client, token| client.projects_of_domain(&token, domain).await)
            .await?;
        projects.extend(listed.into_iter().map(|one| (one.id.clone(), one)));
    }
    let (enabled, disabled): (Vec<_>, Vec<_>) =
        projects.into_values().partition(|project| project.enabled);
    for project in disabled {
        found.notes.push(format!(
            "project {} ({}) is disabled: its namespace stays",
            project.id,
            project.name.escape_debug()
        ));
        found.disabled.insert(project.id);
    }
    let tenants = stream::iter(enabled)
        .map(|project| async move {
            let assignments = if roles_too {
                let id = &project.id;
                let assignments = account
                    .call(async |client, token| client.role_assignments(&token, id).await)
                    .await?;
                // deleted after it was listed
                let Some(assignments) = assignments else {
                    return Ok(None);
                };
                assignments
            } else {
                Vec::new()
            };
            Ok(Some(tenant(project, assignments)))
        })
        .buffered(MAX_CONCURRENT_CALLS)
        .try_collect::<Vec<_>>()
        .await?;
    found.tenants = tenants.into_iter().flatten().collect();
    Ok(found)
}

fn tenant(project: ListedProject, assignments: Vec<RoleAssignment>) -> Tenant {
    let mut roles: BTreeMap<String, HeldRole> = BTreeMap::new();
    for assignment in assignments {
        let held = roles.entry(assignment.role.id).or_default();
        held.name = assignment.role.name;
        held.users.insert(assignment.user_id);
    }
    Tenant {
        id: project.id,
        name: project.name,
        domain_id: project.domain_id,
        roles,
    }
}
