use super::*;
use serde_json::json;

pub(super) fn request(sequence: i64, outcome: &str, id: &str) -> Value {
    json!({"sequence": sequence, "time": "2026-11-28T03:00:00.5Z", "source": "request", "hash": "h",
           "content": {"action": "delete_node_group", "target": "gpu", "user_name": "ada",
                       "user_id": "1", "request_id": id, "outcome": outcome, "reason": "CHG-12"}})
}

fn observation(sequence: i64, time: &str) -> Value {
    json!({"sequence": sequence, "time": time, "source": "observation", "hash": "h",
           "content": {"status": "UPDATE_IN_PROGRESS", "differences": [
               {"field": "Nodes of gpu", "before": "1", "after": "2", "is_requested": true},
               {"field": "Node group lab", "before": "1 node", "is_requested": true}]}})
}

pub(super) fn read(values: &[Value]) -> Vec<Entry> {
    let lines: Vec<_> = values.iter().map(ToString::to_string).collect();
    entries(&lines.join("\n"))
}

#[test]
fn an_entry_is_a_row_in_words() {
    let all = read(&[
        request(1, "accepted", "r1"),
        observation(2, "2026-11-28T03:00:10Z"),
    ]);
    insta::assert_snapshot!("table", list(OutputFormat::Table, &all).unwrap());
}

#[test]
fn an_event_of_a_stack_has_its_own_time() {
    let event = json!({"sequence": 3, "time": "2026-11-28T03:10:00Z", "source": "heat", "hash": "h",
        "content": {"id": "e", "at": "2026-11-28T03:00:05Z", "stack": "shop", "reason": "state changed",
                    "resource": "kube_minions", "status": "CREATE_COMPLETE"}});
    let all = read(&[observation(2, "2026-11-28T03:00:10Z"), event]);
    let cells = all[1].cells();
    let expected = [
        "2026-11-28T03:00:05Z",
        "heat",
        "",
        "kube_minions CREATE_COMPLETE: state changed",
    ];
    assert_eq!(cells, expected);
    let since = "2026-11-28T03:00:07Z".parse().ok();
    assert_eq!(chosen(all.clone(), None, since).len(), 1);
    assert_eq!(chosen(all, Some(EventSource::Heat), None).len(), 1);
}

#[test]
fn the_beginning_of_a_request_is_shown_until_its_outcome_is_known() {
    let all = read(&[request(1, "sending", "r1"), request(2, "sending", "r2")]);
    assert_eq!(chosen(all, None, None).len(), 2);
    let all = read(&[
        request(1, "sending", "r1"),
        request(2, "refused", "r1"),
        request(3, "sending", "r2"),
    ]);
    let left: Vec<_> = chosen(all, None, None)
        .iter()
        .map(|entry| entry.sequence)
        .collect();
    assert_eq!(left, [2, 3]);
}

#[test]
fn a_request_that_was_interrupted_is_stated_in_both_formats() {
    let mut begun = request(1, "sending", "r1");
    begun["interrupted"] = json!("Portico stopped before the answer arrived.");
    let all = chosen(read(&[begun.clone()]), None, None);
    let event =
        "delete node group gpu: interrupted: Portico stopped before the answer arrived. (CHG-12)";
    assert_eq!(all[0].cells()[3], event);
    let line = list(OutputFormat::Jsonl, &all).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), begun);
    // another one has no such field
    let line = list(OutputFormat::Jsonl, &read(&[request(2, "sending", "r2")])).unwrap();
    assert!(!line.contains("interrupted"), "{line}");
}

#[test]
fn entries_are_chosen_by_source_and_time() {
    let all = read(&[
        request(1, "accepted", "r1"),
        observation(2, "2026-11-28T02:00:00Z"),
        observation(3, "2026-11-28T04:00:00Z"),
    ]);
    let since = Some("2026-11-28T03:30:00Z".parse().unwrap());
    let young = chosen(all.clone(), None, since);
    assert_eq!(young[0].sequence, 3);
    assert_eq!(young.len(), 1);
    assert_eq!(chosen(all, Some(EventSource::Observation), None).len(), 2);
}

#[test]
fn magnum_is_another_word_for_observations() {
    for word in ["observation", "magnum"] {
        let source = EventSource::from_str(word, false);
        assert_eq!(source, Ok(EventSource::Observation), "{word}");
    }
    assert!(EventSource::from_str("nova", false).is_err());
}

#[test]
fn a_line_of_a_later_version_is_left_out() {
    let mut later = observation(2, "2026-11-28T03:00:10Z");
    later["source"] = json!("alert");
    assert_eq!(read(&[request(1, "accepted", "r1"), later]).len(), 1);
    assert!(entries("\n").is_empty());
}

#[test]
fn the_headings_are_printed_once() {
    assert_eq!(without_headings(OutputFormat::Table, "A\nb\n"), "b\n");
    assert_eq!(without_headings(OutputFormat::Jsonl, "{}\n"), "{}\n");
}

#[test]
fn what_happened_to_a_node_has_its_own_time_and_is_in_words() {
    let event = json!({"sequence": 3, "time": "2026-11-28T03:10:00Z", "source": "kubernetes", "hash": "h",
        "content": {"at": "2026-11-28T03:00:05Z", "node": "n1", "change": "not_ready",
                    "reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}});
    let mut later = event.clone();
    later["content"]["change"] = json!("rebuilt");
    let all = read(&[event, later]);
    let expected = [
        "2026-11-28T03:00:05Z",
        "kubernetes",
        "",
        "Node n1 is not ready: NodeStatusUnknown; Kubelet stopped posting node status.",
    ];
    assert_eq!(all[0].cells(), expected);
    assert_eq!(all[1].cells()[3], "n1 rebuilt");
    assert_eq!(chosen(all, Some(EventSource::Kubernetes), None).len(), 2);
}
