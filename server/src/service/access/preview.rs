//! The preview of a grant, before it is saved.
use super::{change, subjects, subjects::Names, verification::KeystoneLookup};
use crate::{
    kube::{Api, KubeError, rbac, reviews::Rule},
    service::{error::ServiceError, rights},
};
use portico_domain::{
    cluster::ClusterRecord,
    panel::{GainedRule, GrantPreview, GrantRequest, SubjectKind},
};

/// Reads the role, explains it, and looks the subject up in Keystone.
pub async fn preview(
    api: &Api,
    record: &ClusterRecord,
    names: &Names<'_>,
    keystone: &KeystoneLookup<'_>,
    grant: &GrantRequest,
) -> Result<GrantPreview, ServiceError> {
    let text = grant.subject_id.trim();
    let is_name = grant.subject_kind == SubjectKind::User && !subjects::is_keystone_user_id(text);
    let subject_id = if is_name && !text.is_empty() {
        keystone.user_id(text).await?
    } else {
        text.to_owned()
    };
    let grant = &GrantRequest {
        subject_id: subject_id.clone(),
        ..grant.clone()
    };
    let rules = rules(api, grant).await?;
    let project = names.identity.project.as_ref().map(|p| p.id.as_str());
    let group = subjects::group(grant.subject_kind, grant.subject_id.trim(), record, project);
    let known = names.subject(&subjects::bound_group(group.clone()));
    let ((subject, unverified), exists) = tokio::join!(
        keystone.verify(known, grant.subject_kind, grant.subject_id.trim()),
        exists(api, grant, &group)
    );
    let (gained, dangers) = explain(&rules, grant.namespace.is_some());
    Ok(GrantPreview {
        gained,
        dangers,
        namespaces: grant.namespace.as_ref().map_or_else(
            || "every namespace, also those made later, and cluster-wide objects".to_owned(),
            |namespace| format!("namespace {namespace} only"),
        ),
        subject,
        subject_id,
        unverified,
        exists: exists?,
        group,
    })
}

/// Returns the rules of the role in a grant.
pub async fn rules(api: &Api, grant: &GrantRequest) -> Result<Vec<Rule>, ServiceError> {
    change::check(grant)?;
    let role = rbac::role(api, &grant.role, grant.namespace.as_deref())
        .await
        .map_err(|error| match error {
            KubeError::NotFound(_) => {
                ServiceError::not_found(format!("There is no role {} here.", grant.role.name))
            }
            other => other.into(),
        })?;
    Ok(role.rules.unwrap_or_default())
}

/// Returns the rules in a form to show, and the dangers in them.
pub fn explain(rules: &[Rule], namespaced: bool) -> (Vec<GainedRule>, Vec<String>) {
    let mut dangers: Vec<String> = Vec::new();
    let gained = rules
        .iter()
        // a binding in a namespace gives no right to non-resource paths
        .filter(|rule| !(namespaced && rule.resources.is_empty()))
        .map(|rule| {
            let found = dangers_of(rule);
            let dangerous = !found.is_empty();
            for danger in found {
                if !dangers.iter().any(|known| known == danger) {
                    dangers.push(danger.to_owned());
                }
            }
            GainedRule {
                verbs: rule.verbs.clone(),
                resources: resources(rule),
                names: rule.resource_names.clone(),
                dangerous,
            }
        })
        .collect();
    (gained, dangers)
}

fn resources(rule: &Rule) -> Vec<String> {
    if rule.resources.is_empty() {
        return rule.non_resource_urls.clone();
    }
    rule.resources
        .iter()
        .flat_map(|resource| {
            rule.api_groups
                .iter()
                .map(move |group| match group.as_str() {
                    "" => resource.clone(),
                    group => format!("{resource}.{group}"),
                })
        })
        .collect()
}

