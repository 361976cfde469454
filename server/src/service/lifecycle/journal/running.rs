//! The request that Magnum carries out now, as the journal has it.
use super::{
    content::{ObservationContent, RequestContent},
    rows::{changes_magnum, title, user},
};
use portico_lifecycle::journal::TemplateNames;
use portico_store::{JournalEntry, JournalSource};
use std::collections::BTreeSet;

/// Returns the last request that may be running, in words with its user, of entries of which the newest are
/// first. `None`: the cluster was settled since the last one, or there is none.
pub fn last_request(entries: &[JournalEntry], viewer_id: &str) -> Option<String> {
    // a request has an entry before it is sent and one with its outcome
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for entry in entries {
        if entry.source == JournalSource::Observation {
            let observed = serde_json::from_str::<ObservationContent>(&entry.content);
            if observed.is_ok_and(|observed| !observed.is_busy) {
                return None;
            }
            continue;
        }
        let Ok(request) = serde_json::from_str::<RequestContent>(&entry.content) else {
            continue;
        };
        let id = request.request_id.as_ref();
        let is_last = id.is_none_or(|id| seen.insert(format!("{id} {}", request.action)));
        if is_last && request.outcome.may_have_effect() && changes_magnum(&request) {
            let by = user(&request, viewer_id);
            let title = title(&request, &TemplateNames::default());
            return Some(format!("{title}, requested by {by}"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::lifecycle::{journal::RequestOutcome, node_groups::waiting};
    use jiff::Timestamp;

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
        let found = last_request(&entries, "bob-id");
        let title = "Rotate the credential: ownership passes from ada to bob";
        assert_eq!(found, Some(format!("{title}, requested by bob (you)")));
        let found = last_request(&entries, "ada-id");
        assert_eq!(found, Some(format!("{title}, requested by bob")));
        assert_eq!(last_request(&entries[..4], "ada-id"), None);
    }
}
