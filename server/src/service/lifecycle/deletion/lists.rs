//! The lists of what is deleted in a cluster first, as a user of the panel gets them.
use crate::kube::{Api, KubeError, namespaces, path};
use portico_cluster_operations::contents::{Lists, Visible};
use portico_domain::panel::{ResourceRef, VisibleNamespaces};
use serde_json::{Value, json};

/// Maximum number of objects of a chunk.
const MAX_OBJECTS: &str = "500";
/// Maximum length of a name in Kubernetes.
const MAX_NAME_BYTES: usize = 253;

impl Lists for Api {
    type Error = KubeError;

    async fn objects(
        &self,
        plural: &str,
        namespace: Option<&str>,
    ) -> Result<Vec<Value>, KubeError> {
        let path = path::collection(&ResourceRef::core(plural), namespace)?;
        super::chunks::all(|position| {
            let query = [("limit", MAX_OBJECTS), ("continue", position.as_str())];
            let chunk = path::with_query(&path, &query);
            async move { self.get(&chunk).await.map(reduced) }
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

    fn too_many() -> KubeError {
        KubeError::TooMany
    }
}

/// Returns a chunk with what a deletion needs of its objects: an API server can be a tenant's, and thousands of whole
/// objects are not to be in memory.
fn reduced(mut chunk: Value) -> Value {
    if let Some(Value::Array(items)) = chunk.get_mut("items") {
        *items = items.iter().filter_map(essentials).collect();
    }
    chunk
}

/// Returns the names, the UID and the type of an object; `None` for one that cannot be deleted by them.
fn essentials(object: &Value) -> Option<Value> {
    let text = |value: &Value| -> Option<String> {
        let text = value.as_str()?;
        (text.len() <= MAX_NAME_BYTES).then(|| text.to_owned())
    };
    let metadata = &object["metadata"];
    let (namespace, name) = (text(&metadata["namespace"])?, text(&metadata["name"])?);
    let uid = text(&metadata["uid"])?;
    let kind = text(&object["spec"]["type"]);
    Some(json!({
        "metadata": {"namespace": namespace, "name": name, "uid": uid},
        "spec": {"type": kind},
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_deletion_needs_of_an_object_is_kept() {
        let object = |name: &str| {
            json!({
                "metadata": {"namespace": "shop", "name": name, "uid": "u1", "annotations": {"a": "b"}},
                "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
            })
        };
        let long = "n".repeat(MAX_NAME_BYTES + 1);
        let nameless = json!({"metadata": {"namespace": "shop", "uid": "u2"}});
        let items = [object("web"), object(&long), nameless];
        let chunk = json!({"metadata": {"continue": "next"}, "items": items});
        assert_eq!(
            reduced(chunk),
            json!({
                "metadata": {"continue": "next"},
                "items": [{
                    "metadata": {"namespace": "shop", "name": "web", "uid": "u1"},
                    "spec": {"type": "LoadBalancer"},
                }],
            })
        );
        // what is not a list is left as it is
        for other in [json!({"kind": "Status"}), json!({"items": null}), json!([])] {
            assert_eq!(reduced(other.clone()), other);
        }
    }
}
