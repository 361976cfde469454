//! Version 1: `resource` or `nonresource` with `match`.
use super::super::any;
use super::super::attributes::ResourceAttributes;
use super::super::membership::{Membership, holds_any};

/// `resource`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Resource {
    pub verbs: Vec<String>,
    pub resources: Vec<String>,
    /// The API group; its key is `version`.
    pub group: String,
    pub namespace: String,
}

/// `nonresource`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct NonResource {
    pub verbs: Vec<String>,
    /// If missing, the entry never applies.
    pub path: Option<String>,
}

/// One condition of `match`; all conditions must hold, the values are alternatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Match {
    pub kind: String,
    pub values: Vec<String>,
}

/// The types that the reference supports.
pub(in super::super) const KINDS: [&str; 4] = ["group", "project", "role", "user"];

impl Resource {
    pub fn names(&self, target: &ResourceAttributes, verb: &str) -> bool {
        let same = |definition: &str, value: &str| definition == "*" || definition == value;
        same(&self.group, &target.group)
            && same(&self.namespace, &target.namespace)
            && self.names_resource(target)
            && any(&self.verbs, verb)
    }

    fn names_resource(&self, target: &ResourceAttributes) -> bool {
        if target.subresource.is_empty() {
            return any(&self.resources, &target.resource);
        }
        any(&self.resources, &target.with_subresource())
            || holds(&self.resources, &format!("{}/*", target.resource))
    }
}

impl NonResource {
    pub fn names(&self, path: &str, verb: &str) -> bool {
        let Some(definition) = &self.path else {
            return false;
        };
        // an empty verb disables the whole entry
        !holds(&self.verbs, "")
            && any(&self.verbs, verb)
            && (definition == "*"
                || definition == path
                || (definition.ends_with('*')
                    && path.starts_with(definition.trim_end_matches('*'))))
    }
}

/// Returns whether all conditions of `match` hold; without conditions, all users match.
pub(super) fn all_match(matches: &[Match], membership: &Membership<'_>) -> bool {
    matches.iter().all(|one| one.holds(membership))
}

impl Match {
    fn holds(&self, membership: &Membership<'_>) -> bool {
        if !KINDS.contains(&self.kind.as_str()) {
            return false;
        }
        if holds(&self.values, "*") {
            return true;
        }
        match self.kind.as_str() {
            "group" => holds_any(&membership.groups, &self.values),
            "role" => holds_any(&membership.role_names, &self.values),
            "project" => holds_any(&membership.projects, &self.values),
            // the reference loses the UID, so only the name can match; it also takes an empty value
            // as all users, which is refused when the policy is read
            _ => holds(&self.values, &membership.user.name),
        }
    }
}

fn holds(list: &[String], value: &str) -> bool {
    list.iter().any(|one| one == value)
}
