//! What a subject can do, and through which bindings.
use super::{BindingRef, DanglingBinding, GainedRule, PermissionScope, Refusal, RoleRef, Subject};
use crate::identity::{project_group, project_role_group, user_group};
use serde::{Deserialize, Serialize};

/// The kinds of subjects in Kubernetes' own bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BoundKind {
    User,
    Group,
    ServiceAccount,
}

impl BoundKind {
    pub const ALL: [Self; 3] = [Self::Group, Self::User, Self::ServiceAccount];

    /// Returns the kind as bindings name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "User",
            Self::Group => "Group",
            Self::ServiceAccount => "ServiceAccount",
        }
    }

    /// Returns the kind that [`Self::as_str`] wrote; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A subject as Kubernetes names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BoundName {
    pub kind: BoundKind,
    /// `ada@Default`, `portico:project:<id>`, a role's ID; of a ServiceAccount `namespace/name`.
    pub name: String,
}

impl From<&Subject> for BoundName {
    fn from(subject: &Subject) -> Self {
        let named = |kind, name: String| Self { kind, name };
        match subject {
            Subject::User { name } => named(BoundKind::User, name.clone()),
            Subject::Group { name } => named(BoundKind::Group, name.clone()),
            Subject::ServiceAccount { namespace, name } => {
                named(BoundKind::ServiceAccount, format!("{namespace}/{name}"))
            }
            Subject::KeystoneUser { id, .. } => named(BoundKind::Group, user_group(id)),
            Subject::KeystoneProject { id, .. } => named(BoundKind::Group, project_group(id)),
            Subject::KeystoneRole { id, project_id, .. } => named(
                BoundKind::Group,
                match project_id {
                    Some(project) => project_role_group(project, id),
                    None => id.clone(),
                },
            ),
        }
    }
}

/// The rules that bindings give to a subject, as far as the viewer may read the cluster's bindings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatCanView {
    pub subject: Subject,
    /// Other users and groups whose bindings count for the subject too.
    pub also: Vec<Subject>,
    /// The whole cluster first, then namespaces by name.
    pub places: Vec<PlaceRights>,
    /// Bindings of the subject whose role does not exist.
    pub dangling: Vec<DanglingBinding>,
    /// What could not be read; the subject may then have more rights.
    pub gaps: Vec<Refusal>,
}

/// What a subject can do in one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceRights {
    pub scope: PermissionScope,
    pub grants: Vec<BoundRules>,
}

/// The rules of one binding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundRules {
    pub binding: BindingRef,
    pub role: RoleRef,
    /// The subject that the binding names, if it is one of [`WhatCanView::also`].
    pub through: Option<Subject>,
    pub rules: Vec<GainedRule>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_has_a_name_in_kubernetes() {
        let of = |subject: Subject| {
            let bound = BoundName::from(&subject);
            format!("{} {}", bound.kind.as_str(), bound.name)
        };
        let id = || "r1".to_owned();
        let role = |project_id: Option<&str>| Subject::KeystoneRole {
            id: id(),
            name: Some("k8s_admin".to_owned()),
            project: project_id.map(|_| "acme".to_owned()),
            project_id: project_id.map(str::to_owned),
        };
        assert_eq!(of(role(None)), "Group r1");
        assert_eq!(of(role(Some("p1"))), "Group portico:project:p1:role:r1");
        let user = Subject::KeystoneUser {
            id: id(),
            name: None,
        };
        assert_eq!(of(user), "Group portico:user:r1");
        let project = Subject::KeystoneProject {
            id: id(),
            name: None,
        };
        assert_eq!(of(project), "Group portico:project:r1");
        let account = Subject::ServiceAccount {
            namespace: "shop".to_owned(),
            name: "robot".to_owned(),
        };
        assert_eq!(of(account), "ServiceAccount shop/robot");
    }

    #[test]
    fn kinds_round_trip_in_an_address() {
        for kind in BoundKind::ALL {
            assert_eq!(BoundKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(BoundKind::parse("user"), None);
    }
}
