//! Who can do a verb on a resource, from the cluster's roles and bindings alone.
//!
//! The answers are those of the RBAC authorizer. Other authorizers (Node, webhooks) are not part of
//! them, nor is what the API server permits to `system:masters` without a binding. A subject's
//! members are not resolved: a user has a permission also through a group that is listed.
mod answer;
mod candidate;
#[cfg(test)]
pub mod fixtures;
mod grantable;
mod rules;

pub use answer::answer;
pub use candidate::identities;
pub use grantable::grantable;

use super::subjects::{self, Names};
use crate::kube::{
    rbac::{Binding, BoundSubject, Role},
    reviews::Rule,
};
use portico_domain::panel::{
    DanglingBinding, GrantMeans, MatchedRule, PermissionHolder, PermissionScope, RightQuestion,
    RoleRef, Subject, WhoCan,
};
use std::collections::HashMap;

/// The roles and bindings of a cluster.
#[derive(Clone, Copy)]
pub struct Policy<'a> {
    pub roles: &'a [Role],
    /// With the rules that the API server has aggregated.
    pub cluster_roles: &'a [Role],
    /// RoleBindings and, without a namespace, ClusterRoleBindings.
    pub bindings: &'a [Binding],
}

/// Returns the subjects that have a permission, one entry for each binding that gives it to them.
///
/// Without a namespace the question is about cluster-wide objects, or all namespaces at once: only
/// ClusterRoleBindings count.
pub fn who_can(policy: &Policy<'_>, question: &RightQuestion) -> WhoCan {
    let question = normalized(question);
    let resolved = Resolved::new(policy, question.namespace.as_deref());
    let mut holders: Vec<_> = resolved
        .grants
        .iter()
        .filter_map(|grant| Some(grant.holder(grant.matching(&question)?, None)))
        .collect();
    sort(&mut holders);
    WhoCan {
        holders,
        dangling: resolved.dangling,
    }
}

/// Replaces the groups of Keystone's by what they represent.
pub fn with_names(mut found: WhoCan, names: &Names<'_>) -> WhoCan {
    for holder in &mut found.holders {
        holder.subject = subject_with_names(&holder.subject, names);
    }
    found
}

/// Returns a subject, with a group of Keystone's replaced by what it represents.
pub fn subject_with_names(subject: &Subject, names: &Names<'_>) -> Subject {
    match subject {
        Subject::Group { name } => names.subject(&subjects::bound_group(name.clone())),
        other => other.clone(),
    }
}

/// Returns the question without a namespace if it is empty, as reviews send it.
fn normalized(question: &RightQuestion) -> RightQuestion {
    let mut question = question.clone();
    question.namespace = question.namespace.filter(|name| !name.is_empty());
    question
}

/// Bindings with the rules of their roles.
pub struct Resolved<'a> {
    pub grants: Vec<Grant<'a>>,
    pub dangling: Vec<DanglingBinding>,
}

/// The rules that one binding gives to one subject.
pub struct Grant<'a> {
    pub subject: Subject,
    pub binding: &'a Binding,
    pub rules: &'a [Rule],
}

impl<'a> Resolved<'a> {
    /// Resolves the bindings that count in one place.
    fn new(policy: &Policy<'a>, namespace: Option<&str>) -> Self {
        Self::of(policy, |binding| counts(binding, namespace))
    }

    /// Resolves the bindings of all places.
    pub fn everywhere(policy: &Policy<'a>) -> Self {
        Self::of(policy, |_| true)
    }

