//! Who may open an app: roles in projects, nothing else.
use crate::identity::Identity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One way to be allowed: a role held in one project. A bare role name would let a
/// `k8s_admin` of any other project in, so it cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleInProject {
    /// The role's name or ID in Keystone.
    pub role: String,
    /// The project's ID.
    pub project: String,
}

impl RoleInProject {
    /// Whether `identity` holds the role in the project.
    pub fn holds(&self, identity: &Identity) -> bool {
        identity
            .project
            .as_ref()
            .is_some_and(|project| project.id == self.project)
            && identity
                .roles
                .iter()
                .any(|role| role.id == self.role || role.name == self.role)
    }
}

/// Whether any rule lets `identity` in. No rules: nobody.
pub fn allowed(rules: &[RoleInProject], identity: &Identity) -> bool {
    rules.iter().any(|rule| rule.holds(identity))
}
