//! Collections of several namespaces, read with the viewer's own token and with few requests: one for
//! each namespace, or one for the cluster where there are many.
use crate::{
    kube::{Api, KubeError, api::Call, path, reviews},
    service::error::ServiceError,
};
use futures::{StreamExt, stream};
use portico_domain::panel::ResourceRef;
use serde::{Deserialize, de::DeserializeOwned};
use std::collections::{HashMap, HashSet};

/// With more namespaces, the whole cluster is listed, if the viewer may do that.
const MAX_SEPARATE_LISTS: usize = 8;
/// Maximum number of namespaces that are listed for a viewer who may not list the whole cluster.
const MAX_NAMESPACES: usize = 24;
const MAX_CONCURRENT_LISTS: usize = 8;
/// Minimum number of objects that are read of each namespace.
const MIN_OBJECTS: usize = 50;

/// The objects of several namespaces, as far as they could be read.
#[derive(Clone, Debug)]
pub struct Collected<T> {
    pub items: Vec<T>,
    /// Namespaces that could not be read.
    pub failures: HashMap<String, ServiceError>,
    /// Namespaces of which only the first objects were read.
    pub cut: HashSet<String>,
}

impl<T> Collected<T> {
    pub fn new(items: Vec<T>) -> Self {
        Self {
            items,
            failures: HashMap::new(),
            cut: HashSet::new(),
        }
    }

    /// Returns why a namespace was not read as a whole, in a sentence; `None` if it was.
    pub fn gap(&self, namespace: &str) -> Option<String> {
        if let Some(error) = self.failures.get(namespace) {
            return Some(error.message.clone());
        }
        let is_cut = self.cut.contains(namespace);
        is_cut.then(|| "There are too many objects here to be read at once.".to_owned())
    }
}

#[derive(Deserialize)]
struct Page<T> {
    metadata: Option<PageMetadata>,
    items: Option<Vec<T>>,
}

#[derive(Deserialize)]
struct PageMetadata {
    #[serde(rename = "continue")]
    position: Option<String>,
}

/// Reads a collection of several namespaces, at most about `limit` objects.
pub async fn of_namespaces<T: DeserializeOwned>(
    api: &Api,
    resource: &ResourceRef,
    namespaces: &[String],
    limit: usize,
) -> Collected<T> {
    let mut found = Collected::new(Vec::new());
    if namespaces.len() > MAX_SEPARATE_LISTS {
        match page(api, resource, None, limit).await {
            Ok((items, is_cut)) => {
                found.items = items;
                if is_cut {
                    found.cut.extend(namespaces.iter().cloned());
                }
                return found;
            }
            Err(KubeError::Refused(_)) => {}
            Err(error) => {
                for namespace in namespaces {
                    found
                        .failures
                        .insert(namespace.clone(), ServiceError::from(error.clone()));
                }
                return found;
            }
        }
    }
    let mut read = namespaces.to_vec();
    let left = read.split_off(read.len().min(MAX_NAMESPACES));
    for namespace in left {
        let error = ServiceError::invalid(format!(
            "Only {MAX_NAMESPACES} namespaces are read at once; choose fewer namespaces."
        ));
        found.failures.insert(namespace, error);
    }
    let each = (limit / read.len().max(1)).max(MIN_OBJECTS);
    let answers: Vec<_> = stream::iter(read)
        .map(|namespace| async move {
            let answer = page::<T>(api, resource, Some(namespace.as_str()), each).await;
            (namespace, answer)
        })
        .buffered(MAX_CONCURRENT_LISTS)
        .collect()
        .await;
    for (namespace, answer) in answers {
        match answer {
            Ok((items, is_cut)) => {
                found.items.extend(items);
                if is_cut {
                    found.cut.insert(namespace);
                }
            }
            Err(error) => {
                let error = failure(error, resource, Some(namespace.as_str()));
                found.failures.insert(namespace, error);
            }
        }
    }
    found
}

/// Reads a collection that is in no namespace, at most `limit` objects.
///
/// # Errors
/// Those of the request; `NotPermitted` with the permission that is missing.
pub async fn of_cluster<T: DeserializeOwned>(
    api: &Api,
    resource: &ResourceRef,
    limit: usize,
) -> Result<Vec<T>, ServiceError> {
    match page(api, resource, None, limit).await {
        Ok((items, _)) => Ok(items),
        Err(error) => Err(failure(error, resource, None)),
    }
}

fn failure(error: KubeError, resource: &ResourceRef, namespace: Option<&str>) -> ServiceError {
    if !matches!(error, KubeError::Refused(_)) {
        return error.into();
    }
    let mut question = reviews::question("list", resource, namespace);
    // pods.metrics.k8s.io, not pods
    question.resource = question.resource_name();
    question.group.clear();
    ServiceError::lacks(question)
}

/// Reads the first objects of one collection; the second value tells whether there are more.
async fn page<T: DeserializeOwned>(
    api: &Api,
    resource: &ResourceRef,
    namespace: Option<&str>,
    limit: usize,
) -> Result<(Vec<T>, bool), KubeError> {
    let collection = path::collection(resource, namespace)?;
    let limit = limit.to_string();
    let query = path::with_query(&collection, &[("limit", limit.as_str())]);
    let bytes = api.bytes(Call::get(&query)).await?;
    read(&bytes)
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<(Vec<T>, bool), KubeError> {
    let page: Page<T> =
        serde_json::from_slice(bytes).map_err(|error| KubeError::Protocol(error.to_string()))?;
    let position = page.metadata.and_then(|metadata| metadata.position);
    let is_cut = position.is_some_and(|position| !position.is_empty());
    Ok((page.items.unwrap_or_default(), is_cut))
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Pod;

    fn pods(text: &str) -> Result<(Vec<Pod>, bool), KubeError> {
        read(text.as_bytes())
    }

    #[test]
    fn need_07_rows_of_a_list_that_was_cut_are_known_to_be_incomplete() {
        let (items, is_cut) =
            pods(r#"{"metadata":{"continue":"x"},"items":[{"metadata":{"name":"web"}}]}"#).unwrap();
        assert_eq!((items.len(), is_cut), (1, true));
        let (items, is_cut) = pods(r#"{"metadata":{"continue":""},"items":null}"#).unwrap();
        assert_eq!((items.len(), is_cut), (0, false));
        assert!(!pods(r#"{"items":[]}"#).unwrap().1);
        assert!(matches!(pods("<html>"), Err(KubeError::Protocol(_))));
    }

    #[test]
    fn need_07_rows_of_a_namespace_that_could_not_be_read_have_the_reason() {
        let mut found = Collected::<Pod>::new(Vec::new());
        found.cut.insert("large".to_owned());
        let closed = reviews::question("list", &ResourceRef::core("pods"), Some("closed"));
        found
            .failures
            .insert("closed".to_owned(), ServiceError::lacks(closed));
        assert_eq!(found.gap("shop"), None);
        assert!(found.gap("large").unwrap().contains("too many objects"));
        assert!(found.gap("closed").unwrap().contains("list on pods"));
    }
}
