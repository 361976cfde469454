//! The namespaces that a user may see, and the scope over which a kind can be listed.
use super::{
    Api, Forbidden, KubeError,
    api::Call,
    reviews::{self, Rule},
    table,
};
use futures::{StreamExt, stream};
use portico_domain::panel::{ListScope, ResourceKind, ResourceRef, VisibleNamespaces};

/// Maximum number of namespaces in one merged list.
pub const MAX_NAMESPACES: usize = 2_000;
/// Maximum number of requests for them: an API server may name a next chunk for ever.
const MAX_CHUNKS: usize = 16;
const MAX_CONCURRENT_REVIEWS: usize = 12;
/// A namespace that does not exist: the rules there are those of all namespaces.
const NO_NAMESPACE: &str = "portico-no-such-namespace";

/// Returns the names of all namespaces, if the user may list them.
pub async fn list(api: &Api) -> Result<Vec<String>, KubeError> {
    let mut names = Vec::new();
    let mut position = String::new();
    let mut chunks = 0;
    loop {
        chunks += 1;
        let path = super::path::with_query(
            "/api/v1/namespaces",
            &[("limit", "1000"), ("continue", &position)],
        );
        let bytes = api
            .bytes(Call {
                accept: table::ACCEPT,
                ..Call::get(&path)
            })
            .await?;
        let page = table::Table::read(&bytes)?;
        position.clone_from(&page.metadata.continue_token);
        let columns = page.columns();
        names.extend(
            page.into_rows("namespaces", &columns)
                .into_iter()
                .map(|row| row.row.name),
        );
        if position.is_empty() || names.len() >= MAX_NAMESPACES || chunks >= MAX_CHUNKS {
            names.sort_unstable();
            return Ok(names);
        }
    }
}

/// Returns the namespaces that a user may see: all, if they may list them, else the candidates that
/// the API server confirms.
///
/// # Errors
/// If the API server does not respond. A user without rights sees no namespace.
pub async fn visible(api: &Api) -> Result<VisibleNamespaces, KubeError> {
    match list(api).await {
        Ok(names) => Ok(VisibleNamespaces {
            names,
            all_known: true,
        }),
        Err(KubeError::Refused(_)) => Ok(VisibleNamespaces {
            names: confirmed(api).await?,
            all_known: false,
        }),
        Err(error) => Err(error),
    }
}

