//! The pre-defined ClusterRoles, which an administrator applies where there is no enrolment.
use super::EnrolmentError;
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::{Api, Client, ResourceExt as _, api::PostParams};
use portico_runtime::yaml::{self, Limits};

const ROLES: &str = include_str!("../../../../scripts/seed/roles.yaml");
const LIMITS: Limits = Limits {
    max_bytes: 64 * 1024,
    max_depth: 16,
    max_nodes: 4_000,
};
const MAX_DOCUMENTS: usize = 32;

/// Creates the roles that the cluster does not have. One that exists is left as it is, whatever its
/// rules are: they are its administrators' choice.
///
/// # Errors
/// [`EnrolmentError::Refused`] if the API server does not accept the client,
/// [`EnrolmentError::CreateRole`] if a role cannot be created.
pub(super) async fn create_missing(client: &Client) -> Result<(), EnrolmentError> {
    let api = Api::<ClusterRole>::all(client.clone());
    for role in predefined()? {
        match api.create(&PostParams::default(), &role).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            Err(kube::Error::Api(status)) if matches!(status.code, 401 | 403) => {
                return Err(EnrolmentError::Refused);
            }
            Err(source) => {
                return Err(EnrolmentError::CreateRole {
                    name: role.name_any(),
                    source: Box::new(source),
                });
            }
        }
    }
    Ok(())
}

fn predefined() -> Result<Vec<ClusterRole>, EnrolmentError> {
    yaml::documents_from_str(ROLES, LIMITS, MAX_DOCUMENTS)
        .map_err(|error| EnrolmentError::Roles(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::{CLUSTER_READER, DEVELOPER, VIEWER};

    #[test]
    fn the_roles_that_are_bound_are_among_the_predefined_ones() {
        let roles = predefined().unwrap();
        for name in [DEVELOPER, VIEWER, CLUSTER_READER] {
            assert!(roles.iter().any(|role| role.name_any() == name), "{name}");
        }
        let is_empty = |role: &ClusterRole| {
            role.rules.as_ref().is_none_or(Vec::is_empty) && role.aggregation_rule.is_none()
        };
        assert!(!roles.iter().any(is_empty));
    }
}
