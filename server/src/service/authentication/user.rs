//! Users as Kubernetes identifies them.
use crate::{
    kube::whoami::UserInfo,
    service::access::{Names, bound_group},
};
use portico_domain::{
    cluster::ClusterRecord,
    identity::Identity,
    panel::{KubernetesGroup, KubernetesUser},
};
use portico_kube_auth::identity_extra;

/// Returns the user that kube-auth derives from an identity.
pub fn computed(names: &Names<'_>, identity: &Identity, record: &ClusterRecord) -> KubernetesUser {
    let extra = identity_extra(identity);
    KubernetesUser {
        username: identity.kubernetes_username(),
        uid: identity.user.id.clone(),
        groups: groups(
            names,
            identity.kubernetes_groups(record.qualified_groups_only()),
        ),
        extra: extra
            .into_iter()
            .map(|(key, values)| (key.to_owned(), values))
            .collect(),
    }
}

/// Returns the user that the API server reports.
pub fn kubernetes_user(names: &Names<'_>, user: UserInfo) -> KubernetesUser {
    KubernetesUser {
        username: user.username,
        uid: user.uid,
        groups: groups(names, user.groups),
        extra: user.extra.into_iter().collect(),
    }
}

/// Returns groups with their meaning.
pub fn groups(names: &Names<'_>, groups: Vec<String>) -> Vec<KubernetesGroup> {
    groups
        .into_iter()
        .map(|name| KubernetesGroup {
            subject: names.subject(&bound_group(name.clone())),
            name,
        })
        .collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use portico_domain::{
        identity::{Named, Project, User},
        panel::Subject,
    };
    use std::collections::BTreeMap;

    fn named(id: &str, name: &str) -> Named {
        Named {
            id: id.to_owned(),
            name: name.to_owned(),
        }
    }

    /// Returns ada in project p1 of domain d1.
    pub fn identity(roles: &[&str]) -> Identity {
        Identity {
            user: User {
                id: "0123456789abcdef0123456789abcdef".to_owned(),
                name: "ada".to_owned(),
                domain: named("default", "Default"),
            },
            project: Some(Project {
                id: "p1".to_owned(),
                name: "acme".to_owned(),
                domain: named("d1", "Customers"),
            }),
            roles: roles.iter().map(|id| named(id, "k8s_admin")).collect(),
        }
    }

    pub fn record(projects: &[&str], domains: &[&str], roles: &[&str]) -> ClusterRecord {
        serde_json::from_value(serde_json::json!({
            "id": "6f1c7a52-9a3e-4a53-9c39-0a4a3c1d2e3f", "name": "prod", "owner_project": "p1",
            "accepted_projects": projects, "accepted_domains": domains, "accepted_roles": roles,
            "api_url": "https://127.0.0.1:6443", "sealing_key_file": "key.pub",
        }))
        .unwrap()
    }

    pub fn with_names(roles: &[&str], check: impl FnOnce(&Names<'_>)) {
        let identity = identity(roles);
        let configured = BTreeMap::from([("r7".to_owned(), "k8s_viewer".to_owned())]);
        check(&Names {
            identity: &identity,
            projects: &[],
            configured_roles: &configured,
        });
    }

    #[test]
    fn it_is_what_kube_auth_would_answer() {
        with_names(&["r1"], |names| {
            let one = computed(names, names.identity, &record(&["p1"], &[], &[]));
            assert_eq!(one.username, "ada@Default");
            assert_eq!(one.uid, names.identity.user.id);
            let groups: Vec<_> = one.groups.iter().map(|group| group.name.as_str()).collect();
            assert_eq!(
                groups,
                [
                    "portico:user:0123456789abcdef0123456789abcdef",
                    "portico:project:p1",
                    "r1",
                    "portico:project:p1:role:r1"
                ]
            );
            assert!(
                matches!(&one.groups[1].subject, Subject::KeystoneProject { name: Some(name), .. } if name == "acme")
            );
            assert!(
                one.extra.iter().any(
                    |(key, values)| key == "portico.dev/role-names" && values == &["k8s_admin"]
                )
            );
            let several = computed(names, names.identity, &record(&["p1", "p2"], &[], &[]));
            assert!(several.groups.iter().all(|group| group.name != "r1"));
        });
    }
}
