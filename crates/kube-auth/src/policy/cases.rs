//! Expectations of a policy, written by the policy's author.
use super::attributes::extra;
use super::{Attributes, ResourceAttributes, Target, User, bounds};
use portico_domain::identity::{project_group, project_role_group, user_group};
use portico_runtime::yaml::{self, YamlError};
use serde::Deserialize;

/// One expectation:
///
/// ```yaml
/// - name: a viewer may not run commands
///   user: { name: vera, roles: [{ id: d1514ff3…, name: k8s_viewer }], project: { id: 2b7f85af…, name: acme } }
///   verb: get
///   resource: pods/exec
///   namespace: shop
///   allowed: false
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    #[serde(default)]
    user: CaseUser,
    verb: String,
    /// `pods`, `pods/exec`, `deployments.apps/scale`.
    resource: Option<String>,
    path: Option<String>,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    object: String,
    pub allowed: bool,
}

/// A user in Keystone's terms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseUser {
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub roles: Vec<CaseRole>,
    pub project: Option<CaseRole>,
    /// More groups, besides those that follow from the other fields.
    #[serde(default)]
    pub groups: Vec<String>,
}

/// A role or project; empty fields are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseRole {
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub name: String,
}

/// The reason why a list of expectations cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaseError {
    #[error(transparent)]
    Yaml(#[from] YamlError),
    #[error("case {0:?} needs either resource or path")]
    Target(String),
}

impl Case {
    /// Reads a list of expectations in YAML or JSON.
    ///
    /// # Errors
    /// If it is not a valid list.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, CaseError> {
        let cases: Vec<Self> = yaml::from_str(text, bounds::YAML)?;
        match cases
            .iter()
            .find(|case| case.resource.is_some() == case.path.is_some())
        {
            Some(wrong) => Err(CaseError::Target(wrong.name.clone())),
            None => Ok(cases),
        }
    }

    /// Returns the request of the expectation.
    pub fn attributes(&self) -> Attributes {
        let target = self.path.as_ref().or(self.resource.as_ref());
        let target = target.map_or("", String::as_str);
        Self::request(
            &self.user,
            &self.verb,
            target,
            &self.namespace,
            &self.object,
        )
    }

    /// Returns a request from words; `target` is a resource, or a path if it starts with a slash.
    pub fn request(
        user: &CaseUser,
        verb: &str,
        target: &str,
        namespace: &str,
        name: &str,
    ) -> Attributes {
        let target = if target.starts_with('/') {
            Target::Path(target.to_owned())
        } else {
            Target::Resource(ResourceAttributes {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
                ..ResourceAttributes::parse(target)
            })
        };
        Attributes {
            user: user.user(),
            verb: verb.to_owned(),
            target,
        }
    }
}

impl ResourceAttributes {
    /// Reads `deployments.apps/scale`; namespace and name stay empty.
    pub fn parse(text: &str) -> Self {
        let (kind, subresource) = text.split_once('/').unwrap_or((text, ""));
        let (resource, group) = kind.split_once('.').unwrap_or((kind, ""));
        Self {
            group: group.to_owned(),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            ..Self::default()
        }
    }
}

impl CaseUser {
    /// Returns the user as kube-auth names them to an API server.
    fn user(&self) -> User {
        let mut user = User {
            name: self.name.clone(),
            uid: self.id.clone(),
            groups: self.groups.clone(),
            ..User::default()
        };
        if !self.id.is_empty() {
            user.groups.push(user_group(&self.id));
        }
        for role in self.roles.iter().filter(|role| !role.id.is_empty()) {
            user.groups.push(role.id.clone());
            if let Some(project) = self.project.as_ref().filter(|one| !one.id.is_empty()) {
                user.groups.push(project_role_group(&project.id, &role.id));
            }
        }
        let names = self.roles.iter().map(|role| role.name.clone());
        let names = names.filter(|name| !name.is_empty());
        user.extra.insert(extra::ROLES.to_owned(), names.collect());
        if let Some(project) = &self.project {
            if !project.id.is_empty() {
                user.groups.push(project_group(&project.id));
            }
            for (key, value) in [
                (extra::PROJECT_ID, &project.id),
                (extra::PROJECT_NAME, &project.name),
            ] {
                if !value.is_empty() {
                    user.extra.insert(key.to_owned(), vec![value.clone()]);
                }
            }
        }
        user
    }
}
