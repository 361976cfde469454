//! The answer to a user's question, from the roles and bindings that they may read.
use super::{Policy, grantable, who_can, with_names};
use crate::{
    kube::{Api, KubeError, discovery, discovery::Catalog, rbac, reviews},
    service::{access::Names, error::ServiceError},
};
use portico_domain::panel::{Refusal, RightQuestion, WhoCanView};

/// Returns who has a permission and who could grant it. `resource` is written as for kubectl:
/// `pods`, `pods/exec`, `deployments.apps`.
pub async fn answer(
    api: &Api,
    names: &Names<'_>,
    verb: &str,
    resource: &str,
    namespace: Option<String>,
) -> Result<WhoCanView, ServiceError> {
    let catalog = discovery::catalog(api).await?;
    let question = question(&catalog, verb, resource, namespace)?;
    let places: Vec<String> = question.namespace.iter().cloned().collect();
    let mut gaps = Vec::new();
    let bindings = rbac::bindings(api, &places).await?;
    for place in &bindings.not_permitted {
        gaps.push(unread_bindings(place));
    }
    if !bindings.any_permitted {
        let place = question.namespace.as_deref();
        let missing = reviews::question("list", &rbac::resource("rolebindings"), place);
        let refusal = ServiceError {
            missing: Some(Box::new(missing)),
            ..ServiceError::not_permitted(
                "Your roles do not include list on rolebindings there, so this cannot be answered \
                 for you.",
            )
        };
        return Err(refusal.next(
            "Ask an administrator of the cluster or the project, who can see it on this page.",
        ));
    }
    let mut readable = |found: Result<Vec<rbac::Role>, KubeError>, place: Option<&str>| match found
    {
        Ok(roles) => Ok(roles),
        Err(KubeError::Refused(_)) => {
            gaps.push(unread_roles(place));
            Ok(Vec::new())
        }
        Err(error) => Err(ServiceError::from(error)),
    };
    let cluster_roles = readable(rbac::roles(api, None).await, None)?;
    let roles = match question.namespace.as_deref() {
        Some(namespace) => readable(rbac::roles(api, Some(namespace)).await, Some(namespace))?,
        None => Vec::new(),
    };
    let policy = Policy {
        roles: &roles,
        cluster_roles: &cluster_roles,
        bindings: &bindings.found,
    };
    Ok(WhoCanView {
        found: with_names(who_can(&policy, &question), names),
        granters: with_names(grantable(&policy, &question), names),
        question,
        gaps,
    })
}

/// Returns the gap of bindings that may not be listed, in a namespace or in the whole cluster.
fn unread_bindings(place: &str) -> Refusal {
    let missing = if place == rbac::CLUSTER_WIDE {
        reviews::question("list", &rbac::resource("clusterrolebindings"), None)
    } else {
        reviews::question("list", &rbac::resource("rolebindings"), Some(place))
    };
    Refusal {
        reason: format!("You may not list the bindings of: {place}."),
        missing: Some(Box::new(missing)),
    }
}

/// Returns the gap of roles that may not be listed: those of a namespace, or the ClusterRoles.
fn unread_roles(place: Option<&str>) -> Refusal {
    let (plural, what) = match place {
        Some(_) => ("roles", "Roles"),
        None => ("clusterroles", "ClusterRoles"),
    };
    let missing = reviews::question("list", &rbac::resource(plural), place);
    Refusal {
        reason: format!("You may not list {what}, so some bindings could not be read."),
        missing: Some(Box::new(missing)),
    }
}

fn question(
    catalog: &Catalog,
    verb: &str,
    resource: &str,
    namespace: Option<String>,
) -> Result<RightQuestion, ServiceError> {
    let verb = verb.trim().to_lowercase();
    let (whole, subresource) = resource
        .trim()
        .split_once('/')
        .unwrap_or((resource.trim(), ""));
    let (plural, group) = match whole.split_once('.') {
        Some((plural, group)) => (plural, Some(group)),
        None => (whole, None),
    };
    if verb.is_empty() || plural.is_empty() {
        return Err(ServiceError::invalid(
            "Name a verb such as delete, and a resource such as pods or pods/exec.",
        ));
    }
    let kind = match group {
        Some(group) => catalog.preferred(group, plural),
        None => catalog.by_plural(plural),
    };
    let kind = kind.ok_or_else(|| {
        ServiceError::invalid(format!("This cluster has no resource {whole}."))
            .next("Write the plural, such as deployments, or deployments.apps with its group.")
    })?;
    Ok(RightQuestion {
        verb,
        group: kind.group.clone(),
        resource: kind.plural.clone(),
        subresource: subresource.to_owned(),
        namespace: namespace.filter(|name| !name.is_empty() && kind.namespaced),
        name: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::ResourceKind;

    #[test]
    fn need_31_what_could_not_be_read_names_the_missing_permission() {
        let words = |gap: Refusal| gap.missing.map(|missing| missing.in_words());
        let asked = [
            unread_bindings(rbac::CLUSTER_WIDE),
            unread_bindings("shop"),
            unread_roles(None),
            unread_roles(Some("shop")),
        ];
        assert_eq!(
            asked.map(words).map(Option::unwrap),
            [
                "list on clusterrolebindings in the whole cluster",
                "list on rolebindings in shop",
                "list on clusterroles in the whole cluster",
                "list on roles in shop",
            ]
        );
    }

    #[test]
    fn a_resource_is_written_as_for_kubectl() {
        let kind = |group: &str, plural: &str, namespaced| ResourceKind {
            group: group.to_owned(),
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            kind: String::new(),
            namespaced,
            verbs: Vec::new(),
            short_names: Vec::new(),
        };
        let catalog = Catalog::new(vec![
            kind("", "pods", true),
            kind("apps", "deployments", true),
            kind("", "nodes", false),
        ]);
        let ask = |resource: &str| {
            let question = question(&catalog, " Delete ", resource, Some("shop".to_owned()));
            question.map(|q| (q.verb, q.group, q.resource, q.subresource, q.namespace))
        };
        let own = str::to_owned;
        let shop = Some(own("shop"));
        let expected = (
            own("delete"),
            own(""),
            own("pods"),
            own("exec"),
            shop.clone(),
        );
        assert_eq!(ask("pods/exec").unwrap(), expected);
        let expected = (
            own("delete"),
            own("apps"),
            own("deployments"),
            own(""),
            shop,
        );
        assert_eq!(ask("deployments").unwrap(), expected);
        assert_eq!(ask("deployments.apps").unwrap(), expected);
        assert_eq!(ask("nodes").unwrap().4, None);
        assert!(ask("deployments.example.org").is_err() && ask("").is_err());
    }
}