fn dangers_of(rule: &Rule) -> Vec<&'static str> {
    // a rule limited to names is rated as if it were not: the named objects are dangerous all the
    // same
    let rule = &Rule {
        resource_names: Vec::new(),
        ..rule.clone()
    };
    let any = |verbs: &[&str], group: &str, resources: &[&str]| {
        verbs.iter().any(|verb| {
            resources
                .iter()
                .any(|resource| rights::covers(rule, verb, group, resource))
        })
    };
    let rbac = [
        "roles",
        "clusterroles",
        "rolebindings",
        "clusterrolebindings",
    ];
    let star = |list: &[String]| list.iter().any(|entry| entry == "*");
    let mut found = Vec::new();
    if any(&["get", "list", "watch"], "", &["secrets"]) {
        found.push("secrets");
    }
    let shells = [
        "pods/exec",
        "pods/attach",
        "pods/portforward",
        "pods/proxy",
        "nodes/proxy",
        "pods/ephemeralcontainers",
    ];
    if any(&["get", "create", "update", "patch"], "", &shells) {
        found.push("exec");
    }
    if any(&["escalate"], rbac::GROUP, &rbac) {
        found.push("escalate");
    }
    if any(&["bind", "create", "update", "patch"], rbac::GROUP, &rbac) {
        found.push("bind");
    }
    let identities = ["users", "groups", "serviceaccounts", "uids"];
    if any(&["impersonate"], "", &identities)
        || any(
            &["impersonate"],
            "authentication.k8s.io",
            &["userextras", "uids"],
        )
    {
        found.push("impersonate");
    }
    if star(&rule.verbs) || star(&rule.resources) || star(&rule.api_groups) {
        found.push("wildcard");
    }
    found
}

/// Returns whether the same grant exists already, as far as the viewer may see.
async fn exists(api: &Api, grant: &GrantRequest, group: &str) -> Result<bool, ServiceError> {
    let name = change::binding_name(grant, group);
    let reference = portico_domain::panel::BindingRef {
        namespace: grant.namespace.clone(),
        name,
    };
    match rbac::binding(api, &reference).await {
        Ok(binding) => Ok(binding
            .subjects()
            .iter()
            .any(|subject| subject.kind == "Group" && subject.name == group)),
        Err(KubeError::NotFound(_) | KubeError::Refused(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(verbs: &[&str], groups: &[&str], resources: &[&str]) -> Rule {
        let own = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Rule {
            verbs: own(verbs),
            api_groups: own(groups),
            resources: own(resources),
            ..Rule::default()
        }
    }

    #[test]
    fn dangers_are_found_in_the_rules_that_hold_them() {
        for (rule, expected) in [
            (rule(&["get"], &[""], &["pods"]), vec![]),
            (rule(&["list"], &[""], &["secrets"]), vec!["secrets"]),
            (rule(&["get"], &[""], &["pods/exec"]), vec!["exec"]),
            (
                rule(&["bind"], &[rbac::GROUP], &["clusterroles"]),
                vec!["bind"],
            ),
            (
                rule(&["escalate"], &[rbac::GROUP], &["roles"]),
                vec!["escalate"],
            ),
            (
                rule(&["impersonate"], &[""], &["users"]),
                vec!["impersonate"],
            ),
            (
                rule(&["*"], &["*"], &["*"]),
                vec![
                    "secrets",
                    "exec",
                    "escalate",
                    "bind",
                    "impersonate",
                    "wildcard",
                ],
            ),
            (rule(&["get"], &["example.org"], &["secrets"]), vec![]),
        ] {
            assert_eq!(dangers_of(&rule), expected, "{rule:?}");
        }
    }

    #[test]
    fn resources_are_written_with_their_group() {
        let (gained, dangers) = explain(&[rule(&["get"], &["", "apps"], &["deployments"])], true);
        assert_eq!(gained[0].resources, ["deployments", "deployments.apps"]);
        assert!(dangers.is_empty());
    }

    #[test]
    fn paths_are_no_gain_in_a_namespace() {
        let paths = Rule {
            verbs: vec!["get".to_owned()],
            non_resource_urls: vec!["/version".to_owned()],
            ..Rule::default()
        };
        assert_eq!(explain(std::slice::from_ref(&paths), true).0.len(), 0);
        assert_eq!(explain(&[paths], false).0[0].resources, ["/version"]);
    }
}
