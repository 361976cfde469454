//! The projects that a cluster accepts, and who has which role in them, as Keystone says now.
use futures::{StreamExt as _, TryStreamExt as _, stream};
use portico_domain::cluster::ClusterRecord;
use portico_openstack::keystone::{
    ListedProject, RoleAssignment, ServiceAccount, ServiceAccountError,
};
use std::collections::{BTreeMap, BTreeSet};

/// How many questions Keystone gets at once.
const AT_ONCE: usize = 4;

/// A project with the roles that somebody holds in it.
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

/// What Keystone said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tenants {
    pub tenants: Vec<Tenant>,
    /// IDs of projects that are disabled: nobody can use them, and nobody has given them up.
    pub disabled: BTreeSet<String>,
    pub notes: Vec<String>,
}

/// Asks Keystone. Whatever cannot be read is an error: half an answer would look like roles that
/// were taken away.
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
                // deleted since it was listed
                let Some(assignments) = assignments else {
                    return Ok(None);
                };
                assignments
            } else {
                Vec::new()
            };
            Ok(Some(tenant(project, assignments)))
        })
        .buffered(AT_ONCE)
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
