//! What Keystone and the journal know of the owner of a cluster.
use super::ROTATE_CREDENTIAL;
use crate::service::lifecycle::{
    access::MagnumAccess,
    journal::{RequestContent, RequestOutcome, requests},
    viewer::Viewer,
};
use portico_domain::{identity::Named, panel::lifecycle::OwnerStanding};
use portico_openstack::keystone::{Error, RoleAssignment};
use uuid::Uuid;

/// What is known of an owner.
pub struct Known {
    pub owner: Option<Named>,
    pub standing: OwnerStanding,
    /// The last change of the owner through Portico, as a sentence.
    pub last_passed: Option<String>,
}

impl Known {
    /// Returns that Magnum does not report the owner.
    pub fn unreported() -> Self {
        Self {
            owner: None,
            standing: OwnerStanding::Unknown(
                "This version of Magnum does not report the owner.".to_owned(),
            ),
            last_passed: None,
        }
    }
}

/// Reads what is known of the owner of a cluster with the viewer's own token.
pub async fn read(access: &MagnumAccess, viewer: &Viewer, cluster: Uuid, owner: &str) -> Known {
    let token = &viewer.token.token;
    let roles = access.keystone.role_assignments(token, viewer.project_id());
    let rotations = requests(access, viewer, cluster, ROTATE_CREDENTIAL, None);
    let creations = requests(access, viewer, cluster, "create_cluster", None);
    let (name, roles, rotations, creations) = tokio::join!(
        access.keystone.user(token, owner),
        roles,
        rotations,
        creations
    );
    let rotations = rotations.unwrap_or_default();
    let name = name.ok().flatten().or_else(|| {
        let creations = creations.unwrap_or_default();
        name_in(&rotations, owner).or_else(|| name_in(&creations, owner))
    });
    Known {
        owner: Some(Named {
            id: owner.to_owned(),
            name: name.unwrap_or_else(|| owner.to_owned()),
        }),
        standing: standing(roles, owner, &viewer.user_id),
        last_passed: last_passed(&rotations),
    }
}

/// Returns the name of a user who has sent one of the requests.
fn name_in(requests: &[RequestContent], user: &str) -> Option<String> {
    let mut requests = requests.iter();
    let found = requests.find(|request| request.user_id == user)?;
    Some(found.user_name.clone())
}

/// Returns the last change of the owner of requests, of which the newest are first.
pub fn last_passed(rotations: &[RequestContent]) -> Option<String> {
    let mut accepted = rotations.iter().filter(|request| {
        request.outcome == RequestOutcome::Accepted && request.target.contains(" to ")
    });
    let last = accepted.next()?;
    Some(format!("Ownership passed from {}.", last.target))
}

/// Returns whether the owner has a role in the project, from its role assignments.
pub fn standing(
    roles: Result<Option<Vec<RoleAssignment>>, Error>,
    owner: &str,
    viewer: &str,
) -> OwnerStanding {
    if owner == viewer {
        return OwnerStanding::Member;
    }
    match roles {
        Ok(Some(roles)) if roles.iter().any(|role| role.user_id == owner) => OwnerStanding::Member,
        Ok(Some(_)) => OwnerStanding::Left,
        Err(Error::Forbidden) => OwnerStanding::Unknown(
            "Keystone does not let you read who has a role in the project. A project administrator sees \
             here whether the owner has left."
                .to_owned(),
        ),
        Ok(None) | Err(_) => OwnerStanding::Unknown(
            "Keystone did not return who has a role in the project.".to_owned(),
        ),
    }
}
