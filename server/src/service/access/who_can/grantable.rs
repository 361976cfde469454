//! Who could give a permission to others.
//!
//! There are two ways. A subject may write a binding to a role with the permission; the API server
//! then requires that it holds all permissions of the role, or has `bind` on it. Or it may change a
//! role that is bound, or that it could bind; then it has to hold all permissions of the changed
//! role, or have `escalate` on it. Ways around these checks (impersonation, tokens of service
//! accounts, pods that run as one, labels of aggregated ClusterRoles) are not considered. A
//! ClusterRole with an aggregation rule is treated as any other, although it takes `escalate` or all
//! permissions of the cluster to change it.
use super::{
    Policy, Resolved,
    candidate::{Candidate, GrantsBySubject, Permit},
    counts, normalized, rules, sort,
};
use crate::kube::{
    rbac::{Binding, GROUP, Role},
    reviews::Rule,
};
use portico_domain::panel::{GrantMeans, PermissionHolder, RightQuestion, Subject, WhoCan};
use std::collections::{HashMap, HashSet};

/// Returns the subjects that could grant a permission in its namespace, or in the whole cluster if
/// it has none; one entry for each binding that lets a subject write bindings or roles.
pub fn grantable(policy: &Policy<'_>, question: &RightQuestion) -> WhoCan {
    let question = normalized(question);
    let namespace = question.namespace.as_deref();
    let resolved = Resolved::new(policy, namespace);
    let target = Target::new(policy, &question);
    let mut by_subject = GrantsBySubject::new();
    for grant in &resolved.grants {
        by_subject.entry(&grant.subject).or_default().push(grant);
    }
    let mut found: Vec<Way<'_>> = Vec::new();
    for subject in by_subject.keys() {
        let candidate = Candidate::new(subject, &by_subject);
        if candidate.may_write_rbac() {
            for (source, mut holder) in target.ways(&candidate) {
                holder.subject = (*subject).clone();
                found.push((source, holder));
            }
        }
    }
    // a group that could grant by itself is listed once, not again for each of its known members
    let by_itself: HashSet<_> = found
        .iter()
        .filter(|(source, holder)| **source == holder.subject)
        .map(|(source, holder)| (*source, holder.binding.clone()))
        .collect();
    let mut holders: Vec<_> = found
        .into_iter()
        .filter(|(source, holder)| {
            **source == holder.subject || !by_itself.contains(&(*source, holder.binding.clone()))
        })
        .map(|(_, holder)| holder)
        .collect();
    sort(&mut holders);
    WhoCan {
        holders,
        dangling: resolved.dangling,
    }
}

/// The kind of a role, and where it is.
#[derive(Clone, Copy, PartialEq)]
struct RoleKind<'a> {
    resource: &'static str,
    namespace: Option<&'a str>,
}

struct RoleObject<'a> {
    kind: RoleKind<'a>,
    name: &'a str,
    rules: &'a [Rule],
    has_permission: bool,
    /// The names of its bindings, by where they count.
    bindings: HashMap<Option<&'a str>, Vec<&'a str>>,
    has_subjects: bool,
}

/// The permission to be granted, and the roles that could be bound or changed for it.
struct Target<'a> {
    question: &'a RightQuestion,
    roles: Vec<RoleObject<'a>>,
    /// Where a binding would count: the cluster, and the namespace if there is one.
    places: Vec<Option<&'a str>>,
}

/// The subject whose binding permits the writing, and the entry for the candidate.
type Way<'a> = (&'a Subject, PermissionHolder);

