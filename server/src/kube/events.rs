//! Events of one object, newest first.
use super::{Api, KubeError, path};
use jiff::Timestamp;
use portico_domain::panel::{EventRow, ObjectRef, ResourceRef};
use serde::Deserialize;

#[derive(Deserialize)]
struct List {
    items: Vec<Event>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    reason: Option<String>,
    message: Option<String>,
    count: Option<i32>,
    source: Source,
    reporting_component: Option<String>,
    first_timestamp: Option<Timestamp>,
    last_timestamp: Option<Timestamp>,
    event_time: Option<Timestamp>,
    series: Option<Series>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Source {
    component: Option<String>,
    host: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Series {
    count: i32,
    last_observed_time: Option<Timestamp>,
}

/// The events about the object with this UID. Those of cluster-scoped objects lie in `default`.
pub async fn of_object(
    api: &Api,
    object: &ObjectRef,
    uid: &str,
) -> Result<Vec<EventRow>, KubeError> {
    let namespace = object.namespace.as_deref().unwrap_or("default");
    let selector = if uid.is_empty() || object.resource.plural == "nodes" {
        // the kubelet names its node as UID, so a node's events are found by name
        format!("involvedObject.name={}", object.name)
    } else {
        format!("involvedObject.uid={uid}")
    };
    let path = path::with_query(
        &path::collection(&ResourceRef::core("events"), Some(namespace))?,
        &[("fieldSelector", &selector), ("limit", "500")],
    );
    let list: List = serde_json::from_value(api.get(&path).await?)
        .map_err(|error| KubeError::Protocol(error.to_string()))?;
    let mut rows: Vec<_> = list.items.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.last_seen));
    Ok(rows)
}

fn row(event: Event) -> EventRow {
    let series = event.series.as_ref();
    let last_seen = series
        .and_then(|series| series.last_observed_time)
        .or(event.last_timestamp)
        .or(event.event_time)
        .or(event.first_timestamp);
    let source = event
        .source
        .component
        .or(event.reporting_component)
        .unwrap_or_default();
    EventRow {
        kind: event.kind.unwrap_or_default(),
        reason: event.reason.unwrap_or_default(),
        message: event.message.unwrap_or_default(),
        source: match event.source.host {
            Some(host) if !host.is_empty() => format!("{source}, {host}"),
            _ => source,
        },
        count: series.map_or(event.count.unwrap_or(1), |series| series.count),
        last_seen: last_seen.map(Timestamp::as_second),
    }
}
