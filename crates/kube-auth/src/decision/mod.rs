//! The decision about a token for one cluster, from Keystone's response. Pure: no I/O, no clock.
use crate::policy::extra as reference;
use crate::review::UserInfo;
use jiff::Timestamp;
use portico_assertion::cluster_token::OpenError;
use portico_domain::cluster::{ClusterRecord, NotAccepted, SERVICE_TYPE, TokenKind};
use portico_domain::identity::{Identity, Project};
use portico_openstack::keystone::{TokenDetails, TokenScope};
use std::collections::BTreeMap;

/// Maximum number of a user's roles in one project: more than any cloud has. A list is never cut
/// silently.
const MAX_ROLES: usize = 1000;

/// The reason for a refusal; for the audit log and metrics, never for the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("not a token that this cluster accepts")]
    NotOurToken,
    #[error("cluster token: {0}")]
    ClusterToken(OpenError),
    #[error("no audience in common")]
    Audience,
    #[error("keystone does not accept the token")]
    DeadToken,
    #[error("the keystone token has expired")]
    Expired,
    #[error("token without a project: {}", .0.as_str())]
    Scope(TokenScope),
    #[error("token of a trust")]
    Trust,
    #[error("token of an OAuth delegation")]
    OAuth,
    #[error("token made from an EC2 signature")]
    Ec2,
    #[error("application credential with access rules")]
    AccessRules,
    #[error("an empty or unprintable name or ID")]
    UnusableName,
    #[error("a user name that Kubernetes reserves")]
    ReservedName,
    #[error("no role in the project")]
    NoRole,
    #[error("too many roles")]
    TooManyRoles,
    #[error("project not accepted by the cluster")]
    Project,
    #[error("none of the roles that the cluster accepts")]
    Role,
}

/// Decides which user the token belongs to at this cluster.
pub(crate) fn decide(
    details: &TokenDetails,
    cluster: &ClusterRecord,
    now: Timestamp,
) -> Result<UserInfo, Refusal> {
    if details.expires_at <= now {
        return Err(Refusal::Expired);
    }
    let identity = &details.identity;
    if !is_scope_accepted(details, cluster) {
        return Err(Refusal::Scope(details.scope));
    }
    delegated(details, cluster)?;
    usable(identity)?;
    match cluster.accepts(identity) {
        Err(NotAccepted::Role) => return Err(Refusal::Role),
        Err(NotAccepted::Project) if identity.project.is_some() => return Err(Refusal::Project),
        Err(NotAccepted::Project) if !cluster.accepted_roles.is_empty() => {
            return Err(Refusal::Role);
        }
        // without a project, the token is admitted because the record lists its kind
        Err(NotAccepted::Project) | Ok(()) => {}
    }
    Ok(UserInfo {
        username: identity.kubernetes_username(),
        uid: identity.user.id.clone(),
        groups: identity.kubernetes_groups(cluster.qualified_groups_only()),
        extra: extra(details),
    })
}

/// Returns the audiences of the response: those of the request that the cluster has.
pub(crate) fn audiences(asked: &[String], cluster: &ClusterRecord) -> Result<Vec<String>, Refusal> {
    let common: Vec<_> = asked
        .iter()
        .filter(|audience| cluster.api_audiences.contains(audience))
        .cloned()
        .collect();
    if common.is_empty() && !asked.is_empty() {
        return Err(Refusal::Audience);
    }
    Ok(common)
}

/// Returns whether the scope is accepted: a token must be for a project, unless the cluster accepts
/// other kinds too.
fn is_scope_accepted(details: &TokenDetails, cluster: &ClusterRecord) -> bool {
    let kind = match details.scope {
        TokenScope::Project => return details.identity.project.is_some(),
        TokenScope::Unscoped => TokenKind::Unscoped,
        TokenScope::Domain => TokenKind::Domain,
        TokenScope::System => TokenKind::System,
    };
    // roles in a domain or the system are not roles here, and must not look like them
    details.identity.project.is_none()
        && details.identity.roles.is_empty()
        && cluster.accepted_tokens.contains(&kind)
}

