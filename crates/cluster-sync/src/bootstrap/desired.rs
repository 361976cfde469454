//! The desired bindings of the pre-defined roles.
use super::Options;
use crate::reconcile::{FoundNamespace, Place, RoleKind, WantedBinding};
use portico_domain::identity::project_role_group;
use std::collections::BTreeMap;

pub const DEVELOPER: &str = "portico-developer";
pub const VIEWER: &str = "portico-viewer";
pub const CLUSTER_READER: &str = "portico-cluster-reader";
/// Bindings made in each namespace; each binds the ClusterRole with its own name.
pub const BINDINGS: [&str; 2] = [DEVELOPER, VIEWER];

/// Returns whether a namespace is left out.
pub fn excluded(options: &Options, name: &str, namespace: &FoundNamespace) -> bool {
    namespace.left_out
        || namespace.terminating
        || options.exclude_namespaces.iter().any(|out| out == name)
}

/// Returns the binding of one name in a namespace.
pub fn role_binding(options: &Options, name: &str, namespace: &str) -> WantedBinding {
    let role = if name == DEVELOPER {
        &options.developer_role
    } else {
        &options.viewer_role
    };
    binding(name, Some(namespace), groups(options, [role]))
}

/// Returns the only binding for the whole cluster: reading namespaces, nodes and the like.
pub fn cluster_binding(options: &Options) -> WantedBinding {
    let roles = [&options.developer_role, &options.viewer_role];
    binding(CLUSTER_READER, None, groups(options, roles))
}

fn binding(name: &str, namespace: Option<&str>, groups: Vec<String>) -> WantedBinding {
    WantedBinding {
        place: Place {
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        },
        role_kind: RoleKind::ClusterRole,
        role_name: name.to_owned(),
        groups,
        labels: BTreeMap::new(),
        annotations: BTreeMap::from([(
            "portico.dev/bound-by".to_owned(),
            "portico kube-auth bootstrap".to_owned(),
        )]),
    }
}

fn groups<'a>(options: &Options, roles: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut groups = Vec::new();
    for role in roles {
        if options.projects.is_empty() {
            groups.push(role.clone());
        } else {
            groups.extend(
                options
                    .projects
                    .iter()
                    .map(|project| project_role_group(project, role)),
            );
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options {
            developer_role: "dev-id".to_owned(),
            viewer_role: "view-id".to_owned(),
            exclude_namespaces: vec!["vault".to_owned()],
            ..Options::default()
        }
    }

    #[test]
    fn system_listed_opted_out_and_ending_namespaces_are_left_out() {
        for (name, left_out, terminating, out) in [
            ("shop", false, false, false),
            ("kube-system", true, false, true),
            ("vault", false, false, true),
            ("ending", false, true, true),
        ] {
            let namespace = FoundNamespace {
                left_out,
                terminating,
                ..FoundNamespace::default()
            };
            assert_eq!(excluded(&options(), name, &namespace), out, "{name}");
        }
    }

    #[test]
    fn groups_are_role_ids_or_qualified_by_project() {
        assert_eq!(
            role_binding(&options(), DEVELOPER, "shop").groups,
            ["dev-id"]
        );
        let several = Options {
            projects: vec!["p1".to_owned(), "p2".to_owned()],
            ..options()
        };
        assert_eq!(
            role_binding(&several, VIEWER, "shop").groups,
            [
                "portico:project:p1:role:view-id",
                "portico:project:p2:role:view-id"
            ]
        );
        assert_eq!(cluster_binding(&options()).groups, ["dev-id", "view-id"]);
    }
}
