//! Collections of several namespaces, read with the viewer's own token and with few requests: one for
//! each namespace, or one for the cluster where there are many. Namespaces with more objects than
//! their share are read on with what the others have left.
use crate::{
    kube::{Api, KubeError, path, reviews},
    service::error::ServiceError,
};
use futures::{StreamExt, stream};
use portico_domain::panel::ResourceRef;
use serde::{Deserialize, de::DeserializeOwned};
use std::collections::{HashMap, HashSet};

/// With more namespaces, the whole cluster is listed, if the viewer may do that.
const MAX_SEPARATE_LISTS: usize = 8;
/// Maximum number of namespaces that are listed where the viewer may not list the whole cluster, or
/// the cluster has too many objects.
const MAX_NAMESPACES: usize = 24;
const MAX_CONCURRENT_LISTS: usize = 8;
/// Maximum number of requests for one namespace.
const MAX_ROUNDS: usize = 4;

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

/// A namespace that is not read as a whole yet.
#[derive(Debug)]
struct Part {
    namespace: String,
    /// Where its list continues; empty before its first request.
    position: String,
}

/// Shares a number of objects between namespaces: each round gives every namespace that has more the
/// same part of what is left.
#[derive(Debug)]
struct SharedLimit {
    parts: Vec<Part>,
    /// Number of objects that may still be read.
    left: usize,
    done: usize,
}

impl SharedLimit {
    fn new(namespaces: Vec<String>, limit: usize) -> Self {
        let mut parts = Vec::with_capacity(namespaces.len());
        for namespace in namespaces {
            parts.push(Part {
                namespace,
                position: String::new(),
            });
        }
        Self {
            parts,
            left: limit,
            done: 0,
        }
    }

    /// Begins a round: returns its namespaces and the number of objects to read of each; `None` if
    /// all are read, or no more may be read.
    fn begin(&mut self) -> Option<(Vec<Part>, usize)> {
        // a request with the limit 0 would have none
        let each = self.left.checked_div(self.parts.len())?;
        if each == 0 || self.done == MAX_ROUNDS {
            return None;
        }
        self.done += 1;
        Some((std::mem::take(&mut self.parts), each))
    }

    /// Records that objects of a namespace were read, and where its list continues, if it does.
    fn record(&mut self, part: Part, objects: usize, position: Option<String>) {
        self.left = self.left.saturating_sub(objects);
        if let Some(position) = position {
            self.parts.push(Part { position, ..part });
        }
    }

    /// Returns the namespaces that are not read as a whole.
    fn into_cut(self) -> impl Iterator<Item = String> {
        self.parts.into_iter().map(|part| part.namespace)
    }
}

