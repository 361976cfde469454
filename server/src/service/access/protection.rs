//! Revocations that lock people out are typed, not clicked.
use super::subjects;
use crate::kube::rbac::{Binding, BoundSubject};
use portico_domain::identity::Identity;

const ADMIN: &str = "cluster-admin";

/// Why the binding's name has to be typed before this subject is taken out, if it has to.
/// `all` are the cluster's bindings; `None` where they could not be read.
pub fn typed_because(
    binding: &Binding,
    subject: &BoundSubject,
    all: Option<&[Binding]>,
    identity: &Identity,
    qualified_only: bool,
) -> Option<String> {
    if is_admin(binding) && is_person(subject) {
        let admins = all.map(|all| {
            all.iter()
                .filter(|binding| is_admin(binding))
                .flat_map(Binding::subjects)
                .filter(|subject| is_person(subject))
                .count()
        });
        match admins {
            Some(count) if count > 1 => {}
            Some(_) => {
                return Some("This is the last grant of cluster-admin to anybody.".to_owned());
            }
            None => {
                return Some(
                    "Whether anybody else has cluster-admin cannot be seen with your rights."
                        .to_owned(),
                );
            }
        }
    }
    subjects::is_own(subject, identity, qualified_only)
        .then(|| "This is a grant that you hold yourself.".to_owned())
}

fn is_admin(binding: &Binding) -> bool {
    binding.metadata.namespace.is_none()
        && binding.role_ref.kind == "ClusterRole"
        && binding.role_ref.name == ADMIN
}

/// Kubernetes' own (`system:masters`) and service accounts are nobody who could sign in.
fn is_person(subject: &BoundSubject) -> bool {
    subject.kind != "ServiceAccount" && !subject.name.starts_with("system:")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kube::rbac::{BoundRole, Meta};
    use portico_domain::identity::{Named, User};

    fn admin_binding(groups: &[&str]) -> Binding {
        Binding {
            api_version: None,
            kind: None,
            metadata: Meta {
                name: "admins".to_owned(),
                ..Meta::default()
            },
            role_ref: BoundRole {
                api_group: String::new(),
                kind: "ClusterRole".to_owned(),
                name: ADMIN.to_owned(),
            },
            subjects: Some(
                groups
                    .iter()
                    .map(|group| subjects::bound_group((*group).to_owned()))
                    .collect(),
            ),
        }
    }

    fn identity(role: &str) -> Identity {
        let named = |name: &str| Named {
            id: name.to_owned(),
            name: name.to_owned(),
        };
        Identity {
            user: User {
                id: "u".to_owned(),
                name: "ada".to_owned(),
                domain: named("d"),
            },
            project: Some(portico_domain::identity::Project {
                id: "p".to_owned(),
                name: "acme".to_owned(),
                domain: named("d"),
            }),
            roles: vec![named(role)],
        }
    }

    fn asked(all: &[Binding], role: &str) -> Option<String> {
        let binding = &all[0];
        typed_because(
            binding,
            &binding.subjects()[0],
            Some(all),
            &identity(role),
            false,
        )
    }

    #[test]
    fn the_last_administrator_is_protected() {
        let alone = [admin_binding(&["r1"]), admin_binding(&["system:masters"])];
        assert!(asked(&alone, "other").unwrap().contains("last grant"));
        let two = [admin_binding(&["r1"]), admin_binding(&["r2"])];
        assert_eq!(asked(&two, "other"), None);
    }

    #[test]
    fn ones_own_grant_is_protected() {
        let two = [admin_binding(&["r1"]), admin_binding(&["r2"])];
        assert!(asked(&two, "r1").unwrap().contains("yourself"));
    }

    #[test]
    fn what_cannot_be_seen_counts_as_the_last() {
        let binding = admin_binding(&["r1"]);
        let why = typed_because(
            &binding,
            &binding.subjects()[0],
            None,
            &identity("x"),
            false,
        );
        assert!(why.is_some());
    }
}