    fn of(policy: &Policy<'a>, is_included: impl Fn(&Binding) -> bool) -> Self {
        let roles: HashMap<(Option<&str>, &str), &'a Role> = policy
            .cluster_roles
            .iter()
            .map(|role| ((None, role.metadata.name.as_str()), role))
            .chain(policy.roles.iter().map(|role| {
                let name = role.metadata.name.as_str();
                ((role.metadata.namespace.as_deref(), name), role)
            }))
            .collect();
        let mut resolved = Self {
            grants: Vec::new(),
            dangling: Vec::new(),
        };
        for binding in policy.bindings {
            if !is_included(binding) {
                continue;
            }
            let name = binding.role_ref.name.as_str();
            let role = match (
                binding.role_ref.kind.as_str(),
                binding.metadata.namespace.as_deref(),
            ) {
                ("ClusterRole", _) => roles.get(&(None, name)),
                ("Role", Some(namespace)) => roles.get(&(Some(namespace), name)),
                // the API server ignores a Role in a ClusterRoleBinding
                _ => None,
            };
            match role {
                Some(role) => resolved.add(binding, role),
                None => resolved.dangling.push(DanglingBinding {
                    binding: binding.reference(),
                    role: RoleRef::from(&binding.role_ref),
                }),
            }
        }
        resolved.dangling.sort_by(|a, b| {
            let key = |found: &DanglingBinding| {
                (found.binding.namespace.clone(), found.binding.name.clone())
            };
            key(a).cmp(&key(b))
        });
        resolved
    }

    fn add(&mut self, binding: &'a Binding, role: &'a Role) {
        let first = self.grants.len();
        for bound in binding.subjects() {
            let Some(subject) = subject(bound, binding) else {
                continue;
            };
            if self.grants[first..]
                .iter()
                .all(|known| known.subject != subject)
            {
                self.grants.push(Grant {
                    subject,
                    binding,
                    rules: role.rules.as_deref().unwrap_or_default(),
                });
            }
        }
    }
}

impl Grant<'_> {
    fn matching(&self, question: &RightQuestion) -> Option<&Rule> {
        self.rules
            .iter()
            .find(|rule| rules::matches(rule, question))
    }

    fn holder(&self, rule: &Rule, grants_by: Option<GrantMeans>) -> PermissionHolder {
        PermissionHolder {
            subject: self.subject.clone(),
            binding: self.binding.reference(),
            role: RoleRef::from(&self.binding.role_ref),
            rule: MatchedRule {
                verbs: rule.verbs.clone(),
                groups: rule.api_groups.clone(),
                resources: rule.resources.clone(),
                names: rule.resource_names.clone(),
            },
            scope: match &self.binding.metadata.namespace {
                Some(name) => PermissionScope::Namespace { name: name.clone() },
                None => PermissionScope::Cluster,
            },
            grants_by,
        }
    }
}

/// Returns whether a binding counts in a namespace (`None`: the whole cluster).
fn counts(binding: &Binding, namespace: Option<&str>) -> bool {
    let own = binding.metadata.namespace.as_deref();
    own.is_none() || own == namespace
}

/// Returns the subject that a binding names, or `None` for one that the API server ignores.
pub fn subject(bound: &BoundSubject, binding: &Binding) -> Option<Subject> {
    let name = bound.name.clone();
    match bound.kind.as_str() {
        "User" => Some(Subject::User { name }),
        "Group" => Some(Subject::Group { name }),
        "ServiceAccount" => bound
            .namespace
            .clone()
            .filter(|namespace| !namespace.is_empty())
            .or_else(|| binding.metadata.namespace.clone())
            .map(|namespace| Subject::ServiceAccount { namespace, name }),
        _ => None,
    }
}

/// Sorts the widest first; see [`WhoCan::holders`].
fn sort(holders: &mut [PermissionHolder]) {
    holders.sort_by(|a, b| order(a).cmp(&order(b)));
}

fn order(holder: &PermissionHolder) -> impl Ord {
    let (kind, namespace, name) = match &holder.subject {
        Subject::Group { name } => (0, "", name),
        Subject::User { name } => (1, "", name),
        Subject::ServiceAccount { namespace, name } => (2, namespace.as_str(), name),
        Subject::KeystoneRole { id, .. } => (3, "", id),
        Subject::KeystoneProject { id, .. } => (4, "", id),
        Subject::KeystoneUser { id, .. } => (5, "", id),
    };
    (
        holder.scope != PermissionScope::Cluster,
        !holder.rule.names.is_empty(),
        (kind, namespace.to_owned(), name.clone()),
        (
            holder.binding.namespace.clone(),
            holder.binding.name.clone(),
        ),
        holder.grants_by,
    )
}

#[cfg(test)]
#[path = "who_can_tests.rs"]
mod tests;
