//! What is measured for an object, and what it is compared with; read with the viewer's own token.
use super::bounds::{self, Bounds};
use crate::{
    kube::{Api, KubeError, objects, path, reviews},
    service::{
        error::ServiceError,
        object::{related, selector},
    },
};
use k8s_openapi::api::core::v1::{Node, Pod, ResourceQuota};
use portico_domain::panel::{ObjectRef, Refusal, ResourceRef, RightQuestion, has_usage};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Maximum number of pods of an object that are read.
const MAX_PODS: usize = 500;

/// What a source measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Pod {
        namespace: String,
        name: String,
    },
    /// Pods of one namespace.
    Pods {
        namespace: String,
        names: Vec<String>,
        /// Selects at least these pods.
        selector: String,
    },
    Namespace(String),
    Node(String),
    /// All nodes.
    Cluster,
}

impl Place {
    /// Returns the permission that a viewer needs to see what a place uses.
    pub fn question(&self) -> RightQuestion {
        let pods =
            |namespace: &str| reviews::question("get", &ResourceRef::core("pods"), Some(namespace));
        match self {
            Self::Pod { namespace, .. } | Self::Pods { namespace, .. } => pods(namespace),
            Self::Namespace(namespace) => pods(namespace),
            Self::Node(name) => RightQuestion {
                name: Some(name.clone()),
                ..reviews::question("get", &ResourceRef::core("nodes"), None)
            },
            Self::Cluster => reviews::question("list", &ResourceRef::core("nodes"), None),
        }
    }
}

/// An object whose usage is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// `None`: nothing of it is running.
    pub place: Option<Place>,
    pub bounds: Bounds,
    /// Number of pods that have not ended, where it is known.
    pub active_pods: Option<usize>,
    pub notes: Vec<Refusal>,
}

/// Reads the subject of an object.
///
/// # Errors
/// Those of reading the object and its pods; `Invalid` for a kind that has no usage.
pub async fn read(api: &Api, object: &ObjectRef) -> Result<Subject, ServiceError> {
    if !has_usage(&object.resource) {
        return Err(ServiceError::invalid("This kind has no usage of its own."));
    }
    let value = objects::get(api, object).await?;
    match (object.resource.plural.as_str(), &object.namespace) {
        ("nodes", _) => Ok(Subject {
            place: Some(Place::Node(object.name.clone())),
            bounds: bounds::of_node(&parse::<Node>(value)?),
            active_pods: None,
            notes: Vec::new(),
        }),
        ("namespaces", _) => of_namespace(api, &object.name).await,
        ("pods", Some(namespace)) => Ok(of_pod(&parse(value)?, namespace, &object.name)),
        (_, Some(namespace)) => of_workload(api, object, namespace, &value).await,
        (_, None) => Err(ServiceError::invalid("The namespace is missing.")),
    }
}

fn of_pod(pod: &Pod, namespace: &str, name: &str) -> Subject {
    let place = bounds::is_active(pod).then(|| Place::Pod {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    });
    Subject {
        place,
        bounds: bounds::of_pods(std::iter::once(pod)),
        active_pods: None,
        notes: Vec::new(),
    }
}

async fn of_workload(
    api: &Api,
    object: &ObjectRef,
    namespace: &str,
    value: &Value,
) -> Result<Subject, ServiceError> {
    let mut subject = Subject {
        place: None,
        bounds: Bounds::default(),
        active_pods: None,
        notes: Vec::new(),
    };
    let Some(selector) = selector::of_pods(&object.resource, value) else {
        return Ok(subject);
    };
    let (mut found, is_cut) = list(api, "pods", namespace, &selector).await?;
    // the selectors of two controllers may overlap; a Deployment's pods belong to its ReplicaSets
    if object.resource.plural != "deployments"
        && let Some(uid) = value.pointer("/metadata/uid")
    {
        found.retain(|pod| related::is_owned(pod, uid));
    }
    let mut pods = parse_all::<Pod>(found)?;
    pods.retain(bounds::is_active);
    if is_cut {
        subject
            .notes
            .push(format!("Only the first {MAX_PODS} pods are included.").into());
    }
    let names: Vec<String> = pods
        .iter()
        .filter_map(|pod| pod.metadata.name.clone())
        .collect();
    subject.bounds = bounds::of_pods(pods.iter());
    subject.active_pods = Some(names.len());
    subject.place = (!names.is_empty()).then(|| Place::Pods {
        namespace: namespace.to_owned(),
        names,
        selector,
    });
    Ok(subject)
}

