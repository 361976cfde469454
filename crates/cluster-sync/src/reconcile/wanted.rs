//! The desired state of a source.
use super::{FoundSubject, MANAGED_BY, MANAGED_BY_LABEL, OWNER_LABEL};
use k8s_openapi::{
    api::{
        core::v1::Namespace,
        rbac::v1::{ClusterRoleBinding, RoleBinding, RoleRef, Subject},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

const API_GROUP: &str = "rbac.authorization.k8s.io";

/// How an existing object is maintained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Made once: what administrators change or delete afterwards is reported and left alone.
    Once,
    /// Kept in the desired state.
    Always,
}

/// The desired state of one source.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The value of [`OWNER_LABEL`].
    pub owner: &'static str,
    pub care: Care,
    pub namespaces: Vec<WantedNamespace>,
    pub bindings: Vec<WantedBinding>,
    /// Namespaces that are neither wanted nor may be deleted.
    pub keep: BTreeSet<String>,
}

/// A namespace that should exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedNamespace {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
}

/// The place of a binding: a namespace, or the whole cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub namespace: Option<String>,
    pub name: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "RoleBinding {namespace}/{}", self.name),
            None => write!(f, "ClusterRoleBinding {}", self.name),
        }
    }
}

/// The kind of role that a binding refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoleKind {
    #[default]
    ClusterRole,
    /// A role in the binding's own namespace.
    Role,
}

impl RoleKind {
    /// Returns the name of the kind in Kubernetes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClusterRole => "ClusterRole",
            Self::Role => "Role",
        }
    }
}

/// A binding of groups to a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedBinding {
    pub place: Place,
    pub role_kind: RoleKind,
    pub role_name: String,
    pub groups: Vec<String>,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
}

impl WantedBinding {
    /// Returns the subjects in the form in which they are compared with existing ones.
    pub fn subjects(&self) -> BTreeSet<FoundSubject> {
        let groups = self.groups.iter().cloned();
        groups.map(FoundSubject::group).collect()
    }

    pub(super) fn role_binding(&self, owner: &str) -> RoleBinding {
        RoleBinding {
            metadata: self.metadata(owner),
            role_ref: self.role_ref(),
            subjects: Some(self.subject_list()),
        }
    }

    pub(super) fn cluster_role_binding(&self, owner: &str) -> ClusterRoleBinding {
        ClusterRoleBinding {
            metadata: self.metadata(owner),
            role_ref: self.role_ref(),
            subjects: Some(self.subject_list()),
        }
    }

    fn metadata(&self, owner: &str) -> ObjectMeta {
        ObjectMeta {
            name: Some(self.place.name.clone()),
            namespace: self.place.namespace.clone(),
            labels: Some(owned(&self.labels, owner)),
            annotations: Some(self.annotations.clone()),
            ..ObjectMeta::default()
        }
    }

    fn role_ref(&self) -> RoleRef {
        RoleRef {
            api_group: API_GROUP.to_owned(),
            kind: self.role_kind.as_str().to_owned(),
            name: self.role_name.clone(),
        }
    }

    fn subject_list(&self) -> Vec<Subject> {
        let subject = |name: &String| Subject {
            api_group: Some(API_GROUP.to_owned()),
            kind: "Group".to_owned(),
            name: name.clone(),
            namespace: None,
        };
        self.groups.iter().map(subject).collect()
    }
}

impl WantedNamespace {
    pub(super) fn object(&self, owner: &str) -> Namespace {
        Namespace {
            metadata: ObjectMeta {
                name: Some(self.name.clone()),
                labels: Some(owned(&self.labels, owner)),
                annotations: Some(self.annotations.clone()),
                ..ObjectMeta::default()
            },
            ..Namespace::default()
        }
    }
}

fn owned(labels: &BTreeMap<String, String>, owner: &str) -> BTreeMap<String, String> {
    let mut labels = labels.clone();
    labels.insert(MANAGED_BY_LABEL.to_owned(), MANAGED_BY.to_owned());
    labels.insert(OWNER_LABEL.to_owned(), owner.to_owned());
    labels
}
