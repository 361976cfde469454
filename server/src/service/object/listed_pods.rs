//! The pods that a list shows, for their logs.
use super::related;
use crate::{
    kube::{Api, KubeError, objects},
    service::{Services, error::ServiceError, lists},
};
use futures::future::join_all;
use k8s_openapi::api::core::v1::Pod;
use portico_domain::panel::{
    ListQuery, MAX_FOLLOWED_PODS, ObjectRef, PodList, PodSummary, ResourceRef, Row,
};
use serde::Deserialize;

/// Returns the first pods of a list by namespace and name, at most [`MAX_FOLLOWED_PODS`], and the number of
/// all. The rows come from the list's shared watch; of the pods that are returned, only those are read that
/// the user has not read in the last minute, or whose row has changed since.
///
/// # Errors
/// `Invalid` for a list of another kind and for an invalid selector; the API server's error if none of the
/// pods can be read.
pub async fn listed_pods(
    services: &Services,
    api: &Api,
    mut query: ListQuery,
) -> Result<PodList, ServiceError> {
    if query.resource != ResourceRef::core("pods") {
        return Err(ServiceError::invalid("Only a list of pods has logs."));
    }
    // by name: which pods are followed must not change with their age or status
    query.sort.clear();
    let (rows, total) = lists::first_rows(services, api, &query, MAX_FOLLOWED_PODS).await?;
    let reads = rows
        .into_iter()
        .map(|row| async move { read(api, &row.row).await });
    let mut found = Vec::new();
    let mut failure = None;
    for read in join_all(reads).await {
        match read {
            Ok(pod) => found.extend(pod),
            // deleted since the list was read
            Err(KubeError::NotFound(_)) => {}
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        Some(error) if found.is_empty() => Err(error.into()),
        _ => Ok(PodList { pods: found, total }),
    }
}

/// Describes the pod of a row; `None` if the response is not a pod.
async fn read(api: &Api, row: &Row) -> Result<Option<PodSummary>, KubeError> {
    if let Some(known) = api.pod_summary(row).await {
        return Ok(Some(known));
    }
    let object = ObjectRef {
        resource: ResourceRef::core("pods"),
        namespace: row.namespace.clone(),
        name: row.name.clone(),
    };
    let value = objects::get(api, &object).await?;
    let Ok(pod) = Pod::deserialize(value) else {
        return Ok(None);
    };
    let summary = related::summary(object, &pod, api.now());
    api.store_pod_summary(row, summary.clone()).await;
    Ok(Some(summary))
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
    use uuid::Uuid;

    fn row(version: &str) -> Row {
        Row {
            uid: "uid".to_owned(),
            name: "web-0".to_owned(),
            namespace: Some("shop".to_owned()),
            resource_version: version.to_owned(),
            created_at: None,
            cells: Vec::new(),
            labels: Vec::new(),
            health: None,
            event: None,
        }
    }

    #[tokio::test]
    async fn a_pod_is_read_again_only_after_its_row_has_changed_and_by_each_user() {
        let requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&requests);
        let service = tower::service_fn(move |_: http::Request<Body>| {
            counter.fetch_add(1, Ordering::SeqCst);
            async {
                let pod = r#"{"metadata":{"name":"web-0"},"spec":{"containers":[{"name":"app"}]}}"#;
                let body = Body::from(pod.as_bytes().to_vec());
                Ok::<_, Infallible>(http::Response::new(body))
            }
        });
        let client = kube::Client::new(service, "default");
        let (tokens, caches) = (ClusterTokens::default(), Arc::new(Caches::default()));
        let api = |token: &str| {
            let (subject, caches) = (tokens.subject(&token.into()), Arc::clone(&caches));
            Api::new(Uuid::nil(), client.clone(), None, subject, caches)
        };
        let (vera, otto) = (api("vera"), api("otto"));
        let mut counts = Vec::new();
        for (api, version) in [(&vera, "1"), (&vera, "1"), (&vera, "2"), (&otto, "2")] {
            let pod = read(api, &row(version)).await.unwrap().unwrap();
            assert_eq!(pod.containers, ["app"]);
            counts.push(requests.load(Ordering::SeqCst));
        }
        assert_eq!(counts, [1, 1, 2, 3]);
    }
}
