//! Changes that wait, from entries of a journal.
use super::{
    stored::{DISCARD, QUEUE, REST, Stored, open},
    view,
};
use crate::service::lifecycle::{
    journal::{RequestContent, RequestOutcome},
    node_groups::tests::target,
    viewer::tests::viewer,
};
use jiff::Timestamp;
use portico_domain::panel::lifecycle::{NodeGroupChange, WaitingState};
use portico_store::{JournalEntry, JournalSource};
use serde::Serialize;
use serde_json::json;

/// Bounds and size of a group that has two nodes and at most four.
fn change(group: &str) -> NodeGroupChange {
    NodeGroupChange::Resize {
        group: group.to_owned(),
        from: 2,
        nodes: 5,
        min: None,
        max: Some(6),
        accepted_pods: Vec::new(),
    }
}

fn entry<T: Serialize>(source: JournalSource, content: &T) -> JournalEntry {
    JournalEntry {
        sequence: 1,
        at: Timestamp::UNIX_EPOCH,
        source,
        content: serde_json::to_string(content).unwrap(),
        hash: String::new(),
    }
}

fn request(
    action: &str,
    target: &str,
    id: Option<&str>,
    outcome: RequestOutcome,
) -> RequestContent {
    RequestContent {
        action: action.to_owned(),
        target: target.to_owned(),
        user_id: "ada".to_owned(),
        user_name: "Ada".to_owned(),
        request_id: id.map(str::to_owned),
        reason: Some("CHG-12".to_owned()),
        outcome,
        answer: None,
    }
}

fn sent(id: &str, group: &str, outcome: RequestOutcome) -> JournalEntry {
    let target = format!("{group} to 5");
    let content = request("resize_node_group", &target, Some(id), outcome);
    entry(JournalSource::Request, &content)
}

/// The same, of a change with another action or end.
fn other(action: &str, target: &str) -> JournalEntry {
    let content = request(action, target, Some("r9"), RequestOutcome::Accepted);
    entry(JournalSource::Request, &content)
}

fn waits(action: &str, group: &str, steps: usize) -> JournalEntry {
    let target = format!("{group} to 5");
    let content = Stored {
        request: request(action, &target, None, RequestOutcome::Accepted),
        change: change(group),
        steps,
    };
    entry(JournalSource::Request, &content)
}

/// Returns the group of the change that waits; the entries are in the order in which they were written.
fn open_group(mut entries: Vec<JournalEntry>) -> Option<String> {
    entries.reverse();
    open(&entries).map(|stored| stored.change.group().to_owned())
}

#[test]
fn a_change_waits_until_as_many_requests_were_accepted_as_were_left() {
    use RequestOutcome::{Accepted, Refused, Sending};
    let first = || sent("r1", "gpu", Accepted);
    let gpu = Some("gpu".to_owned());
    assert_eq!(open_group(vec![first(), waits(REST, "gpu", 1)]), gpu);
    let refused = vec![
        first(),
        waits(REST, "gpu", 1),
        sent("r2", "gpu", Sending),
        sent("r2", "gpu", Refused),
    ];
    assert_eq!(open_group(refused), gpu);
    let complete = vec![
        first(),
        waits(REST, "gpu", 1),
        sent("r2", "gpu", Sending),
        sent("r2", "gpu", Accepted),
    ];
    assert_eq!(open_group(complete), None);
    // a request for another group is another change
    let other = vec![waits(QUEUE, "gpu", 1), sent("r3", "other", Accepted)];
    assert_eq!(open_group(other), gpu);
}

#[test]
fn another_accepted_request_for_the_group_does_not_complete_a_change() {
    let gpu = Some("gpu".to_owned());
    for (action, target) in [
        ("resize_node_group", "gpu to 3"),
        ("change_node_group", "gpu to maximum 6"),
        ("delete_node_group", "gpu"),
        ("resize_node_group", "gpu-2 to 5"),
    ] {
        let entries = vec![waits(QUEUE, "gpu", 1), other(action, target)];
        assert_eq!(open_group(entries), gpu, "{action} {target}");
    }
    // control case: its own
    let own = other("resize_node_group", "gpu to 5");
    assert_eq!(open_group(vec![waits(QUEUE, "gpu", 1), own]), None);
}

