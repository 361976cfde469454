//! `[gateway.audit]`: retention of the audit log, and who may read it.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[gateway.audit]`: how long the audit log is retained, and who may read it at `/oauth2/audit`.
/// Users see their own entries there; operators read all entries with `portico audit list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuditConfig {
    /// Entries older than this many days are deleted. 0: never.
    pub retention_days: u32,
    /// Roles (names or IDs) whose holders read the entries of every project in which they hold one,
    /// of all its users. The role counts in that project only. Empty: no one.
    pub project_admin_roles: Vec<String>,
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self {
            retention_days: 400,
            project_admin_roles: Vec::new(),
        }
    }
}

impl AuditConfig {
    /// Returns whether every value is valid.
    pub(crate) fn is_valid(&self) -> bool {
        self.project_admin_roles.iter().all(|role| !role.is_empty())
    }
}
