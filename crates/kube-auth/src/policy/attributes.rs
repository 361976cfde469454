//! The attributes of a request to authorize, as in `SubjectAccessReview`
//! (<https://kubernetes.io/docs/reference/access-authn-authz/authorization/>).
use std::collections::BTreeMap;
use std::fmt;

/// The keys of `extra` that k8s-keystone-auth sets and its policies use.
pub mod extra {
    pub const ROLES: &str = "alpha.kubernetes.io/identity/roles";
    pub const PROJECT_ID: &str = "alpha.kubernetes.io/identity/project/id";
    pub const PROJECT_NAME: &str = "alpha.kubernetes.io/identity/project/name";
    pub const USER_DOMAIN_ID: &str = "alpha.kubernetes.io/identity/user/domain/id";
    pub const USER_DOMAIN_NAME: &str = "alpha.kubernetes.io/identity/user/domain/name";
}

/// One request, and its user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    pub user: User,
    pub verb: String,
    pub target: Target,
}

/// The user, as returned by the token webhook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    pub name: String,
    pub uid: String,
    pub groups: Vec<String>,
    pub extra: BTreeMap<String, Vec<String>>,
}

/// The target of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Resource(ResourceAttributes),
    /// A non-resource path: `/healthz`.
    Path(String),
}

impl Default for Target {
    fn default() -> Self {
        Self::Resource(ResourceAttributes::default())
    }
}

/// A resource; empty fields were not named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceAttributes {
    pub group: String,
    pub resource: String,
    pub subresource: String,
    /// Empty: cluster-scoped, or all namespaces.
    pub namespace: String,
    pub name: String,
}

impl User {
    /// Returns the values of one key of `extra`.
    pub fn extra(&self, key: &str) -> &[String] {
        self.extra.get(key).map_or(&[], Vec::as_slice)
    }
}

impl ResourceAttributes {
    /// Returns `pods/exec`.
    pub fn with_subresource(&self) -> String {
        if self.subresource.is_empty() {
            self.resource.clone()
        } else {
            format!("{}/{}", self.resource, self.subresource)
        }
    }
}

/// Shows the request in words: `get pods/exec in default`.
impl fmt::Display for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Target::Path(path) => write!(f, "{} {path}", self.verb),
            Target::Resource(resource) => {
                write!(f, "{} {}", self.verb, resource.with_subresource())?;
                if !resource.group.is_empty() {
                    write!(f, ".{}", resource.group)?;
                }
                if !resource.name.is_empty() {
                    write!(f, " {}", resource.name)?;
                }
                if !resource.namespace.is_empty() {
                    write!(f, " in {}", resource.namespace)?;
                }
                Ok(())
            }
        }
    }
}
