//! Conversion between Keystone's subjects and those of bindings.
use crate::kube::rbac::{BoundSubject, GROUP};
use portico_domain::{
    cluster::ClusterRecord,
    identity::{Identity, Named, Project, project_group, project_role_group, user_group},
    panel::{Subject, SubjectKind},
};
use std::collections::BTreeMap;

/// The names that this viewer may see: their own token's, their projects', and configured roles.
pub struct Names<'a> {
    pub identity: &'a Identity,
    pub projects: &'a [Project],
    pub configured_roles: &'a BTreeMap<String, String>,
}

impl Names<'_> {
    /// Returns a role's name.
    pub fn role(&self, id: &str) -> Option<String> {
        self.identity
            .roles
            .iter()
            .find(|role| role.id == id)
            .map(|role| role.name.clone())
            .or_else(|| self.configured_roles.get(id).cloned())
    }

    /// Returns a project's name.
    pub fn project(&self, id: &str) -> Option<String> {
        self.projects
            .iter()
            .chain(&self.identity.project)
            .find(|project| project.id == id)
            .map(|project| project.name.clone())
    }

    /// Returns a domain's name.
    pub fn domain(&self, id: &str) -> Option<String> {
        let of_projects = self
            .projects
            .iter()
            .chain(&self.identity.project)
            .map(|project| &project.domain);
        of_projects
            .chain([&self.identity.user.domain])
            .find(|domain| domain.id == id)
            .map(|domain| domain.name.clone())
    }

    fn user(&self, id: &str) -> Option<String> {
        (self.identity.user.id == id).then(|| self.identity.user.name.clone())
    }

    /// Returns the roles with known names, for the form.
    pub fn known_roles(&self) -> Vec<Named> {
        let mut roles: BTreeMap<String, String> = self.configured_roles.clone();
        for role in &self.identity.roles {
            roles.insert(role.id.clone(), role.name.clone());
        }
        let mut roles: Vec<_> = roles
            .into_iter()
            .map(|(id, name)| Named { id, name })
            .collect();
        roles.sort_by(|a, b| a.name.cmp(&b.name));
        roles
    }

    /// Returns the subject that a binding names.
    pub fn subject(&self, bound: &BoundSubject) -> Subject {
        match bound.kind.as_str() {
            "ServiceAccount" => Subject::ServiceAccount {
                namespace: bound.namespace.clone().unwrap_or_default(),
                name: bound.name.clone(),
            },
            "Group" => self.group(&bound.name),
            _ => Subject::User {
                name: bound.name.clone(),
            },
        }
    }

    fn group(&self, group: &str) -> Subject {
        if let Some(id) = group.strip_prefix("portico:user:") {
            return Subject::KeystoneUser {
                id: id.to_owned(),
                name: self.user(id),
            };
        }
        if let Some(rest) = group.strip_prefix("portico:project:") {
            return match rest.split_once(":role:") {
                Some((project, role)) => Subject::KeystoneRole {
                    id: role.to_owned(),
                    name: self.role(role),
                    project: Some(self.project(project).unwrap_or_else(|| project.to_owned())),
                    project_id: Some(project.to_owned()),
                },
                None => Subject::KeystoneProject {
                    id: rest.to_owned(),
                    name: self.project(rest),
                },
            };
        }
        let name = self.role(group);
        if name.is_some() || is_keystone_id(group) {
            return Subject::KeystoneRole {
                id: group.to_owned(),
                name,
                project: None,
                project_id: None,
            };
        }
        Subject::Group {
            name: group.to_owned(),
        }
    }
}

