//! Lint of policies: finds what a policy allows although its author probably did not intend it.
//!
//! Most findings come from trying the policy: for each rule, a user to whom it applies is invented,
//! and the policy is evaluated for accesses that no user should get by accident.
use super::attributes::extra;
use super::membership::Membership;
use super::reference::{Entry, KINDS, Side};
use super::{Attributes, Policy, ResourceAttributes, Step, Target, User};
use portico_domain::identity::{project_group, project_role_group, user_group};
use std::fmt;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Useful to know.
    Note,
    /// More is allowed than the text suggests, or a part has no effect.
    Warning,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    /// The rule, counted from one.
    pub rule: usize,
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}: rule {}: {}", self.rule, self.message)
    }
}

/// Access that grants more than its name suggests: verb, resource, whether namespaced, and why it
/// matters.
const SENSITIVE_ACCESS: [(&str, &str, bool, &str); 12] = [
    (
        "get",
        "pods/exec",
        true,
        "runs commands in pods (a WebSocket is a get)",
    ),
    ("create", "pods/exec", true, "runs commands in pods"),
    ("get", "pods/attach", true, "attaches to processes in pods"),
    (
        "get",
        "pods/portforward",
        true,
        "reaches every port of pods",
    ),
    (
        "get",
        "services/proxy",
        true,
        "reaches what is behind services",
    ),
    (
        "get",
        "nodes/proxy",
        false,
        "is the kubelet's API: commands in every pod of the node",
    ),
    ("get", "secrets", true, "reads secrets"),
    ("list", "secrets", true, "reads secrets"),
    (
        "create",
        "serviceaccounts/token",
        true,
        "makes tokens of service accounts",
    ),
    (
        "create",
        "rolebindings.rbac.authorization.k8s.io",
        true,
        "hands out roles",
    ),
    (
        "create",
        "clusterrolebindings.rbac.authorization.k8s.io",
        false,
        "hands out roles in the whole cluster",
    ),
    ("impersonate", "users", false, "impersonates any user"),
];

/// Maximum number of namespaces in which one rule is tried: what a rule allows in one namespace of
/// a list, it allows in all of that list.
const MAX_NAMESPACES: usize = 256;

/// A namespace that policies rarely name.
const UNNAMED_NAMESPACE: &str = "default";

pub(super) fn lint(policy: &Policy) -> Vec<Finding> {
    let mut found = Vec::new();
    for index in 0..policy.len() {
        let mut say = |severity, message: String| {
            found.push(Finding {
                severity,
                rule: index + 1,
                message,
            });
        };
        if let Policy::Reference(rules) = policy
            && let Some(entry) = rules.entries().get(index)
        {
            shape(entry, &mut say);
        }
        let user = matching_user(policy, index);
        let tried = Tried {
            policy,
            index,
            membership: Membership::of(&user),
        };
        if tried.allows_everything() {
            say(
                Severity::Note,
                format!("gives everything to {}", policy.describe(index)),
            );
            continue;
        }
        for (verb, resource, namespaced, why) in SENSITIVE_ACCESS {
            let place = places(policy, index, namespaced)
                .into_iter()
                .find(|place| tried.allows(verb, resource, place));
            if let Some(place) = place {
                let place = match place.as_str() {
                    "" => String::new(),
                    place => format!(" in {place}"),
                };
                say(
                    Severity::Warning,
                    format!("allows {verb} {resource}{place}, which {why}"),
                );
            }
        }
    }
    found
}

/// Checks the text of an entry in the reference's format.
fn shape(entry: &Entry, say: &mut impl FnMut(Severity, String)) {
    if let Some(users) = &entry.users
        && users.projects.is_empty()
    {
        say(
            Severity::Warning,
            "names no project, so it matches no user".to_owned(),
        );
    }
    let projects = entry.users.iter().flat_map(|users| &users.projects).chain(
        entry
            .matches
            .iter()
            .filter(|one| one.kind == "project")
            .flat_map(|one| &one.values),
    );
    for project in projects.filter(|project| *project != "*") {
        say(
            Severity::Warning,
            format!(
                "project {project:?} matches its ID and any project of that name in any domain; \
                 the strict format compares IDs only"
            ),
        );
    }
    for one in &entry.matches {
        if !KINDS.contains(&one.kind.as_str()) {
            say(
                Severity::Warning,
                format!(
                    "match type {:?} is unknown, so the entry never applies",
                    one.kind
                ),
            );
        }
    }
    for permission in entry.resource_permissions.iter().flatten() {
        let key = &permission.key;
        match &permission.sides {
            None => say(
                Severity::Warning,
                format!("{key:?} is ignored: it must be one NAMESPACES/RESOURCES"),
            ),
            Some((_, Side::Not(_) | Side::NoneOf(_))) => say(
                Severity::Warning,
                format!("{key:?} also means every kind that is added later"),
            ),
            Some(_) => {}
        }
    }
}

