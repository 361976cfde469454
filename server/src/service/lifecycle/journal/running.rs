//! The request that Magnum carries out now, as the journal has it.
use super::rows::{Content, content, request, timeline, title, user};
use jiff::Timestamp;
use portico_lifecycle::journal::{TemplateNames, unfinished};
use portico_store::JournalEntry;

/// Returns the last request that may be running, in words with its user, of entries of which the newest are
/// first. `None`: an effect of the last one and its end were observed, it is too old, or there is none.
pub fn last_request(entries: &[JournalEntry], viewer_id: &str, now: Timestamp) -> Option<String> {
    let entries: Vec<&JournalEntry> = entries.iter().rev().collect();
    let contents: Vec<Content> = entries.iter().map(|entry| content(entry)).collect();
    let index = unfinished(&timeline(&entries, &contents), now)?;
    let request = request(contents.get(index)?)?;
    let by = user(request, viewer_id);
    let title = title(request, &TemplateNames::default());
    Some(format!("{title}, requested by {by}"))
}

#[cfg(test)]
mod tests {
    use super::super::content::{ObservationContent, RequestContent};
    use super::*;
    use crate::service::lifecycle::{journal::RequestOutcome, node_groups::waiting};
    use portico_store::JournalSource;

    fn entry(action: &str, target: &str, id: &str, outcome: RequestOutcome) -> JournalEntry {
        let content = RequestContent {
            action: action.to_owned(),
            target: target.to_owned(),
            user_id: "bob-id".to_owned(),
            user_name: "bob".to_owned(),
            request_id: Some(id.to_owned()),
            reason: None,
            outcome,
            answer: None,
        };
        JournalEntry {
            sequence: 1,
            at: Timestamp::UNIX_EPOCH,
            source: JournalSource::Request,
            content: serde_json::to_string(&content).unwrap(),
            hash: String::new(),
        }
    }

    #[test]
    fn the_last_request_that_changes_the_cluster_is_named_with_its_user() {
        use RequestOutcome::{Accepted, Refused, Sending};
        // the newest first
        let entries = [
            entry(waiting::QUEUE, "gpu to 3", "r4", Accepted),
            entry("protect_cluster", "", "r3", Accepted),
            entry("resize_node_group", "gpu to 2", "r2", Refused),
            entry("resize_node_group", "gpu to 2", "r2", Sending),
            entry("rotate_credential", "ada to bob", "r1", Accepted),
        ];
        let found = last_request(&entries, "bob-id", Timestamp::UNIX_EPOCH);
        let title = "Rotate the credential: ownership passes from ada to bob";
        assert_eq!(found, Some(format!("{title}, requested by bob (you)")));
        let found = last_request(&entries, "ada-id", Timestamp::UNIX_EPOCH);
        assert_eq!(found, Some(format!("{title}, requested by bob")));
        assert_eq!(
            last_request(&entries[..4], "ada-id", Timestamp::UNIX_EPOCH),
            None
        );
    }

    /// Returns an observation; `is_busy` is whether Magnum works on the cluster.
    fn observation(is_busy: bool) -> JournalEntry {
        let status = if is_busy {
            "UPDATE_IN_PROGRESS"
        } else {
            "UPDATE_COMPLETE"
        };
        let content = ObservationContent {
            since: Some(0),
            status: status.to_owned(),
            is_busy,
            differences: Vec::new(),
            omitted: 0,
        };
        JournalEntry {
            source: JournalSource::Observation,
            content: serde_json::to_string(&content).unwrap(),
            ..entry("", "", "", RequestOutcome::Refused)
        }
    }

    #[test]
    fn the_end_of_the_change_before_is_not_the_end_of_a_request() {
        use RequestOutcome::Accepted;
        let resized = |nodes: &str, id: &str| entry("resize_node_group", nodes, id, Accepted);
        // the newest first: Magnum had finished the first change before the second request
        let entries = [
            observation(false),
            observation(true),
            observation(false),
            resized("gpu to 3", "r2"),
            observation(true),
            resized("gpu to 2", "r1"),
        ];
        let second = "Resize the node group gpu to 3, requested by bob";
        assert_eq!(
            last_request(&entries[2..], "ada", Timestamp::UNIX_EPOCH).as_deref(),
            Some(second)
        );
        assert_eq!(
            last_request(&entries[1..], "ada", Timestamp::UNIX_EPOCH).as_deref(),
            Some(second)
        );
        // what runs after its own end was requested by another client
        assert_eq!(last_request(&entries, "ada", Timestamp::UNIX_EPOCH), None);
    }
}
