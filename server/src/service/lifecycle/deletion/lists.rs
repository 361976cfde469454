//! The lists of what is deleted in a cluster first, as a user of the panel gets them.
use crate::kube::{Api, KubeError, namespaces, path};
use portico_cluster_operations::contents::{Lists, Visible};
use portico_domain::panel::{ResourceRef, VisibleNamespaces};
use serde_json::Value;

/// Maximum number of objects of a chunk.
const MAX_OBJECTS: &str = "500";

impl Lists for Api {
    type Error = KubeError;

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

    async fn visible(&self) -> Result<Visible, KubeError> {
        let VisibleNamespaces { names, all_known } = namespaces::visible(self).await?;
        Ok(Visible {
            // more of them may exist than are read
            is_complete: all_known && names.len() < namespaces::MAX_NAMESPACES,
            names,
        })
    }

    fn is_refusal(error: &KubeError) -> bool {
        matches!(error, KubeError::Refused(_))
    }
}