/// Returns a user to whom the rule applies.
fn matching_user(policy: &Policy, index: usize) -> User {
    let mut user = User::default();
    match policy {
        Policy::Reference(rules) => {
            let Some(entry) = rules.entries().get(index) else {
                return user;
            };
            let (mut roles, mut projects) = (Vec::new(), Vec::new());
            if let Some(users) = &entry.users {
                roles.clone_from(&users.roles);
                projects.extend(users.projects.first().cloned());
            }
            for one in &entry.matches {
                let Some(value) = one.values.first().cloned() else {
                    continue;
                };
                match one.kind.as_str() {
                    "role" => roles.push(value),
                    "project" => projects.push(value),
                    "group" => user.groups.push(value),
                    _ => user.name = value,
                }
            }
            user.extra.insert(extra::ROLES.to_owned(), roles);
            user.extra.insert(extra::PROJECT_ID.to_owned(), projects);
        }
        Policy::Strict(rules) => {
            let Some(rule) = rules.rules().get(index) else {
                return user;
            };
            let subjects = &rule.subjects;
            if let Some(id) = subjects.user_ids.first() {
                user.uid.clone_from(id);
                user.groups.push(user_group(id));
            }
            let project = subjects.project_ids.first();
            user.groups.extend(project.map(|id| project_group(id)));
            for role in &subjects.role_ids {
                user.groups.push(role.clone());
                user.groups
                    .extend(project.map(|id| project_role_group(id, role)));
            }
        }
    }
    user
}

/// Returns the namespaces to try: one that no rule names, those of this rule, and none.
fn places(policy: &Policy, index: usize, namespaced: bool) -> Vec<String> {
    if !namespaced {
        return vec![String::new()];
    }
    let mut places = vec![UNNAMED_NAMESPACE.to_owned()];
    match policy {
        Policy::Reference(rules) => {
            let Some(entry) = rules.entries().get(index) else {
                return places;
            };
            places.extend(entry.resource.iter().map(|one| one.namespace.clone()));
            for permission in entry.resource_permissions.iter().flatten() {
                match &permission.sides {
                    Some((Side::One(one), _)) => places.push(one.clone()),
                    Some((Side::AnyOf(list), _)) => places.extend(first_name(list)),
                    _ => {}
                }
            }
        }
        Policy::Strict(rules) => {
            let named = rules.rules().get(index).into_iter();
            let named = named.flat_map(|rule| &rule.resources);
            places.extend(named.filter_map(|one| first_name(&one.namespaces)));
        }
    }
    places.retain(|place| !place.is_empty() && place != "*");
    places.truncate(MAX_NAMESPACES);
    places
}

/// Returns the first name in the list: a star is tried elsewhere.
fn first_name(list: &[String]) -> Option<String> {
    let mut names = list.iter();
    names.find(|name| !name.is_empty() && *name != "*").cloned()
}

/// One rule, and a user to whom it applies.
struct Tried<'a> {
    policy: &'a Policy,
    index: usize,
    membership: Membership<'a>,
}

impl Tried<'_> {
    fn allows(&self, verb: &str, resource: &str, namespace: &str) -> bool {
        let attributes = Attributes {
            // the user is that of the membership
            user: User::default(),
            verb: verb.to_owned(),
            target: Target::Resource(ResourceAttributes {
                namespace: namespace.to_owned(),
                ..ResourceAttributes::parse(resource)
            }),
        };
        self.policy.step(self.index, &attributes, &self.membership) == Step::Allows
    }

    /// Returns whether the rule is an administrator's, which need not be analysed.
    fn allows_everything(&self) -> bool {
        // names that no real rule would list
        let strange = "unheard-of";
        self.allows(strange, strange, "kube-system") && self.allows(strange, strange, "")
    }
}
