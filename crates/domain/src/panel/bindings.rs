//! The access page: the role bindings of a cluster.
use super::Refusal;
use serde::{Deserialize, Serialize};

/// The access page of one cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessView {
    pub bindings: Vec<BindingRow>,
    /// Namespaces whose bindings the viewer may not read.
    pub not_permitted: Vec<String>,
    /// ClusterRoles and Roles that may be granted, with their namespace (`None`: ClusterRole).
    pub roles: Vec<RoleChoice>,
    pub namespaces: Vec<String>,
    /// Keystone roles with known names, for the form.
    pub known_roles: Vec<crate::identity::Named>,
    pub known_projects: Vec<crate::identity::Named>,
    /// The reason why the viewer may not grant, if so.
    pub grant_refused: Option<Refusal>,
    /// The reason why there are no bindings, if the viewer may read none in the whole cluster.
    #[serde(default)]
    pub bindings_refused: Option<Refusal>,
}

/// A subject of one binding: one row each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BindingRow {
    pub binding: BindingRef,
    pub uid: String,
    pub resource_version: String,
    pub role: RoleRef,
    pub subject: Subject,
    pub created_at: Option<i64>,
    /// Made by Kubernetes itself (`system:` roles and subjects); folded away by default.
    pub system: bool,
    pub may_revoke: bool,
    pub revoke_refused: Option<Refusal>,
    /// The reason why the binding's name has to be typed before it is revoked, with what is lost:
    /// the last administrator, or the viewer's own grant.
    #[serde(default)]
    pub typed_because: Option<String>,
    /// The viewer, or a group of theirs, is the subject.
    #[serde(default)]
    pub own: bool,
}

/// Names a RoleBinding (with namespace) or ClusterRoleBinding (without).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BindingRef {
    pub namespace: Option<String>,
    pub name: String,
}

/// A Role (`cluster` false) or ClusterRole.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RoleRef {
    pub cluster: bool,
    pub name: String,
}

/// A role that may be granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleChoice {
    pub role: RoleRef,
    pub namespace: Option<String>,
}

/// The subject that a binding names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Subject {
    /// Group = a Keystone role ID. `name` is Keystone's; `None`: not disclosed to the viewer.
    KeystoneRole {
        id: String,
        name: Option<String>,
        /// The name of the only project in which the role counts, or its ID; `None`: every project that
        /// the cluster accepts.
        project: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project_id: Option<String>,
    },
    KeystoneUser {
        id: String,
        name: Option<String>,
    },
    KeystoneProject {
        id: String,
        name: Option<String>,
    },
    ServiceAccount {
        namespace: String,
        name: String,
    },
    /// Any other Kubernetes user or group, unchanged.
    User {
        name: String,
    },
    Group {
        name: String,
    },
}

/// The data of the grant form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantRequest {
    pub role: RoleRef,
    /// `None`: the whole cluster (a ClusterRoleBinding).
    pub namespace: Option<String>,
    pub subject_kind: SubjectKind,
    /// A Keystone ID.
    pub subject_id: String,
}

/// The kinds of Keystone subjects that rights may be granted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectKind {
    Role,
    User,
    Project,
}

/// The effect of a grant, before it is saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantPreview {
    pub gained: Vec<GainedRule>,
    /// "secrets", "exec", "escalate", "bind", "impersonate", "wildcard" - marked red.
    pub dangers: Vec<String>,
    pub namespaces: String,
    pub subject: Subject,
    /// The subject's ID; that of the user if the form had a name.
    pub subject_id: String,
    /// The group that the binding will name.
    pub group: String,
    /// True if the same grant exists already.
    pub exists: bool,
    /// The reason why Keystone did not confirm that the subject exists, if so.
    #[serde(default)]
    pub unverified: Option<String>,
}

/// One rule that a grant adds: verbs on resources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GainedRule {
    pub verbs: Vec<String>,
    pub resources: Vec<String>,
    pub names: Vec<String>,
    pub dangerous: bool,
}

/// The data of a revocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokeRequest {
    pub binding: BindingRef,
    pub uid: String,
    pub resource_version: String,
    pub subject: Subject,
    /// The binding's name, typed, if it is the last admin grant or the viewer's own.
    pub typed: String,
}

/// A change that can be undone for ten seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeDone {
    pub message: String,
    /// Send this back within ten seconds to restore the same object.
    pub undo: Option<String>,
}