/// A namespace is compared with the requests of its pods and its quota, as far as they may be read.
async fn of_namespace(api: &Api, namespace: &str) -> Result<Subject, ServiceError> {
    let (pods, quotas) = tokio::join!(
        list(api, "pods", namespace, ""),
        list(api, "resourcequotas", namespace, "")
    );
    let mut notes = Vec::new();
    let mut bounds = Bounds::default();
    match pods {
        Ok((_, true)) => notes.push(
            format!("Requests are not added up: there are more than {MAX_PODS} pods.").into(),
        ),
        Ok((found, false)) => {
            let pods = parse_all::<Pod>(found)?;
            bounds = bounds::of_pods(pods.iter().filter(|pod| bounds::is_active(pod)));
        }
        Err(error) => notes.push(unknown("Requests are not known.", error)),
    }
    match quotas {
        Ok((found, _)) => bounds::add_quota(&mut bounds, &parse_all::<ResourceQuota>(found)?),
        Err(error) => notes.push(unknown("The quota is not known.", error)),
    }
    Ok(Subject {
        place: Some(Place::Namespace(namespace.to_owned())),
        bounds,
        active_pods: None,
        notes,
    })
}

fn unknown(what: &str, error: KubeError) -> Refusal {
    let refusal = ServiceError::from(error).into_brief_refusal();
    Refusal {
        reason: format!("{what} {}", refusal.reason),
        ..refusal
    }
}

/// Lists a collection of the core group; the second value tells whether there are more objects.
async fn list(
    api: &Api,
    plural: &str,
    namespace: &str,
    selector: &str,
) -> Result<(Vec<Value>, bool), KubeError> {
    let collection = path::collection(&ResourceRef::core(plural), Some(namespace))?;
    let limit = MAX_PODS.to_string();
    let query = path::with_query(
        &collection,
        &[("labelSelector", selector), ("limit", &limit)],
    );
    let mut answer = api.get(&query).await?;
    let position = answer.pointer("/metadata/continue");
    let is_cut = position.is_some_and(|position| position != "" && !position.is_null());
    match answer.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) => Ok((items, is_cut)),
        _ => Ok((Vec::new(), is_cut)),
    }
}

fn parse_all<T: DeserializeOwned>(values: Vec<Value>) -> Result<Vec<T>, KubeError> {
    values.into_iter().map(parse).collect()
}

fn parse<T: DeserializeOwned>(value: Value) -> Result<T, KubeError> {
    serde_json::from_value(value).map_err(|error| KubeError::Protocol(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn need_31_a_note_about_what_may_not_be_read_names_the_missing_permission() {
        let message = r#"pods is forbidden: User "vera@Default" cannot list resource "pods" in API group "" in the namespace "shop""#;
        let refused = KubeError::Refused(message.to_owned().into());
        let note = unknown("Requests are not known.", refused);
        assert_eq!(
            note.reason,
            "Requests are not known. Your roles do not include list on pods in shop."
        );
        assert!(note.missing.is_some());
        let outage = unknown("Requests are not known.", KubeError::Timeout(5));
        assert!(outage.reason.contains("did not answer"), "{outage:?}");
        assert_eq!(outage.missing, None);
    }

    #[test]
    fn need_07_usage_needs_the_right_to_get_pods_there_or_the_nodes() {
        let asked = |place: Place| {
            let question = place.question();
            (question.verb, question.resource, question.namespace)
        };
        let shop = || "shop".to_owned();
        let pods = ("get".to_owned(), "pods".to_owned(), Some(shop()));
        assert_eq!(asked(Place::Namespace(shop())), pods);
        let pod = Place::Pod {
            namespace: shop(),
            name: "web-0".to_owned(),
        };
        assert_eq!(asked(pod), pods);
        let node = Place::Node("node-1".to_owned()).question();
        assert_eq!(
            (node.verb.as_str(), node.resource.as_str()),
            ("get", "nodes")
        );
        assert_eq!(node.name.as_deref(), Some("node-1"));
        assert_eq!(Place::Cluster.question().verb, "list");
    }
}
