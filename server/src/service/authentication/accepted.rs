//! The allow-list of a cluster, and whether it accepts a user.
use crate::service::{Services, access::Names};
use portico_domain::{
    cluster::{ClusterRecord, NotAccepted},
    identity::Identity,
    panel::{Acceptance, Accepted, AcceptedId},
};

/// Returns the list, with the names that the viewer may know.
pub fn list(names: &Names<'_>, record: &ClusterRecord) -> Accepted {
    let identity = names.identity;
    let project = identity.project.as_ref();
    let entries =
        |ids: &[String], name: &dyn Fn(&str) -> Option<String>, own: &dyn Fn(&str) -> bool| {
            ids.iter()
                .map(|id| AcceptedId {
                    id: id.clone(),
                    name: name(id),
                    own: own(id),
                })
                .collect()
        };
    Accepted {
        projects: entries(record.projects(), &|id| names.project(id), &|id| {
            project.is_some_and(|project| project.id == id)
        }),
        domains: entries(&record.accepted_domains, &|id| names.domain(id), &|id| {
            project.is_some_and(|project| project.domain.id == id)
        }),
        roles: entries(&record.accepted_roles, &|id| names.role(id), &|id| {
            identity.roles.iter().any(|role| role.id == id)
        }),
        tokens: record.accepted_tokens.clone(),
    }
}

/// Returns whether the viewer's own token is accepted.
pub fn own(names: &Names<'_>, record: &ClusterRecord, services: &Services) -> Acceptance {
    let identity = names.identity;
    let project = identity
        .project
        .as_ref()
        .map_or("(none)", |project| project.name.as_str());
    match acceptance(identity, record) {
        Ok(why) => yes(format!(
            "Your token for project {project} is accepted: {why}."
        )),
        Err(lacks) => Acceptance {
            accepted: false,
            reason: format!(
                "Your token for project {project} is not accepted: {}.",
                lacks.words()
            ),
            next_step: Some(match lacks {
                Lacks::Project => "Choose one of the accepted projects at the top of the page, or \
                    ask for it to be added to the cluster's accepted_projects."
                    .to_owned(),
                Lacks::Role => format!(
                    "Ask {} for one of these roles in the project: {}.",
                    services.support_contact,
                    accepted_roles(names, record).join(", ")
                ),
                Lacks::AnyRole => services.asks_for(),
            }),
        },
    }
}

/// Returns the roles, by name if the viewer may know it.
fn accepted_roles(names: &Names<'_>, record: &ClusterRecord) -> Vec<String> {
    let roles = record.accepted_roles.iter();
    roles
        .map(|id| names.role(id).unwrap_or_else(|| id.clone()))
        .collect()
}

/// Returns whether the token of another user would be accepted.
pub fn other(identity: &Identity, record: &ClusterRecord) -> Acceptance {
    match acceptance(identity, record) {
        Ok(why) => yes(format!("A token like this would be accepted: {why}.")),
        Err(lacks) => Acceptance {
            accepted: false,
            reason: format!(
                "A token like this would not be accepted: {}.",
                lacks.words()
            ),
            next_step: Some(
                match lacks {
                    Lacks::Project => "Choose an accepted project.",
                    Lacks::Role => "Choose one of the accepted roles.",
                    Lacks::AnyRole => "Choose at least one role.",
                }
                .to_owned(),
            ),
        },
    }
}

fn yes(reason: String) -> Acceptance {
    Acceptance {
        accepted: true,
        reason,
        next_step: None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lacks {
    Project,
    Role,
    /// Keystone issues no token for a project in which the user has no role.
    AnyRole,
}

impl Lacks {
    fn words(self) -> &'static str {
        match self {
            Self::Project => "the cluster accepts neither this project nor its domain",
            Self::Role => "it has none of the roles that the cluster accepts",
            Self::AnyRole => "without a role in the project there is no token for it",
        }
    }
}

fn acceptance(identity: &Identity, record: &ClusterRecord) -> Result<String, Lacks> {
    record.accepts(identity).map_err(|lacks| match lacks {
        NotAccepted::Project => Lacks::Project,
        NotAccepted::Role => Lacks::Role,
    })?;
    if identity.roles.is_empty() {
        return Err(Lacks::AnyRole);
    }
    let by_project = identity
        .project
        .as_ref()
        .is_some_and(|project| record.projects().contains(&project.id));
    let scope = if by_project {
        "the project is in the list"
    } else {
        "the project's domain is in the list"
    };
    let role = identity
        .roles
        .iter()
        .find(|role| record.accepted_roles.contains(&role.id));
    Ok(match role {
        Some(role) => format!("{scope}, and so is the role {}", role.name),
        None => format!("{scope}, and any role is sufficient"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::authentication::user::tests::{identity, record, with_names};

    #[test]
    fn the_reason_names_the_entry_that_counts() {
        for (projects, domains, roles, expected) in [
            (
                &["p1"][..],
                &[][..],
                &[][..],
                Ok("the project is in the list, and any role is sufficient"),
            ),
            (
                &["p2"],
                &["d1"],
                &[],
                Ok("the project's domain is in the list, and any role is sufficient"),
            ),
            (
                &["p1"],
                &[],
                &["r1"],
                Ok("the project is in the list, and so is the role k8s_admin"),
            ),
            (&["p2"], &[], &[], Err(Lacks::Project)),
            (&["p1"], &[], &["r9"], Err(Lacks::Role)),
        ] {
            let found = acceptance(&identity(&["r1"]), &record(projects, domains, roles));
            assert_eq!(
                found,
                expected.map(str::to_owned),
                "{projects:?} {domains:?} {roles:?}"
            );
        }
    }

    #[test]
    fn who_lacks_a_role_learns_which_would_do() {
        with_names(&["r1"], |names| {
            let roles = accepted_roles(names, &record(&["p1"], &[], &["r7", "r9"]));
            assert_eq!(roles, ["k8s_viewer", "r9"]);
        });
    }

    #[test]
    fn without_any_role_there_is_no_token() {
        assert_eq!(
            acceptance(&identity(&[]), &record(&["p1"], &[], &[])),
            Err(Lacks::AnyRole)
        );
        assert!(!other(&identity(&[]), &record(&["p1"], &[], &[])).accepted);
    }
}
