//! Policies of k8s-keystone-auth, versions 1 and 2, which may be mixed.
//!
//! They are evaluated as by its own evaluator (as of kubernetes/cloud-provider-openstack c453fb7c),
//! gaps included: version 2 has no subresources, API groups or object names, and IDs and names of
//! projects are one set. [`super::lint`] reports where that allows more than intended.
mod parse;
mod version1;
mod version2;

use super::membership::{Membership, holds_any};
use super::{Attributes, Step, Target};
use version1::{Match, NonResource, Resource};
use version2::{PathPermission, Permission};

pub(super) use version1::KINDS;
pub(super) use version2::Side;

/// The entries, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules(Vec<Entry>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub users: Option<Users>,
    pub matches: Vec<Match>,
    pub resource: Option<Resource>,
    pub nonresource: Option<NonResource>,
    pub resource_permissions: Option<Vec<Permission>>,
    pub nonresource_permissions: Option<Vec<PathPermission>>,
}

/// The users of a version 2 entry: those with all of these roles, in any of these projects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Users {
    pub roles: Vec<String>,
    pub projects: Vec<String>,
}

impl Users {
    fn include(&self, user: &Membership<'_>) -> bool {
        let has_role = |role: &String| user.role_names.contains(role.as_str());
        self.roles.iter().all(has_role) && holds_any(&user.projects, &self.projects)
    }
}

impl Entry {
    fn step(&self, attributes: &Attributes, membership: &Membership<'_>) -> Step {
        if self
            .users
            .as_ref()
            .is_some_and(|users| !users.include(membership))
        {
            return Step::OtherUser;
        }
        // version 2 takes precedence over version 1 of the same kind, even if it is empty
        let verb = &attributes.verb;
        let (by_version1, named) = match &attributes.target {
            Target::Resource(target) => match (&self.resource_permissions, &self.resource) {
                (Some(list), _) => (false, list.iter().any(|one| one.names(target, verb))),
                (None, Some(resource)) => (true, resource.names(target, verb)),
                (None, None) => return Step::OtherRequest,
            },
            Target::Path(path) => match (&self.nonresource_permissions, &self.nonresource) {
                (Some(list), _) => (false, list.iter().any(|one| one.names(path, verb))),
                (None, Some(nonresource)) => (true, nonresource.names(path, verb)),
                (None, None) => return Step::OtherRequest,
            },
        };
        if !named {
            Step::OtherRequest
        } else if by_version1 && !version1::all_match(&self.matches, membership) {
            Step::OtherUser
        } else {
            Step::Allows
        }
    }
}

impl Rules {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.0
    }

    pub(super) fn step(
        &self,
        index: usize,
        attributes: &Attributes,
        membership: &Membership<'_>,
    ) -> Step {
        // no user whom another authenticator admitted
        if membership.user.extra.is_empty() {
            return Step::OtherUser;
        }
        self.0.get(index).map_or(Step::OtherRequest, |entry| {
            entry.step(attributes, membership)
        })
    }

    pub fn describe(&self, index: usize) -> String {
        let Some(entry) = self.0.get(index) else {
            return String::new();
        };
        let mut parts = Vec::new();
        if let Some(users) = &entry.users {
            parts.push(format!("roles {}", listed(&users.roles)));
            parts.push(format!("projects {}", listed(&users.projects)));
        }
        for one in &entry.matches {
            parts.push(format!("{} {}", one.kind, listed(&one.values)));
        }
        if parts.is_empty() {
            "everyone".to_owned()
        } else {
            parts.join(", ")
        }
    }
}

fn listed(values: &[String]) -> String {
    if values.is_empty() {
        "none".to_owned()
    } else {
        values.join("|")
    }
}
