//! The groups, roles and projects of a user, indexed once for each request. A policy may list
//! thousands of IDs and a request thousands of groups; comparing each with each would keep a worker
//! busy for seconds.
use super::User;
use super::attributes::extra;
use portico_domain::identity::{parse_project_role_group, project_group, user_group};
use std::collections::{HashMap, HashSet};

/// The groups, roles and projects of one user.
#[derive(Debug)]
pub(super) struct Membership<'a> {
    pub user: &'a User,
    pub groups: HashSet<&'a str>,
    /// IDs of users in groups of the form `portico:user:ID`.
    pub user_ids: HashSet<&'a str>,
    /// IDs of projects in groups of the form `portico:project:ID`.
    pub project_ids: HashSet<&'a str>,
    /// IDs of roles by the ID of the project in which the user has them.
    pub project_roles: HashMap<&'a str, HashSet<&'a str>>,
    /// Names of roles, as k8s-keystone-auth compares them.
    pub role_names: HashSet<&'a str>,
    /// IDs and names of projects, which k8s-keystone-auth compares as one set.
    pub projects: HashSet<&'a str>,
}

impl<'a> Membership<'a> {
    pub fn of(user: &'a User) -> Self {
        let (user_prefix, project_prefix) = (user_group(""), project_group(""));
        let mut found = Self {
            user,
            groups: HashSet::new(),
            user_ids: HashSet::new(),
            project_ids: HashSet::new(),
            project_roles: HashMap::new(),
            role_names: HashSet::new(),
            projects: HashSet::new(),
        };
        for group in user.groups.iter().map(String::as_str) {
            found.groups.insert(group);
            if let Some((project, role)) = parse_project_role_group(group) {
                found.project_roles.entry(project).or_default().insert(role);
            } else if let Some(project) = group.strip_prefix(&project_prefix) {
                found.project_ids.insert(project);
            } else if let Some(id) = group.strip_prefix(&user_prefix) {
                found.user_ids.insert(id);
            }
        }
        let values = |key| user.extra(key).iter().map(String::as_str);
        found.role_names.extend(values(extra::ROLES));
        found.projects.extend(values(extra::PROJECT_ID));
        found.projects.extend(values(extra::PROJECT_NAME));
        found
    }
}

/// Returns whether a set contains any of the listed values.
pub(super) fn holds_any(set: &HashSet<&str>, values: &[String]) -> bool {
    values.iter().any(|value| set.contains(value.as_str()))
}
