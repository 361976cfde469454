//! Lists of what is deleted in a cluster first, also for users whose roles are bound in single namespaces.
use crate::kube::{Api, KubeError, namespaces, path};
use futures::{StreamExt, stream};
use portico_domain::panel::{ResourceRef, VisibleNamespaces};
use serde_json::Value;
use std::future::Future;

/// Maximum number of objects of a chunk.
const MAX_OBJECTS: &str = "500";
const MAX_CONCURRENT_LISTS: usize = 8;
/// Maximum number of namespaces in a sentence.
const MAX_NAMES: usize = 20;

/// The lists of one cluster, as one user gets them.
pub trait Lists: Sync {
    /// Returns the objects of a core kind; without a namespace, those of the whole cluster.
    fn objects(
        &self,
        plural: &str,
        namespace: Option<&str>,
    ) -> impl Future<Output = Result<Vec<Value>, KubeError>> + Send;

    /// Returns the namespaces that the user may see.
    fn visible(&self) -> impl Future<Output = Result<VisibleNamespaces, KubeError>> + Send;
}

impl Lists for Api {
    async fn objects(
        &self,
        plural: &str,
        namespace: Option<&str>,
    ) -> Result<Vec<Value>, KubeError> {
        let path = path::collection(&ResourceRef::core(plural), namespace)?;
        super::chunks::all(plural, |position| {
            let query = [("limit", MAX_OBJECTS), ("continue", position.as_str())];
            let chunk = path::with_query(&path, &query);
            async move { self.get(&chunk).await }
        })
        .await
    }

    async fn visible(&self) -> Result<VisibleNamespaces, KubeError> {
        namespaces::visible(self).await
    }
}

/// Objects of a kind, and where they were looked for.
#[derive(Debug)]
pub struct Listed {
    pub items: Vec<Value>,
    /// The namespaces that were read, if others may have more; `None`: the whole cluster was.
    pub only: Option<Vec<String>>,
}

/// Returns the objects of a core kind in the whole cluster. Where the user may not list them there, each
/// namespace that the user may see is read.
///
/// # Errors
/// The refusal of the whole cluster, if no namespace may be read either; others as they are.
pub async fn list(lists: &impl Lists, plural: &str) -> Result<Listed, KubeError> {
    let refusal = match lists.objects(plural, None).await {
        Ok(items) => return Ok(Listed { items, only: None }),
        Err(refusal @ KubeError::Refused(_)) => refusal,
        Err(error) => return Err(error),
    };
    let VisibleNamespaces { names, all_known } = lists.visible().await?;
    // more of them may exist than are read
    let mut is_whole = all_known && names.len() < namespaces::MAX_NAMESPACES;
    let answers: Vec<_> = stream::iter(names)
        .map(|namespace| async move {
            let found = lists.objects(plural, Some(&namespace)).await;
            (namespace, found)
        })
        .buffered(MAX_CONCURRENT_LISTS)
        .collect()
        .await;
    let (mut items, mut read) = (Vec::new(), Vec::new());
    for (namespace, answer) in answers {
        match answer {
            Ok(found) => {
                items.extend(found);
                read.push(namespace);
            }
            Err(KubeError::Refused(_)) => is_whole = false,
            Err(error) => return Err(error),
        }
    }
    if read.is_empty() {
        return Err(refusal);
    }
    Ok(Listed {
        items,
        only: (!is_whole).then_some(read),
    })
}

/// Returns that objects of a kind were looked for in some namespaces only, as a sentence.
pub fn only_in(kind: &str, namespaces: &[String]) -> String {
    let names = namespaces.iter().take(MAX_NAMES).map(String::as_str);
    let shown = names.collect::<Vec<_>>().join(", ");
    let more = match namespaces.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{kind} were looked for in the namespaces that you can list: {shown}{more}. Those of other namespaces \
         are not deleted first."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kube::Forbidden;
    use serde_json::json;

    /// A cluster in which the user may list Services of some namespaces.
    struct Cluster {
        readable: &'static [&'static str],
        visible: &'static [&'static str],
        all_known: bool,
    }

    impl Lists for Cluster {
        async fn objects(
            &self,
            plural: &str,
            namespace: Option<&str>,
        ) -> Result<Vec<Value>, KubeError> {
            let place = namespace.unwrap_or("the cluster");
            if !self.readable.contains(&place) {
                let text = format!("cannot list {plural} in {place}");
                return Err(KubeError::Refused(Forbidden::from(text)));
            }
            Ok(vec![json!({"metadata": {"name": place}})])
        }

        async fn visible(&self) -> Result<VisibleNamespaces, KubeError> {
            Ok(VisibleNamespaces {
                names: self.visible.iter().map(|&name| name.to_owned()).collect(),
                all_known: self.all_known,
            })
        }
    }

    fn names(listed: &Listed) -> Vec<&str> {
        let items = listed.items.iter();
        items
            .filter_map(|item| item["metadata"]["name"].as_str())
            .collect()
    }

    #[tokio::test]
    async fn the_lists_of_the_namespaces_are_merged_where_the_cluster_is_refused() {
        let mut cluster = Cluster {
            readable: &["dev", "shop"],
            visible: &["dev", "secret", "shop"],
            all_known: true,
        };
        let listed = list(&cluster, "services").await.unwrap();
        assert_eq!(names(&listed), ["dev", "shop"]);
        let only = listed.only.unwrap();
        assert_eq!(only, ["dev", "shop"]);
        let text = only_in("Services", &only);
        assert!(text.contains("you can list: dev, shop. "), "{text}");
        // every namespace of the cluster was read
        cluster.visible = &["dev", "shop"];
        assert_eq!(list(&cluster, "services").await.unwrap().only, None);
        // there may be namespaces of which the user does not know
        cluster.all_known = false;
        let listed = list(&cluster, "services").await.unwrap();
        assert!(listed.only.is_some());
        // control case: the whole cluster
        cluster.readable = &["the cluster"];
        let listed = list(&cluster, "services").await.unwrap();
        assert_eq!(names(&listed), ["the cluster"]);
        assert_eq!(listed.only, None);
    }

    #[tokio::test]
    async fn a_user_who_may_read_no_namespace_gets_the_refusal_of_the_cluster() {
        for visible in [&["dev"] as &[_], &[]] {
            let cluster = Cluster {
                readable: &[],
                visible,
                all_known: false,
            };
            let refused = list(&cluster, "services").await.unwrap_err();
            let text = refused.to_string();
            assert_eq!(text, "cannot list services in the cluster");
        }
    }

    #[test]
    fn many_namespaces_are_counted() {
        let namespaces: Vec<_> = (0..23).map(|number| format!("n{number}")).collect();
        let text = only_in("Services", &namespaces);
        assert!(text.contains("n19 and 3 more. "), "{text}");
    }
}
