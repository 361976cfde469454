//! What a policy allows and its author probably did not mean.
//!
//! Mostly found by asking: for each rule a user is made up whom it is about, and the policy is
//! asked whether that user may do what nobody should be given by accident.
use super::attributes::extra;
use super::membership::Membership;
use super::reference::{Entry, KINDS, Side};
use super::{Attributes, Policy, ResourceAttributes, Step, Target, User};
use portico_domain::identity::{project_group, project_role_group, user_group};
use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// More is open than the text says, or a part has no effect.
    Warning,
}

/// One remark.
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

/// What opens more than it seems to: verb, resource, in a namespace or not, and why it matters.
const HOLES: [(&str, &str, bool, &str); 12] = [
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
    ("impersonate", "users", false, "acts as anybody"),
];

/// In how many namespaces one rule is tried: what a rule allows in one of its lists of namespaces, it
/// allows in all of that list.
const MAX_PLACES: usize = 256;

/// A namespace that policies tend not to name.
const SOMEWHERE: &str = "default";

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
        let user = somebody(policy, index);
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
        for (verb, resource, namespaced, why) in HOLES {
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

/// What the text of an entry of the reference says of itself.
fn shape(entry: &Entry, say: &mut impl FnMut(Severity, String)) {
    if let Some(users) = &entry.users
        && users.projects.is_empty()
    {
        say(
            Severity::Warning,
            "names no project, and so is about nobody".to_owned(),
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
                "project {project:?} is met by its ID and by any project of that name in any \
                 domain; the strict format compares IDs only"
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
                format!("{key:?} is passed over: it must be one NAMESPACES/RESOURCES"),
            ),
            Some((_, Side::Not(_) | Side::NoneOf(_))) => say(
                Severity::Warning,
                format!("{key:?} also means every kind that is added later"),
            ),
            Some(_) => {}
        }
    }
}

/// A user whom the rule is about.
fn somebody(policy: &Policy, index: usize) -> User {
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

/// Where to look: a namespace that no rule names, those that this one does, and none.
fn places(policy: &Policy, index: usize, namespaced: bool) -> Vec<String> {
    if !namespaced {
        return vec![String::new()];
    }
    let mut places = vec![SOMEWHERE.to_owned()];
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
    places.truncate(MAX_PLACES);
    places
}

/// The first that is a name: a star is tried elsewhere.
fn first_name(list: &[String]) -> Option<String> {
    let mut names = list.iter();
    names.find(|name| !name.is_empty() && *name != "*").cloned()
}

/// One rule, and a user whom it is about.
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

    /// Whether the rule is an administrator's, which need not be taken apart.
    fn allows_everything(&self) -> bool {
        // names that no real rule would list
        let strange = "unheard-of";
        self.allows(strange, strange, "kube-system") && self.allows(strange, strange, "")
    }
}