impl<'a> Target<'a> {
    fn new(policy: &Policy<'a>, question: &'a RightQuestion) -> Self {
        let namespace = question.namespace.as_deref();
        let mut bindings: HashMap<_, Vec<&'a Binding>> = HashMap::new();
        for binding in policy.bindings {
            if counts(binding, namespace) {
                let role = &binding.role_ref;
                bindings
                    .entry((role.kind.as_str(), role.name.as_str()))
                    .or_default()
                    .push(binding);
            }
        }
        let object = |kind: RoleKind<'a>, role: &'a Role| {
            let name = role.metadata.name.as_str();
            let rules = role.rules.as_deref().unwrap_or_default();
            let mut object = RoleObject {
                kind,
                name,
                rules,
                has_permission: rules.iter().any(|rule| rules::matches(rule, question)),
                bindings: HashMap::new(),
                has_subjects: false,
            };
            for binding in bindings.get(&(kind.name(), name)).into_iter().flatten() {
                let place = binding.metadata.namespace.as_deref();
                if kind.is_bindable(place) {
                    let names = object.bindings.entry(place).or_default();
                    names.push(&binding.metadata.name);
                    object.has_subjects |= !binding.subjects().is_empty();
                }
            }
            object
        };
        let own_roles = policy
            .roles
            .iter()
            .filter(|role| namespace.is_some() && role.metadata.namespace.as_deref() == namespace);
        Self {
            question,
            roles: policy
                .cluster_roles
                .iter()
                .map(|role| object(CLUSTER_ROLE, role))
                .chain(own_roles.map(|role| object(role_in(namespace), role)))
                .collect(),
            places: std::iter::once(None).chain(namespace.map(Some)).collect(),
        }
    }

    /// Returns the ways in which a candidate could grant the permission, each binding once.
    fn ways(&self, candidate: &Candidate<'a>) -> Vec<Way<'a>> {
        let mut found = Vec::new();
        for place in self.places.iter().copied() {
            self.by_new_binding(candidate, place, &mut found);
            self.by_existing_binding(candidate, place, &mut found);
        }
        for kind in self.kinds() {
            self.by_role(candidate, kind, &mut found);
        }
        found.sort_by_key(|(_, holder)| holder.grants_by);
        let mut seen = HashSet::new();
        found.retain(|(source, holder)| seen.insert((*source, holder.binding.clone())));
        found
    }

    fn by_new_binding(
        &self,
        candidate: &Candidate<'a>,
        place: Option<&str>,
        found: &mut Vec<Way<'a>>,
    ) {
        let create = asks("create", bindings_in(place), place, "");
        let mut permits = candidate.permits(&create).peekable();
        if permits.peek().is_none() {
            return;
        }
        // what is held comes from a role that the candidate can bind again
        let means = if self.is_held(candidate, place) {
            GrantMeans::Holds
        } else if self.roles.iter().any(|role| {
            role.has_permission && role.kind.is_bindable(place) && role.may_bind(candidate, place)
        }) {
            GrantMeans::Bind
        } else if self
            .kinds()
            .any(|kind| kind.is_bindable(place) && can_bind_new_role(candidate, kind, place))
        {
            GrantMeans::Escalate
        } else {
            return;
        };
        found.extend(permits.map(|permit| way(permit, means)));
    }

    fn by_existing_binding(
        &self,
        candidate: &Candidate<'a>,
        place: Option<&str>,
        found: &mut Vec<Way<'a>>,
    ) {
        for permit in candidate.changes(bindings_in(place), place) {
            let means = self
                .roles
                .iter()
                .filter(|role| role.has_permission && role.has_binding(place, permit.1))
                .filter_map(|role| role.means_to_bind(candidate, place))
                .min();
            found.extend(means.map(|means| way(permit, means)));
        }
    }

    fn by_role(&self, candidate: &Candidate<'a>, kind: RoleKind<'_>, found: &mut Vec<Way<'a>>) {
        let home = kind.namespace;
        let is_held = self.is_held(candidate, home);
        for permit in candidate.changes(kind.resource, home) {
            let means = self
                .roles
                .iter()
                .filter(|role| role.kind == kind && rules::covers_name(permit.1, role.name))
                .filter_map(|role| {
                    let means = if is_held && candidate.covers(role.rules, home) {
                        GrantMeans::Holds
                    } else if candidate.can(&kind.asks("escalate", role.name)) {
                        GrantMeans::Escalate
                    } else {
                        return None;
                    };
                    self.would_count(role, candidate).then_some(means)
                })
                .min();
            found.extend(means.map(|means| way(permit, means)));
        }
    }

    /// Returns whether the rules of a role reach a subject, or would after the candidate binds it.
    fn would_count(&self, role: &RoleObject<'_>, candidate: &Candidate<'_>) -> bool {
        let could_bind = |place: Option<&str>| {
            role.kind.is_bindable(place)
                && candidate.can(&asks("create", bindings_in(place), place, ""))
                && role.means_to_bind(candidate, place).is_some()
        };
        role.has_subjects || self.places.iter().copied().any(could_bind)
    }

    fn kinds(&self) -> impl Iterator<Item = RoleKind<'a>> {
        self.places.iter().map(|place| match place {
            None => CLUSTER_ROLE,
            namespace => role_in(*namespace),
        })
    }

