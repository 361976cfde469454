//! Requests of which the journal has the beginning: is the outcome recorded, still expected, or lost because
//! Portico stopped? That is computed when the journal is read. An entry is never changed, since its hash is part of
//! a chain, and no replica has to write anything for one that has stopped.
use super::content::{RequestContent, RequestOutcome};
use jiff::{SignedDuration, Timestamp};
use portico_store::{JournalEntry, JournalSource};
use std::{collections::HashSet, time::Duration};

/// Maximum time of a change after its beginning was recorded: for what it reads, what it deletes in the cluster
/// first, and the request itself, which may take 65 seconds.
pub const CHANGE_TIMEOUT: Duration = Duration::from_secs(300);
/// Age from which a beginning without an outcome is a request that was interrupted, whichever replica has sent it:
/// that of the longest change, and two minutes for both writes and for clocks that differ.
const MAX_SENDING: SignedDuration = SignedDuration::from_secs(420);

/// What is known of a request that was interrupted, and what to do.
pub const INTERRUPTED: &str = "Portico stopped before the answer arrived, or could not record it. The cloud may or may not \
                               have received the request. Look at the status of the cluster and at the next difference \
                               in the journal before you send it again.";

/// Returns what identifies a request whose outcome this content has.
pub fn ended(request: &RequestContent) -> Option<(&str, &str)> {
    if request.outcome == RequestOutcome::Sending {
        return None;
    }
    Some((request.request_id.as_deref()?, request.action.as_str()))
}

/// Returns whether another entry has the outcome of a request that was about to be sent.
pub fn is_superseded(request: &RequestContent, ended: &HashSet<(&str, &str)>) -> bool {
    let id = request.request_id.as_deref();
    request.outcome == RequestOutcome::Sending
        && id.is_some_and(|id| ended.contains(&(id, request.action.as_str())))
}

/// Returns whether an entry of this time, which no other one supersedes, is the beginning of a request whose outcome
/// is no longer expected.
pub fn is_interrupted(request: &RequestContent, begun: Timestamp, now: Timestamp) -> bool {
    request.outcome == RequestOutcome::Sending && now.duration_since(begun) > MAX_SENDING
}

/// The requests whose outcomes were read, of a journal that is read from its newest entry on.
#[derive(Debug, Default)]
pub struct Outcomes(HashSet<(String, String)>);

impl Outcomes {
    /// Takes the next older entry; returns whether it is the beginning of a request that was interrupted.
    pub fn is_interrupted(&mut self, entry: &JournalEntry, now: Timestamp) -> bool {
        if entry.source != JournalSource::Request {
            return false;
        }
        let Ok(request) = serde_json::from_str::<RequestContent>(&entry.content) else {
            return false;
        };
        if let Some((id, action)) = ended(&request) {
            self.0.insert((id.to_owned(), action.to_owned()));
            return false;
        }
        let Some(id) = request.request_id.clone() else {
            return is_interrupted(&request, entry.at, now);
        };
        is_interrupted(&request, entry.at, now) && !self.0.contains(&(id, request.action))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_lifecycle::idempotency::MAX_REQUEST_TIME;
    use serde_json::json;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn entry(second: i64, id: &str, outcome: &str) -> JournalEntry {
        let content = json!({"action": "resize_node_group", "user_id": "ada", "user_name": "ada",
                             "request_id": id, "outcome": outcome});
        JournalEntry {
            sequence: 1,
            at: at(second),
            source: JournalSource::Request,
            content: content.to_string(),
            hash: String::new(),
        }
    }

    #[test]
    fn a_request_is_not_called_interrupted_while_a_replica_may_be_sending_it() {
        let longest = SignedDuration::try_from(CHANGE_TIMEOUT).unwrap();
        assert!(longest > MAX_REQUEST_TIME && MAX_SENDING > longest);
        let begun = entry(0, "r1", "sending");
        let is_interrupted = |second| Outcomes::default().is_interrupted(&begun, at(second));
        assert!(!is_interrupted(1));
        assert!(!is_interrupted(MAX_SENDING.as_secs()));
        assert!(is_interrupted(MAX_SENDING.as_secs() + 1));
        // another replica's clock may be ahead
        assert!(!is_interrupted(-5));
    }

    #[test]
    fn an_outcome_that_was_recorded_later_is_that_of_its_request_only() {
        let now = at(9_000);
        // the newest first
        let entries = [
            entry(20, "r2", "refused"),
            entry(10, "r2", "sending"),
            entry(0, "r1", "sending"),
            JournalEntry {
                source: JournalSource::Observation,
                ..entry(0, "r3", "sending")
            },
        ];
        let mut outcomes = Outcomes::default();
        let found = entries.map(|entry| outcomes.is_interrupted(&entry, now));
        assert_eq!(found, [false, false, true, false]);
    }
}