/// Returns whether a text is an ID of Keystone's: 32 hex digits.
pub fn is_keystone_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether a text is a user ID of Keystone's: 32 hex digits, or 64 for users of an LDAP or
/// federated domain.
pub fn is_keystone_user_id(text: &str) -> bool {
    is_keystone_id(text) || (text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns whether two subjects are the same, whatever names are known for them.
pub fn same(a: &Subject, b: &Subject) -> bool {
    match (a, b) {
        (
            Subject::KeystoneRole { id, project, .. },
            Subject::KeystoneRole {
                id: other,
                project: other_project,
                ..
            },
        ) => id == other && project == other_project,
        (Subject::KeystoneUser { id, .. }, Subject::KeystoneUser { id: other, .. })
        | (Subject::KeystoneProject { id, .. }, Subject::KeystoneProject { id: other, .. }) => {
            id == other
        }
        _ => a == b,
    }
}

/// Returns the group that a grant binds. If the cluster accepts several projects, a role counts in
/// the viewer's project only.
pub fn group(kind: SubjectKind, id: &str, record: &ClusterRecord, project: Option<&str>) -> String {
    match (kind, project) {
        (SubjectKind::Role, Some(project)) if record.qualified_groups_only() => {
            project_role_group(project, id)
        }
        (SubjectKind::Role, _) => id.to_owned(),
        (SubjectKind::User, _) => user_group(id),
        (SubjectKind::Project, _) => project_group(id),
    }
}

/// Returns a group as a binding names it.
pub fn bound_group(name: String) -> BoundSubject {
    BoundSubject {
        kind: "Group".to_owned(),
        api_group: Some(GROUP.to_owned()),
        name,
        namespace: None,
    }
}

/// Returns whether a bound subject is the viewer (or a group of theirs).
pub fn is_own(bound: &BoundSubject, identity: &Identity, qualified_only: bool) -> bool {
    match bound.kind.as_str() {
        "Group" => identity
            .kubernetes_groups(qualified_only)
            .contains(&bound.name),
        "User" => bound.name == identity.kubernetes_username(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::identity::User;

    fn with_names(check: impl FnOnce(&Names<'_>)) {
        let named = |id: &str, name: &str| Named {
            id: id.to_owned(),
            name: name.to_owned(),
        };
        let project = Project {
            id: "p1".to_owned(),
            name: "acme".to_owned(),
            domain: named("default", "Default"),
        };
        let identity = Identity {
            user: User {
                id: "u1".to_owned(),
                name: "ada".to_owned(),
                domain: named("default", "Default"),
            },
            project: Some(project.clone()),
            roles: vec![named("6cb6d48d5b224296a80909485ff68fd1", "k8s_admin")],
        };
        let configured = BTreeMap::from([(
            "d8130a2335da42908a528640a9a27d88".to_owned(),
            "k8s_viewer".to_owned(),
        )]);
        check(&Names {
            identity: &identity,
            projects: &[project],
            configured_roles: &configured,
        });
    }

    #[test]
    fn groups_are_shown_by_what_they_represent() {
        with_names(|names| {
            let read = |group: &str| names.subject(&bound_group(group.to_owned()));
            assert!(matches!(
                read("6cb6d48d5b224296a80909485ff68fd1"),
                Subject::KeystoneRole { name: Some(name), .. } if name == "k8s_admin"
            ));
            assert!(matches!(
                read("d8130a2335da42908a528640a9a27d88"),
                Subject::KeystoneRole { name: Some(name), .. } if name == "k8s_viewer"
            ));
            assert!(matches!(
                read("00000000000000000000000000000000"),
                Subject::KeystoneRole { name: None, .. }
            ));
            assert!(matches!(
                read("portico:project:p1:role:r9"),
                Subject::KeystoneRole { id, project: Some(project), .. } if id == "r9" && project == "acme"
            ));
            assert!(matches!(
                read("portico:user:u1"),
                Subject::KeystoneUser { name: Some(name), .. } if name == "ada"
            ));
            assert!(matches!(read("system:masters"), Subject::Group { .. }));
        });
    }

    #[test]
    fn a_subject_is_the_same_whatever_names_are_known() {
        let role = |name: Option<&str>| Subject::KeystoneRole {
            id: "r1".to_owned(),
            name: name.map(str::to_owned),
            project: None,
            project_id: None,
        };
        assert!(same(&role(None), &role(Some("x"))));
        assert!(!same(
            &role(None),
            &Subject::KeystoneUser {
                id: "r1".to_owned(),
                name: None
            }
        ));
    }
}