#[test]
fn a_discarded_change_does_not_wait_and_a_later_one_replaces_it() {
    let discarded = vec![waits(REST, "gpu", 1), waits(DISCARD, "gpu", 1)];
    assert_eq!(open_group(discarded), None);
    let again = vec![
        waits(REST, "gpu", 1),
        waits(DISCARD, "gpu", 1),
        waits(QUEUE, "gpu", 2),
    ];
    assert_eq!(open_group(again), Some("gpu".to_owned()));
    let complete = vec![
        waits(REST, "gpu", 2),
        waits(REST, "gpu", 1),
        sent("r2", "gpu", RequestOutcome::Accepted),
    ];
    assert_eq!(open_group(complete), None);
}

#[test]
fn a_change_has_the_same_id_while_its_requests_are_sent_and_another_one_has_another() {
    let id = |entry: JournalEntry| open(&[entry]).unwrap().id();
    let queued = id(waits(QUEUE, "gpu", 2));
    assert_eq!(id(waits(REST, "gpu", 1)), queued);
    assert_ne!(id(waits(QUEUE, "other", 2)), queued);
    let ada = viewer("ada", &["member", "reader"]);
    let entries = [waits(REST, "gpu", 1)];
    let shown = view(
        &target("UPDATE_COMPLETE", 14),
        &ada,
        &entries,
        Timestamp::UNIX_EPOCH,
    );
    assert_eq!(shown.waiting.unwrap().id, queued);
}

#[test]
fn case_29_a_change_waits_for_the_running_one_which_is_named_and_then_for_the_user() {
    let ada = viewer("ada", &["member", "reader"]);
    let entries = [
        waits(QUEUE, "gpu", 2),
        sent("r1", "default-worker", RequestOutcome::Accepted),
    ];
    let busy = view(
        &target("UPDATE_IN_PROGRESS", 14),
        &ada,
        &entries,
        Timestamp::UNIX_EPOCH,
    );
    let running = busy.running.unwrap();
    let named = "Resize the node group default-worker to 5, requested by Ada (you)";
    assert!(running.contains(named), "{running}");
    assert_eq!(busy.waiting.unwrap().state, WaitingState::Settling);
    let settled = view(
        &target("UPDATE_COMPLETE", 14),
        &ada,
        &entries,
        Timestamp::UNIX_EPOCH,
    );
    assert_eq!(settled.running, None);
    let waiting = settled.waiting.unwrap();
    assert_eq!(waiting.state, WaitingState::Ready);
    assert_eq!(waiting.title, "Resize gpu to 5");
    assert_eq!((waiting.by.as_str(), waiting.steps.len()), ("Ada", 2));
    // a reader does not continue it
    let bob = viewer("bob", &["reader"]);
    let shown = view(
        &target("UPDATE_COMPLETE", 14),
        &bob,
        &entries,
        Timestamp::UNIX_EPOCH,
    );
    let state = shown.waiting.unwrap().state;
    assert!(matches!(state, WaitingState::Refused(_)), "{state:?}");
}

#[test]
fn a_running_change_without_a_recent_request_is_attributed_to_no_client() {
    let ada = viewer("ada", &["member", "reader"]);
    let settled = json!({"status": "UPDATE_COMPLETE", "is_busy": false, "differences": []});
    let busy = json!({"status": "UPDATE_IN_PROGRESS", "is_busy": true, "differences": []});
    let request = || sent("r1", "gpu", RequestOutcome::Accepted);
    // the newest first: the request of Portico has ended before
    let ended = [
        entry(JournalSource::Observation, &settled),
        entry(JournalSource::Observation, &busy),
        request(),
    ];
    let days_later = Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_hours(48);
    for (entries, now) in [
        (&ended[..], Timestamp::UNIX_EPOCH),
        // it may still be the one that runs
        (&[request()][..], days_later),
        // without a journal
        (&[][..], Timestamp::UNIX_EPOCH),
    ] {
        let shown = view(&target("UPDATE_IN_PROGRESS", 14), &ada, entries, now);
        let running = shown.running.unwrap();
        assert!(
            running.ends_with("Portico has no recent record of a request for it."),
            "{running}"
        );
        assert_eq!(shown.waiting, None);
    }
}

#[test]
fn a_change_whose_group_has_another_size_meanwhile_is_not_continued() {
    let ada = viewer("ada", &["member", "reader"]);
    let entries = [waits(REST, "gpu", 2)];
    let mut changed = target("UPDATE_COMPLETE", 14);
    let gpu = changed.groups.iter_mut().find(|group| group.name == "gpu");
    gpu.unwrap().node_count = 3;
    let shown = view(&changed, &ada, &entries, Timestamp::UNIX_EPOCH);
    let WaitingState::Refused(reason) = shown.waiting.unwrap().state else {
        panic!("it is refused");
    };
    assert!(reason.contains("has 3 nodes now"), "{reason}");
}
