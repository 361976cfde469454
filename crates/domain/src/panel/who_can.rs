//! Who can do a verb on a resource, and through which binding.
use super::{BindingRef, Refusal, RightQuestion, RoleRef, Subject};
use serde::{Deserialize, Serialize};

/// The subjects that have a permission, or that could grant it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhoCan {
    /// The whole cluster first, then one namespace; in each, rules for all names first, then those
    /// for some names, and then by subject and binding.
    pub holders: Vec<PermissionHolder>,
    /// Bindings that count for the question, but whose role does not exist.
    pub dangling: Vec<DanglingBinding>,
}

/// A subject of one binding, and the rule that gives it the permission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionHolder {
    pub subject: Subject,
    pub binding: BindingRef,
    /// A Role is in the namespace of the binding.
    pub role: RoleRef,
    /// The first rule of the role that matches.
    pub rule: MatchedRule,
    pub scope: PermissionScope,
    /// For a subject that could grant the permission: what lets it. `rule` then permits it to write
    /// the binding or the role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grants_by: Option<GrantMeans>,
}

/// A rule of a role, as it is written there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchedRule {
    pub verbs: Vec<String>,
    pub groups: Vec<String>,
    pub resources: Vec<String>,
    /// Names of objects; empty: all.
    pub names: Vec<String>,
}

/// Where a binding counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum PermissionScope {
    Cluster,
    Namespace { name: String },
}

/// What lets a subject pass the API server's check against the escalation of privileges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantMeans {
    /// It has all permissions of the role itself.
    Holds,
    /// It has the verb `bind` on the role.
    Bind,
    /// It has the verb `escalate` on the role.
    Escalate,
}

/// A binding to a role that does not exist. It gives its subjects whatever a later role of that name
/// permits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DanglingBinding {
    pub binding: BindingRef,
    pub role: RoleRef,
}

/// Who has a permission and who could grant it, as far as the viewer may read the cluster's bindings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhoCanView {
    pub question: RightQuestion,
    pub found: WhoCan,
    pub granters: WhoCan,
    /// What could not be read; others may then have the permission.
    pub gaps: Vec<Refusal>,
}
