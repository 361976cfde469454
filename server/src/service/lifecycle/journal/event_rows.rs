//! Events of other services in words.
use super::rows::MAX_EXACT;
use jiff::Timestamp;
use portico_domain::panel::{
    Health,
    lifecycle::{JournalRow, JournalSource as Source},
};
use portico_lifecycle::{
    journal::{NodeChange, NodeEvent, StackEvent},
    status::Phase,
};

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
        user: None,
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

/// Returns what happened to a node, with the sequence number of its entry.
pub fn of_node(sequence: i64, event: &NodeEvent) -> JournalRow {
    let (status, health) = match event.change {
        NodeChange::Joined => ("Joined", Health::Ok),
        NodeChange::Left => ("Left", Health::Unknown),
        NodeChange::Ready => ("Ready", Health::Ok),
        NodeChange::NotReady => ("Not ready", Health::Failed),
        NodeChange::Version => ("Changed", Health::Ok),
        NodeChange::Cordoned => ("Cordoned", Health::Warning),
        NodeChange::Uncordoned => ("Uncordoned", Health::Ok),
        NodeChange::Reported => ("Normal", Health::Ok),
        NodeChange::Warned => ("Warning", Health::Warning),
        NodeChange::Stopped => ("Stopped", Health::Warning),
    };
    let is_exact = |since: &Timestamp| event.at.duration_since(*since) <= MAX_EXACT;
    JournalRow {
        id: format!("p{sequence}"),
        at: event.at.as_second(),
        since: event
            .since
            .filter(|since| !is_exact(since))
            .map(Timestamp::as_second),
        source: Source::Kubernetes,
        title: event.title(),
        lines: event.lines(),
        by: event
            .component
            .clone()
            .unwrap_or_else(|| "Kubernetes".to_owned()),
        user: None,
        is_outside: false,
        reason: None,
        status: status.to_owned(),
        health,
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

    #[test]
    fn a_node_that_left_has_the_time_in_which_it_did() {
        let row = |since: i64| {
            let event = json!({"at": at(1_000), "since": at(since), "node": "n1", "change": "left",
                "before": "v1.31.0"});
            of_node(3, &serde_json::from_value(event).unwrap())
        };
        let shown = row(0);
        assert_eq!(
            (shown.title.as_str(), shown.status.as_str()),
            ("Node n1 left", "Left")
        );
        assert_eq!((shown.by.as_str(), shown.id.as_str()), ("Kubernetes", "p3"));
        assert_eq!(shown.since, Some(at(0).as_second()));
        assert_eq!(shown.lines, ["Kubelet: v1.31.0"]);
        // two looks that are close to each other
        assert_eq!(row(990).since, None);
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }
}
