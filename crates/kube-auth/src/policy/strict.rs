//! The strict format: role, project and user IDs, never names; subresources, API groups and names
//! of objects; and no rule that implies running commands without naming it.
//!
//! ```yaml
//! apiVersion: kube-auth.portico.dev/v1
//! kind: Policy
//! rules:
//! - name: readers of the shop
//!   subjects: { roleIDs: [d1514ff3…], projectIDs: [2b7f85af…] }
//!   resources:
//!   - { groups: ["", apps], resources: [pods, pods/log, deployments], namespaces: [shop], verbs: [get, list, watch] }
//!   paths:
//!   - { paths: [/healthz, "/api/*"], verbs: [get] }
//! ```
use super::attributes::ResourceAttributes;
use super::bounds::{self, check_rules};
use super::membership::{Membership, holds_any};
use super::{Attributes, PolicyError, Step, Target, any};
use portico_runtime::yaml;
use serde::Deserialize;
use std::collections::HashSet;

pub(super) const API_VERSION: &str = "kube-auth.portico.dev/v1";

/// Subresources that run commands, reach nodes and pods, or create credentials. No wildcard
/// includes them.
pub(super) const DANGEROUS: [&str; 6] = [
    "attach",
    "ephemeralcontainers",
    "exec",
    "portforward",
    "proxy",
    "token",
];

/// The rules, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    api_version: String,
    kind: String,
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// For explanations and logs.
    pub name: String,
    pub subjects: Subjects,
    #[serde(default)]
    pub resources: Vec<Resources>,
    #[serde(default)]
    pub paths: Vec<Paths>,
}

