//! Version 2: `resource_permissions` and `nonresource_permissions`.
use super::super::any;
use super::super::attributes::ResourceAttributes;

/// One side of a key `NAMESPACES/RESOURCES`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Side {
    All,
    One(String),
    Not(String),
    AnyOf(Vec<String>),
    NoneOf(Vec<String>),
}

impl Side {
    /// Parses one side; `None` for an invalid list, whose key has no effect.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        if text == "*" {
            return Some(Self::All);
        }
        match text.strip_prefix('!') {
            Some(rest) if rest.starts_with('[') => list(rest).map(Self::NoneOf),
            Some(rest) => Some(Self::Not(rest.to_owned())),
            None if text.starts_with('[') => list(&text).map(Self::AnyOf),
            None => Some(Self::One(text)),
        }
    }

    fn covers(&self, value: &str) -> bool {
        let meant = |list: &[String]| list.iter().any(|one| one == "*" || one == value);
        match self {
            Self::All => true,
            Self::One(one) => one == value,
            Self::Not(one) => one != value && one != "*",
            Self::AnyOf(list) => meant(list),
            Self::NoneOf(list) => !meant(list),
        }
    }
}

/// Parses `['a', 'b']`: JSON except for its quotes. The reference requires the first `]` to be the
/// last character.
fn list(text: &str) -> Option<Vec<String>> {
    if text.find(']') != Some(text.len().checked_sub(1)?) {
        return None;
    }
    let items: Vec<Option<String>> = serde_json::from_str(&text.replace('\'', "\"")).ok()?;
    Some(items.into_iter().map(Option::unwrap_or_default).collect())
}

/// A key of `resource_permissions` with its verbs. Subresource, API group and name are not
/// evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Permission {
    pub key: String,
    /// Namespaces and resources; `None` for a key that is ignored.
    pub sides: Option<(Side, Side)>,
    verbs: Vec<String>,
}

impl Permission {
    pub(super) fn new(key: String, verbs: Vec<String>) -> Self {
        Self {
            sides: sides(&key),
            verbs: verbs.iter().map(|verb| verb.to_lowercase()).collect(),
            key,
        }
    }

    pub(super) fn names(&self, target: &ResourceAttributes, verb: &str) -> bool {
        let Some((namespaces, resources)) = &self.sides else {
            return false;
        };
        let in_namespace = if target.namespace.is_empty() {
            *namespaces == Side::All
        } else {
            namespaces.covers(&target.namespace)
        };
        in_namespace && resources.covers(&target.resource) && any(&self.verbs, verb)
    }
}

fn sides(key: &str) -> Option<(Side, Side)> {
    let (namespaces, resources) = key.split_once('/')?;
    if resources.contains('/') {
        return None;
    }
    Some((Side::parse(namespaces)?, Side::parse(resources)?))
}

/// A key of `nonresource_permissions`, which must equal the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct PathPermission {
    pub(super) path: String,
    pub(super) verbs: Vec<String>,
}

impl PathPermission {
    pub(super) fn names(&self, path: &str, verb: &str) -> bool {
        self.path == path && any(&self.verbs, verb)
    }
}