    /// Returns whether the candidate has the permission itself.
    fn is_held(&self, candidate: &Candidate<'_>, place: Option<&str>) -> bool {
        candidate.can(&RightQuestion {
            namespace: place.map(str::to_owned),
            ..self.question.clone()
        })
    }
}

const CLUSTER_ROLE: RoleKind<'static> = RoleKind {
    resource: "clusterroles",
    namespace: None,
};

fn role_in(namespace: Option<&str>) -> RoleKind<'_> {
    RoleKind {
        resource: "roles",
        namespace,
    }
}

impl RoleKind<'_> {
    fn name(self) -> &'static str {
        if self.namespace.is_none() {
            "ClusterRole"
        } else {
            "Role"
        }
    }

    /// Returns whether a binding in a place can refer to it: a ClusterRoleBinding only to a
    /// ClusterRole.
    fn is_bindable(self, place: Option<&str>) -> bool {
        self.namespace.is_none() || self.namespace == place
    }

    fn asks(self, verb: &str, name: &str) -> RightQuestion {
        asks(verb, self.resource, self.namespace, name)
    }
}

impl RoleObject<'_> {
    /// Returns whether a rule for bindings counts for one of the role's.
    fn has_binding(&self, place: Option<&str>, rule: &Rule) -> bool {
        self.bindings
            .get(&place)
            .is_some_and(|names| names.iter().any(|name| rules::covers_name(rule, name)))
    }

    /// Returns what lets a candidate bind the role as it is, apart from writing the binding.
    fn means_to_bind(&self, candidate: &Candidate<'_>, place: Option<&str>) -> Option<GrantMeans> {
        if candidate.covers(self.rules, place) {
            Some(GrantMeans::Holds)
        } else {
            self.may_bind(candidate, place).then_some(GrantMeans::Bind)
        }
    }

    fn may_bind(&self, candidate: &Candidate<'_>, place: Option<&str>) -> bool {
        candidate.can(&asks("bind", self.kind.resource, place, self.name))
    }
}

fn way((grant, rule): Permit<'_>, means: GrantMeans) -> Way<'_> {
    (&grant.subject, grant.holder(rule, Some(means)))
}

/// Returns whether a candidate can make a role with any permission and bind it.
fn can_bind_new_role(candidate: &Candidate<'_>, kind: RoleKind<'_>, place: Option<&str>) -> bool {
    let may = |verb| candidate.can(&kind.asks(verb, ""));
    let binds = || candidate.can(&asks("bind", kind.resource, place, ""));
    // without `bind`, an empty role can be bound and then changed
    may("create") && may("escalate") && (binds() || may("update") || may("patch"))
}

fn bindings_in(place: Option<&str>) -> &'static str {
    if place.is_some() {
        "rolebindings"
    } else {
        "clusterrolebindings"
    }
}

fn asks(verb: &str, resource: &str, namespace: Option<&str>, name: &str) -> RightQuestion {
    RightQuestion {
        verb: verb.to_owned(),
        group: GROUP.to_owned(),
        resource: resource.to_owned(),
        subresource: String::new(),
        namespace: namespace.map(str::to_owned),
        name: (!name.is_empty()).then(|| name.to_owned()),
    }
}

#[cfg(test)]
#[path = "grantable_tests.rs"]
mod tests;
