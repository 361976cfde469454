//! The health that depends on other objects: a Service's on its endpoints, an Ingress's on its
//! Services, a CronJob's on its jobs. They are read with the viewer's own token, in a fixed number of
//! requests; what the viewer may not read is named in the reason.
mod cron_job;
mod ingress;
mod service;

use super::related::unread;
use crate::{
    kube::{Api, api::Call, events, path},
    service::health::{self, Assessment},
};
use jiff::{SignedDuration, Timestamp};
use portico_domain::panel::{EventRow, Health, ObjectRef, Refusal, ResourceRef};
use serde_json::Value;

/// Maximum number of objects of one collection that are read.
const MAX_OBJECTS: &str = "500";
/// Names and labels only: a list of Secrets must not hold their values.
const METADATA_ONLY: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// Assesses an object again by those around it.
pub async fn settle(api: &Api, object: &ObjectRef, value: &Value, first: Assessment) -> Assessment {
    if health::is_being_deleted(value) {
        return first;
    }
    let resource = &object.resource;
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "services") => service::assess(api, object, value, first).await,
        ("networking.k8s.io" | "extensions", "ingresses") => {
            ingress::assess(api, object, value, first).await
        }
        ("batch", "cronjobs") => cron_job::assess(api, object, value, first).await,
        _ => first,
    }
}

/// A collection that was read.
#[derive(Debug, Default)]
struct Listed {
    items: Vec<Value>,
    /// False if there are more objects than were read.
    is_complete: bool,
}

impl Listed {
    fn find(&self, name: &str) -> Option<&Value> {
        self.items
            .iter()
            .find(|item| item["metadata"]["name"] == name)
    }
}

/// A collection, or why it was not read.
type Reading = Result<Listed, Refusal>;

/// Lists objects of a namespace.
async fn list(
    api: &Api,
    resource: &ResourceRef,
    namespace: Option<&str>,
    labels: &str,
    accept: &'static str,
) -> Reading {
    let answer = async {
        let collection = path::collection(resource, namespace)?;
        let list = path::with_query(
            &collection,
            &[("labelSelector", labels), ("limit", MAX_OBJECTS)],
        );
        api.json(Call {
            accept,
            ..Call::get(&list)
        })
        .await
    };
    let mut answer = answer
        .await
        .map_err(|error| unread(resource, "list", namespace, &error))?;
    let more = answer.pointer("/metadata/continue");
    let is_complete = more.is_none_or(|more| more == "");
    let items = match answer.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    Ok(Listed { items, is_complete })
}

/// Returns the object's warnings, the newest first; none if its events cannot be read.
async fn warnings(api: &Api, object: &ObjectRef, value: &Value) -> Vec<EventRow> {
    let uid = value["metadata"]["uid"].as_str().unwrap_or_default();
    let mut rows = events::of_object(api, object, uid)
        .await
        .inspect_err(|error| tracing::debug!(%error, "events not read"))
        .unwrap_or_default();
    rows.retain(|row| row.kind == "Warning");
    rows
}

/// Returns whether an object was made longer ago than `age`.
fn is_older(value: &Value, age: SignedDuration, now: Timestamp) -> bool {
    value["metadata"]["creationTimestamp"]
        .as_str()
        .and_then(|text| text.parse::<Timestamp>().ok())
        .is_some_and(|created| now.duration_since(created) > age)
}

/// Joins assessments of one object: the most severe one, with the reasons of all that are not well and
/// the permissions that any of them lacks.
fn worst(mut assessments: Vec<Assessment>) -> Option<Assessment> {
    assessments.sort_by_key(|assessment| assessment.health.severity());
    let reasons: Vec<String> = assessments
        .iter()
        .filter(|assessment| assessment.health != Health::Ok)
        .filter_map(|assessment| assessment.reason.clone())
        .collect();
    let missing = assessments
        .iter()
        .flat_map(|assessment| assessment.missing.clone())
        .collect();
    let mut first = assessments.into_iter().next()?;
    first.missing = missing;
    if !reasons.is_empty() {
        first.reason = Some(reasons.join(" "));
    }
    Some(first)
}
