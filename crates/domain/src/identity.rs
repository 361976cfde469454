//! The Keystone account behind a session or a bearer token.
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// A Keystone domain, project, role or user, by ID and name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Named {
    pub id: String,
    pub name: String,
}

/// A Keystone user with the domain that owns the name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    pub id: String,
    pub name: String,
    pub domain: Named,
}

/// A Keystone project (tenant).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    pub id: String,
    pub name: String,
    pub domain: Named,
}

/// A user with the roles that one project-scoped token gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub user: User,
    /// `None` for an unscoped token.
    pub project: Option<Project>,
    /// Roles in `project`; empty without one.
    pub roles: Vec<Named>,
}

impl Identity {
    /// Returns the username in Kubernetes: `<user name>@<domain name>`, injective.
    pub fn kubernetes_username(&self) -> String {
        let mut name =
            String::with_capacity(self.user.name.len() + self.user.domain.name.len() + 1);
        escape_into(&mut name, &self.user.name);
        name.push('@');
        escape_into(&mut name, &self.user.domain.name);
        name
    }

    /// Returns the groups in Kubernetes. `qualified_only` leaves out the bare role IDs, for a
    /// cluster that accepts several projects.
    pub fn kubernetes_groups(&self, qualified_only: bool) -> Vec<String> {
        let mut groups = Vec::with_capacity(self.roles.len() * 2 + 2);
        groups.push(user_group(&self.user.id));
        if let Some(project) = &self.project {
            groups.push(project_group(&project.id));
            for role in &self.roles {
                if !qualified_only {
                    groups.push(role.id.clone());
                }
                groups.push(project_role_group(&project.id, &role.id));
            }
        }
        // a Keystone ID is never chosen by a tenant, but a federated one may be: none may look like
        // Kubernetes' own
        groups.retain(|group| !group.starts_with("system:") && !group.is_empty());
        groups
    }
}

/// Returns the group of one user; grants to a user bind it, never a name.
pub fn user_group(user_id: &str) -> String {
    format!("portico:user:{user_id}")
}

/// Returns the group of all users with any role in a project.
pub fn project_group(project_id: &str) -> String {
    format!("portico:project:{project_id}")
}

/// Returns the group of all users with one role in one project.
pub fn project_role_group(project_id: &str, role_id: &str) -> String {
    format!("portico:project:{project_id}:role:{role_id}")
}

/// Returns the project's and the role's ID in a group of [`project_role_group`]. IDs hold no colon.
pub fn parse_project_role_group(group: &str) -> Option<(&str, &str)> {
    group.strip_prefix("portico:project:")?.split_once(":role:")
}

fn escape_into(out: &mut String, part: &str) {
    for c in part.chars() {
        if matches!(c, '%' | '@') || c.is_control() {
            let mut buffer = [0; 4];
            for byte in c.encode_utf8(&mut buffer).bytes() {
                // writing to a String cannot fail
                let _ = write!(out, "%{byte:02X}");
            }
        } else {
            out.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn identity(user: &str, domain: &str) -> Identity {
        let named = |name: &str| Named {
            id: format!("{name}-id"),
            name: name.to_owned(),
        };
        Identity {
            user: User {
                id: "u1".to_owned(),
                name: user.to_owned(),
                domain: named(domain),
            },
            project: Some(Project {
                id: "p1".to_owned(),
                name: "acme".to_owned(),
                domain: named("Default"),
            }),
            roles: vec![named("k8s_admin")],
        }
    }

    #[test]
    fn a_plain_name_is_kept() {
        assert_eq!(
            identity("ada", "Default").kubernetes_username(),
            "ada@Default"
        );
    }

    #[test]
    fn groups_hold_role_project_and_user_ids() {
        assert_eq!(
            identity("ada", "Default").kubernetes_groups(false),
            [
                "portico:user:u1",
                "portico:project:p1",
                "k8s_admin-id",
                "portico:project:p1:role:k8s_admin-id"
            ]
        );
    }

    #[test]
    fn several_projects_get_no_bare_role_group() {
        assert!(
            !identity("ada", "Default")
                .kubernetes_groups(true)
                .contains(&"k8s_admin-id".to_owned())
        );
    }

    #[test]
    fn an_id_that_looks_like_a_kubernetes_group_is_dropped() {
        let mut who = identity("ada", "Default");
        who.roles[0].id = "system:masters".to_owned();
        assert!(
            who.kubernetes_groups(false)
                .iter()
                .all(|group| !group.starts_with("system:"))
        );
    }

    proptest! {
        #[test]
        fn two_accounts_never_share_a_username(a in ".{1,12}", b in ".{1,12}", c in ".{1,12}", d in ".{1,12}") {
            prop_assume!((&a, &b) != (&c, &d));
            prop_assert_ne!(identity(&a, &b).kubernetes_username(), identity(&c, &d).kubernetes_username());
        }
    }
}
