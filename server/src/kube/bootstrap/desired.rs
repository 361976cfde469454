//! The bindings as they should be.
use super::Options;
use k8s_openapi::{
    api::{
        core::v1::Namespace,
        rbac::v1::{ClusterRoleBinding, RoleBinding, RoleRef, Subject},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use portico_domain::identity::project_role_group;
use std::collections::BTreeMap;

pub const DEVELOPER: &str = "portico-developer";
pub const VIEWER: &str = "portico-viewer";
pub const CLUSTER_READER: &str = "portico-cluster-reader";
/// Bindings made in each namespace; each binds the ClusterRole of its own name.
pub const BINDINGS: [&str; 2] = [DEVELOPER, VIEWER];
/// `false` keeps the roles out of a namespace.
pub const OPT_OUT_LABEL: &str = "portico.dev/bind";

const API_GROUP: &str = "rbac.authorization.k8s.io";

/// Whether the roles stay out of a namespace.
pub fn excluded(options: &Options, namespace: &Namespace) -> bool {
    let Some(name) = namespace.metadata.name.as_deref() else {
        return true;
    };
    let opted_out = namespace
        .metadata
        .labels
        .as_ref()
        .and_then(|labels| labels.get(OPT_OUT_LABEL))
        .is_some_and(|value| value == "false");
    name.starts_with("kube-")
        || opted_out
        || namespace.metadata.deletion_timestamp.is_some()
        || options.exclude_namespaces.iter().any(|out| out == name)
}

/// The binding of one name in a namespace.
pub fn role_binding(options: &Options, name: &str, namespace: &str) -> RoleBinding {
    let role = if name == DEVELOPER {
        &options.developer_role
    } else {
        &options.viewer_role
    };
    RoleBinding {
        metadata: metadata(name, Some(namespace)),
        role_ref: role_ref(name),
        subjects: Some(subjects(options, [role])),
    }
}

/// The one binding for the whole cluster: reading namespaces, nodes and the like.
pub fn cluster_binding(options: &Options) -> ClusterRoleBinding {
    ClusterRoleBinding {
        metadata: metadata(CLUSTER_READER, None),
        role_ref: role_ref(CLUSTER_READER),
        subjects: Some(subjects(
            options,
            [&options.developer_role, &options.viewer_role],
        )),
    }
}

/// Whether two lists name the same subjects, in whatever order.
pub fn same_subjects(a: Option<&[Subject]>, b: Option<&[Subject]>) -> bool {
    let sorted = |subjects: Option<&[Subject]>| {
        let mut keys: Vec<_> = subjects
            .unwrap_or_default()
            .iter()
            .map(|subject| (subject.kind.clone(), subject.name.clone()))
            .collect();
        keys.sort_unstable();
        keys
    };
    sorted(a) == sorted(b)
}

fn metadata(name: &str, namespace: Option<&str>) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: namespace.map(str::to_owned),
        labels: Some(BTreeMap::from([(
            "app.kubernetes.io/managed-by".to_owned(),
            "portico".to_owned(),
        )])),
        annotations: Some(BTreeMap::from([(
            "portico.dev/bound-by".to_owned(),
            "portico kube-auth bootstrap".to_owned(),
        )])),
        ..ObjectMeta::default()
    }
}

fn role_ref(name: &str) -> RoleRef {
    RoleRef {
        api_group: API_GROUP.to_owned(),
        kind: "ClusterRole".to_owned(),
        name: name.to_owned(),
    }
}

fn subjects<'a>(options: &Options, roles: impl IntoIterator<Item = &'a String>) -> Vec<Subject> {
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
        .into_iter()
        .map(|name| Subject {
            api_group: Some(API_GROUP.to_owned()),
            kind: "Group".to_owned(),
            name,
            namespace: None,
        })
        .collect()
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

    fn namespace(name: &str, bind: Option<&str>) -> Namespace {
        Namespace {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                labels: bind
                    .map(|value| BTreeMap::from([(OPT_OUT_LABEL.to_owned(), value.to_owned())])),
                ..ObjectMeta::default()
            },
            ..Namespace::default()
        }
    }

    #[test]
    fn system_listed_and_opted_out_namespaces_are_left_out() {
        for (name, label, out) in [
            ("shop", None, false),
            ("kube-system", None, true),
            ("vault", None, true),
            ("quiet", Some("false"), true),
            ("loud", Some("true"), false),
        ] {
            assert_eq!(excluded(&options(), &namespace(name, label)), out, "{name}");
        }
    }

    #[test]
    fn groups_are_role_ids_or_qualified_by_project() {
        let name = |binding: &RoleBinding| binding.subjects.as_ref().unwrap()[0].name.clone();
        assert_eq!(name(&role_binding(&options(), DEVELOPER, "shop")), "dev-id");
        let several = Options {
            projects: vec!["p1".to_owned(), "p2".to_owned()],
            ..options()
        };
        let binding = role_binding(&several, VIEWER, "shop");
        assert_eq!(name(&binding), "portico:project:p1:role:view-id");
        assert_eq!(binding.subjects.unwrap().len(), 2);
    }

    #[test]
    fn the_order_of_subjects_makes_no_difference() {
        let mut turned = cluster_binding(&options()).subjects.unwrap();
        turned.reverse();
        let straight = cluster_binding(&options()).subjects.unwrap();
        assert!(same_subjects(Some(&turned), Some(&straight)));
        assert!(!same_subjects(None, Some(&straight)));
    }
}
