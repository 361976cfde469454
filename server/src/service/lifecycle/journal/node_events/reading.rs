//! What an API server has about its nodes.
use crate::kube::{
    Api, KubeError,
    events::{self, NodeEventRow},
};
use jiff::Timestamp;
use portico_lifecycle::journal::{NodeEvent, ObservedNode, ObservedNodes};
use serde_json::Value;
use std::collections::BTreeMap;

/// Reasons of events about what the comparison of nodes records.
const COMPARED: [&str; 6] = [
    "NodeNotReady",
    "NodeNotSchedulable",
    "NodeReady",
    "NodeSchedulable",
    "RegisteredNode",
    "RemovingNode",
];

/// Returns the nodes of a cluster.
///
/// # Errors
/// If the API server does not answer, or refuses.
pub async fn nodes(api: &Api) -> Result<ObservedNodes, KubeError> {
    let list = api.get("/api/v1/nodes?limit=500").await?;
    of_list(&list)
}

/// Returns the nodes of a list.
pub fn of_list(list: &Value) -> Result<ObservedNodes, KubeError> {
    let items = list["items"].as_array();
    let items =
        items.ok_or_else(|| KubeError::Protocol("a list of nodes without items".to_owned()))?;
    let rest = list["metadata"]["continue"].as_str();
    let nodes: BTreeMap<String, ObservedNode> = items.iter().filter_map(of_node).collect();
    let nodes = ObservedNodes {
        nodes,
        is_cut: rest.is_some_and(|rest| !rest.is_empty()),
    };
    Ok(nodes.limited())
}

fn of_node(node: &Value) -> Option<(String, ObservedNode)> {
    let name = node["metadata"]["name"].as_str()?.to_owned();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let time = |value: &Value| {
        value
            .as_str()
            .and_then(|text| text.parse::<Timestamp>().ok())
    };
    let conditions = node["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let ready = conditions.find(|condition| condition["type"] == "Ready");
    let ready = ready.unwrap_or(&Value::Null);
    let is_ready = ready["status"] == "True";
    let why = |value: &Value| text(value).filter(|_| !is_ready);
    let observed = ObservedNode {
        uid: text(&node["metadata"]["uid"]).unwrap_or_default(),
        created_at: time(&node["metadata"]["creationTimestamp"]),
        is_ready,
        ready_since: time(&ready["lastTransitionTime"]),
        reason: why(&ready["reason"]),
        message: why(&ready["message"]),
        version: text(&node["status"]["nodeInfo"]["kubeletVersion"]).unwrap_or_default(),
        is_cordoned: node["spec"]["unschedulable"] == true,
    };
    Some((name, observed))
}

/// Returns the events about nodes, the oldest first, each with its ID: that of Kubernetes, and the magnitude of how
/// often it has happened. An event that happens a thousand times is ten.
///
/// # Errors
/// Those of [`nodes`].
pub async fn events(api: &Api) -> Result<Vec<(String, NodeEvent)>, KubeError> {
    let rows = events::of_nodes(api).await?;
    Ok(rows.into_iter().rev().filter_map(of_row).collect())
}

fn of_row(NodeEventRow { uid, node, event }: NodeEventRow) -> Option<(String, NodeEvent)> {
    // a column of a database takes no text with a null character, and the API server may be a tenant's
    let id = uid.chars().filter(char::is_ascii_graphic).take(64);
    let id: String = id.collect();
    if id.is_empty() || COMPARED.contains(&event.reason.as_str()) {
        return None;
    }
    let at = Timestamp::from_second(event.last_seen?).ok()?;
    let magnitude = event.count.max(1).ilog2();
    let is_warning = event.kind == "Warning";
    let (reason, message) = (&event.reason, &event.message);
    let reported = NodeEvent::reported(at, &node, is_warning, reason, message, &event.source);
    Some((format!("event/{id}/{magnitude}"), reported))
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::EventRow;

    #[test]
    fn an_id_has_no_character_that_a_database_refuses() {
        let id = |uid: &str| {
            let row = NodeEventRow {
                uid: uid.to_owned(),
                node: "n1".to_owned(),
                event: EventRow {
                    kind: "Warning".to_owned(),
                    reason: "Rebooted".to_owned(),
                    message: String::new(),
                    source: "kubelet".to_owned(),
                    count: 5,
                    last_seen: Some(1_800_000_000),
                },
            };
            of_row(row).map(|(id, _)| id)
        };
        assert_eq!(id("4f1c-\u{0}a").as_deref(), Some("event/4f1c-a/2"));
        assert_eq!(id("\u{0}"), None);
        let long = id(&"x".repeat(500)).unwrap();
        assert_eq!(long.len(), "event//2".len() + 64);
    }
}
