//! The pods that a list shows, for their logs.
use super::related;
use crate::{
    kube::{Api, KubeError, objects},
    service::{Services, error::ServiceError, lists},
};
use futures::future::join_all;
use k8s_openapi::api::core::v1::Pod;
use portico_domain::panel::{ListQuery, MAX_FOLLOWED_PODS, ObjectRef, PodList, ResourceRef};
use serde::Deserialize;

/// Returns the first pods of a list by namespace and name, at most [`MAX_FOLLOWED_PODS`], and the number of
/// all. The rows come from the list's shared watch; only the pods that are returned are read.
///
/// # Errors
/// `Invalid` for a list of another kind and for an invalid selector; the API server's error if none of the
/// pods can be read.
pub async fn listed_pods(
    services: &Services,
    api: &Api,
    mut query: ListQuery,
) -> Result<PodList, ServiceError> {
    let pods = ResourceRef::core("pods");
    if query.resource != pods {
        return Err(ServiceError::invalid("Only a list of pods has logs."));
    }
    // by name: which pods are followed must not change with their age or status
    query.sort.clear();
    let selection = lists::select(services, api, &query).await?;
    let targets = selection.targets.into_iter().take(MAX_FOLLOWED_PODS);
    let reads = targets.map(|target| {
        let object = ObjectRef {
            resource: pods.clone(),
            namespace: target.namespace,
            name: target.name,
        };
        async move { (objects::get(api, &object).await, object) }
    });
    let mut found = Vec::new();
    let mut failure = None;
    for (read, object) in join_all(reads).await {
        match read {
            Ok(value) => {
                let pod = Pod::deserialize(value).ok();
                found.extend(pod.map(|pod| related::summary(object, &pod)));
            }
            // deleted since the list was read
            Err(KubeError::NotFound(_)) => {}
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        Some(error) if found.is_empty() => Err(error.into()),
        _ => Ok(PodList {
            pods: found,
            total: selection.total,
        }),
    }
}
