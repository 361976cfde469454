//! The contents of entries, as they are stored: a new field needs a default.
use portico_lifecycle::journal::Difference;
use portico_store::MAX_JOURNAL_CONTENT_BYTES;
use serde::{Deserialize, Serialize};

/// Size of an observation without its differences, in bytes.
const RESERVED_BYTES: usize = 1024;

/// A request through Portico. It has one entry before anything is sent, and one with its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestContent {
    /// That of the audit log, such as `delete_cluster`.
    pub action: String,
    /// What it is about, such as the name of a node group; may be empty.
    #[serde(default)]
    pub target: String,
    pub user_id: String,
    pub user_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Why the user did it, in the user's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub outcome: RequestOutcome,
    /// Why it was refused or has failed, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestOutcome {
    /// It is about to be sent.
    Sending,
    Accepted,
    Refused,
    Failed,
    /// The response was lost.
    Unknown,
}

impl RequestOutcome {
    /// Returns whether the cluster may change because of the request.
    pub fn may_have_effect(self) -> bool {
        matches!(self, Self::Sending | Self::Accepted | Self::Unknown)
    }
}

/// What differs from the observation before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservationContent {
    /// When the cluster was observed before, in Unix seconds; `None`: this is the first observation.
    #[serde(default)]
    pub since: Option<i64>,
    /// The state of the cluster now, as Magnum writes it.
    pub status: String,
    pub is_busy: bool,
    #[serde(default)]
    pub differences: Vec<Difference>,
    /// Number of further differences, for which an entry has no room.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: usize,
}

impl ObservationContent {
    /// Returns the content with as many differences as an entry has room for.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let mut room = MAX_JOURNAL_CONTENT_BYTES.saturating_sub(RESERVED_BYTES);
        let has_room = |difference: &&Difference| {
            let bytes = serde_json::to_string(difference).map_or(usize::MAX, |text| text.len() + 1);
            let left = room.checked_sub(bytes);
            room = left.unwrap_or(room);
            left.is_some()
        };
        let shown = self.differences.iter().take_while(has_room).count();
        self.omitted += self.differences.len().saturating_sub(shown);
        self.differences.truncate(shown);
        self
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_for_which_an_entry_has_no_room_are_counted() {
        let difference = |number: usize| Difference {
            field: format!("Label {number}"),
            before: Some("ä".repeat(500)),
            after: None,
            is_requested: false,
        };
        let content = |number| ObservationContent {
            since: Some(1_800_000_000),
            status: "UPDATE_COMPLETE".to_owned(),
            is_busy: false,
            differences: (0..number).map(difference).collect(),
            omitted: 0,
        };
        let few = content(3);
        assert_eq!(few.clone().bounded(), few);
        let many = content(2_000).bounded();
        assert_eq!(many.differences.len() + many.omitted, 2_000);
        assert!(many.differences.len() > 10);
        let text = serde_json::to_string(&many).unwrap();
        assert!(text.len() <= MAX_JOURNAL_CONTENT_BYTES);
    }
}
