//! Which namespaces a person may see, and over which of them a kind can be listed.
use super::{Api, KubeError, api::Call, reviews, table};
use futures::{StreamExt, stream};
use portico_domain::panel::{ListScope, ResourceKind, ResourceRef};

/// Namespaces that one merged list is made over at most.
const MAX_MERGED: usize = 2_000;
const PARALLEL: usize = 12;

/// The names of all namespaces, when the person may list them.
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
        if position.is_empty() || names.len() >= MAX_MERGED {
            names.sort_unstable();
            return Ok(names);
        }
    }
}

/// Over what a kind is listed for this person: the cluster where that is allowed, else exactly
/// the namespaces where it is.
pub async fn scope(
    api: &Api,
    kind: &ResourceKind,
    namespace: Option<&str>,
    verb: &str,
) -> Result<ListScope, KubeError> {
    // one place needs no question before: the API server's own answer is the refusal
    if !kind.namespaced {
        return Ok(ListScope::Cluster);
    }
    if let Some(namespace) = namespace {
        return Ok(ListScope::Namespace(namespace.to_owned()));
    }
    let resource = super::discovery::reference(kind);
    let everywhere = reviews::review(api, &reviews::question(verb, &resource, None)).await?;
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
        .buffered(PARALLEL)
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
