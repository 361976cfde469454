//! Confirmation by typing of revocations that lock users out. The page names the loss beforehand.
use super::subjects;
use crate::kube::rbac::{Binding, BoundSubject};
use portico_domain::identity::Identity;

const ADMIN: &str = "cluster-admin";

/// Returns the reason why the binding's name has to be typed before this subject is removed, with
/// what is lost; `None` if it need not be. `all` are the cluster's bindings; `None` if they could
/// not be read.
pub fn typed_because(
    binding: &Binding,
    subject: &BoundSubject,
    all: Option<&[Binding]>,
    identity: &Identity,
    qualified_only: bool,
) -> Option<String> {
    let mut losses = Vec::new();
    if subjects::is_own(subject, identity, qualified_only) {
        losses.push(own_loss(binding));
    }
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
            Some(_) => losses.push(
                "This is the last grant of cluster-admin: afterwards no user of Portico can \
                 administer this cluster."
                    .to_owned(),
            ),
            None => losses.push(
                "Your rights do not show whether another grant of cluster-admin is left."
                    .to_owned(),
            ),
        }
    }
    (!losses.is_empty()).then(|| losses.join(" "))
}

/// Returns what the viewer loses with a grant of their own.
fn own_loss(binding: &Binding) -> String {
    let role = &binding.role_ref.name;
    let place = binding.metadata.namespace.as_ref().map_or_else(
        || "the whole cluster".to_owned(),
        |namespace| format!("namespace {namespace}"),
    );
    format!("You hold this grant yourself: you lose {role} in {place}.")
}

fn is_admin(binding: &Binding) -> bool {
    binding.metadata.namespace.is_none()
        && binding.role_ref.kind == "ClusterRole"
        && binding.role_ref.name == ADMIN
}

/// Returns whether a subject can sign in: Kubernetes' own (`system:masters`) and service accounts
/// cannot.
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
    fn finding_p18_revoking_a_grant_of_ones_own_names_the_loss() {
        let two = [admin_binding(&["r1"]), admin_binding(&["r2"])];
        let cluster_wide = asked(&two, "r1").unwrap();
        assert!(
            cluster_wide.contains("you lose cluster-admin in the whole cluster"),
            "{cluster_wide}"
        );
        let mut editors = admin_binding(&["r1"]);
        editors.metadata.namespace = Some("shop".to_owned());
        editors.role_ref.name = "edit".to_owned();
        let in_namespace = asked(&[editors], "r1").unwrap();
        assert!(
            in_namespace.contains("you lose edit in namespace shop"),
            "{in_namespace}"
        );
        // the viewer's own, and the last of all: both are mentioned
        let both = asked(&[admin_binding(&["r1"])], "r1").unwrap();
        assert!(
            both.contains("yourself") && both.contains("last grant"),
            "{both}"
        );
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
