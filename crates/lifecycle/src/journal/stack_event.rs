//! An event of a cluster's stack in Heat, with which Magnum's Heat drivers make it.
use crate::status::Phase;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Maximum length of a name, in characters; Heat's have 255 at most.
const MAX_NAME_CHARS: usize = 255;
/// Maximum length of a reason, in characters. Those of failures quote the errors of other services.
const MAX_REASON_CHARS: usize = 1_000;

/// An event of a stack, or of a resource of one. Stored as JSON: a new field needs a default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackEvent {
    /// Heat's.
    pub id: String,
    pub at: Timestamp,
    /// The name of the stack that has the resource.
    #[serde(default)]
    pub stack: String,
    /// The name of the resource, or that of the stack.
    pub resource: String,
    /// The ID of what the resource has made; before that, a name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_id: Option<String>,
    /// As Heat writes it, such as `CREATE_COMPLETE` or `SIGNAL_IN_PROGRESS`.
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl StackEvent {
    /// Returns the event with texts of limited length, without empty ones.
    #[must_use]
    pub fn limited(self) -> Self {
        let optional = |text: Option<String>, chars| text.and_then(|text| cut(&text, chars));
        let name = |text: &str| cut(text, MAX_NAME_CHARS).unwrap_or_default();
        Self {
            stack: name(&self.stack),
            resource: name(&self.resource),
            physical_id: optional(self.physical_id, MAX_NAME_CHARS),
            status: name(&self.status),
            reason: optional(self.reason, MAX_REASON_CHARS),
            ..self
        }
    }

    /// Returns whether it is about the stack itself, and not about one of its resources.
    pub fn is_of_stack(&self) -> bool {
        !self.stack.is_empty() && self.resource == self.stack
    }

    /// Returns how far the action is; `None` for a word that is not known.
    pub fn phase(&self) -> Option<Phase> {
        [
            ("_IN_PROGRESS", Phase::InProgress),
            ("_COMPLETE", Phase::Complete),
            ("_FAILED", Phase::Failed),
        ]
        .into_iter()
        .find_map(|(suffix, phase)| self.status.ends_with(suffix).then_some(phase))
    }

    /// Returns the status in words, such as `Create complete` or `Signal in progress`.
    pub fn status_words(&self) -> String {
        let words = self.status.replace('_', " ").to_lowercase();
        let mut letters = words.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect()
    }
}

/// Returns the events that are not known, each once, the oldest first. Events of the same second remain in
/// their order.
pub fn new_events(read: Vec<StackEvent>, known: &HashSet<String>) -> Vec<StackEvent> {
    let mut ids = HashSet::new();
    let mut events: Vec<_> = read
        .into_iter()
        .filter(|event| !known.contains(&event.id) && ids.insert(event.id.clone()))
        .collect();
    events.sort_by_key(|event| event.at);
    events
}

fn cut(text: &str, chars: usize) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().take(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: &str, second: i64, status: &str) -> StackEvent {
        StackEvent {
            id: id.to_owned(),
            at: Timestamp::from_second(1_800_000_000 + second).unwrap(),
            stack: "k8s-cluster".to_owned(),
            resource: "kube_minions".to_owned(),
            physical_id: None,
            status: status.to_owned(),
            reason: Some("state changed".to_owned()),
        }
    }

    #[test]
    fn the_status_is_in_words_and_has_a_phase() {
        for (status, words, phase) in [
            ("CREATE_COMPLETE", "Create complete", Some(Phase::Complete)),
            (
                "SIGNAL_IN_PROGRESS",
                "Signal in progress",
                Some(Phase::InProgress),
            ),
            ("DELETE_FAILED", "Delete failed", Some(Phase::Failed)),
            ("ADOPTED", "Adopted", None),
            ("", "", None),
        ] {
            let event = event("1", 0, status);
            assert_eq!(
                (event.status_words().as_str(), event.phase()),
                (words, phase)
            );
        }
    }

    #[test]
    fn an_event_that_is_known_or_read_twice_is_left_out() {
        let read = vec![
            event("4", 9, "CREATE_COMPLETE"),
            event("1", 1, "CREATE_IN_PROGRESS"),
            event("2", 5, "CREATE_IN_PROGRESS"),
            event("3", 5, "CREATE_COMPLETE"),
            event("2", 5, "CREATE_IN_PROGRESS"),
        ];
        let events = new_events(read, &HashSet::from(["1".to_owned()]));
        let ids: Vec<_> = events.iter().map(|event| event.id.as_str()).collect();
        assert_eq!(ids, ["2", "3", "4"]);
    }

    #[test]
    fn texts_are_limited_and_events_of_stacks_are_recognised() {
        let long = StackEvent {
            physical_id: Some("  ".to_owned()),
            reason: Some("x".repeat(5_000)),
            resource: "k8s-cluster".to_owned(),
            ..event("1", 0, "CREATE_FAILED")
        };
        let limited = long.limited();
        assert_eq!(limited.physical_id, None);
        assert_eq!(
            limited.reason.as_deref().map(str::len),
            Some(MAX_REASON_CHARS)
        );
        assert!(limited.is_of_stack());
        assert!(!event("1", 0, "CREATE_FAILED").is_of_stack());
    }

    #[test]
    fn an_event_is_read_as_it_was_stored() {
        let event = event("1", 0, "CREATE_COMPLETE");
        let text = serde_json::to_string(&event).unwrap();
        assert!(!text.contains("physical_id"), "{text}");
        assert_eq!(serde_json::from_str::<StackEvent>(&text).unwrap(), event);
    }
}
