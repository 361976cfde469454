//! What Magnum's default policy permits to whom.
//!
//! Magnum has no call for that question. Portico predicts the answer from the roles of the token, so
//! that what would be refused is not offered. Magnum's own answer decides: operators override policies.
//! The rules are those of `magnum/common/policies` in Magnum 23.

/// A call of Magnum's API, as far as its policy tells it apart from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    ListClusters,
    ShowCluster,
    CreateCluster,
    /// `PATCH /clusters/{id}`, such as of the health status.
    ChangeCluster,
    ResizeCluster,
    UpgradeCluster,
    DeleteCluster,
    ListNodeGroups,
    ShowNodeGroup,
    CreateNodeGroup,
    ChangeNodeGroup,
    DeleteNodeGroup,
    /// The certificate of a cluster's authority.
    ReadAuthority,
    SignCertificate,
    RotateCa,
    RotateCredential,
    ListTemplates,
    /// A template that is not public, as in the following calls.
    ShowTemplate,
    CreateTemplate,
    ChangeTemplate,
    DeleteTemplate,
    /// The creation of a public or hidden template, or the change to one.
    PublishTemplate,
    /// The quota of clusters of a project.
    ReadQuota,
    SetQuota,
    ListConductors,
}

/// All calls, in the order of their documentation.
pub const CALLS: [Call; 25] = [
    Call::ListClusters,
    Call::ShowCluster,
    Call::CreateCluster,
    Call::ChangeCluster,
    Call::ResizeCluster,
    Call::UpgradeCluster,
    Call::DeleteCluster,
    Call::ListNodeGroups,
    Call::ShowNodeGroup,
    Call::CreateNodeGroup,
    Call::ChangeNodeGroup,
    Call::DeleteNodeGroup,
    Call::ReadAuthority,
    Call::SignCertificate,
    Call::RotateCa,
    Call::RotateCredential,
    Call::ListTemplates,
    Call::ShowTemplate,
    Call::CreateTemplate,
    Call::ChangeTemplate,
    Call::DeleteTemplate,
    Call::PublishTemplate,
    Call::ReadQuota,
    Call::SetQuota,
    Call::ListConductors,
];

/// Who calls, from the token.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    pub user_id: &'a str,
    pub project_id: &'a str,
    /// The names of the roles as the token lists them, with those that others imply.
    pub roles: &'a [String],
}

impl Caller<'_> {
    fn has(&self, role: &str) -> bool {
        self.roles.iter().any(|one| one == role)
    }
}

/// To whom the object of a call belongs.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    pub project_id: &'a str,
    /// `user_id` of the cluster: who created it, or rotated its credential.
    pub user_id: &'a str,
}

/// What the policy means for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    Permitted,
    /// Magnum answers 403.
    Forbidden,
    /// The object belongs to another project: Magnum answers as if it did not exist.
    Hidden,
}

/// Returns what the policy permits. `owner` is that of the object, or for calls without one the
/// caller's own. Objects of other projects are hidden from administrators too: Magnum opens some calls
/// across projects to them, and Portico acts in the project of the token only.
pub fn permission(caller: Caller<'_>, call: Call, owner: Owner<'_>) -> Permission {
    let is_own_project = caller.project_id == owner.project_id;
    if is_about_object(call) && !is_own_project {
        return Permission::Hidden;
    }
    let is_admin = caller.has("admin");
    let is_member = is_admin || caller.has("member");
    let is_reader = is_admin || caller.has("reader");
    let is_creator = caller.user_id == owner.user_id;
    let is_permitted = match call {
        Call::ListClusters
        | Call::ShowCluster
        | Call::ListNodeGroups
        | Call::ShowNodeGroup
        | Call::ListTemplates
        | Call::ShowTemplate => is_reader,
        Call::CreateCluster
        | Call::ChangeCluster
        | Call::ResizeCluster
        | Call::UpgradeCluster
        | Call::DeleteCluster
        | Call::CreateNodeGroup
        | Call::ChangeNodeGroup
        | Call::DeleteNodeGroup
        | Call::RotateCa
        | Call::CreateTemplate
        | Call::ChangeTemplate
        | Call::DeleteTemplate => is_member,
        Call::ReadAuthority => is_admin || (is_reader && is_creator),
        Call::SignCertificate => is_admin || (is_member && is_creator),
        // the role admin alone is not enough
        Call::RotateCredential => caller.has("member"),
        Call::ReadQuota => is_admin || (is_reader && is_own_project),
        Call::PublishTemplate | Call::SetQuota | Call::ListConductors => is_admin,
    };
    if is_permitted {
        Permission::Permitted
    } else {
        Permission::Forbidden
    }
}

