//! The contents of entries, as they are stored: a new field needs a default.
use portico_lifecycle::journal::Difference;
use serde::{Deserialize, Serialize};

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
}
