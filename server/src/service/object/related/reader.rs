//! Reading of the collections around an object. What cannot be read leaves a gap instead of an error.
use crate::{
    kube::{Api, KubeError, discovery, discovery::Catalog, path},
    service::access::Names,
};
use parking_lot::Mutex;
use portico_domain::panel::{ObjectRef, Refusal, ResourceRef, RightQuestion};
use serde_json::Value;
use std::sync::Arc;

/// Maximum number of objects of one collection that are read.
const MAX_OBJECTS: &str = "500";

/// Reads with the viewer's rights in the namespace of one object.
pub struct Reader<'a> {
    pub api: &'a Api,
    pub names: &'a Names<'a>,
    pub catalog: Arc<Catalog>,
    pub namespace: Option<String>,
    gaps: Mutex<Vec<Refusal>>,
}

/// The selection within a collection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Select<'a> {
    pub labels: &'a str,
    pub fields: &'a str,
}

impl<'a> Reader<'a> {
    pub fn new(
        api: &'a Api,
        names: &'a Names<'a>,
        catalog: Arc<Catalog>,
        namespace: Option<String>,
    ) -> Self {
        Self {
            api,
            names,
            catalog,
            namespace,
            gaps: Mutex::default(),
        }
    }

    /// Returns what could not be read, with the permission that is missing.
    pub fn into_gaps(self) -> Vec<Refusal> {
        let mut gaps = self.gaps.into_inner();
        gaps.sort_unstable();
        gaps.dedup();
        gaps
    }

    /// Returns the kind in the version that the cluster prefers; `None` if it has none.
    pub fn resource(&self, group: &str, plural: &str) -> Option<ResourceRef> {
        let kind = self.catalog.preferred(group, plural)?;
        Some(discovery::reference(kind))
    }

    /// Returns a reference to an object of the namespace, or of the cluster if the kind is in no
    /// namespace. `None` if the cluster does not have the kind.
    pub fn reference(&self, group: &str, plural: &str, name: &str) -> Option<ObjectRef> {
        let kind = self.catalog.preferred(group, plural)?;
        Some(ObjectRef {
            resource: discovery::reference(kind),
            namespace: self.namespace.clone().filter(|_| kind.namespaced),
            name: name.to_owned(),
        })
    }

    /// Returns the reference to an object that was read from a collection.
    pub fn reference_of(&self, group: &str, plural: &str, value: &Value) -> Option<ObjectRef> {
        let metadata = value.get("metadata")?;
        Some(ObjectRef {
            resource: self.resource(group, plural)?,
            namespace: metadata["namespace"].as_str().map(str::to_owned),
            name: metadata["name"].as_str()?.to_owned(),
        })
    }

    /// Lists a collection in the object's namespace. Empty, with a gap, if it cannot be read.
    pub async fn list(&self, group: &str, plural: &str, select: Select<'_>) -> Vec<Value> {
        let list = self.read_list(group, plural, select).await;
        list.unwrap_or_default()
    }

    /// Does the same; `None` if it cannot be read, or the cluster does not have the kind.
    pub async fn read_list(
        &self,
        group: &str,
        plural: &str,
        select: Select<'_>,
    ) -> Option<Vec<Value>> {
        let namespace = self.namespace.as_deref();
        self.list_in(group, plural, namespace, select).await
    }

    /// Lists a collection in a namespace, or in the whole cluster.
    pub async fn list_in(
        &self,
        group: &str,
        plural: &str,
        namespace: Option<&str>,
        select: Select<'_>,
    ) -> Option<Vec<Value>> {
        let resource = self.resource(group, plural)?;
        let collection = path::collection(&resource, namespace).ok()?;
        let list = path::with_query(
            &collection,
            &[
                ("labelSelector", select.labels),
                ("fieldSelector", select.fields),
                ("limit", MAX_OBJECTS),
            ],
        );
        match self.api.get(&list).await {
            Ok(mut answer) => {
                let more = answer.pointer("/metadata/continue");
                if more.is_some_and(|more| more != "") {
                    let kind = self.plural_name(&resource);
                    let text = format!("Only the first {MAX_OBJECTS} {kind} were searched.");
                    self.gap(text.into());
                }
                match answer.get_mut("items").map(Value::take) {
                    Some(Value::Array(items)) => Some(items),
                    _ => Some(Vec::new()),
                }
            }
            Err(error) => {
                self.failed(&resource, "list", namespace, &error);
                None
            }
        }
    }

    /// Returns the number of objects of a kind in the whole cluster, without reading them. `None`, with
    /// a gap, if it cannot be read.
    pub async fn count(&self, resource: &ResourceRef) -> Option<usize> {
        let collection = path::collection(resource, None).ok()?;
        let list = path::with_query(&collection, &[("limit", "1")]);
        match self.api.get(&list).await {
            Ok(answer) => {
                let read = answer["items"].as_array().map_or(0, Vec::len);
                let rest = answer["metadata"]["remainingItemCount"].as_u64();
                Some(read + usize::try_from(rest.unwrap_or(0)).ok()?)
            }
            Err(error) => {
                self.failed(resource, "list", None, &error);
                None
            }
        }
    }

    /// Reads one object. `Ok(None)`: it does not exist; `Err`: it cannot be read, which is a gap.
    pub async fn get(&self, object: &ObjectRef) -> Result<Option<Value>, ()> {
        match crate::kube::objects::get(self.api, object).await {
            Ok(value) => Ok(Some(value)),
            Err(KubeError::NotFound(_)) => Ok(None),
            Err(error) => {
                let namespace = object.namespace.as_deref();
                self.failed(&object.resource, "get", namespace, &error);
                Err(())
            }
        }
    }

    pub fn gap(&self, gap: Refusal) {
        self.gaps.lock().push(gap);
    }

    fn failed(
        &self,
        resource: &ResourceRef,
        verb: &str,
        namespace: Option<&str>,
        error: &KubeError,
    ) {
        let kind = self.plural_name(resource);
        let refusal = unread(resource, verb, namespace, error);
        self.gap(Refusal {
            reason: format!("{kind} are not included: {}", refusal.reason),
            ..refusal
        });
    }

    /// Returns the name of a kind in the plural, as lists are titled.
    pub fn plural_name(&self, resource: &ResourceRef) -> String {
        self.catalog
            .find(resource)
            .map_or_else(|| resource.plural.clone(), |kind| kind.plural_name())
    }
}

/// Returns the reason why something was not read.
pub fn unread(
    resource: &ResourceRef,
    verb: &str,
    namespace: Option<&str>,
    error: &KubeError,
) -> Refusal {
    match error {
        KubeError::Refused(_) => Refusal::of(RightQuestion {
            verb: verb.to_owned(),
            group: resource.group.clone(),
            resource: resource.plural.clone(),
            subresource: String::new(),
            namespace: namespace.map(str::to_owned),
            name: None,
        }),
        other => other.sentence().into(),
    }
}
