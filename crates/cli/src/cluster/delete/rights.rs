//! Whether the user may delete a cluster. Magnum decides that when it is asked to delete the cluster; what is
//! deleted in the cluster first would be gone by then.
use crate::cluster::connection::Connection;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::direct;
use portico_domain::identity::Identity;
use portico_domain::panel::lifecycle::DeleteProtection;
use portico_lifecycle::model::Cluster;
use portico_lifecycle::rights::{Call, Caller, Owner, Permission, permission};
use uuid::Uuid;

/// Refuses a deletion that Magnum or the panel would refuse, before anything in the cluster is deleted. Without a
/// gateway there is no protection from deletion, and the roles of the token are compared with Magnum's default
/// policy.
///
/// # Errors
/// [`ClusterError::Blocked`] if the cluster is protected, or the user may not delete it; if the gateway or
/// Keystone does not answer.
pub async fn ensure_deletable(
    connection: &mut Connection,
    cluster: &Cluster,
    uuid: Uuid,
) -> Result<(), ClusterError> {
    if let Some(session) = connection.gateway_session() {
        let found = session.protection(uuid).await?;
        return of_gateway(&found, &cluster.name).map_or(Ok(()), Err);
    }
    // a token that was given does not state its roles
    let Some(choice) = connection.choice() else {
        return Ok(());
    };
    let identity = direct::identity(choice, &connection.clock).await?;
    let project = &connection.token.project_id;
    of_roles(&identity, project, cluster).map_or(Ok(()), Err)
}

/// Returns why a cluster is not deleted by the session at a gateway.
fn of_gateway(found: &DeleteProtection, name: &str) -> Option<ClusterError> {
    if found.protected.is_some() {
        return Some(ClusterError::Blocked {
            exit: exit_code::CONFLICT,
            text: format!(
                "{name} is protected from deletion in Portico, so nothing was deleted\n  Remove the protection on \
                 the cluster's page in the panel, then repeat the command"
            ),
        });
    }
    let reason = found.delete_refusal.as_ref()?;
    Some(ClusterError::Blocked {
        exit: exit_code::FORBIDDEN,
        text: format!("you may not delete {name}, so nothing was deleted. {reason}"),
    })
}

/// Returns why Magnum's default policy forbids the deletion.
fn of_roles(identity: &Identity, project_id: &str, cluster: &Cluster) -> Option<ClusterError> {
    let roles = identity.roles.iter().map(|role| role.name.clone());
    let roles: Vec<String> = roles.collect();
    let user_id = identity.user.id.as_str();
    let caller = Caller {
        user_id,
        project_id,
        roles: &roles,
    };
    let owner = Owner {
        project_id,
        user_id: cluster.user_id.as_deref().unwrap_or(user_id),
    };
    if permission(caller, Call::DeleteCluster, owner) == Permission::Permitted {
        return None;
    }
    Some(ClusterError::Blocked {
        exit: exit_code::FORBIDDEN,
        text: format!(
            "by its default policy Magnum refuses to let you delete {} (cluster:delete), so nothing was deleted; \
             you have the roles: {}\n  Ask a project administrator for the role member. Where the cloud has \
             another policy, delete the objects with kubectl, then repeat the command without --delete-lbs and \
             --delete-volumes",
            cluster.name,
            roles.join(", ")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::identity::{Named, User};
    use portico_domain::panel::lifecycle::Protected;

    fn named(name: &str) -> Named {
        Named {
            id: name.to_owned(),
            name: name.to_owned(),
        }
    }

    fn exit(refusal: Option<ClusterError>) -> Option<u8> {
        refusal.map(|error| {
            assert!(error.to_string().contains("nothing was deleted"), "{error}");
            error.exit_code()
        })
    }

    #[test]
    fn a_protected_cluster_and_one_that_the_user_may_not_delete_are_refused_by_the_gateway() {
        let protection = |is_on: bool, delete_refusal: Option<&str>| DeleteProtection {
            cluster_name: "shop".to_owned(),
            protected: is_on.then(|| Protected {
                since: 0,
                by: "you".to_owned(),
            }),
            note: String::new(),
            // where the store is Redis
            refusal: Some("Portico cannot protect clusters here.".to_owned()),
            delete_refusal: delete_refusal.map(str::to_owned),
        };
        let of = |found| exit(of_gateway(&found, "shop"));
        assert_eq!(of(protection(true, None)), Some(exit_code::CONFLICT));
        let reader = protection(false, Some("It needs the role member."));
        assert_eq!(of(reader), Some(exit_code::FORBIDDEN));
        assert_eq!(of(protection(false, None)), None);
    }

    #[test]
    fn without_a_gateway_the_roles_decide() {
        let identity = |role: &str| Identity {
            user: User {
                id: "ada".to_owned(),
                name: "ada".to_owned(),
                domain: named("Default"),
            },
            project: None,
            roles: vec![named(role)],
        };
        let cluster = Cluster::deleted(String::new(), "shop".to_owned());
        for (role, expected) in [
            ("member", None),
            ("admin", None),
            ("reader", Some(exit_code::FORBIDDEN)),
        ] {
            let refusal = of_roles(&identity(role), "acme", &cluster);
            assert_eq!(exit(refusal), expected, "{role}");
        }
    }
}