/// Reads a collection of several namespaces, at most `limit` objects. With many namespaces, a list of
/// the cluster is tried first; its objects do not count if it is not complete.
pub async fn of_namespaces<T: DeserializeOwned>(
    api: &Api,
    resource: &ResourceRef,
    namespaces: &[String],
    limit: usize,
) -> Collected<T> {
    let mut found = Collected::new(Vec::new());
    if namespaces.len() > MAX_SEPARATE_LISTS {
        match page(api, resource, None, "", limit).await {
            Ok((items, None)) => {
                found.items = items;
                return found;
            }
            // other namespaces may have filled it
            Ok((_, Some(_))) | Err(KubeError::Refused(_)) => {}
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
    let mut shared = SharedLimit::new(read, limit);
    while let Some((parts, each)) = shared.begin() {
        let answers: Vec<_> = stream::iter(parts)
            .map(|part| async move {
                let (namespace, position) = (part.namespace.as_str(), part.position.as_str());
                let answer = page::<T>(api, resource, Some(namespace), position, each).await;
                (part, answer)
            })
            .buffered(MAX_CONCURRENT_LISTS)
            .collect()
            .await;
        for (part, answer) in answers {
            match answer {
                Ok((items, position)) => {
                    shared.record(part, items.len(), position);
                    found.items.extend(items);
                }
                Err(error) => {
                    let error = failure(error, resource, Some(part.namespace.as_str()));
                    found.failures.insert(part.namespace, error);
                }
            }
        }
    }
    found.cut.extend(shared.into_cut());
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
    match page(api, resource, None, "", limit).await {
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

/// Reads objects of one collection from a position on, the empty one for the first; the second value
/// is the position of the next, if there are more. Not the objects but the response is cached, as other
/// rows and other kinds of workloads need the same.
async fn page<T: DeserializeOwned>(
    api: &Api,
    resource: &ResourceRef,
    namespace: Option<&str>,
    position: &str,
    limit: usize,
) -> Result<(Vec<T>, Option<String>), KubeError> {
    let collection = path::collection(resource, namespace)?;
    let limit = limit.to_string();
    let query = path::with_query(
        &collection,
        &[("limit", limit.as_str()), ("continue", position)],
    );
    let bytes = api.recent(&query).await?;
    read(&bytes)
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<(Vec<T>, Option<String>), KubeError> {
    let page: Page<T> =
        serde_json::from_slice(bytes).map_err(|error| KubeError::Protocol(error.to_string()))?;
    let position = page.metadata.and_then(|metadata| metadata.position);
    let position = position.filter(|position| !position.is_empty());
    Ok((page.items.unwrap_or_default(), position))
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Pod;

    fn pods(text: &str) -> Result<(Vec<Pod>, Option<String>), KubeError> {
        read(text.as_bytes())
    }

    #[test]
    fn need_07_rows_of_a_list_that_was_cut_are_known_to_be_incomplete() {
        let (items, position) =
            pods(r#"{"metadata":{"continue":"x"},"items":[{"metadata":{"name":"web"}}]}"#).unwrap();
        assert_eq!((items.len(), position.as_deref()), (1, Some("x")));
        let (items, position) = pods(r#"{"metadata":{"continue":""},"items":null}"#).unwrap();
        assert_eq!((items.len(), position), (0, None));
        assert!(pods(r#"{"items":[]}"#).unwrap().1.is_none());
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

    /// Reads namespaces of these sizes; returns the number of objects, of requests, and what was cut.
    fn rounds(sizes: &[(&str, usize)], limit: usize) -> (usize, usize, Vec<String>) {
        let mut left: HashMap<String, usize> = HashMap::new();
        for (namespace, size) in sizes {
            left.insert((*namespace).to_owned(), *size);
        }
        let names = sizes.iter().map(|(name, _)| (*name).to_owned()).collect();
        let mut shared = SharedLimit::new(names, limit);
        let (mut objects, mut requests) = (0, 0);
        while let Some((parts, each)) = shared.begin() {
            for part in parts {
                requests += 1;
                let remaining = left.get_mut(&part.namespace).unwrap();
                let read = each.min(*remaining);
                *remaining -= read;
                objects += read;
                let position = (*remaining > 0).then(|| "next".to_owned());
                shared.record(part, read, position);
            }
        }
        (objects, requests, shared.into_cut().collect())
    }

    #[test]
    fn need_07_rows_of_a_namespace_are_read_with_what_the_others_have_left() {
        let mut sizes = vec![("shop", 126_usize)];
        sizes.extend(["a", "b", "c", "d", "e", "f", "g"].map(|name| (name, 10)));
        // one request more, for the last pod
        assert_eq!(rounds(&sizes, 1_000), (196, 9, Vec::new()));
        assert_eq!(rounds(&[("shop", 1_000)], 1_000), (1_000, 1, Vec::new()));
        assert_eq!(rounds(&[], 1_000), (0, 0, Vec::new()));
    }

    #[test]
    fn need_07_rows_of_a_large_namespace_do_not_cut_those_of_the_others() {
        let sizes = [("bank", 5_000), ("farm", 300), ("lab", 40), ("shop", 260)];
        let (objects, requests, cut) = rounds(&sizes, 1_000);
        assert_eq!(cut, ["bank"]);
        assert!(objects <= 1_000 && requests <= 16, "{objects} {requests}");
        // none fits: each has the same part
        let (objects, _, cut) = rounds(&[("bank", 900), ("shop", 900)], 1_000);
        assert_eq!((objects, cut.len()), (1_000, 2));
    }

    #[test]
    fn need_07_rows_end_with_a_server_that_returns_less_than_it_may() {
        let mut shared = SharedLimit::new(vec!["shop".to_owned()], 1_000);
        let mut requests = 0;
        while let Some((parts, _)) = shared.begin() {
            requests += 1;
            for part in parts {
                shared.record(part, 1, Some("next".to_owned()));
            }
        }
        assert_eq!(requests, MAX_ROUNDS);
        assert_eq!(shared.into_cut().collect::<Vec<_>>(), ["shop"]);
    }
}