async fn confirmed(api: &Api) -> Result<Vec<String>, KubeError> {
    let answers: Vec<_> = stream::iter(api.namespace_candidates().iter().cloned())
        .map(|namespace| async move {
            let has_rights = has_rights(api, &namespace).await?;
            Ok::<_, KubeError>(has_rights.then_some(namespace))
        })
        .buffered(MAX_CONCURRENT_REVIEWS)
        .collect()
        .await;
    let confirmed: Result<Vec<_>, _> = answers.into_iter().collect();
    let mut names: Vec<_> = confirmed?.into_iter().flatten().collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// Returns whether a user may read anything in a namespace that they may not read in all namespaces,
/// or list pods there. The namespace need not exist.
pub async fn has_rights(api: &Api, namespace: &str) -> Result<bool, KubeError> {
    let (here, everywhere) = futures::try_join!(
        reviews::cached_rules(api, namespace),
        reviews::cached_rules(api, NO_NAMESPACE)
    )?;
    if gives_more(&here.rules, &everywhere.rules) {
        return Ok(true);
    }
    // a right in all namespaces, or of an authorizer that does not list its rules, such as a webhook
    let question = reviews::question("list", &ResourceRef::core("pods"), Some(namespace));
    reviews::allowed(api, &question).await
}

/// Returns whether rules permit to read something that others do not name. Rules that all users have
/// are in every namespace, such as those about their own rights.
fn gives_more(rules: &[Rule], others: &[Rule]) -> bool {
    let reads = |rule: &Rule| {
        let reading = ["get", "list", "watch", "*"];
        let mut verbs = rule.verbs.iter();
        !rule.resources.is_empty() && verbs.any(|verb| reading.contains(&verb.as_str()))
    };
    rules
        .iter()
        .any(|rule| reads(rule) && !others.contains(rule))
}

/// Returns the scope over which a kind is listed for this user. Of `namespaces`, if there are several,
/// it has those that exist and allow it; without any, it is the cluster if that is allowed, else
/// exactly the namespaces in which it is.
pub async fn scope(
    api: &Api,
    kind: &ResourceKind,
    namespaces: &[String],
    verb: &str,
) -> Result<ListScope, KubeError> {
    // for one place no review is needed: the API server refuses the list itself
    if !kind.namespaced {
        return Ok(ListScope::Cluster);
    }
    if let [namespace] = namespaces {
        return Ok(ListScope::Namespace(namespace.clone()));
    }
    let resource = super::discovery::reference(kind);
    let everywhere = reviews::review(api, &reviews::question(verb, &resource, None)).await?;
    if !namespaces.is_empty() {
        return chosen(api, kind, namespaces, verb, everywhere.allowed).await;
    }
    if everywhere.allowed {
        return Ok(ListScope::Cluster);
    }
    let VisibleNamespaces { names, all_known } = visible(api).await?;
    let (listed, refused) = permitted(api, &resource, names, verb).await?;
    if listed.is_empty() {
        let plural = &kind.plural;
        let message = if all_known {
            format!("your roles do not include {verb} on {plural} in any namespace of this cluster")
        } else {
            format!(
                "your roles include neither {plural} in the whole cluster nor the list of \
                 namespaces; open a namespace by its name"
            )
        };
        let missing = reviews::question(verb, &resource, None);
        return Err(KubeError::Refused(Forbidden::lacks(message, missing)));
    }
    Ok(ListScope::Namespaces {
        listed,
        refused,
        all_known,
    })
}

/// Returns the scope of several namespaces that the user chose. Those that do not exist count as
/// refused, as far as the user may list the existing ones.
async fn chosen(
    api: &Api,
    kind: &ResourceKind,
    namespaces: &[String],
    verb: &str,
    is_allowed_everywhere: bool,
) -> Result<ListScope, KubeError> {
    if namespaces.len() > MAX_NAMESPACES {
        return Err(KubeError::Invalid(format!(
            "at most {MAX_NAMESPACES} namespaces can be listed at once"
        )));
    }
    let mut names = namespaces.to_vec();
    names.sort_unstable();
    names.dedup();
    let existing = match list(api).await {
        Ok(existing) => Some(existing),
        Err(KubeError::Refused(_)) => None,
        Err(error) => return Err(error),
    };
    let exists = |name: &String| {
        existing
            .as_ref()
            .is_none_or(|existing| existing.binary_search(name).is_ok())
    };
    let (known, unknown): (Vec<_>, Vec<_>) = names.into_iter().partition(exists);
    let (listed, mut refused) = if is_allowed_everywhere {
        (known, Vec::new())
    } else {
        let resource = super::discovery::reference(kind);
        permitted(api, &resource, known, verb).await?
    };
    refused.extend(unknown);
    refused.sort_unstable();
    if listed.is_empty() {
        let message = format!(
            "your roles do not include {verb} on {} in any of these {} namespaces, or they do not \
             exist",
            kind.plural,
            refused.len()
        );
        let resource = super::discovery::reference(kind);
        let place = refused.first().map(String::as_str);
        let missing = reviews::question(verb, &resource, place);
        return Err(KubeError::Refused(Forbidden::lacks(message, missing)));
    }
    Ok(ListScope::Namespaces {
        listed,
        refused,
        all_known: true,
    })
}

/// Splits namespaces by whether `verb` is allowed in them.
pub async fn permitted(
    api: &Api,
    resource: &ResourceRef,
    namespaces: Vec<String>,
    verb: &str,
) -> Result<(Vec<String>, Vec<String>), KubeError> {
    let answers: Vec<_> = stream::iter(namespaces)
        .map(|namespace| async move {
            let question = reviews::question(verb, resource, Some(&namespace));
            reviews::allowed(api, &question)
                .await
                .map(|allowed| (namespace, allowed))
        })
        .buffered(MAX_CONCURRENT_REVIEWS)
        .collect()
        .await;
    let (mut listed, mut refused) = (Vec::new(), Vec::new());
    for answer in answers {
        let (namespace, allowed) = answer?;
        if allowed {
            listed.push(namespace);
        } else {
            refused.push(namespace);
        }
    }
    Ok((listed, refused))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_every_user_has_give_no_right_in_a_namespace() {
        let rule = |verb: &str, resources: &[&str]| Rule {
            verbs: vec![verb.to_owned()],
            resources: resources.iter().map(|&one| one.to_owned()).collect(),
            ..Rule::default()
        };
        let everywhere = [
            rule("create", &["selfsubjectaccessreviews"]),
            rule("get", &["nodes"]),
        ];
        for (rule, expected) in [
            (rule("create", &["selfsubjectaccessreviews"]), false),
            (rule("use", &["podsecuritypolicies"]), false),
            (rule("get", &["nodes"]), false),
            (rule("get", &[]), false),
            (rule("list", &["configmaps"]), true),
            (rule("*", &["*"]), true),
        ] {
            let rules = [everywhere[0].clone(), rule];
            assert_eq!(gives_more(&rules, &everywhere), expected, "{rules:?}");
        }
    }
}
