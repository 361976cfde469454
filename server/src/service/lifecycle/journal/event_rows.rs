//! Events of other services in words.
use jiff::Timestamp;
use portico_domain::panel::{
    EventRow, Health,
    lifecycle::{JournalRow, JournalSource as Source},
};
use portico_lifecycle::{journal::StackEvent, status::Phase};

/// Returns an event of a cluster's stack, with the sequence number of its entry.
pub fn of_stack(sequence: i64, event: &StackEvent) -> JournalRow {
    let title = if event.is_of_stack() {
        format!("Stack {}", event.resource)
    } else {
        event.resource.clone()
    };
    let physical = event.physical_id.as_ref();
    let of_resource = !event.is_of_stack() && !event.stack.is_empty();
    let lines = [
        event.reason.clone(),
        physical.map(|id| format!("Resource: {id}")),
        of_resource.then(|| format!("Stack: {}", event.stack)),
    ];
    JournalRow {
        id: format!("p{sequence}"),
        at: event.at.as_second(),
        since: None,
        source: Source::Heat,
        title,
        lines: lines.into_iter().flatten().collect(),
        by: "Heat".to_owned(),
        is_outside: false,
        reason: None,
        status: event.status_words(),
        health: match event.phase() {
            Some(Phase::Complete) => Health::Ok,
            Some(Phase::InProgress) => Health::Progressing,
            Some(Phase::Failed) => Health::Failed,
            None => Health::Unknown,
        },
        request_id: None,
    }
}

/// Returns an event of a node.
pub fn of_node(node: String, event: EventRow, now: Timestamp) -> JournalRow {
    let at = event.last_seen.unwrap_or(now.as_second());
    JournalRow {
        id: format!("k{at}-{node}-{}", event.reason),
        at,
        since: None,
        source: Source::Kubernetes,
        title: format!("Node {node}: {}", event.reason),
        lines: Some(event.message)
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect(),
        by: event.source,
        is_outside: false,
        reason: None,
        status: event.kind.clone(),
        health: if event.kind == "Warning" {
            Health::Warning
        } else {
            Health::Ok
        },
        request_id: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(resource: &str, status: &str) -> JournalRow {
        let event = json!({"id": "1", "at": "2026-11-28T06:47:05Z", "stack": "k8s-cluster",
            "resource": resource, "physical_id": "c163c0a6", "status": status,
            "reason": "state changed"});
        of_stack(7, &serde_json::from_value(event).unwrap())
    }

    #[test]
    fn an_event_of_a_stack_has_its_resource_its_state_and_its_own_time() {
        let row = row("kube_minions", "CREATE_FAILED");
        assert_eq!(
            (row.id.as_str(), row.title.as_str()),
            ("p7", "kube_minions")
        );
        assert_eq!(row.status, "Create failed");
        assert_eq!((row.health, row.source), (Health::Failed, Source::Heat));
        let lines = ["state changed", "Resource: c163c0a6", "Stack: k8s-cluster"];
        assert_eq!(row.lines, lines);
        let at: Timestamp = "2026-11-28T06:47:05Z".parse().unwrap();
        assert_eq!(row.at, at.as_second());
    }

    #[test]
    fn an_event_of_the_stack_itself_names_it_once() {
        let row = row("k8s-cluster", "CREATE_IN_PROGRESS");
        assert_eq!(row.title, "Stack k8s-cluster");
        assert_eq!(row.health, Health::Progressing);
        assert_eq!(row.lines, ["state changed", "Resource: c163c0a6"]);
    }
}
