//! Small clusters for the tests.
use super::{Policy, who_can};
use crate::kube::{
    rbac::{Binding, BoundRole, BoundSubject, GROUP, Meta, Role},
    reviews::Rule,
};
use portico_domain::panel::{BindingRef, RightQuestion, Subject, WhoCan};

pub fn own(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

pub fn rule(verbs: &[&str], groups: &[&str], resources: &[&str]) -> Rule {
    Rule {
        verbs: own(verbs),
        api_groups: own(groups),
        resources: own(resources),
        ..Rule::default()
    }
}

pub fn named(rule: Rule, names: &[&str]) -> Rule {
    Rule {
        resource_names: own(names),
        ..rule
    }
}

fn meta(namespace: Option<&str>, name: &str) -> Meta {
    Meta {
        name: name.to_owned(),
        namespace: namespace.map(str::to_owned),
        ..Meta::default()
    }
}

/// Returns the question of `get pods`, `create apps/deployments/scale` ...
pub fn asks(
    verb: &str,
    resource: &str,
    namespace: Option<&str>,
    name: Option<&str>,
) -> RightQuestion {
    let (group, resource) = match resource.split_once(':') {
        Some((group, resource)) => (group, resource),
        None => ("", resource),
    };
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    RightQuestion {
        verb: verb.to_owned(),
        group: group.to_owned(),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        namespace: namespace.map(str::to_owned),
        name: name.map(str::to_owned),
    }
}

/// Roles and bindings, by short names.
#[derive(Default)]
pub struct Cluster {
    roles: Vec<Role>,
    cluster_roles: Vec<Role>,
    pub bindings: Vec<Binding>,
}

impl Cluster {
    /// Adds a ClusterRole, or a Role if there is a namespace.
    pub fn role(mut self, namespace: Option<&str>, name: &str, rules: &[Rule]) -> Self {
        let role = Role {
            metadata: meta(namespace, name),
            rules: Some(rules.to_vec()),
        };
        if namespace.is_some() {
            self.roles.push(role);
        } else {
            self.cluster_roles.push(role);
        }
        self
    }

    /// Adds a binding to `ClusterRole/name` or `Role/name` for subjects such as `User/ada` and
    /// `ServiceAccount/shop/robot`.
    pub fn bind(
        mut self,
        namespace: Option<&str>,
        name: &str,
        role: &str,
        subjects: &[&str],
    ) -> Self {
        let (kind, role) = role.split_once('/').unwrap();
        self.bindings.push(Binding {
            api_version: None,
            kind: None,
            metadata: meta(namespace, name),
            role_ref: BoundRole {
                api_group: GROUP.to_owned(),
                kind: kind.to_owned(),
                name: role.to_owned(),
            },
            subjects: Some(subjects.iter().map(|text| bound(text)).collect()),
        });
        self
    }

    pub fn policy(&self) -> Policy<'_> {
        Policy {
            roles: &self.roles,
            cluster_roles: &self.cluster_roles,
            bindings: &self.bindings,
        }
    }

    pub fn who_can(&self, question: &RightQuestion) -> Vec<String> {
        shown(&who_can(&self.policy(), question))
    }
}

fn bound(text: &str) -> BoundSubject {
    let (kind, name) = text.split_once('/').unwrap();
    let (namespace, name) = match name.split_once('/') {
        Some((namespace, name)) => (Some(namespace.to_owned()), name),
        None => (None, name),
    };
    BoundSubject {
        kind: kind.to_owned(),
        api_group: None,
        name: name.to_owned(),
        namespace,
    }
}

fn shown_subject(subject: &Subject) -> String {
    match subject {
        Subject::User { name } => format!("User/{name}"),
        Subject::Group { name } => format!("Group/{name}"),
        Subject::ServiceAccount { namespace, name } => format!("ServiceAccount/{namespace}/{name}"),
        other => format!("{other:?}"),
    }
}

/// Returns `User/ada by shop/readers` for each holder.
pub fn shown(found: &WhoCan) -> Vec<String> {
    found
        .holders
        .iter()
        .map(|holder| {
            let subject = shown_subject(&holder.subject);
            let BindingRef { namespace, name } = &holder.binding;
            match namespace {
                Some(namespace) => format!("{subject} by {namespace}/{name}"),
                None => format!("{subject} by {name}"),
            }
        })
        .collect()
}
