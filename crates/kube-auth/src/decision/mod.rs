//! What Keystone's word about a token means for one cluster. Pure: no I/O, no clock.
use crate::policy::extra as reference;
use crate::review::UserInfo;
use jiff::Timestamp;
use portico_assertion::cluster_token::OpenError;
use portico_domain::cluster::{ClusterRecord, NotAccepted};
use portico_domain::identity::{Identity, Project};
use portico_openstack::keystone::{TokenDetails, TokenScope};
use std::collections::BTreeMap;

/// More roles in one project than any cloud has; a list is never cut silently.
const MAX_ROLES: usize = 1000;

/// Why the answer is "no"; for the audit log and metrics, never for the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("not a token that this cluster takes")]
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

/// Who the token's user is at this cluster.
pub(crate) fn decide(
    details: &TokenDetails,
    cluster: &ClusterRecord,
    now: Timestamp,
) -> Result<UserInfo, Refusal> {
    if details.expires_at <= now {
        return Err(Refusal::Expired);
    }
    let identity = &details.identity;
    let project = match (&identity.project, details.scope) {
        (Some(project), TokenScope::Project) => project,
        (_, scope) => return Err(Refusal::Scope(scope)),
    };
    delegated(details)?;
    usable(identity, project)?;
    cluster.accepts(identity).map_err(|lacks| match lacks {
        NotAccepted::Project => Refusal::Project,
        NotAccepted::Role => Refusal::Role,
    })?;
    Ok(UserInfo {
        username: identity.kubernetes_username(),
        uid: identity.user.id.clone(),
        groups: identity.kubernetes_groups(cluster.qualified_groups_only()),
        extra: extra(details, project),
    })
}

/// What to answer when these audiences are asked for: those that the cluster has.
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

/// Rights that somebody handed on for one purpose are not rights in a cluster.
fn delegated(details: &TokenDetails) -> Result<(), Refusal> {
    if details.is_trust {
        return Err(Refusal::Trust);
    }
    if details.is_oauth {
        return Err(Refusal::OAuth);
    }
    let credential = details.application_credential.as_ref();
    if credential.is_some_and(|credential| credential.has_access_rules) {
        return Err(Refusal::AccessRules);
    }
    Ok(())
}

/// The API server checks none of this: it would take a nameless user, or one with line breaks.
fn usable(identity: &Identity, project: &Project) -> Result<(), Refusal> {
    let user = &identity.user;
    let roles = &identity.roles;
    if roles.is_empty() {
        return Err(Refusal::NoRole);
    }
    if roles.len() > MAX_ROLES {
        return Err(Refusal::TooManyRoles);
    }
    let own = [&user.id, &user.name, &user.domain.id, &user.domain.name];
    let scope = [&project.id, &project.name];
    let held = roles.iter().flat_map(|role| [&role.id, &role.name]);
    if !own
        .into_iter()
        .chain(scope)
        .chain(held)
        .all(|text| printable(text))
    {
        return Err(Refusal::UnusableName);
    }
    // a prefix of Kubernetes' own accounts, in any spelling that a person reads as such
    if user.name.trim_start().to_lowercase().starts_with("system:") {
        return Err(Refusal::ReservedName);
    }
    Ok(())
}

fn printable(text: &str) -> bool {
    // the last two turn the reading direction of whatever stands behind them in a log
    !text.trim().is_empty()
        && !text.chars().any(|c| {
            c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        })
}

fn extra(details: &TokenDetails, project: &Project) -> BTreeMap<&'static str, Vec<String>> {
    let mut extra = identity_extra(&details.identity, project);
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

/// The extra keys that follow from who somebody is; those of the token itself come on top.
pub fn identity_extra(
    identity: &Identity,
    project: &Project,
) -> BTreeMap<&'static str, Vec<String>> {
    let user = &identity.user;
    let role_names: Vec<_> = identity
        .roles
        .iter()
        .map(|role| role.name.clone())
        .collect();
    BTreeMap::from([
        // the keys of k8s-keystone-auth, which policies and tools made for it read
        (reference::ROLES, role_names.clone()),
        (reference::PROJECT_ID, vec![project.id.clone()]),
        (reference::PROJECT_NAME, vec![project.name.clone()]),
        (reference::USER_DOMAIN_ID, vec![user.domain.id.clone()]),
        (reference::USER_DOMAIN_NAME, vec![user.domain.name.clone()]),
        ("portico.dev/project-id", vec![project.id.clone()]),
        ("portico.dev/project-name", vec![project.name.clone()]),
        ("portico.dev/user-domain-id", vec![user.domain.id.clone()]),
        ("portico.dev/role-names", role_names),
    ])
}

#[cfg(test)]
mod tests;
