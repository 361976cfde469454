//! The namespaces that a user may see, and the scope over which a kind can be listed.
use super::{Api, KubeError, api::Call, reviews, table};
use futures::{StreamExt, stream};
use portico_domain::panel::{ListScope, ResourceKind, ResourceRef};

/// Maximum number of namespaces in one merged list.
const MAX_NAMESPACES: usize = 2_000;
const MAX_CONCURRENT_REVIEWS: usize = 12;

/// Returns the names of all namespaces, if the user may list them.
pub async fn list(api: &Api) -> Result<Vec<String>, KubeError> {
    let mut names = Vec::new();
    let mut position = String::new();
    loop {
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
        if position.is_empty() || names.len() >= MAX_NAMESPACES {
            names.sort_unstable();
            return Ok(names);
        }
    }
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
    let namespaces = list(api).await.map_err(|error| match error {
        KubeError::Refused(_) => KubeError::Refused(format!(
            "your roles include neither {} in the whole cluster nor the list of namespaces; open \
             a namespace by its name",
            kind.plural
        )),
        other => other,
    })?;
    let (listed, refused) = permitted(api, &resource, namespaces, verb).await?;
    if listed.is_empty() {
        return Err(KubeError::Refused(format!(
            "your roles do not include {verb} on {} in any namespace of this cluster",
            kind.plural
        )));
    }
    Ok(ListScope::Namespaces { listed, refused })
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
        return Err(KubeError::Refused(format!(
            "your roles do not include {verb} on {} in any of these {} namespaces, or they do not \
             exist",
            kind.plural,
            refused.len()
        )));
    }
    Ok(ListScope::Namespaces { listed, refused })
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