/// The subjects of a rule: all given fields must match; the values of each are alternatives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Subjects {
    #[serde(default, rename = "roleIDs")]
    pub role_ids: Vec<String>,
    #[serde(default, rename = "projectIDs")]
    pub project_ids: Vec<String>,
    #[serde(default, rename = "userIDs")]
    pub user_ids: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Resources {
    pub groups: Vec<String>,
    /// `pods`, `pods/log`, `pods/*` (its subresources except the dangerous ones), `*`.
    pub resources: Vec<String>,
    /// Empty: any, and requests without one.
    #[serde(default)]
    pub names: Vec<String>,
    /// `*` means every namespace, but not requests without one.
    #[serde(default)]
    pub namespaces: Vec<String>,
    /// Requests without a namespace: cluster-scoped kinds, and lists over all namespaces.
    #[serde(default)]
    pub cluster_wide: bool,
    pub verbs: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paths {
    /// Exact, or a prefix that ends with `/*`.
    pub paths: Vec<String>,
    pub verbs: Vec<String>,
}

impl Rules {
    /// Reads a policy in YAML or JSON.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let document: Document = yaml::from_str(text, bounds::YAML)?;
        if document.api_version != API_VERSION || document.kind != "Policy" {
            return Err(PolicyError::Syntax(format!(
                "apiVersion must be {API_VERSION} and kind Policy"
            )));
        }
        check_rules(document.rules.len())?;
        for (index, rule) in document.rules.iter().enumerate() {
            rule.check().map_err(|problem| PolicyError::Rule {
                rule: index + 1,
                problem,
            })?;
        }
        Ok(Self(document.rules))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn rules(&self) -> &[Rule] {
        &self.0
    }

    pub(super) fn step(
        &self,
        index: usize,
        attributes: &Attributes,
        membership: &Membership<'_>,
    ) -> Step {
        let Some(rule) = self.0.get(index) else {
            return Step::OtherRequest;
        };
        let verb = attributes.verb.as_str();
        let named = match &attributes.target {
            Target::Resource(target) => rule.resources.iter().any(|one| one.name(target, verb)),
            Target::Path(path) => rule.paths.iter().any(|one| one.name(path, verb)),
        };
        if !rule.subjects.include(membership) {
            Step::OtherUser
        } else if named {
            Step::Allows
        } else {
            Step::OtherRequest
        }
    }

    pub fn describe(&self, index: usize) -> String {
        self.0
            .get(index)
            .map(|rule| rule.name.clone())
            .unwrap_or_default()
    }
}

impl Rule {
    fn check(&self) -> Result<(), String> {
        if self.name.trim().is_empty() {
            return Err("name is empty: an explanation names the rule that decides".to_owned());
        }
        let Subjects {
            role_ids,
            project_ids,
            user_ids,
        } = &self.subjects;
        if role_ids.is_empty() && project_ids.is_empty() && user_ids.is_empty() {
            return Err("subjects must name at least one role, project or user ID".to_owned());
        }
        for id in role_ids.iter().chain(project_ids).chain(user_ids) {
            if id.is_empty() || id.contains(['*', ':', ' ']) {
                return Err(format!("{id:?} is not a Keystone ID"));
            }
        }
        if self.resources.is_empty() && self.paths.is_empty() {
            return Err("it allows nothing: resources and paths are empty".to_owned());
        }
        for one in &self.resources {
            one.check()?;
        }
        for path in self.paths.iter().flat_map(|one| &one.paths) {
            let inner = path.strip_suffix("/*").unwrap_or(path);
            if !path.starts_with('/') || inner.contains('*') {
                return Err(format!(
                    "path {path:?} must start with / and may end with /*"
                ));
            }
        }
        Ok(())
    }
}

impl Subjects {
    fn include(&self, membership: &Membership<'_>) -> bool {
        let uid = &membership.user.uid;
        let in_project =
            self.project_ids.is_empty() || holds_any(&membership.project_ids, &self.project_ids);
        let is_user = self.user_ids.is_empty()
            || (membership.user_ids.contains(uid.as_str()) && self.user_ids.contains(uid));
        in_project && is_user && self.has_role(membership)
    }

    /// Returns whether the user has a role. A cluster of several projects has roles only as roles
    /// in a project.
    fn has_role(&self, membership: &Membership<'_>) -> bool {
        if self.role_ids.is_empty() || holds_any(&membership.groups, &self.role_ids) {
            return true;
        }
        if membership.project_roles.is_empty() {
            return false;
        }
        let wanted: HashSet<&str> = self.role_ids.iter().map(String::as_str).collect();
        let projects: HashSet<&str> = self.project_ids.iter().map(String::as_str).collect();
        projects
            .iter()
            .filter_map(|project| membership.project_roles.get(project))
            .any(|roles| !roles.is_disjoint(&wanted))
    }
}

impl Resources {
    fn check(&self) -> Result<(), String> {
        for (what, list) in [
            ("groups", &self.groups),
            ("resources", &self.resources),
            ("verbs", &self.verbs),
        ] {
            if list.is_empty() {
                return Err(format!("{what} must not be empty"));
            }
        }
        if self.namespaces.is_empty() && !self.cluster_wide {
            return Err("it needs namespaces or clusterWide: true".to_owned());
        }
        for resource in &self.resources {
            let bare = resource.strip_suffix("/*").unwrap_or(resource);
            let whole = bare == "*" && bare.len() == resource.len();
            if !whole && (bare.is_empty() || bare.contains('*')) {
                return Err(format!(
                    "resource {resource:?}: * is used alone, or for the subresources of one \
                     resource"
                ));
            }
        }
        Ok(())
    }

    fn name(&self, target: &ResourceAttributes, verb: &str) -> bool {
        let in_place = if target.namespace.is_empty() {
            self.cluster_wide
        } else {
            any(&self.namespaces, &target.namespace)
        };
        in_place
            && any(&self.groups, &target.group)
            && self.resources.iter().any(|one| covers(one, target))
            && (self.names.is_empty() || self.names.contains(&target.name))
            && any(&self.verbs, verb)
    }
}

fn covers(definition: &str, target: &ResourceAttributes) -> bool {
    let subresource = target.subresource.as_str();
    if let Some(resource) = definition.strip_suffix("/*") {
        return resource == target.resource
            && !subresource.is_empty()
            && !DANGEROUS.contains(&subresource);
    }
    (definition == "*" && subresource.is_empty()) || definition == target.with_subresource()
}

impl Paths {
    fn name(&self, path: &str, verb: &str) -> bool {
        let covered = self.paths.iter().any(|one| match one.strip_suffix("/*") {
            Some(prefix) => path
                .strip_prefix(prefix)
                .is_some_and(|rest| rest.starts_with('/')),
            None => one == path,
        });
        covered && any(&self.verbs, verb)
    }
}
