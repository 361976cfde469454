//! Namespaces that the gateway stores for subjects, so that users see them who may not list any.
use super::PanelService;
use portico_assertion::audit_report::Candidate;
use portico_domain::identity::{Identity, parse_project_role_group, project_group, user_group};
use uuid::Uuid;

impl PanelService {
    /// Returns whether a namespace is reported to the gateway.
    pub(super) fn may_report(&self, cluster: Uuid, candidate: &Candidate) -> bool {
        let cluster = self.clusters.get(cluster);
        let is_enrolled = cluster.is_some_and(|cluster| cluster.is_enrolled());
        !is_enrolled || is_of_project(&candidate.subject, self.caller.identity())
    }
}

/// Returns whether a subject is the caller, or belongs to the caller's project. The gateway stores a
/// number of namespaces for each subject, the latest ones: an API server of a tenant, which confirms
/// any grant, could displace those of every other user, or of a role of the whole cloud.
fn is_of_project(subject: &str, identity: &Identity) -> bool {
    let Some(project) = &identity.project else {
        return false;
    };
    let role = parse_project_role_group(subject);
    role.is_some_and(|(of, _)| of == project.id)
        || subject == project_group(&project.id)
        || subject == user_group(&identity.user.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::identity::project_role_group;

    #[test]
    fn an_enrolled_cluster_gives_namespaces_to_its_own_project_only() {
        let domain = serde_json::json!({ "id": "default", "name": "Default" });
        let identity: Identity = serde_json::from_value(serde_json::json!({
            "user": { "id": "u1", "name": "ada", "domain": domain },
            "project": { "id": "p1", "name": "acme", "domain": domain },
            "roles": [],
        }))
        .unwrap();
        for own in [
            user_group("u1"),
            project_group("p1"),
            project_role_group("p1", "r1"),
        ] {
            assert!(is_of_project(&own, &identity), "{own}");
        }
        for other in [
            user_group("u2"),
            project_group("p2"),
            project_role_group("p2", "r1"),
            "r1".to_owned(),
        ] {
            assert!(!is_of_project(&other, &identity), "{other}");
        }
    }
}
