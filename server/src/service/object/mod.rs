//! The page of one object: status in words, fields, containers, and available actions.
mod actions;
pub mod drain;
pub mod listed_pods;
mod object_fields;
mod ports;
pub mod related;
mod replicas;
pub mod roll_back;
pub(super) mod selector;
pub mod state_change;
mod surroundings;
pub mod values;

pub use actions::{confirm_replicas, restartable, scalable};

use super::{
    error::ServiceError,
    health::{self, Assessment},
};
use crate::kube::{Api, discovery, events, objects};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use portico_domain::panel::{
    ContainerView, EventRow, ObjectRef, ObjectView, ResourceKind, ResourceRef,
};
use serde::Deserialize;
use serde_json::Value;

/// Reads and explains an object.
pub async fn view(api: &Api, object: &ObjectRef) -> Result<ObjectView, ServiceError> {
    let kind = discovery::kind(api, &object.resource).await?;
    let (value, actions) = tokio::join!(
        objects::get(api, object),
        actions::states(api, object, &kind)
    );
    let value = value?;
    let catalog = discovery::catalog(api).await?;
    let (assessment, deletion_note) = tokio::join!(
        assess(api, object, &value),
        related::deletion_note(api, &catalog, object, &value)
    );
    Ok(ObjectView {
        reference: object.clone(),
        uid: text(&value, "/metadata/uid"),
        resource_version: text(&value, "/metadata/resourceVersion"),
        created_at: time(&value, "/metadata/creationTimestamp"),
        deleting_since: time(&value, "/metadata/deletionTimestamp"),
        labels: pairs(&value, "/metadata/labels"),
        annotations: annotations(&value),
        owners: owners(&value, object, &catalog),
        health: assessment.health,
        status: assessment.status,
        reason: assessment.reason,
        missing: assessment.missing,
        conditions: health::conditions(&value),
        fields: object_fields::fields(&object.resource, &value),
        containers: containers(&object.resource, &value),
        replicas: replica_count(&kind, &value),
        pod_selector: selector::of_pods(&object.resource, &value),
        ports: ports::forwardable(&object.resource, &value),
        deletion_note,
        actions: actions::in_state(actions?, &value),
        kind,
    })
}

/// Assesses an object as its page does: a workload by its pods too, so that replicas requested only
/// just now are progress until their deadline, and others by the objects on which they depend.
pub async fn assess(api: &Api, object: &ObjectRef, value: &Value) -> Assessment {
    let first = health::assess(&object.resource, value, api.now());
    let first = replicas::settle(api, object, value, first).await;
    surroundings::settle(api, object, value, first).await
}

/// Returns the object as YAML, for reading.
pub async fn yaml(api: &Api, object: &ObjectRef) -> Result<String, ServiceError> {
    Ok(objects::yaml(objects::get(api, object).await?)?)
}

/// Returns the events of the object.
pub async fn events(api: &Api, object: &ObjectRef) -> Result<Vec<EventRow>, ServiceError> {
    let value = objects::get(api, object).await?;
    Ok(events::of_object(api, object, &text(&value, "/metadata/uid")).await?)
}

fn containers(resource: &ResourceRef, value: &Value) -> Vec<ContainerView> {
    if *resource != ResourceRef::core("pods") {
        return Vec::new();
    }
    Pod::deserialize(value)
        .map(|pod| health::containers(&pod))
        .unwrap_or_default()
}

fn replica_count(kind: &ResourceKind, value: &Value) -> Option<i64> {
    scalable(&discovery::reference(kind))
        .then(|| value.pointer("/spec/replicas").and_then(Value::as_i64))
        .flatten()
}

fn owners(value: &Value, object: &ObjectRef, catalog: &discovery::Catalog) -> Vec<ObjectRef> {
    value
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|owner| {
            let api_version = owner["apiVersion"].as_str()?;
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            let kind = catalog.by_kind(group, version, owner["kind"].as_str()?)?;
            Some(ObjectRef {
                resource: discovery::reference(kind),
                namespace: object.namespace.clone().filter(|_| kind.namespaced),
                name: owner["name"].as_str()?.to_owned(),
            })
        })
        .collect()
}

/// Returns annotations without `kubectl apply`'s copy of the whole object, which may hold the
/// values of a Secret.
fn annotations(value: &Value) -> Vec<(String, String)> {
    let mut found = pairs(value, "/metadata/annotations");
    found.retain(|(name, _)| name != "kubectl.kubernetes.io/last-applied-configuration");
    found
}

fn pairs(value: &Value, pointer: &str) -> Vec<(String, String)> {
    value
        .pointer(pointer)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect()
}

fn text(value: &Value, pointer: &str) -> String {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

fn time(value: &Value, pointer: &str) -> Option<i64> {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .and_then(|text| text.parse::<Timestamp>().ok())
        .map(Timestamp::as_second)
}
