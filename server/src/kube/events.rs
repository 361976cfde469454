//! Events of one object, newest first.
use super::{Api, KubeError, path, table::Meta};
use jiff::Timestamp;
use portico_domain::panel::{EventRow, ObjectRef, ResourceRef};
use serde::Deserialize;

#[derive(Deserialize)]
struct List {
    items: Vec<Event>,
}

/// An event of `v1` or `events.k8s.io/v1`, which differ in the names of some fields. In Tables of
/// other kinds an object has its metadata only.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Event {
    pub metadata: Meta,
    #[serde(rename = "type")]
    kind: Option<String>,
    reason: Option<String>,
    #[serde(alias = "note")]
    message: Option<String>,
    #[serde(alias = "deprecatedCount")]
    count: Option<i32>,
    #[serde(alias = "deprecatedSource")]
    source: Source,
    #[serde(alias = "reportingController")]
    reporting_component: Option<String>,
    #[serde(alias = "deprecatedFirstTimestamp")]
    first_timestamp: Option<Timestamp>,
    #[serde(alias = "deprecatedLastTimestamp")]
    last_timestamp: Option<Timestamp>,
    event_time: Option<Timestamp>,
    series: Option<Series>,
    #[serde(alias = "regarding")]
    pub involved_object: Involved,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Source {
    component: Option<String>,
    host: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Series {
    count: i32,
    last_observed_time: Option<Timestamp>,
}

/// The object that an event is about.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Involved {
    pub api_version: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
}

/// Returns the events about the object with this UID. Those of cluster-scoped objects are in
/// `default`.
pub async fn of_object(
    api: &Api,
    object: &ObjectRef,
    uid: &str,
) -> Result<Vec<EventRow>, KubeError> {
    let namespace = object.namespace.as_deref().unwrap_or("default");
    let selector = if uid.is_empty() || object.resource.plural == "nodes" {
        // the kubelet uses a node's name as UID, so a node's events are found by name
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

/// Maximum number of events of nodes.
const MAX_NODE_EVENTS: &str = "500";

/// An event about a node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeEventRow {
    /// Of the event.
    pub uid: String,
    /// The name of the node.
    pub node: String,
    pub event: EventRow,
}

/// Returns the events about the nodes of the cluster, newest first.
///
/// # Errors
/// If the API server does not answer, or refuses.
pub async fn of_nodes(api: &Api) -> Result<Vec<NodeEventRow>, KubeError> {
    let path = path::with_query(
        &path::collection(&ResourceRef::core("events"), Some("default"))?,
        &[
            ("fieldSelector", "involvedObject.kind=Node"),
            ("limit", MAX_NODE_EVENTS),
        ],
    );
    let list: List = serde_json::from_value(api.get(&path).await?)
        .map_err(|error| KubeError::Protocol(error.to_string()))?;
    let events = list.items.into_iter();
    let mut rows: Vec<_> = events
        .map(|event| NodeEventRow {
            uid: event.metadata.uid.clone(),
            node: event.involved_object.name.clone(),
            event: row(event),
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.event.last_seen));
    Ok(rows)
}

/// Converts an event into a row.
pub fn row(event: Event) -> EventRow {
    let series = event.series.as_ref();
    let last_seen = series
        .and_then(|series| series.last_observed_time)
        .or(event.last_timestamp)
        .or(event.event_time)
        .or(event.first_timestamp)
        .or(event.metadata.creation_timestamp);
    let source = event
        .source
        .component
        .filter(|name| !name.is_empty())
        .or(event.reporting_component)
        .unwrap_or_default();
    let count = series.map_or(event.count.unwrap_or(1), |series| series.count);
    EventRow {
        kind: event.kind.unwrap_or_default(),
        reason: event.reason.unwrap_or_default(),
        message: event.message.unwrap_or_default(),
        source: match event.source.host {
            Some(host) if !host.is_empty() => format!("{source}, {host}"),
            _ => source,
        },
        // an event without a count happened once
        count: count.max(1),
        last_seen: last_seen.map(Timestamp::as_second),
    }
}