/// Returns whether a call is about an object that Magnum looks up in the caller's project.
fn is_about_object(call: Call) -> bool {
    match call {
        Call::ListClusters
        | Call::CreateCluster
        | Call::ListTemplates
        | Call::CreateTemplate
        | Call::PublishTemplate
        | Call::ReadQuota
        | Call::SetQuota
        | Call::ListConductors => false,
        Call::ShowCluster
        | Call::ChangeCluster
        | Call::ResizeCluster
        | Call::UpgradeCluster
        | Call::DeleteCluster
        | Call::ListNodeGroups
        | Call::ShowNodeGroup
        | Call::CreateNodeGroup
        | Call::ChangeNodeGroup
        | Call::DeleteNodeGroup
        | Call::ReadAuthority
        | Call::SignCertificate
        | Call::RotateCa
        | Call::RotateCredential
        | Call::ShowTemplate
        | Call::ChangeTemplate
        | Call::DeleteTemplate => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Permission::{Forbidden, Hidden, Permitted};

    const OWNER: Owner<'static> = Owner {
        project_id: "acme",
        user_id: "ada",
    };

    fn of(user: &str, project: &str, roles: &[&str], call: Call) -> Permission {
        let roles: Vec<_> = roles.iter().map(|role| (*role).to_owned()).collect();
        let caller = Caller {
            user_id: user,
            project_id: project,
            roles: &roles,
        };
        permission(caller, call, OWNER)
    }

    #[test]
    fn readers_read_members_change_and_only_the_creator_gets_certificates() {
        let (reader, member): (&[_], &[_]) = (&["reader"], &["member", "reader"]);
        for (call, of_reader, of_member, of_creator) in [
            (Call::ShowCluster, Permitted, Permitted, Permitted),
            (Call::CreateCluster, Forbidden, Permitted, Permitted),
            (Call::DeleteTemplate, Forbidden, Permitted, Permitted),
            (Call::ReadAuthority, Forbidden, Forbidden, Permitted),
            (Call::SignCertificate, Forbidden, Forbidden, Permitted),
            (Call::RotateCa, Forbidden, Permitted, Permitted),
            (Call::PublishTemplate, Forbidden, Forbidden, Forbidden),
        ] {
            assert_eq!(of("bob", "acme", reader, call), of_reader, "{call:?}");
            assert_eq!(of("bob", "acme", member, call), of_member, "{call:?}");
            assert_eq!(of("ada", "acme", member, call), of_creator, "{call:?}");
        }
    }

    #[test]
    fn objects_of_other_projects_are_hidden_from_administrators_too() {
        let (member, admin): (&[_], &[_]) = (&["member"], &["admin", "member"]);
        for roles in [member, admin] {
            let of_call = |call| of("otto", "globex", roles, call);
            assert_eq!(of_call(Call::ShowCluster), Hidden);
            assert_eq!(of_call(Call::RotateCredential), Hidden);
            assert_eq!(of_call(Call::CreateCluster), Permitted);
        }
        let quota = |roles| of("otto", "globex", roles, Call::ReadQuota);
        assert_eq!(quota(&["member", "reader"]), Forbidden);
        assert_eq!(quota(&["admin"]), Permitted);
    }

    #[test]
    fn an_administrator_may_do_everything_except_for_the_credential() {
        for call in CALLS {
            let expected = match call {
                Call::RotateCredential => Forbidden,
                _ => Permitted,
            };
            assert_eq!(of("root", "acme", &["admin"], call), expected, "{call:?}");
        }
    }

    #[test]
    fn without_a_role_of_magnum_nothing_is_permitted() {
        for call in CALLS {
            assert_eq!(
                of("ada", "acme", &["k8s_admin"], call),
                Forbidden,
                "{call:?}"
            );
        }
    }
}
