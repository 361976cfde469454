//! The answer to a user's question about a subject, from the roles and bindings that they may read.
use super::{names_any, what_can, with_groups};
use crate::{
    kube::{Api, KubeError, namespaces, rbac, reviews},
    service::{
        access::{Names, who_can::subject_with_names},
        error::ServiceError,
    },
};
use portico_domain::{
    cluster::ClusterRecord,
    identity::user_group,
    panel::{BoundKind, BoundName, Refusal, Subject, WhatCanView},
};
use std::collections::BTreeSet;

/// Maximum number of namespaces that a sentence names.
const MAX_NAMED: usize = 10;

/// Returns what a subject can do. The viewer is recognised, and their groups are added.
pub async fn answer(
    api: &Api,
    record: &ClusterRecord,
    names: &Names<'_>,
    asked: &BoundName,
) -> Result<WhatCanView, ServiceError> {
    let subject = parse(asked)?;
    let subjects = with_groups(&subject, &groups_of(&subject, record, names));
    let places = namespaces::visible(api).await?.names;
    let bindings = rbac::bindings(api, &places).await?;
    if !bindings.any_permitted {
        let question = reviews::question("list", &rbac::resource("rolebindings"), None);
        return Err(ServiceError::lacks(question).next(
            "Without it, the bindings of a subject cannot be found. Ask an administrator of the \
             cluster or the project, who can see them on this page.",
        ));
    }
    let mut gaps = unread("rolebindings", &bindings.not_permitted);
    let mut own = bindings.found;
    own.retain(|binding| names_any(binding, &subjects));
    let cluster_roles = match rbac::roles(api, None).await {
        Ok(roles) => roles,
        Err(KubeError::Refused(_)) => {
            gaps.extend(unread("roles", &[rbac::CLUSTER_WIDE.to_owned()]));
            Vec::new()
        }
        Err(error) => return Err(error.into()),
    };
    let roles = roles(api, &own, &mut gaps).await?;
    let policy = super::Policy {
        roles: &roles,
        cluster_roles: &cluster_roles,
        bindings: &own,
    };
    let (mut places, dangling) = what_can(&policy, &subjects);
    let grants = places.iter_mut().flat_map(|place| &mut place.grants);
    for through in grants.filter_map(|grant| grant.through.as_mut()) {
        *through = subject_with_names(through, names);
    }
    let named = |one: &Subject| subject_with_names(one, names);
    Ok(WhatCanView {
        also: subjects.iter().skip(1).map(named).collect(),
        subject: named(&subject),
        places,
        dangling,
        gaps,
    })
}

/// Reads the Roles of the namespaces whose bindings refer to one.
async fn roles(
    api: &Api,
    bindings: &[rbac::Binding],
    gaps: &mut Vec<Refusal>,
) -> Result<Vec<rbac::Role>, ServiceError> {
    let places: BTreeSet<&str> = bindings
        .iter()
        .filter(|binding| binding.role_ref.kind == "Role")
        .filter_map(|binding| binding.metadata.namespace.as_deref())
        .collect();
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    for place in places {
        match rbac::roles(api, Some(place)).await {
            Ok(roles) => found.extend(roles),
            Err(KubeError::Refused(_)) => refused.push(place.to_owned()),
            Err(error) => return Err(error.into()),
        }
    }
    gaps.extend(unread("roles", &refused));
    Ok(found)
}

/// Returns the groups of a subject that is the viewer.
fn groups_of(subject: &Subject, record: &ClusterRecord, names: &Names<'_>) -> Vec<String> {
    let identity = names.identity;
    let is_viewer = match subject {
        Subject::User { name } => *name == identity.kubernetes_username(),
        Subject::Group { name } => *name == user_group(&identity.user.id),
        _ => false,
    };
    if is_viewer {
        identity.kubernetes_groups(record.qualified_groups_only())
    } else {
        Vec::new()
    }
}

/// Returns the gap that places without a right to read `plural` leave; one for the whole cluster and
/// one for all namespaces.
fn unread(plural: &str, places: &[String]) -> Vec<Refusal> {
    let (cluster, namespaces): (Vec<_>, Vec<_>) = places
        .iter()
        .partition(|place| *place == rbac::CLUSTER_WIDE);
    let mut gaps = Vec::new();
    if !cluster.is_empty() {
        let resource = rbac::resource(&format!("cluster{plural}"));
        gaps.push(Refusal::of(reviews::question("list", &resource, None)));
    }
    if let Some(first) = namespaces.first() {
        let shown: Vec<_> = namespaces
            .iter()
            .take(MAX_NAMED)
            .map(|name| name.as_str())
            .collect();
        let more = match namespaces.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        let resource = rbac::resource(plural);
        gaps.push(Refusal {
            reason: format!(
                "Your roles do not include list on {plural} in {}{more}.",
                shown.join(", ")
            ),
            missing: Some(Box::new(reviews::question(
                "list",
                &resource,
                Some(first.as_str()),
            ))),
        });
    }
    gaps
}

/// Reads the subject of a form.
fn parse(asked: &BoundName) -> Result<Subject, ServiceError> {
    let name = asked.name.trim();
    if name.is_empty() {
        return Err(ServiceError::invalid(
            "Name a user, a group or a ServiceAccount.",
        ));
    }
    match asked.kind {
        BoundKind::User => Ok(Subject::User {
            name: name.to_owned(),
        }),
        BoundKind::Group => Ok(Subject::Group {
            name: name.to_owned(),
        }),
        BoundKind::ServiceAccount => match name.split_once('/') {
            Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() => {
                Ok(Subject::ServiceAccount {
                    namespace: namespace.to_owned(),
                    name: name.to_owned(),
                })
            }
            _ => Err(ServiceError::invalid(
                "Write a ServiceAccount with its namespace, such as shop/default.",
            )),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_account_needs_its_namespace() {
        let parsed = |name: &str| {
            parse(&BoundName {
                kind: BoundKind::ServiceAccount,
                name: name.to_owned(),
            })
        };
        assert_eq!(
            parsed(" shop/robot ").ok(),
            Some(Subject::ServiceAccount {
                namespace: "shop".to_owned(),
                name: "robot".to_owned()
            })
        );
        for wrong in ["", "robot", "/robot", "shop/"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_could_not_be_read_names_the_permission_and_where() {
        let places = ["shop", rbac::CLUSTER_WIDE, "bank"].map(str::to_owned);
        let reasons: Vec<_> = unread("rolebindings", &places)
            .into_iter()
            .map(|gap| gap.reason)
            .collect();
        assert_eq!(
            reasons,
            [
                "Your roles do not include list on clusterrolebindings in the whole cluster.",
                "Your roles do not include list on rolebindings in shop, bank."
            ]
        );
        let many: Vec<_> = (0..12).map(|number| format!("n{number}")).collect();
        let gap = unread("roles", &many).remove(0);
        assert!(gap.reason.ends_with("n9 and 2 more."), "{}", gap.reason);
        assert_eq!(
            gap.missing.and_then(|missing| missing.namespace).as_deref(),
            Some("n0")
        );
        assert!(unread("roles", &[]).is_empty());
    }
}
