//! What a subject can do, from the cluster's roles and bindings alone, with the same reading of them as
//! for the question who can do something.
mod answer;

pub use answer::answer;

use super::{
    preview::explain,
    who_can::{Policy, Resolved, identities, subject},
};
use crate::kube::rbac::Binding;
use portico_domain::panel::{
    BoundRules, DanglingBinding, PermissionScope, PlaceRights, RoleRef, Subject,
};
use std::collections::{BTreeMap, HashSet};

/// Returns whether a binding names one of the subjects.
fn names_any(binding: &Binding, subjects: &[Subject]) -> bool {
    binding
        .subjects()
        .iter()
        .filter_map(|bound| subject(bound, binding))
        .any(|bound| subjects.contains(&bound))
}

/// Returns the rules that bindings give to `subjects`, which are one subject and the groups that it
/// is in, and the bindings of them whose role does not exist.
fn what_can(policy: &Policy<'_>, subjects: &[Subject]) -> (Vec<PlaceRights>, Vec<DanglingBinding>) {
    let resolved = Resolved::everywhere(policy);
    let mut places: BTreeMap<Option<String>, Vec<BoundRules>> = BTreeMap::new();
    for grant in &resolved.grants {
        let Some(at) = subjects.iter().position(|one| *one == grant.subject) else {
            continue;
        };
        let binding = grant.binding.reference();
        let (rules, _) = explain(grant.rules, binding.namespace.is_some());
        places
            .entry(binding.namespace.clone())
            .or_default()
            .push(BoundRules {
                role: RoleRef::from(&grant.binding.role_ref),
                through: (at > 0).then(|| grant.subject.clone()),
                binding,
                rules,
            });
    }
    let places = places.into_iter().map(|(namespace, mut grants)| {
        grants.sort_by(|a, b| {
            let key = |one: &BoundRules| (one.through.is_some(), one.binding.name.clone());
            key(a).cmp(&key(b))
        });
        PlaceRights {
            scope: match namespace {
                Some(name) => PermissionScope::Namespace { name },
                None => PermissionScope::Cluster,
            },
            grants,
        }
    });
    let own: HashSet<_> = policy
        .bindings
        .iter()
        .filter(|binding| names_any(binding, subjects))
        .map(Binding::reference)
        .collect();
    let mut dangling = resolved.dangling;
    dangling.retain(|found| own.contains(&found.binding));
    (places.collect(), dangling)
}

/// Returns a subject and everything in whose name it acts: the groups that the API server adds, and
/// those in `groups`.
fn with_groups(subject: &Subject, groups: &[String]) -> Vec<Subject> {
    let mut all = identities(subject);
    for name in groups {
        let group = Subject::Group { name: name.clone() };
        if !all.contains(&group) {
            all.push(group);
        }
    }
    all
}

#[cfg(test)]
#[path = "what_can_tests.rs"]
mod tests;
