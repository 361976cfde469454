//! Role bindings and roles in the Kubernetes API.
use super::{Api, KubeError, api::Call, path, reviews};
use futures::{StreamExt, stream};
use portico_domain::panel::{BindingRef, ResourceRef, RoleRef};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

pub const GROUP: &str = "rbac.authorization.k8s.io";
/// The name of the place of cluster-wide bindings.
pub const CLUSTER_WIDE: &str = "cluster-wide bindings";
const MAX_CONCURRENT_LISTS: usize = 8;
/// Maximum number of chunks of one list, of 500 objects each: the API server of an enrolled cluster is
/// a tenant's, and may name a next chunk for ever.
const MAX_CHUNKS: usize = 100;
/// Maximum size of all chunks of one list, in bytes.
const MAX_LIST_BYTES: usize = 64 * 1024 * 1024;

/// A RoleBinding or ClusterRoleBinding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Binding {
    pub api_version: Option<String>,
    pub kind: Option<String>,
    pub metadata: Meta,
    pub role_ref: BoundRole,
    #[serde(default)]
    pub subjects: Option<Vec<BoundSubject>>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<jiff::Timestamp>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BoundRole {
    pub api_group: String,
    pub kind: String,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BoundSubject {
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_group: Option<String>,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

impl Binding {
    pub fn subjects(&self) -> &[BoundSubject] {
        self.subjects.as_deref().unwrap_or_default()
    }

    pub fn reference(&self) -> BindingRef {
        BindingRef {
            namespace: self.metadata.namespace.clone(),
            name: self.metadata.name.clone(),
        }
    }
}

impl From<&BoundRole> for RoleRef {
    fn from(role: &BoundRole) -> Self {
        Self {
            cluster: role.kind == "ClusterRole",
            name: role.name.clone(),
        }
    }
}

/// Returns a kind of the RBAC group.
pub fn resource(plural: &str) -> ResourceRef {
    ResourceRef::new(GROUP, "v1", plural)
}

/// Returns the collection of a binding.
pub fn binding_resource(namespace: Option<&str>) -> ResourceRef {
    resource(if namespace.is_some() {
        "rolebindings"
    } else {
        "clusterrolebindings"
    })
}

/// Returns the path of a binding.
pub fn binding_path(binding: &BindingRef) -> Result<String, KubeError> {
    path::object(&portico_domain::panel::ObjectRef {
        resource: binding_resource(binding.namespace.as_deref()),
        namespace: binding.namespace.clone(),
        name: binding.name.clone(),
    })
}

/// Reads one binding.
pub async fn binding(api: &Api, binding: &BindingRef) -> Result<Binding, KubeError> {
    decode(api.get(&binding_path(binding)?).await?)
}

/// All bindings that the user may read, and the places where they may not.
pub struct Bindings {
    /// Whether any place was readable.
    pub any_permitted: bool,
    pub found: Vec<Binding>,
    /// Namespaces, or [`CLUSTER_WIDE`].
    pub not_permitted: Vec<String>,
}

/// Returns the ClusterRoleBindings.
pub async fn cluster_bindings(api: &Api) -> Result<Vec<Binding>, KubeError> {
    list(api, &resource("clusterrolebindings"), None).await
}

/// Reads the cluster's bindings, and those of each namespace in which that is allowed.
pub async fn bindings(api: &Api, namespaces: &[String]) -> Result<Bindings, KubeError> {
    let mut out = Bindings {
        any_permitted: false,
        found: Vec::new(),
        not_permitted: Vec::new(),
    };
    match cluster_bindings(api).await {
        Ok(found) => {
            out.any_permitted = true;
            out.found.extend(found);
        }
        Err(KubeError::Refused(_)) => out.not_permitted.push(CLUSTER_WIDE.to_owned()),
        Err(error) => return Err(error),
    }
    let rolebindings = resource("rolebindings");
    if reviews::allowed(api, &reviews::question("list", &rolebindings, None)).await? {
        out.found.extend(list(api, &rolebindings, None).await?);
        out.any_permitted = true;
        return Ok(out);
    }
    let rolebindings = &rolebindings;
    let answers: Vec<_> = stream::iter(namespaces.to_vec())
        .map(|namespace| async move {
            let found = list::<Binding>(api, rolebindings, Some(&namespace)).await;
            (namespace, found)
        })
        .buffered(MAX_CONCURRENT_LISTS)
        .collect()
        .await;
    for (namespace, answer) in answers {
        match answer {
            Ok(found) => {
                out.any_permitted = true;
                out.found.extend(found);
            }
            Err(KubeError::Refused(_)) => out.not_permitted.push(namespace),
            Err(error) => return Err(error),
        }
    }
    Ok(out)
}

/// A Role or ClusterRole with its rules.
#[derive(Clone, Debug, Deserialize)]
pub struct Role {
    pub metadata: Meta,
    #[serde(default)]
    pub rules: Option<Vec<reviews::Rule>>,
}

/// Reads a role; a Role is in `namespace`.
pub async fn role(api: &Api, role: &RoleRef, namespace: Option<&str>) -> Result<Role, KubeError> {
    let path = path::object(&portico_domain::panel::ObjectRef {
        resource: resource(if role.cluster {
            "clusterroles"
        } else {
            "roles"
        }),
        namespace: namespace.filter(|_| !role.cluster).map(str::to_owned),
        name: role.name.clone(),
    })?;
    decode(api.get(&path).await?)
}

/// Returns the roles of one place.
pub async fn roles(api: &Api, namespace: Option<&str>) -> Result<Vec<Role>, KubeError> {
    let plural = if namespace.is_some() {
        "roles"
    } else {
        "clusterroles"
    };
    list(api, &resource(plural), namespace).await
}

/// Returns all Roles of the cluster.
pub async fn all_roles(api: &Api) -> Result<Vec<Role>, KubeError> {
    list(api, &resource("roles"), None).await
}

async fn list<T: serde::de::DeserializeOwned>(
    api: &Api,
    resource: &ResourceRef,
    namespace: Option<&str>,
) -> Result<Vec<T>, KubeError> {
    let collection = path::collection(resource, namespace)?;
    let mut found = Vec::new();
    let mut position = String::new();
    let mut bytes = 0;
    for _ in 0..MAX_CHUNKS {
        let chunk = path::with_query(&collection, &[("limit", "500"), ("continue", &position)]);
        let answer = api.bytes(Call::get(&chunk)).await?;
        bytes += answer.len();
        if bytes > MAX_LIST_BYTES {
            break;
        }
        let mut answer: Value = serde_json::from_slice(&answer)
            .map_err(|error| KubeError::Protocol(error.to_string()))?;
        position = answer
            .pointer("/metadata/continue")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let items: Vec<T> = decode(answer["items"].take())?;
        found.extend(items);
        if position.is_empty() {
            return Ok(found);
        }
    }
    // a part of the bindings would be taken for all of them
    Err(KubeError::Protocol(format!(
        "the list of {} has no end",
        resource.plural
    )))
}

fn decode<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, KubeError> {
    serde_json::from_value(value).map_err(|error| KubeError::Protocol(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kube::{clusters::Caches, credential::ClusterTokens};
    use kube::client::Body;
    use std::{
        convert::Infallible,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    #[tokio::test]
    async fn a_list_without_end_is_an_error_and_not_a_part_of_it() {
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        let service = tower::service_fn(move |_: http::Request<Body>| {
            counted.fetch_add(1, Ordering::SeqCst);
            async {
                let page = br#"{"metadata":{"continue":"x"},"items":[]}"#;
                Ok::<_, Infallible>(http::Response::new(Body::from(page.to_vec())))
            }
        });
        let client = kube::Client::new(service, "default");
        let subject = ClusterTokens::default().subject(&"vera".into());
        let caches = Arc::new(Caches::default());
        let api = Api::new(uuid::Uuid::nil(), client, None, subject, caches);
        let found = all_roles(&api).await;
        assert!(matches!(found, Err(KubeError::Protocol(_))));
        assert_eq!(requests.load(Ordering::SeqCst), MAX_CHUNKS);
    }
}
