//! The replicas of a workload that are not ready, read for their age.
use super::selector;
use crate::{
    kube::{Api, path},
    service::health::{self, Assessment},
};
use k8s_openapi::api::core::v1::Pod;
use portico_domain::panel::{Health, ObjectRef, ResourceRef};
use serde::Deserialize;
use serde_json::Value;

/// Maximum number of pods that are read; a workload with more keeps the health of its counts.
const MAX_PODS: &str = "500";

/// Assesses a workload again by its pods if replicas are not ready. Without a response, or the right
/// to list pods, the first assessment stays.
pub async fn settle(api: &Api, object: &ObjectRef, value: &Value, first: Assessment) -> Assessment {
    let is_rolling_out = first.health == Health::Progressing && first.not_ready.is_none();
    if first.not_ready.is_none() && !is_rolling_out {
        return first;
    }
    match pods(api, object, value).await {
        Some(pods) if is_rolling_out => health::failing(first, &pods, api.now()),
        Some(pods) => health::starting(first, value, &pods, api.now()),
        None => first,
    }
}

async fn pods(api: &Api, object: &ObjectRef, value: &Value) -> Option<Vec<Pod>> {
    let selector = selector::of_pods(&object.resource, value)?;
    let collection =
        path::collection(&ResourceRef::core("pods"), object.namespace.as_deref()).ok()?;
    let list = path::with_query(
        &collection,
        &[("labelSelector", &selector), ("limit", MAX_PODS)],
    );
    let answer = api
        .get(&list)
        .await
        .inspect_err(|error| tracing::debug!(%error, "replicas not read"))
        .ok()?;
    if answer
        .pointer("/metadata/continue")
        .is_some_and(|more| more != "")
    {
        return None;
    }
    answer["items"]
        .as_array()?
        .iter()
        .map(|pod| Pod::deserialize(pod).ok())
        .collect()
}