/// Checks delegated tokens: rights that were delegated for one purpose are not rights in a cluster.
fn delegated(details: &TokenDetails, cluster: &ClusterRecord) -> Result<(), Refusal> {
    let accepted = |kind| cluster.accepted_tokens.contains(&kind);
    if details.trust.is_some() && !accepted(TokenKind::Trust) {
        return Err(Refusal::Trust);
    }
    if details.is_oauth && !accepted(TokenKind::Oauth) {
        return Err(Refusal::OAuth);
    }
    let is_ec2 = |method: &String| method == "ec2credential";
    if details.methods.iter().any(is_ec2) && !accepted(TokenKind::Ec2) {
        return Err(Refusal::Ec2);
    }
    if let Some(credential) = &details.application_credential {
        let has_rules = credential.access_rules.is_some();
        if !credential.is_for(SERVICE_TYPE) || has_rules && !accepted(TokenKind::AccessRules) {
            return Err(Refusal::AccessRules);
        }
    }
    Ok(())
}

/// Checks what the API server does not: it would accept an empty user name, or one with line
/// breaks.
fn usable(identity: &Identity) -> Result<(), Refusal> {
    let user = &identity.user;
    let roles = &identity.roles;
    if roles.is_empty() && identity.project.is_some() {
        return Err(Refusal::NoRole);
    }
    if roles.len() > MAX_ROLES {
        return Err(Refusal::TooManyRoles);
    }
    let own = [&user.id, &user.name, &user.domain.id, &user.domain.name];
    let scope = identity.project.iter().flat_map(of_project);
    let held = roles.iter().flat_map(|role| [&role.id, &role.name]);
    if !own
        .into_iter()
        .chain(scope)
        .chain(held)
        .all(|text| printable(text))
    {
        return Err(Refusal::UnusableName);
    }
    // a prefix of Kubernetes' own accounts, in any spelling that looks like it
    if user.name.trim_start().to_lowercase().starts_with("system:") {
        return Err(Refusal::ReservedName);
    }
    Ok(())
}

fn of_project(project: &Project) -> [&String; 2] {
    [&project.id, &project.name]
}

fn printable(text: &str) -> bool {
    // the last two change the direction of the text after them in a log
    !text.trim().is_empty()
        && !text.chars().any(|c| {
            c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        })
}

fn extra(details: &TokenDetails) -> BTreeMap<&'static str, Vec<String>> {
    let mut extra = identity_extra(&details.identity);
    if let Some(trust) = &details.trust {
        extra.insert("portico.dev/trust-id", vec![trust.id.clone()]);
        extra.insert("portico.dev/trustor-id", vec![trust.trustor_id.clone()]);
        let impersonation = vec![trust.impersonation.to_string()];
        extra.insert("portico.dev/trust-impersonation", impersonation);
    }
    // public, and the same in Keystone's own audit trail
    if let Some(id) = details.audit_ids.first() {
        extra.insert(CREDENTIAL_ID, vec![id.clone()]);
    }
    if let Some(credential) = &details.application_credential {
        extra.insert(APPLICATION_CREDENTIAL_ID, vec![credential.id.clone()]);
    }
    extra
}

/// The extra key with the public ID of the token, which only kube-auth sees.
pub const CREDENTIAL_ID: &str = "portico.dev/credential-id";
const APPLICATION_CREDENTIAL_ID: &str = "portico.dev/application-credential-id";

/// Returns the extra keys that follow from the identity; those of the token itself are added.
pub fn identity_extra(identity: &Identity) -> BTreeMap<&'static str, Vec<String>> {
    let user = &identity.user;
    let role_names: Vec<_> = identity
        .roles
        .iter()
        .map(|role| role.name.clone())
        .collect();
    let mut extra = BTreeMap::from([
        // the keys of k8s-keystone-auth, which policies and tools made for it read
        (reference::ROLES, role_names.clone()),
        (reference::USER_DOMAIN_ID, vec![user.domain.id.clone()]),
        (reference::USER_DOMAIN_NAME, vec![user.domain.name.clone()]),
        ("portico.dev/user-domain-id", vec![user.domain.id.clone()]),
        ("portico.dev/role-names", role_names),
    ]);
    if let Some(project) = &identity.project {
        for key in [reference::PROJECT_ID, "portico.dev/project-id"] {
            extra.insert(key, vec![project.id.clone()]);
        }
        for key in [reference::PROJECT_NAME, "portico.dev/project-name"] {
            extra.insert(key, vec![project.name.clone()]);
        }
    }
    extra
}

#[cfg(test)]
mod tests;
