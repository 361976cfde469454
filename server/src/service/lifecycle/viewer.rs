//! The user who asks, as Magnum knows them.
use crate::config::magnum::MagnumRoles;
use portico_domain::identity::Identity;
use portico_lifecycle::rights::{Call, Caller, Owner, Permission, permission};
use portico_openstack::{magnum, rest::ScopedToken};

/// The user of one request, with their token.
#[derive(Clone, Debug)]
pub struct Viewer {
    pub token: ScopedToken,
    pub user_id: String,
    /// The names of the roles in the project, with those that others imply.
    roles: Vec<String>,
}

impl Viewer {
    /// Returns the user of a token of the identity's project. `of_cloud` are roles that have the rights of
    /// those of Magnum's policy.
    pub fn new(token: ScopedToken, identity: &Identity, of_cloud: &MagnumRoles) -> Self {
        let roles = identity.roles.iter().map(|role| role.name.clone());
        let mut roles: Vec<_> = roles.collect();
        roles.extend(of_cloud.of(&roles));
        Self {
            token,
            user_id: identity.user.id.clone(),
            roles,
        }
    }

    /// Returns the ID of the project.
    pub fn project_id(&self) -> &str {
        &self.token.project_id
    }

    /// Returns whether a cluster belongs to the project: an administrator's token reads those of others
    /// too. Old versions of Magnum do not name the project, and have those of the project only.
    pub fn is_of_project(&self, cluster: &magnum::Cluster) -> bool {
        cluster.project_id.is_empty() || cluster.project_id == self.token.project_id
    }

    /// Returns what identifies the user's rights in the project.
    pub fn key(&self) -> String {
        format!("{} {}", self.user_id, self.roles.join(" "))
    }

    /// Returns why Magnum's default policy forbids a call, as a sentence with a next step; `None`: it
    /// permits it. `creator` is the `user_id` of the cluster; `None` for a call without one.
    pub fn refusal(&self, call: Call, creator: Option<&str>) -> Option<String> {
        let caller = Caller {
            user_id: &self.user_id,
            project_id: self.project_id(),
            roles: &self.roles,
        };
        let owner = Owner {
            project_id: self.project_id(),
            user_id: creator.unwrap_or(&self.user_id),
        };
        match permission(caller, call, owner) {
            Permission::Permitted => None,
            Permission::Forbidden | Permission::Hidden => Some(self.reason(call)),
        }
    }

    fn reason(&self, call: Call) -> String {
        let has_role = |name: &str| self.roles.iter().any(|role| role == name);
        let ask = "Ask a project administrator for access.";
        match call {
            Call::ReadAuthority | Call::SignCertificate if has_role("member") => {
                "Magnum gives the certificates of a cluster to the user who created it only. Ask that \
                 user to do this."
                    .to_owned()
            }
            Call::ListClusters
            | Call::ShowCluster
            | Call::ListNodeGroups
            | Call::ShowNodeGroup
            | Call::ListTemplates
            | Call::ShowTemplate
            | Call::ReadQuota => format!(
                "Magnum shows clusters to users with the role reader in this project (policy rule {}). \
                 {ask}",
                rule(call)
            ),
            Call::PublishTemplate | Call::SetQuota | Call::ListConductors => format!(
                "Magnum permits this to administrators of the cloud only (policy rule {}). Ask the operator \
                 of the cloud.",
                rule(call)
            ),
            _ => format!(
                "Magnum permits this to users with the role member in this project (policy rule {}). {ask}",
                rule(call)
            ),
        }
    }
}

/// Returns the name of the policy rule.
fn rule(call: Call) -> &'static str {
    match call {
        Call::ListClusters => "cluster:detail",
        Call::ShowCluster => "cluster:get",
        Call::CreateCluster => "cluster:create",
        Call::ChangeCluster => "cluster:update",
        Call::ResizeCluster => "cluster:resize",
        Call::UpgradeCluster => "cluster:upgrade",
        Call::DeleteCluster => "cluster:delete",
        Call::ListNodeGroups => "nodegroup:get_all",
        Call::ShowNodeGroup => "nodegroup:get",
        Call::CreateNodeGroup => "nodegroup:create",
        Call::ChangeNodeGroup => "nodegroup:update",
        Call::DeleteNodeGroup => "nodegroup:delete",
        Call::ReadAuthority => "certificate:get",
        Call::SignCertificate => "certificate:create",
        Call::RotateCa => "certificate:rotate_ca",
        Call::RotateCredential => "credential:rotate",
        Call::ListTemplates => "clustertemplate:detail",
        Call::ShowTemplate => "clustertemplate:get",
        Call::CreateTemplate => "clustertemplate:create",
        Call::ChangeTemplate => "clustertemplate:update",
        Call::DeleteTemplate => "clustertemplate:delete",
        Call::PublishTemplate => "clustertemplate:publish",
        Call::ReadQuota => "quota:get",
        Call::SetQuota => "quota:create",
        Call::ListConductors => "magnum-service:get_all",
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use portico_openstack::keystone::Catalog;
    use std::sync::Arc;

    /// Returns a user of the project `acme`.
    pub fn viewer(user: &str, roles: &[&str]) -> Viewer {
        Viewer {
            token: ScopedToken {
                token: format!("token-of-{user}").into(),
                project_id: "acme".to_owned(),
                catalog: Arc::new(Catalog::default()),
            },
            user_id: user.to_owned(),
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        }
    }

    #[test]
    fn a_refusal_names_the_role_or_the_creator_and_a_next_step() {
        let reader = viewer("bob", &["reader"]);
        let refused = reader.refusal(Call::CreateCluster, None).unwrap();
        assert!(refused.contains("role member"), "{refused}");
        assert!(refused.contains("cluster:create"), "{refused}");
        assert_eq!(reader.refusal(Call::ShowCluster, Some("ada")), None);
        let member = viewer("bob", &["member", "reader"]);
        let refused = member.refusal(Call::PublishTemplate, None).unwrap();
        assert!(refused.contains("administrators of the cloud"), "{refused}");
        let refused = member.refusal(Call::SignCertificate, Some("ada")).unwrap();
        assert!(refused.contains("created it"), "{refused}");
        assert_eq!(member.refusal(Call::SignCertificate, Some("bob")), None);
    }
}
